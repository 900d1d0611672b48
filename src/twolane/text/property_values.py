"""What of a document's properties can be compared: each value as text, number and moment.

Every store holds these alike, so that `rating:>3` means the same in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from twolane.text.tokens import fold

# A longer text is no value that anybody filters by; its beginning stands for it.
_LONGEST = 200

_SPACES = re.compile(r"[\s_]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].+)?")


# These have filters of their own, which know more of them: tags below tags, and days.
# What they compare is kept elsewhere, and not a second time here; the value is the filter's name.
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {"tags": "tags", "tag": "tags", "created": "created", "updated": "updated"}
)

_DAY_ALONE = len("2025-01-31")
_FIRST_DAY = date(1970, 1, 1).toordinal()


class Fact(NamedTuple):
    """One value of one property: its name's key, and the value by each measure that it has."""

    name: str
    text: str
    number: float | None
    moment: float | None


_Measured = tuple[str, float | None, float | None]


def facts(properties: Mapping[str, Any]) -> list[Fact]:
    """Everything that can be compared here, each once; an empty value says nothing."""
    found: dict[tuple[str, str], Fact] = {}
    for name, given in properties.items():
        if (key := property_key(str(name))) and key not in ELSEWHERE:
            for value in given if isinstance(given, (list, tuple)) else (given,):
                measured = _measured(value)
                if measured is not None and (key, measured[0]) not in found:
                    found[key, measured[0]] = Fact(key, *measured)
    return list(found.values())


def property_key(name: str) -> str:
    """The spelling under which a property's name is one: case, spaces and `_` do not matter."""
    return _SPACES.sub("-", fold(name).strip())


def value_text(value: str) -> str:
    """The spelling under which two texts are the same value."""
    return " ".join(fold(value).split())[:_LONGEST]


def number_of(text: str) -> float | None:
    """The number that a text writes out, if it does."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _measured(value: Any) -> _Measured | None:
    """A value by each measure; of what is nested only that it is there; None says nothing."""
    if isinstance(value, str):
        moment = _moment(value.strip())
        number = None if moment is not None else number_of(value)
        return (value_text(value), number, moment) if value.strip() else None
    if isinstance(value, bool):
        return str(value).lower(), None, None
    if isinstance(value, (int, float)):
        return _measured_number(value)
    return ("", None, None) if isinstance(value, (list, tuple, Mapping)) and value else None


def _measured_number(value: float) -> _Measured:
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
        if len(text) == _DAY_ALONE:
            return (date.fromisoformat(text).toordinal() - _FIRST_DAY) * 86_400.0
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
