"""What was typed, taken to the letter: filters still filter, and all else is one text."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from functools import partial

from twolane.model.answer import Mode
from twolane.query import Filters, Query, parse
from twolane.query.intent import Intent

# `kind:note`, `-tag:old` and `tag:"deep work"`, from space to space.
_NAMED = re.compile(r'(?<!\S)-?[^\W\d]\w*:(?:"[^"]+"|[^\s"]\S*)(?!\S)')
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?|^www\.", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "«": "»", "“": "”", "„": "“", "‘": "’"}


def parse_literally(
    text: str,
    index_languages: Collection[str] = (),
    *,
    now: datetime | None = None,
    properties: Collection[str] = (),
) -> Query:
    """The query whose `meaning` is the text to find letter by letter; never raises.

    Filters are taken out, and quotes around all that is left; what stands between such quotes is
    no filter, whatever it looks like.
    A query has no words and demands nothing.
    """
    read = partial(parse, index_languages=index_languages, now=now, properties=properties)
    typed = read(text).text
    literal, filters = unquoted(typed), ""
    if literal is None:
        named = [part for part in _NAMED.findall(typed) if _is_filter(read(part))]
        rest = typed
        for part in named:
            rest = rest.replace(part, " ", 1)
        filters = " ".join(named)
        literal = unquoted(rest.strip()) or rest
    return replace(
        read(filters),
        text=typed,
        words=(),
        marks=(),
        clause=None,
        meaning=" ".join(literal.split()),
    )


def letters_of(typed: str, text: str, mode: Mode, intent: Intent) -> str:
    """What to look for by its letters: the words as typed, without what surrounds them."""
    if mode == Mode.EXACT:
        return typed
    if intent == Intent.URL:
        # How an address is reached is not where it leads.
        return _SCHEME.sub("", typed).rstrip("/")
    return unquoted(text.strip()) or typed


def unquoted(text: str) -> str | None:
    """What stands between quotes if the whole text does, else None."""
    closer = _QUOTES.get(text[:1])
    inside = text[1:-1]
    if len(text) > 2 and text[-1] == closer and closer not in inside and text[0] not in inside:
        return inside.strip() or None
    return None


def _is_filter(read: Query) -> bool:
    return read.filters != Filters() and not read.marks and read.clause is None
