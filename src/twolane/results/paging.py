"""Answers page by page, in any order: the best first, or a sorted list."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from twolane.model import deadlines
from twolane.model.answer import Answer, Degradation, Lane, Mode, Order, Place, Sort
from twolane.model.candidate import Candidate
from twolane.model.errors import BadInput, TooSlow
from twolane.model.permissions import require
from twolane.model.scope import All, Capability, Clause, Phrase, Scope
from twolane.ports import Stores
from twolane.query.analyzer import AnalyzedQuery
from twolane.ranking.model import likely
from twolane.ranking.search import Searcher
from twolane.results.answers import answer_of, descriptions, shown_results
from twolane.results.cursors import Cursor, has_moments, question, read_cursor, short, write_cursor

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
        started = time.perf_counter()
        query = self._searcher.analyze(text, scope, mode=mode)
        sort = _sort(query, order, mode)
        if order.reverse and sort == Sort.RELEVANCE:
            raise BadInput("relevance goes one way only; sort by updated, created, used or title")
        name = question(text, scope, mode, sort, order.reverse)
        now = datetime.now(UTC) if has_moments(query.scope) else None
        cursor = read_cursor(order.cursor, name) if order.cursor else Cursor(now)
        if order.cursor and cursor.asked:
            # Dates like `30d` count from when the first page was asked for.
            query = self._searcher.analyze(text, scope, cursor.asked, mode=mode)
        turn = _Turn(text, scope, mode, limit, min_relevance, sort, order.reverse, cursor, query)
        answer, rest = self._ranked(turn) if sort == Sort.RELEVANCE else self._listed(turn)
        took = (time.perf_counter() - started) * 1000
        return replace(answer, took_ms=took, next=write_cursor(rest, name) if rest else None)

    def _ranked(self, turn: _Turn) -> tuple[Answer, Cursor | None]:
        seen = turn.cursor.seen
        wanted = min(len(seen) + turn.limit, DEEPEST)
        ranking = self._searcher.rank(
            turn.text, turn.scope, mode=turn.mode, limit=wanted, query=turn.query
        )
        found = likely(ranking.candidates, turn.min_relevance)
        rest = [one for one in found if not seen or short(one.id) not in seen]
        shown = rest[: turn.limit]
        # A lane that brought all it may bring has perhaps more.
        full = any(lane.hits >= max(self._pool, wanted) for lane in ranking.lanes)
        more = len(rest) > turn.limit or (full and shown and not turn.min_relevance)
        with self._snapshot():
            answer = answer_of(self._documents, turn.text, turn.mode, ranking, shown)
        if not more or wanted >= DEEPEST:
            return answer, None
        return answer, replace(turn.cursor, seen=seen | {short(one.id) for one in shown})

    def _listed(self, turn: _Turn) -> tuple[Answer, Cursor | None]:
        query, scope = turn.query, _demanding(turn.query)
        places, found, degraded = self._places(scope, turn)
        shown = places[: turn.limit]
        with deadlines.time_to_show():
            listed = [Candidate(one.id) for one in shown]
            results = shown_results(self._documents, listed, query.parsed)
        answer = Answer(
            query=turn.text,
            mode=turn.mode,
            lanes=(),
            degraded=degraded,
            generation=None,
            took_ms=0.0,
            results=results,
            repairs=query.repairs,
            misread=query.parsed.misread,
            intent=str(query.intent),
            found=tuple(one.id for one in found),
            collections=descriptions(self._documents, results),
        )
        if len(places) <= turn.limit:
            return answer, None
        return answer, replace(turn.cursor, after=shown[-1])

    def _places(
        self, scope: Scope, turn: _Turn
    ) -> tuple[Sequence[Place], Sequence[Place], tuple[Degradation, ...]]:
        """The places of the page, those of the whole list, and why there are none if it is late."""
        list_from = partial(self._documents.list, scope, turn.sort, reverse=turn.reverse)
        try:
            places = list_from(after=turn.cursor.after, limit=turn.limit + 1)
            return places, list_from(after=None, limit=DEEPEST), ()
        except TooSlow as error:
            return [], [], (Degradation(Lane.LEXICAL, error.reason),)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One page of one question."""

    text: str
    scope: Scope
    mode: Mode
    limit: int
    min_relevance: float
    sort: Sort
    reverse: bool
    cursor: Cursor
    query: AnalyzedQuery


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
