"""`/openapi.json`, `/docs` and `/problems/…`: the server describes itself from its own table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache, partial
from html import escape

from twolane import __version__
from twolane.interfaces.http.endpoints import Call, Endpoint, Reply, endpoint
from twolane.interfaces.http.openapi import description, parameters_of, problems_of
from twolane.interfaces.http.parameters import ProblemName
from twolane.interfaces.http.problems import NOT_FOUND, PROBLEMS, HttpProblem
from twolane.interfaces.wire.shape import Json, encode


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
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>Twolane HTTP API</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<h1>Twolane HTTP API {escape(__version__)}</h1>",
        '<p>For programs: <a href="/openapi.json">openapi.json</a></p>',
    ]
    for one in endpoints:
        parts.append(f"<h2><code>{one.method} {escape(one.path)}</code></h2>")
        parts.append(f"<p>{escape(one.summary)}. {escape(one.description)}</p>")
        if one.capability:
            parts.append(f"<p>Needs <code>{one.capability}</code>.</p>")
        rows = "".join(map(_row, parameters_of(one)))
        if rows:
            parts.append(f"<table><tr><th>Parameter<th>Type<th>Meaning</tr>{rows}</table>")
        told = ", ".join(f"{each.status} {each.name}" for each in problems_of(one))
        parts.append(f"<p>Problems: {escape(told)}.</p>")
    parts.append("<h2>Problems</h2><dl>")
    for each in PROBLEMS.values():
        parts.append(f"<dt><code>{each.type}</code> ({each.status}) {escape(each.title)}</dt>")
        parts.append(f"<dd>{escape(each.advice)}</dd>")
    return "\n".join([*parts, "</dl></html>", ""])


def _row(parameter: Json) -> str:
    schema = parameter["schema"]
    schema = schema.get("items", schema)
    type = schema.get("type") or schema.get("$ref", "").rpartition("/")[2]
    needed = " (required)" if parameter["required"] else ""
    meaning = escape(parameter["description"])
    return f"<tr><td><code>{parameter['name']}</code>{needed}<td>{escape(type)}<td>{meaning}</tr>"


def _etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:20]}"'
