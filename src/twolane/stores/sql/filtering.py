"""Scopes and filters as SQL conditions over a document's row `documents AS d`.

Building a condition is separate from running it: everything here is text in, text out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, assert_never

from twolane.model.scope import (
    Among,
    During,
    Except,
    Filter,
    Having,
    Measure,
    Part,
    Scope,
    Span,
    Trait,
    Valued,
)
from twolane.model.values import dataclass
from twolane.text.tokens import fold

# A piece of SQL with what it binds.
Condition = tuple[str, list[Any]]

EVERYTHING: Condition = ("true", [])
NOTHING: Condition = ("false", [])


def joined(parts: Sequence[Condition], word: str) -> Condition:
    """The conditions between `AND` or `OR`."""
    sql = f" {word} ".join(f"({part})" for part, _ in parts)
    return sql, [value for _, values in parts for value in values]


def negated(condition: Condition) -> Condition:
    """That the condition does not hold, which it also does not where it cannot be told."""
    return f"({condition[0]}) IS NOT TRUE", condition[1]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one engine writes in its own way.

    `tagged` and `valued` say that a document has a tag `t`, or a property's value `p`, which meets
    a `{test}`; `no_texts` and `no_languages` are lists without an entry, as they are stored.
    """

    tagged: str
    valued: str
    no_texts: str
    no_languages: str
    in_paths: Callable[[Sequence[str]], Condition]
    in_languages: Callable[[Sequence[str]], Condition]


def restrictions(scope: Scope, dialect: Dialect) -> list[Condition]:
    """What a scope asks for beyond that a document can be found, but for its clause."""
    parts: list[Condition] = []
    if scope.owner is not None:
        parts.append(("d.owner = ?", [scope.owner]))
    if scope.collections:
        parts.append(_among(Trait.COLLECTION, scope.collections, dialect))
    if scope.kinds:
        parts.append(_among(Trait.KIND, scope.kinds, dialect))
    parts += [_among(Trait.TAG, (tag,), dialect) for tag in scope.tags]
    parts += [negated(_among(Trait.TAG, (tag,), dialect)) for tag in scope.without_tags]
    if scope.paths:
        parts.append(_among(Trait.PATH, scope.paths, dialect))
    if scope.languages:
        parts.append(_among(Trait.LANGUAGE, scope.languages, dialect))
    parts += _during("updated", scope.updated_from, scope.updated_before)
    if scope.documents:
        parts.append(("d.id = ANY(?)", [list(scope.documents)]))
    parts += [_passing(each, dialect) for each in scope.filters]
    return parts


def listed(scope: Scope, parts: Sequence[Condition]) -> Condition:
    """That a document can be found, is not archived unless the scope says so, and all the rest."""
    return joined([("d.listed", []), *_usual(scope), *parts], "AND")


def hidden_too(scope: Scope, parts: Sequence[Condition], *, deleted: bool) -> Condition:
    """The same for documents that cannot be found, deleted ones or all others."""
    return joined([("d.deleted = ?", [deleted]), *_usual(scope), *parts], "AND")


def _usual(scope: Scope) -> list[Condition]:
    return [] if scope.archived else [("NOT d.archived", [])]


def _passing(filter: Filter, dialect: Dialect) -> Condition:
    match filter:
        case Among(trait, values):
            return _among(trait, values, dialect)
        case During(time, start, end):
            known: Condition = (f"d.{time.value} IS NOT NULL", [])
            return joined([known, *_during(time.value, start, end)], "AND")
        case Having(part):
            return _having(part, dialect), []
        case Valued(name, spans):
            test, bound = joined([_within(span) for span in spans], "OR") if spans else EVERYTHING
            return dialect.valued.format(test=f"p.name = ? AND ({test})"), [name, *bound]
        case Except(inner):
            return negated(_passing(inner, dialect))
        case _:
            assert_never(filter)


def _during(column: str, start: datetime | None, end: datetime | None) -> list[Condition]:
    parts: list[Condition] = []
    if start is not None:
        parts.append((f"d.{column} >= ?", [start.timestamp()]))
    if end is not None:
        parts.append((f"d.{column} < ?", [end.timestamp()]))
    return parts


def _among(trait: Trait, values: Sequence[str], dialect: Dialect) -> Condition:
    """The condition that the trait is one of the values."""
    match trait:
        case Trait.KIND:
            return "d.kind = ANY(?)", [[str(value) for value in values]]
        case Trait.COLLECTION:
            names = "SELECT row FROM collections WHERE name = ANY(?)"
            return f"d.collection IN ({names})", [list(values)]
        case Trait.TAG:
            # `a` also means `a/b`; "0" is the sign after "/".
            keys = [fold(value) for value in values]
            test = " OR ".join(["t.key = ? OR (t.key >= ? AND t.key < ?)"] * len(keys))
            bound = [value for key in keys for value in (key, f"{key}/", f"{key}0")]
            return dialect.tagged.format(test=f"({test})"), bound
        case Trait.PATH:
            return dialect.in_paths(values)
        case Trait.LANGUAGE:
            return dialect.in_languages(values)
        case _:
            assert_never(trait)


# What a document has that has a part at all.
_HAVING = {
    Part.URL: "d.url <> ''",
    Part.TAG: "{tagged}",
    Part.ALIAS: "d.aliases <> {no_texts}",
    Part.HEADING: "d.headings <> '[]'",
    Part.LINK: "d.links <> '[]'",
    Part.DESCRIPTION: "d.description <> ''",
    Part.SUMMARY: "d.summary <> ''",
    Part.BODY: "EXISTS (SELECT 1 FROM chunks AS c WHERE c.document = d.row)",
    Part.ARGUMENT: "d.arguments <> {no_texts}",
    Part.PATH: "d.path IS NOT NULL",
    Part.LANGUAGE: "d.languages <> {no_languages}",
    Part.PROPERTY: "d.properties <> '{{}}'",
    Part.CREATED: "d.created IS NOT NULL",
    Part.UPDATED: "d.updated IS NOT NULL",
    Part.USED: "d.used IS NOT NULL",
    Part.ARCHIVED: "d.archived",
}


def _having(part: Part, dialect: Dialect) -> str:
    return _HAVING[part].format(
        tagged=dialect.tagged.format(test="true"),
        no_texts=dialect.no_texts,
        no_languages=dialect.no_languages,
    )


# The column that holds a value by each measure.
_COLUMNS = {Measure.TEXT: "text", Measure.NUMBER: "number", Measure.MOMENT: "moment"}


def _within(span: Span) -> Condition:
    column = f"p.{_COLUMNS[span.measure]}"
    parts: list[Condition] = [(f"{column} IS NOT NULL", [])]
    if span.low is not None:
        parts.append((f"{column} {'>' if span.above else '>='} ?", [span.low]))
    if span.high is not None:
        parts.append((f"{column} {'<' if span.below else '<='} ?", [span.high]))
    return joined(parts, "AND")
