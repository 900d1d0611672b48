"""Dates as people type them: `2024-01`, `30d`, `yesterday`, `2024-01..2024-06`, `>2w`."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo

Window = tuple[datetime | None, datetime | None]

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(?:\.[0-9]+)?)?.*")
_AGO = re.compile(r"([0-9]{1,4})([hdwmy])")
_COMPARED = re.compile(r"(>=|<=|>|<)\s*(.+)", re.DOTALL)
_DAYS_BACK = {"today": 0, "yesterday": 1}


def window(value: str, now: datetime) -> Window | None:
    """From when until before when a date, a comparison or a range reaches; None if it is none."""
    try:
        compared = _COMPARED.fullmatch(value)
        if compared:
            return _compared(compared[1], compared[2], now)
        if ".." in value:
            first, _, last = value.partition("..")
            return _between(first.strip(), last.strip(), now)
        return period(value, now)
    except (ValueError, OverflowError):
        # No date at all, or one that no calendar has.
        return None


def beginning(value: str, now: datetime) -> datetime | None:
    """When a date begins, or None if it is none."""
    try:
        return period(value, now)[0]
    except (ValueError, OverflowError):
        return None


def is_absolute(value: str) -> bool:
    """Whether this is written as a date of the calendar, whether or not there is such a day."""
    return any(form.fullmatch(value) for form in (_DATE, _TIME))


def period(value: str, now: datetime) -> tuple[datetime, datetime | None]:
    """When a day, month or year begins and the next one does; `30d` begins then and lasts."""
    value = value.strip().lower()
    zone: tzinfo = now.tzinfo or UTC
    ago = _AGO.fullmatch(value)
    if ago:
        return _before(now, int(ago[1]), ago[2]), None
    if value in _DAYS_BACK:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        start = midnight - timedelta(days=_DAYS_BACK[value])
        return start, start + timedelta(days=1)
    timed = _TIME.fullmatch(value)
    if timed:
        moment = datetime.fromisoformat(value.upper())
        length = timedelta(seconds=1) if timed[1] else timedelta(minutes=1)
        start = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        return start, start + length
    date = _DATE.fullmatch(value)
    if not date:
        raise ValueError(value)
    year, month, day = int(date[1]), int(date[2] or 1), int(date[3] or 1)
    start = datetime(year, month, day, tzinfo=zone)
    if date[3]:
        return start, start + timedelta(days=1)
    months = year * 12 + month - 1 + (1 if date[2] else 12)
    return start, datetime(months // 12, months % 12 + 1, 1, tzinfo=zone)


def _compared(sign: str, value: str, now: datetime) -> Window:
    """`>2024` is what comes after all of 2024, `>=2024` all from its beginning."""
    start, end = period(value, now)
    match sign:
        case ">":
            return end or start, None
        case ">=":
            return start, None
        case "<":
            return None, start
        case _:
            return None, end or start


def _between(first: str, last: str, now: datetime) -> Window | None:
    """From the beginning of the first to the end of the last; either may be left open."""
    start = period(first, now)[0] if first else None
    since, until = period(last, now) if last else (None, None)
    end = until or since
    if not (start or end) or (start and end and start >= end):
        return None
    return start, end


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit == "h":
        return now - timedelta(hours=count)
    if unit in "dw":
        return now - timedelta(days=count * (7 if unit == "w" else 1))
    months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
    year, month = months // 12, months % 12 + 1
    # The 31st of a shorter month is its last day.
    return now.replace(year=year, month=month, day=min(now.day, monthrange(year, month)[1]))
