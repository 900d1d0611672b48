"""`/openapi.json`, `/docs` and `/problems/…`: the server describes itself from its own table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, partial
from html import escape

from twolane import __version__
from twolane.interfaces.http.endpoints import Call, Endpoint, Reply, endpoint
from twolane.interfaces.http.openapi import (
    TAGS,
    description,
    example_of,
    parameters_of,
    problems_of,
)
from twolane.interfaces.http.parameters import ProblemName
from twolane.interfaces.http.problems import NOT_FOUND, PROBLEMS, HttpProblem
from twolane.interfaces.wire.bodies import EXAMPLES
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
