"""The read path up to the order of documents: text → query → lanes → features → model."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from twolane.embedding.centring import block
from twolane.embedding.spaces import Background as Threads
from twolane.embedding.spaces import Embedders, Served, choose, embed_query
from twolane.model import deadlines
from twolane.model.answer import (
    Contribution,
    Degradation,
    Feature,
    Lane,
    LaneReport,
    Mode,
    Sort,
)
from twolane.model.candidate import Candidate
from twolane.model.deadlines import Deadline
from twolane.model.errors import (
    EmbedderError,
    EmbedderUnavailable,
    EngineUnavailable,
    NotPermitted,
    StoreError,
    TooSlow,
)
from twolane.model.scope import Capability, Scope, require
from twolane.model.space import Generation
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.query.analyzer import AnalyzedQuery, QueryAnalyzer
from twolane.query.plan import Plan, plan_for
from twolane.ranking.background import Background
from twolane.ranking.duplicates import collapse_duplicates
from twolane.ranking.exact import exact_candidates
from twolane.ranking.identity import named_candidates
from twolane.ranking.lanes import DenseLane, LaneResult, LexicalLane, in_time
from twolane.ranking.model import DEPTH, RankingModel, Scorer, answerable, fuse, small_library
from twolane.ranking.model_files import known_model
from twolane.ranking.parallel_documents import find_parallels
from twolane.ranking.rankings import Ranking, Wordings
from twolane.settings import Settings

if TYPE_CHECKING:
    # A search without stages imports none of it.
    from twolane.ranking.reranking import Reranking

log = logging.getLogger("twolane")

# A name belongs to few documents.
_FEW = 10

# Embedders that read a query twice, as typed and as its words that count; others were not tried.
_WITH_READINGS = frozenset({"use"})

SWITCHED_OFF = "semantic search is switched off (semantic = false)"
WAITING = "wait for their vectors; until then they are found by their words alone"


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The lanes of one query, as far as they can measure features of what others found."""

    lexical: LexicalLane | None
    dense: DenseLane | None


@dataclass(frozen=True, slots=True)
class _Stages:
    """What judges the candidates of one query beside its lanes; usually nothing."""

    wordings: Wordings | None
    reranking: Reranking | None


class Searcher:
    """Answers queries over one store; safe to share between threads."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        embedders: Embedders,
        pinned: int | None = None,
        stopping: threading.Event | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        """`pinned` is the generation to ask, whether it serves or not; `stopping` ends answers."""
        self._stores = stores
        self._settings = settings
        self._embedders = embedders
        self._pinned = pinned
        self._stopping = stopping or threading.Event()
        self._reranking = reranking
        self._threads = Threads()
        self._overdue: set[Future[_Dense]] = set()
        self._analyzer = QueryAnalyzer(stores, settings)
        self._background = Background(stores.vectors)
        self._warned: set[tuple[Lane, str]] = set()

    def deadline(self) -> Deadline:
        """The deadline of a question that is asked now."""
        return Deadline(self._settings.search.query_seconds, self._stopping)

    def stop(self) -> None:
        """End all answers that are being worked on, with TooSlow."""
        self._stopping.set()

    def analyze(
        self,
        text: str,
        scope: Scope | None = None,
        now: datetime | None = None,
        *,
        mode: Mode = Mode.HYBRID,
    ) -> AnalyzedQuery:
        """What the text asks for in the scope, where relative dates count from `now`."""
        with self._stores.snapshot():
            return self._analyzer.analyze(text, scope or Scope(), mode=mode, now=now)

    def open_ended(self, text: str, scope: Scope) -> str:
        """The text with its last word as the beginning of one, for somebody who types still."""
        return self._analyzer.open_ended(text, scope)

    def rank(
        self,
        text: str,
        scope: Scope,
        *,
        mode: Mode = Mode.HYBRID,
        limit: int | None = None,
        query: AnalyzedQuery | None = None,
        wordings: Wordings | None = None,
        reranked: bool = True,
    ) -> Ranking:
        """The ranking behind the answer, beyond its limit, with nothing made up to be shown.

        The limit only widens the lanes' pools where it is larger than they are.
        `query` is what the text was analysed as, if that is known already.
        `wordings` are other wordings of it with what they found, which is judged beside the rest.
        A reranker reads the best, if there is one, unless it is not to be `reranked`.
        """
        require(scope, Capability.SEARCH)
        wanted = self._settings.search.limit if limit is None else limit
        query = query or self.analyze(text, scope, mode=mode)
        plan = plan_for(mode, query.intent, self._settings, [one.kind for one in query.repairs])
        lanes, found, degraded = self._run(query, plan, wanted, scope)
        stages = _Stages(wordings, self._reranking if reranked else None)
        with deadlines.time_to_show():
            return self._ranking(
                query, mode, wanted, plan.followed(found), lanes, found, degraded, stages
            )

    def under(self, settings: Settings) -> Searcher:
        """A searcher of the same store and embedder under other settings; to be closed, too."""
        return Searcher(
            self._stores, settings, self._embedders, self._pinned, self._stopping, self._reranking
        )

    def close(self) -> None:
        """Let the background threads end."""
        self._threads.close()

    @cached_property
    def model(self) -> RankingModel:
        """The weights that order results."""
        model, reranking = known_model(self._settings), self._reranking
        return model.with_stages(*(reranking.named_weight if reranking else ()))

    # -------------------------------------------------------------------------- the ranking

    def _ranking(
        self,
        query: AnalyzedQuery,
        mode: Mode,
        wanted: int,
        plan: Plan,
        lanes: _Lanes,
        found: Mapping[Lane, LaneResult],
        degraded: tuple[Degradation, ...],
        stages: _Stages,
    ) -> Ranking:
        """What the lanes found as one ranking."""
        dense = found.get(Lane.DENSE)
        generation = dense.generation if dense else None
        sure: bool | None = None
        if query.filters_only:
            # Filters ask for nothing that a document could be relevant to.
            ranked = self._listed(query.scope, wanted)
        elif mode == Mode.EXACT or not (query.parsed.marks or query.parsed.meaning):
            ranked = _by_letters(found)
            sure = bool(ranked) if mode == Mode.EXACT else None
        else:
            brought = stages.wordings.candidates() if stages.wordings else ()
            candidates = self._measured(query, lanes, found, brought)
            ranked, late = self._scored(query, candidates, lanes, plan, wanted, stages)
            degraded = (*degraded, *late)
            pending = dense is not None and dense.remark is not None and WAITING in dense.remark
            sure = None if pending else answerable(ranked, self.model.threshold)
            if self._settings.ranking.fold_copies:
                with suppress(TooSlow):
                    ranked = collapse_duplicates(self._stores.documents, ranked, wanted)
        return Ranking(
            query=query,
            plan=plan,
            candidates=ranked,
            found=tuple(one.id for one in ranked if self._matches(one)),
            lanes=tuple(
                LaneReport(lane, plan.weights[lane], len(one.candidates), one.ms)
                for lane, one in found.items()
            ),
            degraded=degraded,
            generation=generation.number if generation else None,
            answerable=sure,
        )

    def _measured(
        self,
        query: AnalyzedQuery,
        lanes: _Lanes,
        found: Mapping[Lane, LaneResult],
        brought: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        """The candidates of all lanes, each once, with all features that any lane can measure.

        `brought` are those that other wordings of the query found.
        """
        candidates: dict[str, Candidate] = {}
        for one in (*(one for lane in found.values() for one in lane.candidates), *brought):
            known = candidates.setdefault(one.id, one)
            if known is not one:
                _join(known, one)
        if (own := query.languages) is not None:
            for one in candidates.values():
                one.foreign = bool(one.languages) and own.isdisjoint(one.languages)
        measured = list(candidates.values())
        # What is not measured in time stays missing; the answer says that it was late.
        with suppress(TooSlow, EngineUnavailable), self._stores.snapshot():
            if lanes.lexical is not None:
                lanes.lexical.measure(measured)
            if lanes.dense is not None:
                lanes.dense.measure(measured)
            if prior := small_library(self._documents(query, lanes.lexical)):
                for one in measured:
                    one.features[Feature.SMALL_LIBRARY] = prior
        return measured

    def _documents(self, query: AnalyzedQuery, lexical: LexicalLane | None) -> int:
        """How many documents there are to choose from, whatever the query's filters say."""
        if lexical is not None:
            return lexical.frequencies.documents
        return self._stores.lexical.document_frequencies((), query.scope).documents

    def _scored(
        self,
        query: AnalyzedQuery,
        candidates: Sequence[Candidate],
        lanes: _Lanes,
        plan: Plan,
        wanted: int,
        stages: _Stages,
    ) -> tuple[list[Candidate], list[Degradation]]:
        dense = lanes.dense
        space = dense.generation.space if dense else None
        if dense and space and self._settings.ranking.parallel_documents:
            find_parallels(candidates, dense.passages, space)
        scorer = Scorer.of(
            self.model,
            space,
            by_words=lanes.lexical is not None,
            by_meaning=dense is not None,
        )
        ranked = scorer.rank(candidates)
        if self._settings.ranking.fusion == "rrf":
            return fuse(ranked, plan.weights, k=self._settings.ranking.rrf_k), []
        if stages.wordings is not None:
            stages.wordings.measure(ranked)
            ranked = scorer.rank(ranked)
        self._explain(scorer, ranked, wanted)
        if stages.reranking is None:
            return ranked, []
        # Which passage it reads depends on what speaks for the document, so that was told first.
        late = stages.reranking.measure(query, ranked)
        if late is not None:
            self._warn_once(late)
            return ranked, [late]
        ranked = scorer.rank(ranked)
        self._explain(scorer, ranked, wanted)
        return stages.reranking.replaced(ranked), []

    def _explain(self, scorer: Scorer, ranked: Sequence[Candidate], wanted: int) -> None:
        by_id = {one.id: one for one in ranked}
        for one in ranked[: max(wanted, DEPTH)]:
            scorer.explain(one, by_id)

    def _matches(self, candidate: Candidate) -> bool:
        """Whether a document is found by more than being the nearest of all that are not near."""
        if candidate.matched or candidate.relevance is None:
            return True
        return not candidate.ranks.keys() <= {Lane.DENSE, Lane.EXPAND} or (
            candidate.relevance >= self.model.threshold
        )

    def _listed(self, scope: Scope, wanted: int) -> list[Candidate]:
        """A query of filters alone lists what they leave, newest first."""
        found = self._stores.documents.list(scope, Sort.UPDATED, limit=wanted)
        return [Candidate(one.id) for one in found]

    # ---------------------------------------------------------------------------- the lanes

    def _run(
        self, query: AnalyzedQuery, plan: Plan, wanted: int, caller: Scope
    ) -> tuple[_Lanes, dict[Lane, LaneResult], tuple[Degradation, ...]]:
        """Run the lanes beside each other; the dense one within its time."""
        pool = max(self._settings.search.pool, wanted)
        waiting: Future[_Dense] | LaneResult | None = None
        if Lane.DENSE in plan.weights and query.parsed.meaning:
            waiting = self._start_dense(query, pool, caller)
        with self._stores.snapshot():
            lexical, found = self._by_words(query, plan, pool)
        dense = None
        if waiting is not None:
            found[Lane.DENSE], dense = self._finish_dense(waiting)
        degraded = tuple(
            Degradation(lane, reason)
            for lane, one in found.items()
            if (reason := one.failure or one.remark)
        )
        trouble = self._stores.maintenance.degraded()
        if trouble:
            degraded += tuple(Degradation(lane, trouble) for lane in list(found)[:1])
        for degradation in degraded:
            self._warn_once(degradation)
        if lexical is not None and found[Lane.LEXICAL].failure:
            lexical = None
        ran = {lane: one for lane, one in found.items() if not one.failure}
        return _Lanes(lexical, dense), ran, degraded

    def _by_words(
        self, query: AnalyzedQuery, plan: Plan, pool: int
    ) -> tuple[LexicalLane | None, dict[Lane, LaneResult]]:
        """What the lanes find that need no model, and the one that measures words."""
        found: dict[Lane, LaneResult] = {}
        lexical = None
        if Lane.LEXICAL in plan.weights:
            lexical = LexicalLane(
                self._stores.lexical,
                query,
                common_share=self._settings.ranking.common_share,
                relaxation=self._settings.experiment.relaxation,
            )
            found[Lane.LEXICAL] = in_time(partial(lexical.candidates, pool))
        if Lane.IDENTITY in plan.weights and query.literal:
            found[Lane.IDENTITY] = self._by_letters(named_candidates, query, _FEW)
        silent = not any(one.candidates for one in found.values())
        wants_exact = Lane.EXACT in plan.weights or (Lane.EXACT in plan.fallback and silent)
        if query.literal and wants_exact:
            found[Lane.EXACT] = self._by_letters(exact_candidates, query, pool)
        return lexical, found

    def _by_letters(
        self, find: Callable[..., list[Candidate]], query: AnalyzedQuery, limit: int
    ) -> LaneResult:
        """What a lane finds that looks at letters; without it the others still answer."""
        index = self._stores.lexical
        try:
            return in_time(partial(find, index, query.literal, query.scope, limit=limit))
        except StoreError as error:
            return LaneResult((), 0.0, failure=str(error))

    def _start_dense(
        self, query: AnalyzedQuery, pool: int, caller: Scope
    ) -> Future[_Dense] | LaneResult:
        if Capability.SEMANTIC not in caller.capabilities:
            return LaneResult((), 0.0, failure=str(NotPermitted(Capability.SEMANTIC)))
        if not self._settings.search.semantic:
            return LaneResult((), 0.0, failure=SWITCHED_OFF)
        self._overdue = {future for future in self._overdue if not future.done()}
        if self._overdue:
            return LaneResult((), 0.0, failure="the embedder is still busy with an earlier query")
        return self._threads.submit(lambda: self._dense(query, pool))

    def _dense(self, query: AnalyzedQuery, pool: int) -> _Dense:
        started = time.perf_counter()

        def taken() -> float:
            return (time.perf_counter() - started) * 1000

        while True:
            served = None
            try:
                served = self._served()
                ask = partial(self._near, served, query, pool)
                with self._stores.snapshot():
                    lane, candidates = served.steadily(self._stores.vectors, ask)
                    remark = served.remark or self._waiting(served, query.scope)
            except (EmbedderError, StoreError) as error:
                if served is None or not self._is_gone(served):
                    return LaneResult((), taken(), failure=str(error)), None
                continue
            # Of a generation that was dropped meanwhile nothing is there, and everything waits.
            if (candidates and not remark) or not self._is_gone(served):
                return LaneResult(candidates, taken(), served.generation, remark=remark), lane

    def _near(
        self, served: Served, query: AnalyzedQuery, pool: int
    ) -> tuple[DenseLane, list[Candidate]]:
        settings, generation = self._settings, served.generation
        parsed = query.parsed
        several = generation.space.embedder in _WITH_READINGS
        readings = query.readings if several else {parsed.meaning: 1.0}
        self._stores.pause()
        vector = embed_query(served, readings, parsed.reading.languages, self._stores.vectors)
        if settings.experiment.similarity == "cosine":
            vector = vector / max(float(vector @ vector) ** 0.5, 1e-9)
        known = self.model.of_space(generation.space)
        # Embedding has a time of its own, `embed_seconds`, and does not use up the lane's.
        with deadlines.within(self.deadline()):
            documents = self._stores.documents.revision()
            usual = self._background.usual(self._as_it_is(generation), known.usual, documents)
            if known.is_fitted:
                # The weights were fitted to similarities as the space has them.
                usual = replace(usual, mean=known.usual.mean)
            lane = DenseLane(self._stores.vectors, generation, vector, query.scope, usual)
            limit = settings.experiment.dense_pool or pool
            return lane, lane.candidates(limit, floor=settings.search.min_similarity)

    def _as_it_is(self, generation: Generation) -> Generation:
        """The generation with its revision of now: means may be taken anew while it is asked."""
        if block(generation.space) is None:
            return generation
        found = [one for one in self._stores.vectors.generations() if one == generation]
        return found[0] if found else generation

    def _waiting(self, served: Served, scope: Scope) -> str | None:
        """That passages of the owner's documents wait for their vectors, if any do."""
        progress = self._stores.queue.progress(served.generation.number, scope)
        if progress.failed and not progress.pending:
            return f"{progress.failed:,} passages could not be embedded, and wait for another try"
        total = progress.ready + progress.missing
        return f"{progress.pending:,} of {total:,} passages {WAITING}" if progress.pending else None

    def _is_gone(self, served: Served) -> bool:
        """Whether the generation was dropped while it was asked: another one serves by now."""
        return self._pinned is None and all(
            one.number != served.generation.number for one in self._stores.vectors.generations()
        )

    def _served(self) -> Served:
        if self._pinned is None:
            return choose(self._stores, self._embedders)
        for one in self._stores.vectors.generations():
            if one.number == self._pinned and (embedder := self._embedders.of(one.space)):
                return Served(one, embedder)
        raise EmbedderUnavailable(f"generation {self._pinned} is gone, or its embedder is")

    def _finish_dense(self, waiting: Future[_Dense] | LaneResult) -> _Dense:
        if isinstance(waiting, LaneResult):
            return waiting, None
        seconds = self._settings.search.embed_seconds
        self._stores.pause()
        try:
            return waiting.result(timeout=seconds)
        except TimeoutError:
            self._overdue.add(waiting)
            late = f"the embedder took longer than {seconds:g} s"
            return LaneResult((), seconds * 1000, failure=late), None

    def _warn_once(self, degradation: Degradation) -> None:
        # Numbers change from search to search; the reason stays the same.
        key = (degradation.lane, re.sub(r"\d+", "", degradation.reason))
        # A server may say something else every time.
        if key not in self._warned and len(self._warned) < _MOST_WARNINGS:
            self._warned.add(key)
            # What the user switched off themselves is worth no warning.
            off = self._settings.embedding.embedder == "none" or not self._settings.search.semantic
            level = logging.INFO if off else logging.WARNING
            log.log(level, "%s lane: %s", degradation.lane, degradation.reason)


_MOST_WARNINGS = 100

# What the dense lane found, and the lane itself where it could run.
_Dense = tuple[LaneResult, DenseLane | None]


def _join(known: Candidate, other: Candidate) -> None:
    """Add what another lane measured of a document."""
    known.features |= other.features
    known.ranks |= other.ranks
    known.matched = known.matched or other.matched
    if other.similarity is not None:
        known.position, known.sentence = other.position, other.sentence
        known.similarity = other.similarity


def _by_letters(found: Mapping[Lane, LaneResult]) -> list[Candidate]:
    """What holds the letters that were typed, each verified: that is certain, and no estimate."""
    candidates = list(found[Lane.EXACT].candidates) if Lane.EXACT in found else []
    for candidate in candidates:
        worth = candidate.features[Feature.EXACT]
        candidate.score, candidate.relevance = worth, 1.0
        candidate.contributions = (Contribution(Lane.EXACT, Feature.EXACT, worth, 1.0, worth),)
    return candidates
