"""Answers page by page, in any order: the best first, or a sorted list.

A cursor says where a caller stopped reading, as a text that only we read.
That of a sorted list names the last document by what it is sorted by and its id.
That of a ranking names all documents that were shown, by a few bytes each: scores and ranks move
whenever a document changes, and what was shown does not.
Either says which question it belongs to, and when that was asked if it has dates, like `30d`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from twolane.model.answer import Answer, Degradation, Lane, Mode, Order, Place, Sort
from twolane.model.candidate import Candidate
from twolane.model.errors import BadCursor, BadInput, TooSlow
from twolane.model.scope import All, Capability, Clause, Measure, Phrase, Scope, Span, require
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.query.analyzer import AnalyzedQuery
from twolane.ranking.model import likely
from twolane.ranking.search import Searcher
from twolane.results.results import answer_of, descriptions, shown_results

# A ranking is read this far; further on it says nothing, and a sorted list has no end.
DEEPEST = 1000


class Pages:
    """Turns the pages of answers; keeps nothing between them."""

    def __init__(self, stores: Stores, searcher: Searcher, pool: int) -> None:
        self._documents = stores.documents
        self._snapshot = stores.snapshot
        self._searcher = searcher
        self._pool = pool

    def page(
        self,
        text: str,
        scope: Scope,
        order: Order,
        *,
        mode: Mode,
        limit: int,
        min_relevance: float = 0.0,
    ) -> Answer:
        """The page of an answer that the order and its cursor name.

        A document that does not change comes once, whatever is written between two pages;
        one that does may come again in a sorted list, at its new place, or not at all.
        Words rank where nothing else sorts; in a sorted list every word must be there.
        """
        require(scope, Capability.SEARCH)
        with self._snapshot():
            return self._page(text, scope, order, mode, limit, min_relevance)

    def _page(
        self, text: str, scope: Scope, order: Order, mode: Mode, limit: int, min_relevance: float
    ) -> Answer:
        started, now = time.perf_counter(), datetime.now(UTC)
        query = self._searcher.analyze(text, scope, mode=mode)
        sort = _sort(query, order, mode)
        if order.reverse and sort == Sort.RELEVANCE:
            raise BadInput("relevance goes one way only; sort by updated, created, used or title")
        cursor = Cursor()
        if order.cursor:
            name = question(text, scope, mode, sort, order.reverse)
            cursor = read_cursor(order.cursor, name)
        if cursor.asked_at:
            # Dates like `30d` count from when the first page was asked for.
            query = self._searcher.analyze(text, scope, cursor.asked_at, mode=mode)
        if sort == Sort.RELEVANCE:
            answer, rest = self._ranked(
                text, scope, query, cursor, mode=mode, limit=limit, min_relevance=min_relevance
            )
        else:
            answer, rest = self._listed(
                text, query, cursor, mode=mode, limit=limit, sort=sort, reverse=order.reverse
            )
        following = None
        if rest is not None:
            if rest.asked_at is None and has_moments(query.scope):
                rest = replace(rest, asked_at=now)
            following = write_cursor(rest, question(text, scope, mode, sort, order.reverse))
        took = (time.perf_counter() - started) * 1000
        return replace(answer, took_ms=took, next=following)

    def _ranked(
        self,
        text: str,
        scope: Scope,
        query: AnalyzedQuery,
        cursor: Cursor,
        *,
        mode: Mode,
        limit: int,
        min_relevance: float,
    ) -> tuple[Answer, Cursor | None]:
        """The best that were not seen, and where to go on if there may be more."""
        seen = cursor.seen
        wanted = min(len(seen) + limit, DEEPEST)
        ranking = self._searcher.rank(text, scope, mode=mode, limit=wanted, query=query)
        found = likely(ranking.candidates, min_relevance)
        rest = [one for one in found if not seen or short(one.id) not in seen]
        shown = rest[:limit]
        # A lane that brought all it may bring has perhaps more.
        full = any(lane.hits >= max(self._pool, wanted) for lane in ranking.lanes)
        more = len(rest) > limit or (full and shown and not min_relevance)
        answer = answer_of(self._documents, text, mode, ranking, shown)
        if not more or wanted >= DEEPEST:
            return answer, None
        return answer, replace(cursor, seen=seen | {short(one.id) for one in shown})

    def _listed(
        self,
        text: str,
        query: AnalyzedQuery,
        cursor: Cursor,
        *,
        mode: Mode,
        limit: int,
        sort: Sort,
        reverse: bool,
    ) -> tuple[Answer, Cursor | None]:
        """The next of a sorted list, and where to go on; nothing if it takes too long."""
        list_from = partial(self._documents.list, _demanding(query), sort, reverse=reverse)
        places: Sequence[Place] = ()
        found: Sequence[Place] = ()
        degraded: tuple[Degradation, ...] = ()
        try:
            places = list_from(after=cursor.after, limit=limit + 1)
            found = list_from(after=None, limit=DEEPEST)
        except TooSlow as error:
            places, degraded = (), (Degradation(Lane.LEXICAL, error.reason),)
        shown = places[:limit]
        listed = [Candidate(place.id) for place in shown]
        results = shown_results(self._documents, listed, query.parsed)
        answer = Answer(
            query=text,
            mode=mode,
            lanes=(),
            degraded=degraded,
            generation=None,
            took_ms=0.0,
            results=results,
            repairs=query.repairs,
            misread=query.parsed.misread,
            intent=str(query.intent),
            found=tuple(place.id for place in found),
            collections=descriptions(self._documents, results),
        )
        return answer, replace(cursor, after=shown[-1]) if len(places) > limit else None


def _demanding(query: AnalyzedQuery) -> Scope:
    """The scope in which every word of the query must be there."""
    words: list[Clause] = [Phrase((word,)) for word in query.parsed.words]
    if not words and (query.filters_only or query.parsed.marks):
        return query.scope
    if not words:
        # Signs have no words, and must be there as they are.
        words = [Phrase((), query.literal)]
    clause = query.scope.clause
    demands = words if clause is None else [clause, *words]
    return replace(query.scope, clause=All(tuple(demands)))


def _sort(query: AnalyzedQuery, order: Order, mode: Mode) -> Sort:
    """What to sort by: what is wanted if that can be, else what fits the query."""
    if query.filters_only:
        if order.sort == Sort.RELEVANCE:
            raise BadInput("without words nothing is more relevant; add words, or sort by date")
        return order.sort or Sort.UPDATED
    sort = order.sort or Sort.RELEVANCE
    if sort != Sort.RELEVANCE and mode in (Mode.SEMANTIC, Mode.EXACT):
        raise BadInput(
            f"a sorted list holds the documents with all of the words, and the mode {mode} "
            "asks for something else; leave out the mode, or sort by relevance"
        )
    return sort


_VERSION = 1
_CHECK = 4
_BYTES = 6

# No cursor that we write is longer; decoding must not be a way to fill the memory.
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where to go on: after a place of a list, or with what was not seen of a ranking."""

    asked_at: datetime | None = None
    after: Place | None = None
    seen: frozenset[bytes] = frozenset()


def short(id: str) -> bytes:
    """The few bytes that stand for an id in a cursor."""
    return hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def question(text: str, scope: Scope, mode: Mode, sort: Sort, reverse: bool) -> str:
    """A name for a question, the same on every page although relative dates move on."""
    said = json.dumps([text, _still(scope), mode.value, sort.value, reverse], default=str)
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def has_moments(scope: Scope) -> bool:
    """Whether dates are part of the scope, so that it may depend on when it was made."""
    return "moment" in json.dumps(_still(scope), default=str)


def write_cursor(cursor: Cursor, question: str) -> str:
    """The cursor as a text for this question."""
    place = [cursor.after.key, cursor.after.id] if cursor.after else None
    asked = cursor.asked_at.timestamp() if cursor.asked_at else None
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
        frozenset(seen[at : at + _BYTES] for at in range(0, len(seen), _BYTES)),
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


def _still(value: Any) -> Any:
    """A value without the moments in it, which move while a caller turns pages."""
    if isinstance(value, datetime):
        return "moment"
    if isinstance(value, Span) and value.measure == Measure.MOMENT:
        return ["moment", value.low is None, value.high is None]
    if is_dataclass(value):
        held = [_still(getattr(value, field.name)) for field in fields(value)]
        return [type(value).__name__, *held]
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, tuple | list):
        return [_still(one) for one in value]
    return value
