"""`/openapi.json`, `/docs` and `/problems/…`: the server describes itself from its own table."""

from __future__ import annotations

import hashlib
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from twolane import __version__
from twolane.interfaces.http import schemas
from twolane.interfaces.http.endpoints import Call, Endpoint, Parameter, Reply, Type
from twolane.interfaces.http.messages import json_bytes
from twolane.interfaces.http.openapi import description, problems_of
from twolane.interfaces.http.problems import NOT_FOUND, PROBLEMS, Refused

if TYPE_CHECKING:
    from twolane.interfaces.wire import Json


def openapi(call: Call) -> Reply:  # noqa: ARG001
    """The OpenAPI description of every endpoint."""
    said = _described()
    return Reply(said, etag=_etag(json_bytes(said)))


def docs(call: Call) -> Reply:  # noqa: ARG001
    """The same for people."""
    page = _page()
    return Reply(page, etag=_etag(page.encode()), media="text/html; charset=utf-8")


def problem(call: Call) -> Reply:
    """What a problem means, and what to do about it."""
    found = PROBLEMS.get(call.given["name"])
    if found is None:
        raise Refused(NOT_FOUND, f"the problems are: {', '.join(PROBLEMS)}")
    text = f"{found.title} ({found.status})\n\n{found.advice}\n"
    return Reply(text, etag=_etag(text.encode()), media="text/plain; charset=utf-8")


def endpoints() -> tuple[Endpoint, ...]:
    """The endpoints that describe the others."""
    return (
        Endpoint(
            "GET",
            "/openapi.json",
            "openapi",
            "Describe the API as OpenAPI 3.1",
            openapi,
            capability=None,
            gives={200: {"type": "object"}},
            light=True,
        ),
        Endpoint(
            "GET",
            "/docs",
            "docs",
            "Describe the API to people",
            docs,
            capability=None,
            gives={200: schemas.TEXT},
            light=True,
            media="text/html",
        ),
        Endpoint(
            "GET",
            "/problems/{name}",
            "problem",
            "Say what a problem means and what to do about it",
            problem,
            capability=None,
            parameters=(
                Parameter(
                    "name",
                    "The last part of a problem's `type`.",
                    required=True,
                    in_path=True,
                    example="not-found",
                ),
            ),
            gives={200: schemas.TEXT},
            problems=(NOT_FOUND,),
            light=True,
            media="text/plain",
        ),
    )


@cache
def _described() -> Json:
    from twolane.interfaces.http.table import ENDPOINTS

    return description(ENDPOINTS, __version__)


@cache
def _page() -> str:
    from twolane.interfaces.http.table import ENDPOINTS

    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>Twolane HTTP API</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<h1>Twolane HTTP API {escape(__version__)}</h1>",
        '<p>For programs: <a href="/openapi.json">openapi.json</a></p>',
    ]
    for one in ENDPOINTS:
        parts.append(f"<h2><code>{one.method} {escape(one.path)}</code></h2>")
        parts.append(f"<p>{escape(one.summary)}. {escape(one.description)}</p>")
        if one.capability:
            parts.append(f"<p>Needs <code>{one.capability}</code>.</p>")
        if one.parameters:
            rows = "".join(_row(parameter) for parameter in one.parameters)
            parts.append(f"<table><tr><th>Parameter<th>Type<th>Meaning</tr>{rows}</table>")
        told = ", ".join(f"{each.status} {each.name}" for each in problems_of(one))
        parts.append(f"<p>Problems: {escape(told)}.</p>")
    parts.append("<h2>Problems</h2><dl>")
    for each in PROBLEMS.values():
        parts.append(f"<dt><code>{each.type}</code> ({each.status}) {escape(each.title)}</dt>")
        parts.append(f"<dd>{escape(each.advice)}</dd>")
    return "\n".join([*parts, "</dl></html>", ""])


def _row(parameter: Parameter) -> str:
    type = {Type.TEXT: "text", Type.WHOLE: "number", Type.TRUTH: "true or false"}[parameter.type]
    shown = ", ".join(parameter.choices) or type
    needed = " (required)" if parameter.required else ""
    cells = (f"<code>{parameter.name}</code>{needed}", escape(shown), escape(parameter.meaning))
    return f"<tr><td>{'<td>'.join(cells)}</tr>"


def _etag(content: bytes | Any) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:20]}"'
