"""The description of the API: `/openapi.json`, `/docs` and `/problems/…`."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, partial
from html import escape
from http import HTTPStatus
from importlib.resources import files

from twolane import __version__
from twolane.interfaces.http.endpoints import Call, Endpoint, Reply, Tag, endpoint
from twolane.interfaces.http.parameters import ProblemName, names
from twolane.interfaces.http.problems import (
    BAD_REQUEST,
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    INTERNAL,
    LARGE_HEAD,
    NOT_FOUND,
    NOT_PERMITTED,
    OVERLOADED,
    PROBLEMS,
    TOO_LARGE,
    TOO_MANY,
    TOO_SLOW,
    TOO_SLOW_REQUEST,
    UNAUTHENTICATED,
    UNAVAILABLE,
    WRONG_METHOD,
    WRONG_TYPE,
    HttpProblem,
    Problem,
)
from twolane.interfaces.wire import server as wire
from twolane.interfaces.wire.bodies import EXAMPLES
from twolane.interfaces.wire.shape import Json, builtins, components, encode

_ABOUT = """\
Search documents by words and by meaning.

Failures are `application/problem+json` (RFC 9457); `type` says which problem it is.
Every answer has an `X-Request-Id`. Reads have an `ETag`; send it as `If-None-Match`.
A busy server answers 429 or 503 with `Retry-After` in seconds.
"""

TAGS: tuple[tuple[Tag, str], ...] = (
    ("search", "Questions."),
    ("documents", "What the library holds, and changes to it."),
    ("judgments", "Judged queries, and how good the search is by them."),
    ("server", "How the server is, and what it offers."),
)

_ANYWHERE = (
    BAD_REQUEST,
    FOREIGN_ORIGIN,
    WRONG_METHOD,
    FOREIGN_HOST,
    TOO_MANY,
    LARGE_HEAD,
    INTERNAL,
)

_TEXT: Json = {"type": "string"}

_READ = "ETags that the client has, or `*`; 304 if the answer is among them."
_SEEN = "The ETag that the client last saw, or `*`; 412 if the document has changed since."
_KEY = (
    "Your own name for this request, up to 200 characters; sent again within a day, it is "
    "answered as it was the first time and not done again."
)
_CONDITIONS = {
    ("GET", "If-None-Match"): _READ,
    ("PUT", "If-Match"): _SEEN,
    ("PATCH", "If-Match"): _SEEN,
    ("DELETE", "If-Match"): _SEEN,
    ("POST", "Idempotency-Key"): _KEY,
    ("PUT", "If-None-Match"): "`*` saves a document only if there is none yet; 412 otherwise.",
}


def description(endpoints: Iterable[Endpoint], version: str) -> Json:
    """The whole description."""
    listed = list(endpoints)
    paths: dict[str, Json] = {}
    for one in listed:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    kinds = [kind for one in listed for kind in (one.gives, one.body, one.parameters) if kind]
    _, shapes = components([*dict.fromkeys(kinds), wire.Problem])
    # Parameters are described one by one, where they are taken.
    for kind in {one.parameters for one in listed}:
        del shapes[kind.__name__]
    for shape in shapes.values():
        _complete(shape)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Twolane", "version": version, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": said} for name, said in TAGS],
        "paths": paths,
        "components": {
            "schemas": shapes,
            "examples": {
                name: {"value": builtins(HttpProblem(one, one.advice).shape("4f1c2a9be07d3d55"))}
                for name, one in PROBLEMS.items()
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _complete(shape: Json) -> None:
    """Say of an answer that every key is there, also one that the library has a default for."""
    if "description" in shape:
        shape["description"] = inspect.cleandoc(shape["description"])
    # What is sent in allows no other keys; there a default is what leaving a key out means.
    if shape.get("additionalProperties") is not False:
        for name, one in shape.get("properties", {}).items():
            if "default" in one:
                del one["default"]
                shape["required"].append(name)


def problems_of(endpoint: Endpoint) -> list[Problem]:
    """Every problem that an endpoint can answer with, by status."""
    found = {*_ANYWHERE, *endpoint.problems}
    if endpoint.capability is not None:
        found |= {UNAUTHENTICATED, NOT_PERMITTED}
    if endpoint.body is not None:
        found |= {TOO_LARGE, WRONG_TYPE, TOO_SLOW_REQUEST}
    if not endpoint.light:
        found |= {OVERLOADED, TOO_SLOW}
    if endpoint.capability is not None or endpoint.name == "ready":
        found |= {UNAVAILABLE}
    return sorted(found, key=lambda one: (one.status, one.name))


def parameters_of(endpoint: Endpoint) -> list[Json]:
    """The parameters of the address and of the query string."""
    _, shapes = components([endpoint.parameters])
    shape = shapes[endpoint.parameters.__name__]
    found = []
    for name in names(endpoint.parameters):
        schema = dict(shape["properties"][name])
        default = schema.pop("default", None)
        # A parameter that may be left out is never null.
        inner = schema.pop("anyOf", [{}])[0]
        schema = {**inner, **schema}
        told: Json = {
            "name": name,
            "in": "path" if f"{{{name}}}" in endpoint.path else "query",
            "required": name in shape["required"],
            "description": schema.pop("description"),
        }
        if examples := schema.pop("examples", None):
            told["example"] = examples[0]
        if default not in (None, ()):
            schema["default"] = default
        found.append({**told, "schema": schema})
    return found


def example_of(endpoint: Endpoint) -> Json | None:
    """An answer as a server gave it; None for what is no JSON."""
    return _examples().get(endpoint.name)


def _operation(endpoint: Endpoint) -> Json:
    said: Json = {
        "operationId": endpoint.name,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "parameters": [*parameters_of(endpoint), *_conditions(endpoint)],
        "responses": _responses(endpoint),
    }
    if endpoint.description:
        said["description"] = endpoint.description
    if endpoint.body is not None:
        ((schema,), _) = components([endpoint.body])
        body = {"schema": schema, "example": EXAMPLES[endpoint.body]}
        said["requestBody"] = {"required": True, "content": {"application/json": body}}
    if endpoint.capability is not None:
        # A server that asks for no token takes requests without one.
        said["security"] = [{"token": [str(endpoint.capability)]}, {}]
    return said


def _conditions(endpoint: Endpoint) -> list[Json]:
    headers = ("If-None-Match",) if endpoint.method == "GET" else endpoint.conditions
    return [
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": _CONDITIONS[endpoint.method, name],
            "schema": _TEXT,
        }
        for name in headers
    ]


def _responses(endpoint: Endpoint) -> Json:
    headers = {"X-Request-Id": {"schema": _TEXT}}
    kept = {"ETag": {"schema": _TEXT}} if endpoint.method == "GET" else {}
    ((schema,), _) = components([endpoint.gives])
    example = example_of(endpoint)
    shown = {} if example is None else {"example": example}
    found: Json = {
        str(status): {
            "description": HTTPStatus(status).phrase,
            "headers": {**headers, **kept},
            "content": {endpoint.media: {"schema": schema, **shown}},
        }
        for status in endpoint.statuses
    }
    if endpoint.method == "GET":
        found["304"] = {"description": "The client has it already", "headers": headers}
    told: dict[int, list[Problem]] = {}
    for one in problems_of(endpoint):
        told.setdefault(one.status, []).append(one)
    for status, problems in told.items():
        retry = {}
        if status in (429, 503):
            retry = {"Retry-After": {"schema": {"type": "integer"}, "required": True}}
        found[str(status)] = {
            "description": "; ".join(f"`{problem.type}`: {problem.title}" for problem in problems),
            "headers": {**headers, **retry},
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {
                        problem.name: {"$ref": f"#/components/examples/{problem.name}"}
                        for problem in problems
                    },
                }
            },
        }
    return found


@cache
def _examples() -> dict[str, Json]:
    """An answer of each endpoint that answers in JSON, as a server gave it."""
    file = files("twolane.interfaces.http").joinpath("examples.json")
    found: dict[str, Json] = json.loads(file.read_text("utf-8"))
    return found


def endpoints(others: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """The endpoints that describe the others, and themselves."""
    light = partial(endpoint, tag="server", capability=None, light=True)

    @cache
    def described() -> Json:
        return description((*others, *own), __version__)

    @cache
    def page() -> str:
        return _page((*others, *own))

    @light("GET", "/openapi.json", "openapi", gives=Json)
    def openapi(call: Call) -> Reply:  # noqa: ARG001 - the index is not asked
        """Describe the API as OpenAPI 3.1."""
        return Reply(described(), etag=_etag(encode(described())))

    @light("GET", "/docs", "docs", gives=str, media="text/html")
    def docs(call: Call) -> Reply:  # noqa: ARG001 - the index is not asked
        """Describe the API to people."""
        return Reply(page(), etag=_etag(page().encode()))

    @light(
        "GET", "/problems/{name}", "problem", gives=str, media="text/plain", problems=(NOT_FOUND,)
    )
    def problem(call: Call, given: ProblemName) -> Reply:  # noqa: ARG001 - the index is not asked
        """Say what a problem means and what to do about it."""
        found = PROBLEMS.get(given.name)
        if found is None:
            raise HttpProblem(NOT_FOUND, f"the problems are: {', '.join(PROBLEMS)}")
        text = f"{found.title} ({found.status})\n\n{found.advice}\n"
        return Reply(text, etag=_etag(text.encode()))

    own = (openapi, docs, problem)
    return own


def _page(endpoints: Sequence[Endpoint]) -> str:
    by_tag = [(name, said, [one for one in endpoints if one.tag == name]) for name, said in TAGS]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><meta charset="utf-8"><title>Twolane HTTP API</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="/icon.svg" type="image/svg+xml">',
            '<link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="/docs.css">',
            '<script src="/js/theme.js"></script><body class="api">',
            '<nav aria-label="Addresses"><a class="brand" href="/">twolane</a>',
            *(_listed(name, inside) for name, _, inside in by_tag),
            '<p><a href="#problems">Problems</a></p></nav><main>',
            f"<h1>Twolane HTTP API {escape(__version__)}</h1>",
            '<p class="lead">For programs: <a href="/openapi.json">openapi.json</a></p>',
            *(_section(name, said, inside) for name, said, inside in by_tag),
            _problems(),
            "</main></body></html>",
            "",
        )
    )


def _listed(tag: str, endpoints: Sequence[Endpoint]) -> str:
    links = (f'<li><a href="#{one.name}">{_signature(one)}</a>' for one in endpoints)
    return f"<h2>{tag.capitalize()}</h2><ul>{''.join(links)}</ul>"


def _section(tag: str, said: str, endpoints: Sequence[Endpoint]) -> str:
    inside = "".join(map(_described, endpoints))
    return (
        f'<section><h2>{tag.capitalize()}</h2><p class="faint">{escape(said)}</p>{inside}</section>'
    )


def _signature(one: Endpoint) -> str:
    method = f'<b class="{one.method.lower()}">{one.method}</b>'
    return f"{method} <code>{escape(one.path)}</code>"


def _described(one: Endpoint) -> str:
    said = " ".join(f"{text}." for text in (one.summary, one.description.rstrip(".")) if text)
    needs = f" Needs <code>{one.capability}</code>." if one.capability else ""
    rows = "".join(map(_row, parameters_of(one)))
    table = f"<table><tr><th>Parameter<th>Type<th>Meaning</tr>{rows}</table>"
    told = ", ".join(f"{each.status} {each.name}" for each in problems_of(one))
    return "".join(
        (
            f'<article id="{one.name}"><h3>{_signature(one)}</h3><p>{_coded(said)}{needs}</p>',
            f'<div class="wide">{table}</div>' if rows else "",
            _example("Body", EXAMPLES.get(one.body) if one.body else None),
            _example("Answer", example_of(one)),
            f"<details><summary>Problems</summary><p>{escape(told)}</p></details></article>",
        )
    )


def _example(name: str, value: object) -> str:
    if value is None:
        return ""
    text = escape(json.dumps(value, ensure_ascii=False, indent=2))
    return f"<details><summary>{name}, for example</summary><pre>{text}</pre></details>"


def _problems() -> str:
    parts = ['<section id="problems"><h2>Problems</h2><dl>']
    for each in PROBLEMS.values():
        parts.append(f"<dt><code>{each.type}</code> ({each.status}) {escape(each.title)}</dt>")
        parts.append(f"<dd>{_coded(each.advice)}</dd>")
    return "".join((*parts, "</dl></section>"))


def _coded(text: str) -> str:
    """A text as HTML, with what stands between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _row(parameter: Json) -> str:
    schema = parameter["schema"]
    schema = schema.get("items", schema)
    type = schema.get("type") or schema.get("$ref", "").rpartition("/")[2]
    needed = " (required)" if parameter["required"] else ""
    meaning = _coded(parameter["description"])
    return f"<tr><td><code>{parameter['name']}</code>{needed}<td>{escape(type)}<td>{meaning}</tr>"


def _etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:20]}"'
