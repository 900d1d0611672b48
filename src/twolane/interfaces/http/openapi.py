"""The OpenAPI description, written from the same table and shapes that requests are read by."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from twolane.interfaces.http.endpoints import Endpoint, Tag
from twolane.interfaces.http.parameters import names
from twolane.interfaces.http.problems import (
    BAD_REQUEST,
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    INTERNAL,
    LARGE_HEAD,
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
from twolane.interfaces.wire.shape import Json, builtins, components

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
        retry = {"Retry-After": {"schema": {"type": "integer"}}} if status in (429, 503) else {}
        found[str(status)] = {
            "description": "; ".join(f"`{one.type}`: {one.title}" for one in problems),
            "headers": {**headers, **retry},
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {
                        one.name: {"$ref": f"#/components/examples/{one.name}"} for one in problems
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
