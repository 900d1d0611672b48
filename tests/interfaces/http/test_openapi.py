"""The description of the API says what the server does."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.docs.pages import REFERENCE, coded, read, rows, section
from twolane.interfaces.http.problems import PROBLEMS
from twolane.interfaces.http.routes import ENDPOINTS

PAGE = read(REFERENCE / "http.md")


@pytest.fixture
def described(client: httpx.Client) -> dict[str, Any]:
    """The description as the server gives it."""
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def test_it_has_every_endpoint(described: dict[str, Any]) -> None:
    """Each method of each address, and no other."""
    told = {(method.upper(), path) for path, one in described["paths"].items() for method in one}
    assert told == {(one.method, one.path) for one in ENDPOINTS}
    ids = [one["operationId"] for path in described["paths"].values() for one in path.values()]
    assert len(set(ids)) == len(ids)


def test_it_explains_itself(described: dict[str, Any]) -> None:
    """Every operation has a summary, every parameter a meaning, every failure its problems."""
    for path in described["paths"].values():
        for operation in path.values():
            assert operation["summary"]
            assert all(parameter["description"] for parameter in operation["parameters"])
            assert {"400", "429"} <= set(operation["responses"])


Shapes = dict[str, Any]


def unknown(value: Any, schema: Shapes, shapes: Shapes, at: str = "") -> Iterator[str]:
    """Keys of an answer that its schema does not know; `shapes` are the named ones."""
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            schema = one
    if "$ref" in schema:
        schema = shapes[schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list) and schema.get("items"):
        for one in value:
            yield from unknown(one, schema["items"], shapes, at)
    elif isinstance(value, dict) and "properties" in schema:
        for key, inner in value.items():
            if key not in schema["properties"]:
                if not schema.get("additionalProperties"):
                    yield f"{at}.{key}"
            else:
                yield from unknown(inner, schema["properties"][key], shapes, f"{at}.{key}")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/search?q=green tea degrees",
        "/api/v1/similar?doc=Green tea",
        "/api/v1/why?q=tomatos&doc=Green tea",
        "/api/v1/documents/Green tea",
        "/api/v1/collections",
        "/api/v1/tags",
        "/api/v1/status?files=true",
        "/healthz",
    ],
)
def test_no_key_is_left_out(client: httpx.Client, described: dict[str, Any], path: str) -> None:
    """Every key of a real answer is in its schema, and every required key in the answer."""
    import jsonschema_rs

    bare = path.partition("?")[0].replace("Green tea", "{id}")
    schema = described["paths"][bare]["get"]["responses"]["200"]["content"]["application/json"]
    answer = client.get(path).json()
    jsonschema_rs.validate(whole(schema["schema"], described), answer)
    assert not list(unknown(answer, schema["schema"], described["components"]["schemas"]))


def whole(schema: Shapes, described: Shapes) -> Shapes:
    """A schema together with the named ones that it refers to."""
    return {**schema, "components": described["components"]}


def test_shapes_have_names(described: Shapes) -> None:
    """Answers and bodies are named components, so that clients can be generated from them."""
    named = {"SearchAnswer", "SearchResult", "Document", "Problem", "NewDocument", "WhyAnswer"}
    assert named <= set(described["components"]["schemas"])
    assert not [name for name in described["components"]["schemas"] if "." in name]
    tags = {one["name"] for one in described["tags"]}
    assert tags == {
        tag for path in described["paths"].values() for one in path.values() for tag in one["tags"]
    }


def test_every_answer_has_an_example(described: dict[str, Any]) -> None:
    """Each JSON answer shows one that conforms to its schema; so do problems."""
    import jsonschema_rs

    shapes = described["components"]["schemas"]
    problem = shapes["Problem"]
    for path in described["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {})
                if operation["operationId"] != "openapi" and "application/json" in content:
                    told = content["application/json"]
                    jsonschema_rs.validate(whole(told["schema"], described), told["example"])
                    assert not list(unknown(told["example"], told["schema"], shapes))
                for name in content.get("application/problem+json", {}).get("examples", {}):
                    shown = described["components"]["examples"][name]["value"]
                    jsonschema_rs.validate(problem, shown)
                    assert str(shown["status"]) == status


def test_conditions_are_described(described: dict[str, Any]) -> None:
    """Reads take `If-None-Match`; what replaces or deletes a document takes `If-Match`."""
    told = {
        operation["operationId"]: {
            parameter["name"]
            for parameter in operation["parameters"]
            if parameter["in"] == "header"
        }
        for path in described["paths"].values()
        for operation in path.values()
    }
    assert told["search"] == {"If-None-Match"}
    assert told["putDocument"] == {"If-Match", "If-None-Match"}
    assert told["changeDocument"] == told["deleteDocument"] == {"If-Match"}
    assert told["createDocument"] == told["bulk"] == {"Idempotency-Key"}
    assert told["judge"] == set()


def test_problems_conform(client: httpx.Client, described: dict[str, Any]) -> None:
    """A failure looks as the description says, and its type leads to an explanation."""
    import jsonschema_rs

    problem = client.get("/api/v1/documents/none").json()
    jsonschema_rs.validate(described["components"]["schemas"]["Problem"], problem)
    assert "Check the address" in client.get(problem["type"]).text
    assert client.get("/problems/none").status_code == 404


def test_the_page_for_people(client: httpx.Client) -> None:
    """It names every address and needs nothing from elsewhere."""
    page = client.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    text = html.unescape(re.sub("<[^>]+>", "", page.text))
    assert all(f"{one.method} {one.path}" in text for one in ENDPOINTS)
    used = set(re.findall(r'(?:src|href)="([^"#]+)"', page.text))
    assert {"/style.css", "/docs.css", "/js/theme.js"} <= used
    assert {client.get(one).status_code for one in used} == {200}


def test_addresses_answer_without_their_version(client: httpx.Client) -> None:
    """What was written before there were versions goes on working, and gets the same answers."""
    for path in ("tags", "collections", "documents/Green tea", "documents/none"):
        new, old = client.get(f"/api/v1/{path}"), client.get(f"/api/{path}")
        assert new.status_code == old.status_code != 405
        told = (one.json() | {"request_id": ""} for one in (new, old))
        assert next(told) == next(told)


def test_generators_of_clients_can_read_it(described: Shapes) -> None:
    """Every object with known keys has a name, and no schema is a bare `false` (a tuple's)."""

    def nameless(schema: Any, *, named: bool = False) -> Iterator[Any]:
        if not isinstance(schema, dict):
            yield schema
            return
        if "prefixItems" in schema or ("properties" in schema and not named):
            yield schema
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
        inner += [schema["items"]] if "items" in schema else []
        for one in inner:
            yield from nameless(one)

    shapes = described["components"]["schemas"].values()
    assert [one for shape in shapes for one in nameless(shape, named=True)] == []


class TestReference:
    """`docs/reference/http.md` leaves nothing out and makes nothing up."""

    def test_addresses(self) -> None:
        """Each method of each address has a row."""
        told = {coded(cells[0])[0] for cells in rows(section(PAGE, "## Addresses"))}
        assert told == {f"{one.method} {one.path}" for one in ENDPOINTS}

    def test_parameters(self) -> None:
        """Each parameter has a row."""
        told = {name for cells in rows(section(PAGE, "## Parameters")) for name in coded(cells[0])}
        assert told == {name for one in ENDPOINTS for name in one.parameters.__struct_fields__}

    def test_problems(self) -> None:
        """Each problem has a row with its status."""
        told = {coded(cells[0])[0]: int(cells[1]) for cells in rows(section(PAGE, "## Problems"))}
        assert told == {one.type: one.status for one in PROBLEMS.values()}

    def test_metrics(self) -> None:
        """Each name that the server counts under has a row."""
        from twolane.interfaces.http.metrics import GAUGES, Metrics

        counted = Metrics(dict.fromkeys(GAUGES, float)).text()
        told = {coded(cells[0])[0] for cells in rows(section(PAGE, "## Metrics"))}
        assert told == set(re.findall(r"^# TYPE (\w+)", counted, re.MULTILINE))
