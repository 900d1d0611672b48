"""The properties that mean something to search, among all that front matter may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from twolane.ingest.parsing.front_matter import clean
from twolane.model.document import Kind


@dataclass(frozen=True, slots=True)
class Recognised:
    """What the front matter says about the document."""

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    summary: str
    url: str | None
    kind: Kind | None
    arguments: tuple[str, ...]
    created: datetime | None
    updated: datetime | None
    searchable: bool
    archived: bool


def recognise(values: Mapping[str, Any]) -> Recognised:
    """Read the known keys; a value of another type than expected says nothing."""
    kind = _text(values.get("kind")).casefold()
    return Recognised(
        title=_text(values.get("title")),
        aliases=tuple(dict.fromkeys(_texts(values.get("aliases"), values.get("alias")))),
        tags=tuple(_tags(values.get("tags"), values.get("tag"), values.get("keywords"))),
        description=_text(values.get("description")),
        summary=_text(values.get("summary")),
        url=_text(values.get("url")) or None,
        kind=Kind(kind) if kind in set(Kind) else None,
        arguments=tuple(dict.fromkeys(_arguments(values.get("arguments")))),
        created=_moment(values.get("created")) or _moment(values.get("date")),
        updated=_moment(values.get("updated")) or _moment(values.get("modified")),
        searchable=_text(values.get("search"), flags=True).casefold() not in _NO,
        archived=_text(values.get("archived"), flags=True).casefold() in _YES,
    )


_NO = {"false", "no", "off", "0"}
_YES = {"true", "yes", "on", "1"}


def _text(value: Any, *, flags: bool = False) -> str:
    """One line of text; nothing for lists and mappings, and for truth values unless asked."""
    if isinstance(value, bool) and not flags:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return " ".join(clean(str(value)).split())
    return ""


def _texts(*values: Any) -> Iterable[str]:
    """Each value's texts, be it one or a list."""
    for value in values:
        for one in value if isinstance(value, list | tuple) else [value]:
            if text := _text(one):
                yield text


def _arguments(value: Any) -> Iterable[str]:
    """A prompt's arguments, each `name` or `name: what it is for`, however they are written."""
    if isinstance(value, Mapping):
        value = [{"name": name, "description": about} for name, about in value.items()]
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    for one in value if isinstance(value, list | tuple) else ():
        if isinstance(one, Mapping):
            name, about = _text(one.get("name")), _text(one.get("description"))
            yield from [f"{name}: {about}" if about else name] if name else []
        elif text := _text(one):
            yield text


def _tags(*values: Any) -> Iterable[str]:
    """Tags without their `#`; in one text they are set apart by commas or spaces."""
    for value in values:
        listed = isinstance(value, list | tuple)
        for text in _texts(value):
            for tag in [text] if listed else re.split(r"[,\s]+", text):
                if bare := tag.strip().lstrip("#").strip("/ "):
                    yield bare


def _moment(value: Any) -> datetime | None:
    """A date or an ISO text as a moment in UTC; one without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None  # The first and the last day that there are can fall outside in UTC.
