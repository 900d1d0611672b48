"""The filters and demands of a scope and a query, one by one, and how each would be typed.

Whether a document passes one of them is asked of the store, with a scope that holds it alone:
so this can never disagree with what a search does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, assert_never

from twolane.explain.diagnosis import Obstacle, ObstacleKind, Origin
from twolane.model.document import Document
from twolane.model.scope import (
    All,
    Among,
    Clause,
    During,
    Either,
    Except,
    Filter,
    Having,
    InField,
    Measure,
    Near,
    Phrase,
    Scope,
    Span,
    Valued,
    Without,
)
from twolane.model.values import dataclass
from twolane.query import Filters, Query


@dataclass(frozen=True, slots=True)
class Restriction:
    """One filter or demand: what it says, and why a document that fails it does.

    `alone` are the fields of a scope that holds nothing else;
    `without` is the caller's scope without it, where it is the scope's and can be dropped.
    """

    kind: ObstacleKind
    origin: Origin
    what: str
    alone: Mapping[str, Any]
    reason: str
    without: Scope | None = None

    @property
    def obstacle(self) -> Obstacle:
        """The obstacle that this is to a document that fails it."""
        return Obstacle(self.kind, self.origin, self.what, self.reason)


def restrictions(scope: Scope, query: Query, document: Document) -> Iterator[Restriction]:
    """All restrictions of the scope, then all of the query, as this document would fail them."""
    if not scope.archived:
        yield Restriction(
            ObstacleKind.ARCHIVED,
            Origin.SCOPE,
            "archived",
            {"archived": False},
            "it is archived",
            replace(scope, archived=True),
        )
    if scope.documents:
        yield Restriction(
            ObstacleKind.LISTED,
            Origin.SCOPE,
            "documents",
            {"documents": scope.documents},
            "it is not one of the documents that are searched",
        )
    for kind, what, alone, reason, rest in _filters(scope, document):
        yield Restriction(kind, Origin.SCOPE, what, alone, reason, replace(scope, **rest))
    yield from _demands(scope.clause, Origin.SCOPE)
    for kind, what, alone, reason, _ in _filters(query.filters, document):
        yield Restriction(kind, Origin.QUERY, what, alone, reason)
    yield from _demands(query.clause, Origin.QUERY)


# Two path patterns that no document can fit at once, or nothing left of what both allow.
CONTRADICTION = Restriction(
    ObstacleKind.CONTRADICTION,
    Origin.QUERY,
    "filters",
    {},
    "the filters of the query and of the scope exclude each other",
)

# Kind, what was typed, the filter alone, why the document fails it, the field without it.
_Filter = tuple[ObstacleKind, str, dict[str, Any], str, dict[str, Any]]


def _filters(source: Scope | Filters, document: Document) -> Iterator[_Filter]:
    """The restrictions of fields that scopes and query filters both have."""
    kind = ObstacleKind

    def whole(kind: ObstacleKind, field: str, what: str, reason: str, rest: Any = ()) -> _Filter:
        """A field that restricts as a whole."""
        return kind, what, {field: getattr(source, field)}, reason, {field: rest}

    if source.collections:
        names = _either(source.collections)
        reason = f"it is in the collection {_quoted(document.collection)}, not {names}"
        yield whole(kind.COLLECTION, "collections", names, reason)
    if source.kinds:
        kinds = " or ".join(source.kinds)
        yield whole(kind.KIND, "kinds", kinds, f"its kind is {document.kind}, not {kinds}")
    for tag in source.tags:
        reason = f"it does not have the tag {_quoted(tag)}"
        yield kind.TAG, tag, {"tags": (tag,)}, reason, {"tags": _but(source.tags, tag)}
    for tag in source.without_tags:
        reason = f"it has the tag {_quoted(tag)}, which is excluded"
        others = {"without_tags": _but(source.without_tags, tag)}
        yield kind.NOT_TAG, tag, {"without_tags": (tag,)}, reason, others
    if source.paths:
        paths = _either(source.paths)
        reason = f"its path {_quoted(document.path or 'none')} is not under {paths}"
        yield whole(kind.PATH, "paths", paths, reason)
    if source.languages:
        languages = " or ".join(source.languages)
        reason = f"none of its passages is in {languages}"
        yield whole(kind.LANGUAGE, "languages", languages, reason)
    updated = document.updated
    dated = f"was changed on {updated:%Y-%m-%d}" if updated else "has no date"
    if start := source.updated_from:
        reason = f"it {dated}, and only what changed since {_day(start)} counts"
        yield whole(kind.DATE, "updated_from", f"after {_day(start)}", reason, None)
    if end := source.updated_before:
        reason = f"it {dated}, and only what changed before {_day(end)} counts"
        yield whole(kind.DATE, "updated_before", f"before {_day(end)}", reason, None)
    for one in source.filters:
        alone = {"filters": (one,), "archived": True}
        rest = {"filters": tuple(each for each in source.filters if each != one)}
        yield kind.FILTER, filter_text(one), alone, failing(one), rest


def _demands(clause: Clause | None, origin: Origin) -> Iterator[Restriction]:
    """The demands that stand side by side, each as it would be typed."""
    if isinstance(clause, All):
        for each in clause.clauses:
            yield from _demands(each, origin)
    elif clause is not None:
        if isinstance(clause, Without):
            kind = ObstacleKind.EXCLUSION
            reason = f"it holds {_quoted(clause_text(clause.clause))}, which is excluded"
        else:
            kind = ObstacleKind.DEMAND
            reason = f"it does not hold {_quoted(clause_text(clause))}, which is demanded"
        yield Restriction(kind, origin, clause_text(clause), {"clause": clause}, reason)


def clause_text(clause: Clause) -> str:
    """A clause as it could be typed."""
    match clause:
        case Phrase(words, literal):
            text = literal if literal is not None else " ".join(word.text for word in words)
            return f'"{text}"' if literal is not None or len(words) > 1 else text
        case Near(phrases, distance):
            return f"NEAR({' '.join(clause_text(phrase) for phrase in phrases)}, {distance})"
        case InField(name, inner):
            return f"{name}:{_grouped(inner)}"
        case All(clauses):
            return " AND ".join(_grouped(each) for each in clauses)
        case Either(clauses):
            return " OR ".join(_grouped(each) for each in clauses)
        case Without(inner):
            return f"-{_grouped(inner)}"
        case _:
            assert_never(clause)


def _grouped(clause: Clause) -> str:
    return f"({clause_text(clause)})" if isinstance(clause, All | Either) else clause_text(clause)


def _but(tags: Sequence[str], tag: str) -> tuple[str, ...]:
    return tuple(each for each in tags if each != tag)


def _either(values: Sequence[str]) -> str:
    return " or ".join(_quoted(value) for value in values)


def _quoted(text: str) -> str:
    return text if text.startswith('"') else f"“{text}”"


def filter_text(filter: Filter) -> str:
    """A filter as it could be typed."""
    match filter:
        case Among(trait, values):
            return f"{trait}:{'|'.join(values)}"
        case During(time, start, end):
            return f"{time}:{_day(start)}..{_day(end)}"
        case Having(part):
            return f"has:{part}"
        case Valued(name, spans):
            return f"{name}:{'|'.join(_value(span) for span in spans if _typed(span))}"
        case Except(inner):
            return f"-{filter_text(inner)}"
        case _:
            assert_never(filter)


def failing(filter: Filter) -> str:
    """What a document that fails the filter is, after "because"."""
    if isinstance(filter, Except):
        return f"it is one of {filter_text(filter.filter)}, which is excluded"
    match filter:
        case Having(part):
            return "it is not archived" if part == "archived" else f"it has no {part}"
        case Valued(name, ()):
            return f"it has no property {name}"
        case _:
            return f"it is not one of {filter_text(filter)}"


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else ""


def _typed(span: Span) -> bool:
    """Whether a span was typed, and not only added because its text is also a number or date."""
    return span.low != span.high or span.measure == Measure.TEXT


def _value(span: Span) -> str:
    if span.low == span.high:
        return str(span.low)
    return f"{_end(span, span.low)}..{_end(span, span.high)}"


def _end(span: Span, value: str | float | None) -> str:
    if value is None:
        return ""
    if span.measure == Measure.MOMENT and isinstance(value, float):
        return _day(datetime.fromtimestamp(value, UTC))
    return f"{value:g}" if isinstance(value, float) else value
