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
from twolane.stores.postgres.expressions import Condition, joined, negated
from twolane.text.globs import expression
from twolane.text.tokens import fold


def passing(filter: Filter) -> Condition:
    """The condition on `documents AS d` that a document passes the filter."""
    match filter:
        case Among(trait, values):
            return among(trait, values)
        case During(time, start, end):
            parts: list[Condition] = [(f"d.{time.value} IS NOT NULL", [])]
            if start is not None:
                parts.append((f"d.{time.value} >= %s", [start.timestamp()]))
            if end is not None:
                parts.append((f"d.{time.value} < %s", [end.timestamp()]))
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
            return "d.kind = ANY(%s)", [[str(value) for value in values]]
        case Trait.COLLECTION:
            names = "SELECT row FROM collections WHERE name = ANY(%s)"
            return f"d.collection IN ({names})", [list(values)]
        case Trait.TAG:
            return _tagged(values)
        case Trait.PATH:
            # A path that is not there fits no pattern.
            return "d.path ~ ANY(%s)", [[f"^(?:{expression(value)})$" for value in values]]
        case Trait.LANGUAGE:
            return "d.languages && %s::text[]", [list(values)]
        case _:
            assert_never(trait)


def _tagged(tags: Sequence[str]) -> Condition:
    # `a` also means `a/b`; "0" is the sign after "/".
    keys = [fold(tag) for tag in tags]
    test = " OR ".join(["t.key = %s OR (t.key >= %s AND t.key < %s)"] * len(keys))
    bound = [value for key in keys for value in (key, f"{key}/", f"{key}0")]
    return f"EXISTS (SELECT 1 FROM tags AS t WHERE t.document = d.row AND ({test}))", bound


_HAVING = {
    Part.URL: "d.url <> ''",
    Part.TAG: "EXISTS (SELECT 1 FROM tags AS t WHERE t.document = d.row)",
    Part.ALIAS: "d.aliases <> '{}'",
    Part.HEADING: "d.headings <> '[]'",
    Part.LINK: "d.links <> '[]'",
    Part.DESCRIPTION: "d.description <> ''",
    Part.SUMMARY: "d.summary <> ''",
    Part.BODY: "EXISTS (SELECT 1 FROM chunks AS c WHERE c.document = d.row)",
    Part.ARGUMENT: "d.arguments <> '{}'",
    Part.PATH: "d.path IS NOT NULL",
    Part.LANGUAGE: "d.languages <> '{}'",
    Part.PROPERTY: "d.properties <> '{}'",
    Part.CREATED: "d.created IS NOT NULL",
    Part.UPDATED: "d.updated IS NOT NULL",
    Part.USED: "d.used IS NOT NULL",
    Part.ARCHIVED: "d.archived",
}

# The column that holds a value by each measure.
_COLUMNS = {Measure.TEXT: "text", Measure.NUMBER: "number", Measure.MOMENT: "moment"}


def _valued(name: str, spans: Sequence[Span]) -> Condition:
    test, bound = joined([_within(span) for span in spans], "OR") if spans else ("true", [])
    return (
        "EXISTS (SELECT 1 FROM property_values AS p"
        f" WHERE p.document = d.row AND p.name = %s AND ({test}))",
        [name, *bound],
    )


def _within(span: Span) -> Condition:
    column = f"p.{_COLUMNS[span.measure]}"
    parts: list[Condition] = [(f"{column} IS NOT NULL", [])]
    if span.low is not None:
        parts.append((f"{column} {'>' if span.above else '>='} %s", [span.low]))
    if span.high is not None:
        parts.append((f"{column} {'<' if span.below else '<='} %s", [span.high]))
    return joined(parts, "AND")
