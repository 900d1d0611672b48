"""Cursors: where a caller stopped reading an answer, as a text that only we read.

A cursor of a sorted list names the last document by what it is sorted by and its id.
A cursor of a ranking names all documents that were shown, by a few bytes each: scores and ranks
move whenever a document changes, and what was shown does not.
Either says which question it belongs to, and when that was asked if it has dates, like `30d`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from twolane.model.answer import Mode, Place, Sort
from twolane.model.errors import BadCursor
from twolane.model.filters import Measure, Span
from twolane.model.scope import Scope

_VERSION = 1
_CHECK = 4
_BYTES = 6

# No cursor that we write is longer; decoding must not be a way to fill the memory.
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where to go on: after a place of a list, or with what was not seen of a ranking."""

    asked: datetime | None = None
    after: Place | None = None
    seen: frozenset[bytes] = frozenset()


def short(id: str) -> bytes:
    """The few bytes that stand for an id in a cursor."""
    return hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def question(text: str, scope: Scope, mode: Mode, sort: Sort, reverse: bool) -> str:
    """A name for a question, the same on every page although relative dates move on."""
    said = _dumped([text, _still(scope), mode.value, sort.value, reverse])
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def has_moments(scope: Scope) -> bool:
    """Whether dates are part of the scope, so that it may depend on when it was made."""
    return "moment" in _dumped(_still(scope))


# Made once: `json.dumps` with options of its own makes an encoder for every call.
_dumped = json.JSONEncoder(default=str).encode


def write_cursor(cursor: Cursor, question: str) -> str:
    """The cursor as a text for this question."""
    place = [cursor.after.key, cursor.after.id] if cursor.after else None
    asked = cursor.asked.timestamp() if cursor.asked else None
    head = json.dumps([_VERSION, question, asked, place]).encode()
    body = head + b"\n" + b"".join(sorted(cursor.seen))
    return base64.urlsafe_b64encode(_check(body) + body).rstrip(b"=").decode()


def read_cursor(text: str, question: str) -> Cursor:
    """The cursor that a text spells; BadCursor if it is none, or one of another question."""
    body = _body(text)
    head, _, seen = body.partition(b"\n")
    try:
        version, asks, asked, place = json.loads(head)
    except (ValueError, TypeError):
        raise BadCursor("this is no cursor of this version; start again without it") from None
    if version != _VERSION:
        raise BadCursor("the cursor was made by another version; start again without it")
    if asks != question:
        raise BadCursor(
            "the cursor belongs to another search; give it with the same query, filters, mode and "
            "sort as the page that it came with"
        )
    return Cursor(
        datetime.fromtimestamp(asked, UTC) if asked is not None else None,
        Place(*place) if place else None,
        frozenset(_pieces(seen)),
    )


def _body(text: str) -> bytes:
    bare = text.strip()[: _LONGEST + 1]
    try:
        padded = bare.encode("ascii") + b"=" * (-len(bare) % 4)
        raw = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    if len(bare) > _LONGEST or len(raw) <= _CHECK or _check(raw[_CHECK:]) != raw[:_CHECK]:
        raise BadCursor(
            "this is no cursor; copy all of `next` from the answer before, or start without it"
        )
    return raw[_CHECK:]


def _check(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK).digest()


def _pieces(seen: bytes) -> Iterable[bytes]:
    return (seen[at : at + _BYTES] for at in range(0, len(seen), _BYTES))


def _still(value: Any) -> Any:
    """A value without the moments in it, which move while a caller turns pages."""
    if isinstance(value, datetime):
        return "moment"
    if isinstance(value, Span) and value.measure == Measure.MOMENT:
        return ["moment", value.low is None, value.high is None]
    if is_dataclass(value):
        kind: Any = type(value)
        return [kind.__name__, *[_still(getattr(value, name)) for name in _names(kind)]]
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, tuple | list):
        return [_still(one) for one in value]
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The names of a dataclass's fields, which take long to find out."""
    return tuple(one.name for one in fields(kind))
