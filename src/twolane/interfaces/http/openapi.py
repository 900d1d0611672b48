"""The OpenAPI description, written from the same table that requests are read by."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from twolane.interfaces.http import schemas
from twolane.interfaces.http.endpoints import MOST_VALUES, Endpoint, Parameter, Type
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
    Problem,
    Refused,
)
from twolane.interfaces.http_wire import problem_json
from twolane.interfaces.wire import Json

_ABOUT = """\
Search documents by words and by meaning.

Failures are `application/problem+json` (RFC 9457); `type` says which problem it is.
Every answer has an `X-Request-Id`. Reads have an `ETag`; send it as `If-None-Match`.
A busy server answers 429 or 503 with `Retry-After` in seconds.
"""


def description(endpoints: Iterable[Endpoint], version: str) -> Json:
    """The whole description."""
    paths: dict[str, Json] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Twolane", "version": version, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": schemas.PROBLEM},
            "examples": {
                name: {"value": problem_json(Refused(one, one.advice), "4f1c2a9be07d3d55")}
                for name, one in PROBLEMS.items()
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def problems_of(endpoint: Endpoint) -> list[Problem]:
    """Every problem that an endpoint can answer with, by status."""
    found = {*_ANYWHERE, *endpoint.problems}
    if endpoint.capability is not None:
        found |= {UNAUTHENTICATED, NOT_PERMITTED}
    if endpoint.takes is not None:
        found |= {TOO_LARGE, WRONG_TYPE, TOO_SLOW_REQUEST}
    if not endpoint.light:
        found |= {OVERLOADED, TOO_SLOW}
    if endpoint.capability is not None or endpoint.name == "ready":
        found |= {UNAVAILABLE}
    return sorted(found, key=lambda one: (one.status, one.name))


_ANYWHERE = (
    BAD_REQUEST,
    FOREIGN_ORIGIN,
    WRONG_METHOD,
    FOREIGN_HOST,
    TOO_MANY,
    LARGE_HEAD,
    INTERNAL,
)


def _operation(endpoint: Endpoint) -> Json:
    said: Json = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [*map(_parameter, endpoint.parameters), *_conditions(endpoint)],
        "responses": _responses(endpoint),
    }
    if endpoint.description:
        said["description"] = endpoint.description
    if endpoint.takes is not None:
        said["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": endpoint.takes}},
        }
    if endpoint.capability is not None:
        # A server that asks for no token takes requests without one.
        said["security"] = [{"token": [str(endpoint.capability)]}, {}]
    return said


def _conditions(endpoint: Endpoint) -> list[Json]:
    names = ("If-None-Match",) if endpoint.method == "GET" else endpoint.conditions
    return [
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": _CONDITIONS[endpoint.method, name],
            "schema": schemas.TEXT,
        }
        for name in names
    ]


_READ = "ETags that the client has, or `*`; 304 if the answer is among them."
_SEEN = "The ETag that the client last saw, or `*`; 412 if the document has changed since."
_CONDITIONS = {
    ("GET", "If-None-Match"): _READ,
    ("PUT", "If-Match"): _SEEN,
    ("PATCH", "If-Match"): _SEEN,
    ("DELETE", "If-Match"): _SEEN,
    ("PUT", "If-None-Match"): "`*` saves a document only if there is none yet; 412 otherwise.",
}


def _parameter(parameter: Parameter) -> Json:
    said: Json = {
        "name": parameter.name,
        "in": "path" if parameter.in_path else "query",
        "required": parameter.required,
        "description": parameter.meaning,
        "schema": _schema(parameter),
    }
    if parameter.example is not None:
        said["example"] = parameter.example
    return said


def _schema(parameter: Parameter) -> Json:
    one: Json = {"type": parameter.type.value}
    if parameter.choices:
        one["enum"] = [str(choice) for choice in parameter.choices]
    if parameter.least is not None:
        one["minimum"] = parameter.least
    if parameter.most is not None:
        one["maximum"] = parameter.most
    if parameter.type == Type.TEXT and not parameter.choices:
        one["maxLength"] = parameter.longest
        if parameter.in_path:
            one["minLength"] = 1
    if parameter.many:
        return {"type": "array", "items": one, "maxItems": MOST_VALUES}
    if parameter.default is not None:
        one["default"] = parameter.default
    return one


def _responses(endpoint: Endpoint) -> Json:
    headers = {"X-Request-Id": {"schema": schemas.TEXT}}
    found: Json = {}
    shown = {"example": _examples()[endpoint.name]} if endpoint.name in _examples() else {}
    for status, schema in endpoint.gives.items():
        kept = {"ETag": {"schema": schemas.TEXT}} if endpoint.method == "GET" else {}
        found[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "headers": {**headers, **kept},
            **({"content": {endpoint.media: {"schema": schema, **shown}}} if schema else {}),
        }
    if endpoint.method == "GET":
        found["304"] = {"description": "The client has it already", "headers": headers}
    told: dict[int, list[Problem]] = {}
    for one in problems_of(endpoint):
        told.setdefault(one.status, []).append(one)
    for status, problems in sorted(told.items()):
        retry = {"Retry-After": {"schema": schemas.WHOLE}} if status in (429, 503) else {}
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
