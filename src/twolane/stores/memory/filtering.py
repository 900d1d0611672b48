"""Whether a document passes a filter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

from twolane.model.document import Document, Prepared
from twolane.model.scope import Among, During, Except, Filter, Having, Part, Span, Trait, Valued
from twolane.text.names import matches_any
from twolane.text.property_values import Fact, facts
from twolane.text.tokens import fold


def passes(prepared: Prepared, filter: Filter) -> bool:
    """Whether the document is what the filter says."""
    document = prepared.document
    match filter:
        case Among(trait, values):
            return is_among(prepared, trait, values)
        case During(time, start, end):
            return happened(getattr(document, time.value), start, end)
        case Having(part):
            return bool(_part(prepared, part))
        case Valued(name, spans):
            held = [fact for fact in facts(document.properties) if fact.name == name]
            return any(not spans or any(_within(fact, span) for span in spans) for fact in held)
        case Except(inner):
            return not passes(prepared, inner)
        case _:
            assert_never(filter)


def is_among(prepared: Prepared, trait: Trait, values: Sequence[str]) -> bool:
    """Whether the document has the trait with one of the values."""
    document = prepared.document
    match trait:
        case Trait.KIND:
            return document.kind in values
        case Trait.COLLECTION:
            return document.collection in values
        case Trait.TAG:
            return any(_tagged(document, tag) for tag in values)
        case Trait.PATH:
            return document.path is not None and matches_any(document.path, tuple(values))
        case Trait.LANGUAGE:
            return not set(values).isdisjoint(prepared.languages)
        case _:
            assert_never(trait)


def happened(at: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    """Whether this was at `start` or later and before `end`; what never was is at no time."""
    if at is None:
        return False
    if start is not None and moment(at) < moment(start):
        return False
    return end is None or moment(at) < moment(end)


def moment(time: datetime) -> datetime:
    """The time with a zone; one without is read as UTC, so that any two can be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _tagged(document: Document, wanted: str) -> bool:
    folded = fold(wanted)
    held = [fold(tag) for tag in document.tags]
    return any(tag == folded or tag.startswith(folded + "/") for tag in held)


def _part(prepared: Prepared, part: Part) -> object:
    if part == Part.BODY:
        return prepared.chunks
    if part == Part.LANGUAGE:
        return prepared.languages
    value = getattr(prepared.document, _NAMES.get(part, part.value))
    # A moment is there whatever it says, and so is a path.
    return value if part not in _THERE else value is not None


_NAMES = {
    Part.TAG: "tags",
    Part.ALIAS: "aliases",
    Part.HEADING: "headings",
    Part.LINK: "links",
    Part.ARGUMENT: "arguments",
    Part.PROPERTY: "properties",
}
_THERE = (Part.PATH, Part.CREATED, Part.UPDATED, Part.USED)


def _within(fact: Fact, span: Span) -> bool:
    value: Any = getattr(fact, span.measure.value)
    low: Any = span.low
    high: Any = span.high
    return (
        value is not None
        and (low is None or (value > low if span.above else value >= low))
        and (high is None or (value < high if span.below else value <= high))
    )
