"""The filters and demands of a scope and a query, one by one.

Whether a document passes one of them is asked of the store, with a scope that holds it alone:
so this can never disagree with what a search does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, assert_never

from twolane.explain.why.filter_words import failing, spelled
from twolane.explain.why.values import Obstacle, ObstacleKind, Origin
from twolane.model.document import Document
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without
from twolane.query import Filters, Query


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
    if source.collections:
        names = _either(source.collections)
        yield Restriction(
            kind.COLLECTION,
            origin,
            names,
            {"collections": source.collections},
            lambda document: f"it is in the collection {_quoted(document.collection)}, not {names}",
            changed(collections=()),
        )
    if source.kinds:
        kinds = " or ".join(source.kinds)
        yield Restriction(
            kind.KIND,
            origin,
            kinds,
            {"kinds": source.kinds},
            lambda document: f"its kind is {document.kind}, not {kinds}",
            changed(kinds=()),
        )
    for tag in source.tags:
        rest = tuple(one for one in source.tags if one != tag)
        reason = f"it does not have the tag {_quoted(tag)}"
        yield Restriction(
            kind.TAG, origin, tag, {"tags": (tag,)}, _saying(reason), changed(tags=rest)
        )
    for tag in source.without_tags:
        rest = tuple(one for one in source.without_tags if one != tag)
        reason = f"it has the tag {_quoted(tag)}, which is excluded"
        yield Restriction(
            kind.NOT_TAG,
            origin,
            tag,
            {"without_tags": (tag,)},
            _saying(reason),
            changed(without_tags=rest),
        )
    if source.paths:
        paths = _either(source.paths)
        yield Restriction(
            kind.PATH,
            origin,
            paths,
            {"paths": source.paths},
            lambda document: f"its path {_quoted(document.path or 'none')} is not under {paths}",
            changed(paths=()),
        )
    if source.languages:
        spoken = " or ".join(source.languages)
        yield Restriction(
            kind.LANGUAGE,
            origin,
            spoken,
            {"languages": source.languages},
            _saying(f"none of its passages is in {spoken}"),
            changed(languages=()),
        )
    yield from _dates(source, origin, changed)
    for one in source.filters:
        others = tuple(each for each in source.filters if each != one)
        yield Restriction(
            kind.FILTER,
            origin,
            spelled(one),
            {"filters": (one,), "archived": True},
            _saying(failing(one)),
            changed(filters=others),
        )


def _dates(
    source: Scope | Filters, origin: Origin, changed: Callable[..., Scope | None]
) -> Iterator[Restriction]:
    for name, word, at in (
        ("updated_from", "after", source.updated_from),
        ("updated_before", "before", source.updated_before),
    ):
        if at is not None:
            yield Restriction(
                ObstacleKind.DATE,
                origin,
                f"{word} {at:%Y-%m-%d}",
                {name: at},
                _changed_at(word, at),
                changed(**{name: None}),
            )


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
    quoted = _quoted(spelling(clause.clause if isinstance(clause, Without) else clause))
    yield Restriction(
        ObstacleKind.EXCLUSION if excludes else ObstacleKind.DEMAND,
        origin,
        spelling(clause),
        {"clause": clause},
        _saying(
            f"it holds {quoted}, which is excluded"
            if excludes
            else f"it does not hold {quoted}, which is demanded"
        ),
    )


def spelling(clause: Clause) -> str:
    """A clause as it could be typed."""
    match clause:
        case Phrase(words, literal):
            text = literal if literal is not None else " ".join(word.text for word in words)
            return f'"{text}"' if literal is not None or len(words) > 1 else text
        case Near(phrases, distance):
            return f"NEAR({' '.join(spelling(phrase) for phrase in phrases)}, {distance})"
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
    return f"({spelling(clause)})" if isinstance(clause, All | Either) else spelling(clause)


def _saying(reason: str) -> Callable[[Document], str]:
    return lambda document: reason


def _either(values: Sequence[str]) -> str:
    return " or ".join(_quoted(value) for value in values)


def _quoted(text: str) -> str:
    return text if text.startswith('"') else f"“{text}”"
