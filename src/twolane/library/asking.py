"""Questions that rank: searches, explanations, similar documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.model import deadlines
from twolane.model.answer import Answer, Degradation, Lane, Mode, Order
from twolane.model.candidate import Candidate
from twolane.model.errors import BadInput, StageError, TooSlow
from twolane.model.scope import Capability, Scope, require
from twolane.ports import Stores
from twolane.ports.source import Source
from twolane.query.missing_tags import missing_tags
from twolane.ranking.model import likely
from twolane.ranking.search import Searcher
from twolane.results.paging import Pages
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.explain.diagnosis import Diagnosis
    from twolane.explain.similar import SimilarAnswer, Similarities
    from twolane.explain.why import Diagnoser
    from twolane.ranking.expanding import Expanding
    from twolane.ranking.phrasings import Phrasings


class Questions:
    """Asks one searcher, within the time that an answer may take."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        searcher: Searcher,
        source: Callable[[Path], Source],
        expanding: Expanding | None = None,
    ) -> None:
        """`source` gives the notes below a folder, as they would be indexed now."""
        self._stores = stores
        self._settings = settings
        self._searcher = searcher
        self._source = source
        self._expanding = expanding

    def search(
        self,
        text: str,
        scope: Scope,
        *,
        mode: Mode,
        limit: int | None,
        order: Order,
        phrasings: Phrasings | None,
        min_relevance: float | None,
        typing: bool,
    ) -> Answer:
        """The best documents; an answer without any tells what may be the reason."""
        require(scope, Capability.SEARCH)
        wanted, least = self._wanted(limit), self._least(min_relevance)
        with self.in_time():
            asked = self._searcher.open_ended(text, scope) if typing else text
            late: tuple[Degradation, ...] = ()
            # Whoever is still typing has no query yet that is worth a call.
            if self._expanding and not phrasings and not typing and order == Order():
                phrasings, late = self._expanded(text, scope, mode, wanted)
            if phrasings:
                answer = self._phrased(asked, phrasings, scope, mode, wanted, least)
            else:
                answer = self._pages.page(
                    asked, scope, order, mode=mode, limit=wanted, min_relevance=least
                )
            answer = replace(answer, query=text, degraded=(*answer.degraded, *late))
            if not answer.results:
                # An answer need not wait for what may be the reason that it is empty.
                with deadlines.time_to_show(), suppress(TooSlow):
                    return self._without_results(answer, scope)
            return answer

    def why(
        self, text: str, reference: str, scope: Scope, *, mode: Mode, limit: int | None
    ) -> Diagnosis:
        """Why a document is, or is not, among the results of a query."""
        wanted = self._wanted(limit)
        with self.in_time():
            return self._diagnoser.why(text, reference, scope, mode=mode, limit=wanted)

    def similar(
        self, reference: str, scope: Scope, *, limit: int | None, exclude_linked: bool
    ) -> SimilarAnswer:
        """The documents most similar to the one that is named."""
        wanted = self._wanted(limit)
        with self.in_time():
            return self._similarities.similar(
                reference, scope, limit=wanted, exclude_linked=exclude_linked
            )

    def in_time(self) -> AbstractContextManager[None]:
        """The time that a question may take, as a block around its answer."""
        return deadlines.within(self._searcher.deadline())

    def _expanded(
        self, text: str, scope: Scope, mode: Mode, limit: int
    ) -> tuple[Phrasings | None, tuple[Degradation, ...]]:
        """Other wordings by a chat model, where the scope may have them and they may help."""
        if self._expanding is None or mode != Mode.HYBRID:
            return None, ()
        if Capability.EXPAND not in scope.capabilities:
            return None, ()
        ranking = self._searcher.rank(text, scope, mode=mode, limit=limit, reranked=False)
        if not self._expanding.wants(ranking):
            return None, ()
        try:
            return self._expanding.phrasings(ranking.query.parsed.meaning), ()
        except StageError as error:
            reason = f"{error}; the query was searched as it is"
            return None, (Degradation(Lane.EXPAND, reason),)

    def _phrased(
        self, text: str, phrasings: Phrasings, scope: Scope, mode: Mode, limit: int, least: float
    ) -> Answer:
        from twolane.ranking.phrasings import rank_phrasings
        from twolane.results.results import answer_of

        started = time.perf_counter()
        ranked = rank_phrasings(self._searcher, text, phrasings, scope, mode=mode, limit=limit)
        shown = likely(ranked.candidates, least)[:limit]
        answer = answer_of(self._stores.documents, text, mode, ranked, shown)
        return replace(answer, took_ms=(time.perf_counter() - started) * 1000)

    def _without_results(self, answer: Answer, scope: Scope) -> Answer:
        """The answer with what may be the reason that it is empty."""
        query = self._searcher.analyze(answer.query, scope, mode=answer.mode)
        return replace(
            answer, missing_tags=missing_tags(self._stores.documents, query.scope, scope)
        )

    def candidates(
        self, text: str, scope: Scope, *, mode: Mode, limit: int | None
    ) -> Sequence[Candidate]:
        """Every document that the lanes bring for a query, best first, with its features."""
        wanted = self._wanted(limit)
        with self.in_time():
            phrasings, _ = self._expanded(text, scope, mode, wanted)
            if not phrasings:
                return self._searcher.rank(text, scope, mode=mode, limit=wanted).candidates
            from twolane.ranking.phrasings import rank_phrasings

            return rank_phrasings(
                self._searcher, text, phrasings, scope, mode=mode, limit=wanted
            ).candidates

    def _least(self, min_relevance: float | None) -> float:
        if min_relevance is not None and not 0 <= min_relevance <= 1:
            raise BadInput("the least relevance must be between 0 and 1")
        return self._settings.search.min_relevance if min_relevance is None else min_relevance

    def _wanted(self, limit: int | None) -> int:
        if limit is not None and limit < 1:
            raise BadInput("the number of results must be at least 1")
        return self._settings.search.limit if limit is None else limit

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self._stores, self._searcher, self._settings.search.pool)

    @cached_property
    def _diagnoser(self) -> Diagnoser:
        from twolane.explain.why import Diagnoser

        return Diagnoser(self._stores, self._settings, self._searcher, self._source)

    @cached_property
    def _similarities(self) -> Similarities:
        from twolane.explain.similar import Similarities

        return Similarities(self._stores, self._settings)
