"""Filters in words: as they would be typed, and what a document that fails one is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_never

from twolane.model.filters import Among, During, Except, Filter, Having, Measure, Span, Valued


def spelled(filter: Filter) -> str:
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
            return f"-{spelled(inner)}"
        case _:
            assert_never(filter)


def failing(filter: Filter) -> str:
    """What a document that fails the filter is, after "because"."""
    if isinstance(filter, Except):
        return f"it is one of {spelled(filter.filter)}, which is excluded"
    match filter:
        case Having(part):
            return "it is not archived" if part == "archived" else f"it has no {part}"
        case Valued(name, ()):
            return f"it has no property {name}"
        case _:
            return f"it is not one of {spelled(filter)}"


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
