"""What of a document's properties can be compared: each value as text, number and moment.

Every store holds these alike, so that `rating:>3` means the same in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from twolane.language import fold

# A longer text is no value that anybody filters by; its beginning stands for it.
_LONGEST = 200

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].+)?")


class Fact(NamedTuple):
    """One value of one property: its name's key, and the value by each measure that it has."""

    name: str
    text: str
    number: float | None
    moment: float | None


def facts(properties: Mapping[str, Any]) -> list[Fact]:
    """Everything that can be compared, each once; an empty value says nothing."""
    found: dict[tuple[str, str], Fact] = {}
    for name, held in properties.items():
        if key := property_key(str(name)):
            for value in _values(held):
                fact = Fact(key, *_measured(value))
                found.setdefault((key, fact.text), fact)
    return list(found.values())


def property_key(name: str) -> str:
    """The spelling under which a property's name is one: case, spaces and `_` do not matter."""
    return re.sub(r"[\s_]+", "-", fold(name).strip())


def value_text(value: str) -> str:
    """The spelling under which two texts are the same value."""
    return " ".join(fold(value).split())[:_LONGEST]


def number_of(text: str) -> float | None:
    """The number that a text writes out, if it does."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _values(held: Any) -> Iterator[Any]:
    """A value, or each of a list; of what is nested deeper only that it is there."""
    for value in held if isinstance(held, list | tuple) else [held]:
        if isinstance(value, bool | int | float) or (isinstance(value, str) and value.strip()):
            yield value
        elif isinstance(value, list | tuple | Mapping) and value:
            yield ""


def _measured(value: bool | float | str) -> tuple[str, float | None, float | None]:
    if isinstance(value, bool):
        return str(value).lower(), None, None
    if isinstance(value, str):
        return value_text(value), number_of(value), _moment(value.strip())
    try:
        number = float(value)
    except OverflowError:
        return str(value)[:_LONGEST], None, None
    if not math.isfinite(number):
        return str(value), None, None
    text = str(int(value)) if number.is_integer() else str(value)
    return text[:_LONGEST], number, None


def _moment(text: str) -> float | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
