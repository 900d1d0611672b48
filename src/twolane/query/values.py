"""Values of properties as people type them: `done`, `done|open`, `>3`, `2024-01`, `1..5`, `in*`."""

from __future__ import annotations

import re
from datetime import datetime

from twolane.model.scope import Measure, Span, Valued
from twolane.query.dates import is_absolute, window
from twolane.text.property_values import number_of, property_key, value_text

_COMPARED = re.compile(r"(>=|<=|>|<)\s*(.+)", re.DOTALL)

# The last character there is ends the words that begin alike.
_LAST = "\U0010ffff"

_TRUTHS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false",
           "off": "false"}  # fmt: skip


def valued(name: str, value: str, now: datetime) -> Valued | None:
    """The filter `name:value`, or None if the value cannot be compared so.

    `*` is any value; a value after `=` is taken letter by letter.
    """
    key = property_key(name)
    if not key or not value.strip():
        return None
    if value.strip() == "*":
        return Valued(key)
    if value.startswith("="):
        return Valued(key, (_equal(value_text(value[1:])),))
    spans: list[Span] = []
    for one in value.split("|"):
        found = _spans(one.strip(), now)
        if not found:
            return None
        spans += found
    return Valued(key, tuple(dict.fromkeys(spans)))


def _spans(value: str, now: datetime) -> list[Span]:
    compared = _COMPARED.fullmatch(value)
    if compared:
        return [*_numbers_beyond(compared[1], compared[2]), *_moments(value, now)]
    if ".." in value:
        return [*_numbers_between(value), *_moments(value, now)]
    text = value_text(value)
    if not text:
        return []
    if text.endswith("*"):
        begin = text.rstrip("*")
        return [Span(Measure.TEXT, begin, begin + _LAST)] if begin else []
    spans = [_equal(text)]
    if text in _TRUTHS:
        spans.append(_equal(_TRUTHS[text]))
    number = number_of(text)
    if number is not None:
        spans.append(Span(Measure.NUMBER, number, number))
    if is_absolute(value) or text in ("today", "yesterday"):
        spans += _moments(value, now)
    return spans


def _equal(text: str) -> Span:
    return Span(Measure.TEXT, text, text)


def _numbers_beyond(sign: str, value: str) -> list[Span]:
    number = number_of(value)
    if number is None:
        return []
    if sign in (">", ">="):
        return [Span(Measure.NUMBER, low=number, above=sign == ">")]
    return [Span(Measure.NUMBER, high=number, below=sign == "<")]


def _numbers_between(value: str) -> list[Span]:
    first, _, last = (part.strip() for part in value.partition(".."))
    low, high = number_of(first), number_of(last)
    unclear = (first and low is None) or (last and high is None)
    if unclear or not (first or last):
        return []
    return [Span(Measure.NUMBER, low, high)]


def _moments(value: str, now: datetime) -> list[Span]:
    found = window(value, now)
    if found is None:
        return []
    start, end = found
    low = start.timestamp() if start else None
    return [Span(Measure.MOMENT, low, end.timestamp() if end else None, below=True)]
