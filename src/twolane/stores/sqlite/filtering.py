"""Filters as SQL conditions over a document's row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from twolane.model.filters import (
    Among,
    During,
    Except,
    Filter,
    Having,
    Measure,
    Part,
    Span,
    Trait,
    Valued,
)
from twolane.stores.sqlite.expressions import Condition, Value, joined, marks, negated
from twolane.text.globs import LAST, beginning
from twolane.text.tokens import fold


def passing(filter: Filter) -> Condition:
    """The condition on `documents AS d` that a document passes the filter."""
    match filter:
        case Among(trait, values):
            return among(trait, values)
        case During(time, start, end):
            parts: list[Condition] = [(f"d.{time.value} IS NOT NULL", [])]
            if start is not None:
                parts.append((f"d.{time.value} >= ?", [start.timestamp()]))
            if end is not None:
                parts.append((f"d.{time.value} < ?", [end.timestamp()]))
            return joined(parts, "AND")
        case Having(part):
            return _HAVING[part], []
        case Valued(name, spans):
            return _valued(name, spans)
        case Except(inner):
            return negated(passing(inner))
        case _:
            assert_never(filter)


def among(trait: Trait, values: Sequence[str]) -> Condition:
    """The condition that the trait is one of the values."""
    match trait:
        case Trait.KIND:
            return f"d.kind IN ({marks(values)})", [str(value) for value in values]
        case Trait.COLLECTION:
            names = f"SELECT row FROM collections WHERE name IN ({marks(values)})"
            return f"d.collection IN ({names})", [*values]
        case Trait.TAG:
            return _tagged(values)
        case Trait.PATH:
            return _placed(values)
        case Trait.LANGUAGE:
            spoken: list[Condition] = [
                ("instr(d.languages, ?) > 0", [f" {value} "]) for value in values
            ]
            return joined(spoken, "OR")
        case _:
            assert_never(trait)


def _placed(patterns: Sequence[str]) -> Condition:
    """Paths that fit a pattern, looked for among those that begin as it does."""
    beginnings: list[Condition] = [
        ("d.path >= ? AND d.path < ?", [begin, begin + LAST])
        for begin in (beginning(pattern) for pattern in patterns)
    ]
    fitting: Condition = ("path_matches(d.path, ?)", ["\n".join(patterns)])
    return joined([joined(beginnings, "OR"), fitting], "AND")


def _tagged(tags: Sequence[str]) -> Condition:
    # `a` also means `a/b`; "0" is the sign after "/".
    keys = [fold(tag) for tag in tags]
    test = " OR ".join(["t.key = ? OR (t.key >= ? AND t.key < ?)"] * len(keys))
    bound: list[Value] = [value for key in keys for value in (key, f"{key}/", f"{key}0")]
    return (
        "d.row IN (SELECT dt.document FROM tags AS t JOIN document_tags AS dt ON dt.tag = t.row"
        f" WHERE {test})",
        bound,
    )


_HAVING = {
    Part.URL: "d.url <> ''",
    Part.TAG: "EXISTS (SELECT 1 FROM document_tags AS dt WHERE dt.document = d.row)",
    Part.ALIAS: "d.aliases <> '[]'",
    Part.HEADING: "d.headings <> '[]'",
    Part.LINK: "d.links <> '[]'",
    Part.DESCRIPTION: "d.description <> ''",
    Part.SUMMARY: "d.summary <> ''",
    Part.BODY: "EXISTS (SELECT 1 FROM chunks AS c WHERE c.document = d.row)",
    Part.ARGUMENT: "d.arguments <> '[]'",
    Part.PATH: "d.path IS NOT NULL",
    Part.LANGUAGE: "d.languages <> ''",
    Part.PROPERTY: "d.properties <> '{}'",
    Part.CREATED: "d.created IS NOT NULL",
    Part.UPDATED: "d.updated IS NOT NULL",
    Part.USED: "d.used IS NOT NULL",
    Part.ARCHIVED: "d.archived",
}

# The column that holds a value by each measure.
_COLUMNS = {Measure.TEXT: "text", Measure.NUMBER: "number", Measure.MOMENT: "moment"}


def _valued(name: str, spans: Sequence[Span]) -> Condition:
    test, bound = joined([_within(span) for span in spans], "OR") if spans else ("1", [])
    return (
        f"d.row IN (SELECT p.document FROM property_values AS p WHERE p.name = ? AND ({test}))",
        [name, *bound],
    )


def _within(span: Span) -> Condition:
    column = f"p.{_COLUMNS[span.measure]}"
    parts: list[Condition] = [(f"{column} IS NOT NULL", [])]
    if span.low is not None:
        parts.append((f"{column} {'>' if span.above else '>='} ?", [span.low]))
    if span.high is not None:
        parts.append((f"{column} {'<' if span.below else '<='} ?", [span.high]))
    return joined(parts, "AND")
