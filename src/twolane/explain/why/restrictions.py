"""The filters and demands of a scope and a query, one by one, and how each would be typed.

Whether a document passes one of them is asked of the store, with a scope that holds it alone:
so this can never disagree with what a search does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, assert_never

from twolane.explain.why.values import Obstacle, ObstacleKind, Origin
from twolane.model.document import Document
from twolane.model.filters import Among, During, Except, Filter, Having, Measure, Span, Valued
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without
from twolane.query import Filters, Query

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Restriction:
    """One filter or demand: what it says, and what a document that fails it is told.

    `alone` are the fields of a scope that holds nothing else;
    `without` is the caller's scope without it, where it is the scope's and can be dropped.
    """

    kind: ObstacleKind
    origin: Origin
    what: str
    alone: Mapping[str, Any]
    reason: Callable[[Document], str]
    without: Scope | None = None

    def obstacle(self, document: Document) -> Obstacle:
        """The obstacle that this is to a document that fails it."""
        return Obstacle(self.kind, self.origin, self.what, self.reason(document))


def restrictions(scope: Scope, query: Query) -> Iterator[Restriction]:
    """All restrictions of the scope, then all of the query."""
    if not scope.archived:
        yield Restriction(
            ObstacleKind.ARCHIVED,
            Origin.SCOPE,
            "archived",
            {"archived": False},
            lambda document: "it is archived",
            replace(scope, archived=True),
        )
    if scope.documents:
        yield Restriction(
            ObstacleKind.LISTED,
            Origin.SCOPE,
            "documents",
            {"documents": scope.documents},
            lambda document: "it is not one of the documents that are searched",
        )
    yield from _filters(scope, Origin.SCOPE, lambda **fields: replace(scope, **fields))
    yield from _demands(scope.clause, Origin.SCOPE)
    yield from _filters(query.filters, Origin.QUERY, lambda **fields: None)
    yield from _demands(query.clause, Origin.QUERY)


# Two path patterns that no document can fit at once, or nothing left of what both allow.
CONTRADICTION = Restriction(
    ObstacleKind.CONTRADICTION,
    Origin.QUERY,
    "filters",
    {},
    lambda document: "the filters of the query and of the scope exclude each other",
)


def _filters(
    source: Scope | Filters, origin: Origin, changed: Callable[..., Scope | None]
) -> Iterator[Restriction]:
    """The restrictions of fields that scopes and query filters both have."""
    kind = ObstacleKind

    def restriction(
        kind: ObstacleKind,
        what: str,
        field: str,
        value: Any,
        reason: Callable[[Document], str],
        rest: Any = (),
    ) -> Restriction:
        """A field that demands the value; `rest` is what it demands without that."""
        return Restriction(kind, origin, what, {field: value}, reason, changed(**{field: rest}))

    if source.collections:
        names = _either(source.collections)
        yield restriction(
            kind.COLLECTION,
            names,
            "collections",
            source.collections,
            lambda document: f"it is in the collection {_quoted(document.collection)}, not {names}",
        )
    if source.kinds:
        kinds = " or ".join(source.kinds)
        yield restriction(
            kind.KIND,
            kinds,
            "kinds",
            source.kinds,
            lambda document: f"its kind is {document.kind}, not {kinds}",
        )
    for tag in source.tags:
        reason = _saying(f"it does not have the tag {_quoted(tag)}")
        yield restriction(kind.TAG, tag, "tags", (tag,), reason, _but(source.tags, tag))
    for tag in source.without_tags:
        reason = _saying(f"it has the tag {_quoted(tag)}, which is excluded")
        rest = _but(source.without_tags, tag)
        yield restriction(kind.NOT_TAG, tag, "without_tags", (tag,), reason, rest)
    if source.paths:
        paths = _either(source.paths)
        yield restriction(
            kind.PATH,
            paths,
            "paths",
            source.paths,
            lambda document: f"its path {_quoted(document.path or 'none')} is not under {paths}",
        )
    if source.languages:
        spoken = " or ".join(source.languages)
        reason = _saying(f"none of its passages is in {spoken}")
        yield restriction(kind.LANGUAGE, spoken, "languages", source.languages, reason)
    for field, word, at in (
        ("updated_from", "after", source.updated_from),
        ("updated_before", "before", source.updated_before),
    ):
        if at is not None:
            what = f"{word} {at:%Y-%m-%d}"
            yield restriction(kind.DATE, what, field, at, _changed_at(word, at), None)
    for one in source.filters:
        others = _but(source.filters, one)
        reason = _saying(failing(one))
        made = restriction(kind.FILTER, filter_text(one), "filters", (one,), reason, others)
        yield replace(made, alone={**made.alone, "archived": True})


def _changed_at(word: str, at: datetime) -> Callable[[Document], str]:
    wanted = f"only what changed {'since' if word == 'after' else 'before'} {at:%Y-%m-%d} counts"

    def reason(document: Document) -> str:
        if document.updated is None:
            return f"it has no date, and {wanted}"
        return f"it was changed on {document.updated:%Y-%m-%d}, and {wanted}"

    return reason


def _demands(clause: Clause | None, origin: Origin) -> Iterator[Restriction]:
    """The demands that stand side by side, each as it would be typed."""
    if clause is None:
        return
    if isinstance(clause, All):
        for each in clause.clauses:
            yield from _demands(each, origin)
        return
    excludes = isinstance(clause, Without)
    quoted = _quoted(clause_text(clause.clause if isinstance(clause, Without) else clause))
    yield Restriction(
        ObstacleKind.EXCLUSION if excludes else ObstacleKind.DEMAND,
        origin,
        clause_text(clause),
        {"clause": clause},
        _saying(
            f"it holds {quoted}, which is excluded"
            if excludes
            else f"it does not hold {quoted}, which is demanded"
        ),
    )


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


def _but(values: Sequence[T], one: T) -> tuple[T, ...]:
    return tuple(each for each in values if each != one)


def _saying(reason: str) -> Callable[[Document], str]:
    return lambda document: reason


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
