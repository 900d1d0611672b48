"""What a query may say about documents besides their words: kinds, tags, places and dates."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeVar

from twolane.language import SNOWBALL
from twolane.language.function_words import FUNCTION_WORDS
from twolane.language.scripts import USUAL
from twolane.model import Kind

T = TypeVar("T")

# A query with more values than this for one filter was not typed by a person.
_MOST = 64

# Patterns are matched by backtracking, so a query must not bring one that never ends.
_LONGEST_PATH = 300
_MOST_WILDCARDS = 8

# A name that no collection has: a filter on it lets nothing through.
_NOWHERE = ("",)


@dataclass(frozen=True, slots=True)
class Filters:
    """The restrictions that a query puts on its scope; names and meanings are those of `Scope`."""

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    updated_from: datetime | None = None
    updated_before: datetime | None = None


def read_filter(name: str, value: str, held: Collection[str], now: datetime) -> Filters | None:
    """The filter `name:value`, or None if there is no such filter or the value makes no sense."""
    match name:
        case "tags":
            tag = value.strip(" ,;:.!?").removeprefix("#")
            return Filters(tags=(tag,)) if is_tag(tag) else None
        case "kind":
            kinds = _listed(value, frozenset(Kind))
            return Filters(kinds=tuple(Kind(kind) for kind in kinds)) if kinds else None
        case "lang":
            languages = _listed(value, {*held, *SNOWBALL, *FUNCTION_WORDS, *USUAL.values()})
            return Filters(languages=languages) if languages else None
        case "path":
            return Filters(paths=(value,)) if _is_path(value) else None
        case "collection":
            return Filters(collections=(value,)) if value.strip() else None
        case "after" | "before" | "updated":
            return _dated(name, value.strip(), now)
        case _:
            return None


def merged(wanted: Sequence[Filters], unwanted: Sequence[Filters]) -> Filters:
    """All of a query's filters as one.

    A document has one kind, place and collection, so several of these are alternatives;
    tags and dates are demands that must all be met.
    Only the tags and kinds of unwanted filters can be expressed.
    """
    kinds = _distinct(kind for each in wanted for kind in each.kinds)
    collections = _distinct(name for each in wanted for name in each.collections)
    excluded = {kind for each in unwanted for kind in each.kinds}
    if excluded:
        kinds = tuple(kind for kind in kinds or tuple(Kind) if kind not in excluded)
        collections = collections if kinds else _NOWHERE
    return Filters(
        kinds=kinds,
        tags=_distinct((tag for each in wanted for tag in each.tags), str.casefold),
        without_tags=_distinct((tag for each in unwanted for tag in each.tags), str.casefold),
        paths=_distinct(path for each in wanted for path in each.paths),
        collections=collections,
        languages=_distinct(language for each in wanted for language in each.languages),
        updated_from=max((at for each in wanted if (at := each.updated_from)), default=None),
        updated_before=min((at for each in wanted if (at := each.updated_before)), default=None),
    )


def is_tag(value: str) -> bool:
    """Whether this can be a tag: letters, digits and `_ - /`, and spaces if it was quoted."""
    return any(char.isalnum() for char in value) and all(
        char.isalnum() or char in "_-/ " or unicodedata.category(char).startswith("M")
        for char in value
    )


def _listed(value: str, known: Collection[str]) -> tuple[str, ...]:
    """The values of `a|b` or `a,b` if all are known, else none."""
    values = [part.strip().lower() for part in re.split(r"[|,]", value)]
    return tuple(values) if all(part in known for part in values) else ()


def _is_path(value: str) -> bool:
    wildcards = len(re.findall(r"\*+|\?", value))
    return bool(value.strip()) and len(value) <= _LONGEST_PATH and wildcards <= _MOST_WILDCARDS


def _distinct(values: Iterable[T], key: Callable[[T], object] | None = None) -> tuple[T, ...]:
    kept: dict[object, T] = {}
    for value in values:
        if len(kept) == _MOST:
            break
        kept.setdefault(key(value) if key else value, value)
    return tuple(kept.values())


# --------------------------------------------------------------------------------------- dates

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_AGO = re.compile(r"([0-9]{1,4})([dwmy])")


def _dated(name: str, value: str, now: datetime) -> Filters | None:
    try:
        match name:
            case "after":
                return Filters(updated_from=_period(value, now)[0])
            case "before":
                return Filters(updated_before=_period(value, now)[0])
            case "updated" if ".." in value:
                first, _, last = value.partition("..")
                return _between(first, last, now)
            case _:
                start, end = _period(value, now)
                return Filters(updated_from=start, updated_before=end)
    except (ValueError, OverflowError):
        # No date at all, or one that no calendar has: the caller reads it as words.
        return None


def _between(first: str, last: str, now: datetime) -> Filters | None:
    """From the beginning of the first to the end of the last; either may be left open."""
    start = _period(first, now)[0] if first else None
    since, until = _period(last, now) if last else (None, None)
    end = until or since
    if not (start or end) or (start and end and start >= end):
        return None
    return Filters(updated_from=start, updated_before=end)


def _period(value: str, now: datetime) -> tuple[datetime, datetime | None]:
    """When a day, month or year begins and the next one does; `30d` begins then and lasts."""
    ago = _AGO.fullmatch(value)
    if ago:
        return _before(now, int(ago[1]), ago[2]), None
    date = _DATE.fullmatch(value)
    if not date:
        raise ValueError(value)
    zone: tzinfo = now.tzinfo or UTC
    year, month, day = int(date[1]), int(date[2] or 1), int(date[3] or 1)
    start = datetime(year, month, day, tzinfo=zone)
    if date[3]:
        return start, start + timedelta(days=1)
    months = year * 12 + month - 1 + (1 if date[2] else 12)
    return start, datetime(months // 12, months % 12 + 1, 1, tzinfo=zone)


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit in "dw":
        return now - timedelta(days=count * (7 if unit == "w" else 1))
    months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
    year, month = months // 12, months % 12 + 1
    # The 31st of a shorter month is its last day.
    return now.replace(year=year, month=month, day=min(now.day, monthrange(year, month)[1]))
