"""The read path up to the order of documents: text → query → lanes → fusion."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial

from twolane.embedding.sentence_codes import sentence_part
from twolane.embedding.spaces import Background, Embedders, Served, choose, embed_query
from twolane.model import deadlines
from twolane.model.answer import Degradation, Lane, LaneReport, Mode, Sort
from twolane.model.candidate import Fused, Hit
from twolane.model.deadlines import Deadline
from twolane.model.errors import (
    EmbedderError,
    EmbedderUnavailable,
    NotPermitted,
    StoreError,
    TooSlow,
)
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.model.space import Space
from twolane.ports import Stores
from twolane.query import Query
from twolane.query.analyzer import Asked, Understanding
from twolane.query.plan import Plan, plan_for
from twolane.ranking.duplicates import folded, originals
from twolane.ranking.exact import exact_hits
from twolane.ranking.fusion import Ranking, fuse
from twolane.ranking.identity import identity_hits
from twolane.ranking.lanes import Closer, Found, confidence, dense_hits, in_time, lexical_hits
from twolane.ranking.parallel_documents import bounds
from twolane.ranking.rankings import Ranked
from twolane.ranking.relevance import DEPTH, LITERAL, Fits, answerable, rated
from twolane.ranking.relevance_files import known_fits
from twolane.ranking.signals import boosted, floored
from twolane.ranking.translated import translated_hits
from twolane.settings import Settings

log = logging.getLogger("twolane")

# A name belongs to few documents.
_FEW = 10

SWITCHED_OFF = "semantic search is switched off (semantic = false)"
WAITING = "some passages wait for their vectors; until then they are found by their words alone"


class Searcher:
    """Answers queries over one store; safe to share between threads."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        embedders: Embedders,
        pinned: int | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        """`pinned` is the generation to ask, whether it serves or not; `stopping` ends answers."""
        self._stores = stores
        self._settings = settings
        self._embedders = embedders
        self._pinned = pinned
        self._stopping = stopping or threading.Event()
        self._background = Background()
        self._overdue: set[Future[Found]] = set()
        self._understanding = Understanding(stores, settings)
        self._warned: set[tuple[Lane, str]] = set()

    def deadline(self) -> Deadline:
        """The deadline of a question that is asked now."""
        return Deadline(self._settings.search.query_seconds, self._stopping)

    def stop(self) -> None:
        """End all answers that are being worked on, with TooSlow."""
        self._stopping.set()

    def asked(
        self,
        text: str,
        scope: Scope | None = None,
        now: datetime | None = None,
        *,
        mode: Mode = Mode.HYBRID,
    ) -> Asked:
        """What the text asks for in the scope, where relative dates count from `now`."""
        return self._understanding.asked(text, scope or Scope(), mode=mode, now=now)

    def rank(
        self,
        text: str,
        scope: Scope,
        *,
        mode: Mode = Mode.HYBRID,
        limit: int | None = None,
        asked: Asked | None = None,
    ) -> Ranked:
        """The ranking behind the answer, beyond its limit, with nothing made up to be shown.

        The limit only widens the lanes' pools where it is larger than they are.
        `asked` is what the text was understood as, if that is known already.
        """
        require(scope, Capability.SEARCH)
        wanted = self._settings.search.limit if limit is None else limit
        asked = asked or self.asked(text, scope, mode=mode)
        plan = plan_for(mode, asked.intent, self._settings, [one.kind for one in asked.repairs])
        found, degraded = self._run(asked, plan, wanted, scope)
        with deadlines.time_to_show():
            return self._ranked(asked, mode, wanted, plan.followed(found), found, degraded)

    def _ranked(
        self,
        asked: Asked,
        mode: Mode,
        wanted: int,
        plan: Plan,
        found: dict[Lane, Found],
        degraded: tuple[Degradation, ...],
    ) -> Ranked:
        """What the lanes found as one ranking."""
        query, narrowed = asked.query, asked.scope
        same = self._same(one.hits for one in found.values()) if mode != Mode.EXACT else {}
        fused = fuse(
            [
                Ranking(lane, plan.weights[lane], one.hits, one.translated)
                for lane, one in found.items()
            ],
            translation=self._settings.ranking.translation_weight,
            k=self._settings.ranking.rrf_k,
            plausible=self._plausible(query),
            same=same,
        )
        fused = boosted(self._stores.documents, fused, query, self._settings, datetime.now(UTC))
        fused = folded(fused, same, wanted)
        words = found.get(Lane.LEXICAL)
        full = words is not None and len(words.hits) >= max(self._settings.search.pool, wanted)
        with suppress(TooSlow):
            fused = floored(
                self._stores, fused, query, narrowed, self._settings, limit=wanted, full=full
            )
        generation = found[Lane.DENSE].generation if Lane.DENSE in found else None
        fit = self._fits.of(found, generation.space if generation else None)
        if mode == Mode.EXACT:
            fit = LITERAL
        if not query.marks and not query.meaning:
            # Filters and signs ask for nothing that a document could be relevant to.
            fit = None
            fused = self._listed(narrowed, wanted) if asked.lists else fused
        fused = rated(
            fused,
            fit,
            count=max(wanted, DEPTH),
            coverage_power=self._settings.ranking.coverage_power,
        )
        return Ranked(
            query=query,
            intent=asked.intent,
            scope=narrowed,
            plan=plan,
            letters=asked.letters,
            fused=fused,
            lanes=tuple(
                LaneReport(lane, plan.weights[lane], len(one.hits), one.ms)
                for lane, one in found.items()
            ),
            degraded=degraded,
            generation=generation.number if generation else None,
            repairs=asked.repairs,
            answerable=answerable(fused, fit),
            translated=asked.translated,
            lists=asked.lists,
        )

    def folded(self, fused: Sequence[Fused], wanted: int) -> list[Fused]:
        """The ranking with copies behind the first `wanted` documents that are none."""
        return folded(fused, self._same([fused]), wanted)

    def under(self, settings: Settings) -> Searcher:
        """A searcher of the same store and embedder under other settings; to be closed, too."""
        return Searcher(self._stores, settings, self._embedders, self._pinned, self._stopping)

    def close(self) -> None:
        """Let the background threads end."""
        self._background.close()

    @cached_property
    def _fits(self) -> Fits:
        return known_fits(self._settings)

    def _same(self, lists: Iterable[Sequence[Hit | Fused]]) -> dict[str, str]:
        return (
            originals(self._stores.documents, lists) if self._settings.ranking.fold_copies else {}
        )

    def _plausible(self, query: Query) -> frozenset[str] | None:
        if not self._settings.ranking.abstention or not query.reading.spoken:
            return None
        return query.reading.languages

    def _run(
        self, asked: Asked, plan: Plan, wanted: int, caller: Scope
    ) -> tuple[dict[Lane, Found], tuple[Degradation, ...]]:
        """Run the lanes beside each other; the dense one within its time."""
        query, scope, letters = asked.query, asked.scope, asked.letters
        pool = max(self._settings.search.pool, wanted)
        waiting: Future[Found] | Found | None = None
        if Lane.DENSE in plan.weights and query.meaning:
            waiting = self._start_dense(query, scope, pool, caller)
        found: dict[Lane, Found] = {}
        if Lane.LEXICAL in plan.weights:
            found[Lane.LEXICAL] = self._lexical(asked, pool)
        if Lane.IDENTITY in plan.weights and letters:
            found[Lane.IDENTITY] = self._by_letters(identity_hits, letters, scope, _FEW)
        silent = not any(one.hits for one in found.values())
        if letters and (Lane.EXACT in plan.weights or (Lane.EXACT in plan.fallback and silent)):
            found[Lane.EXACT] = self._by_letters(exact_hits, letters, scope, pool)
        if waiting is not None:
            found[Lane.DENSE] = self._finish_dense(waiting)
        degraded = tuple(
            Degradation(lane, reason)
            for lane, one in found.items()
            if (reason := one.failure or one.remark)
        )
        for degradation in degraded:
            self._warn_once(degradation)
        return {lane: one for lane, one in found.items() if not one.failure}, degraded

    def _by_letters(
        self, find: Callable[..., list[Hit]], letters: str, scope: Scope, limit: int
    ) -> Found:
        """What a lane finds that looks at letters; without it the others still answer."""
        try:
            return in_time(partial(find, self._stores.lexical, letters, scope, limit=limit))
        except StoreError as error:
            return Found((), 0.0, failure=str(error))

    def _lexical(self, asked: Asked, pool: int) -> Found:
        return in_time(
            partial(
                lexical_hits,
                self._stores.lexical,
                asked.query,
                asked.scope,
                limit=pool,
                common_share=self._settings.ranking.common_share,
                coverage_power=self._settings.ranking.coverage_power,
                relaxation=self._settings.experiment.relaxation,
            ),
            partial(
                translated_hits,
                self._stores.lexical,
                asked.translated,
                asked.scope,
                own=self._plausible(asked.query),
                limit=pool,
                coverage_power=self._settings.ranking.coverage_power,
            ),
        )

    def _start_dense(
        self, query: Query, scope: Scope, pool: int, asked: Scope
    ) -> Future[Found] | Found:
        if Capability.SEMANTIC not in asked.capabilities:
            return Found((), 0.0, failure=str(NotPermitted(Capability.SEMANTIC)))
        if not self._settings.search.semantic:
            return Found((), 0.0, failure=SWITCHED_OFF)
        self._overdue = {future for future in self._overdue if not future.done()}
        if self._overdue:
            return Found((), 0.0, failure="the embedder is still busy with an earlier query")
        return self._background.submit(lambda: self._dense(query, scope, pool))

    def _dense(self, query: Query, scope: Scope, pool: int) -> Found:
        started = time.perf_counter()
        while True:
            served = None
            try:
                served = self._served()
                ask = partial(self._meant, served, query, scope, pool)
                hits = served.steadily(self._stores.vectors, ask)
            except (EmbedderError, StoreError) as error:
                if served is None or not self._is_gone(served):
                    taken = (time.perf_counter() - started) * 1000
                    return Found((), taken, failure=str(error))
                continue
            remark = served.remark or self._waiting(served, scope)
            # Of a generation that was dropped meanwhile nothing is there, and everything waits.
            if (hits and not remark) or not self._is_gone(served):
                taken = (time.perf_counter() - started) * 1000
                return Found(hits, taken, served.generation, remark=remark)

    def _meant(self, served: Served, query: Query, scope: Scope, pool: int) -> Sequence[Hit]:
        settings, generation = self._settings, served.generation
        languages, brevity = query.reading.languages, settings.ranking.brevity
        vector = embed_query(
            served, query.meaning, languages, self._stores.vectors, brevity=brevity
        )
        if settings.experiment.similarity == "cosine":
            # Stored vectors have unit length; a query without its brevity is shorter.
            vector = vector / max(float(vector @ vector) ** 0.5, 1e-9)
        # Embedding has a time of its own, `embed_seconds`, and does not use up the lane's.
        with deadlines.within(self.deadline()):
            return dense_hits(
                self._stores.vectors,
                generation.number,
                vector,
                scope,
                limit=settings.experiment.dense_pool or pool,
                floor=settings.search.min_similarity,
                confidence=confidence(generation.space)
                if settings.ranking.confidence
                else lambda _: 1.0,
                closer=self._closer(generation.space, query),
            )

    def _waiting(self, served: Served, scope: Scope) -> str | None:
        """That passages of the owner's documents wait for their vectors, if any do."""
        progress = self._stores.queue.progress(served.generation.number, scope)
        if progress.failed and not progress.pending:
            return f"{progress.failed:,} passages could not be embedded, and wait for another try"
        return WAITING if progress.pending else None

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

    def _closer(self, space: Space, query: Query) -> Closer:
        """How the space's passages are looked at once they are found."""
        return Closer(
            sentence_weight=self._settings.ranking.sentence_weight,
            sentence_part=sentence_part(space),
            plausible=query.reading.languages if query.reading.spoken else None,
            bounds=bounds(space) if self._settings.ranking.counterparts else None,
        )

    def _finish_dense(self, waiting: Future[Found] | Found) -> Found:
        if isinstance(waiting, Found):
            return waiting
        seconds = self._settings.search.embed_seconds
        try:
            return waiting.result(timeout=seconds)
        except TimeoutError:
            self._overdue.add(waiting)
            return Found((), seconds * 1000, failure=f"the embedder took longer than {seconds:g} s")

    def _listed(self, scope: Scope, wanted: int) -> list[Fused]:
        """A query of filters alone lists what they leave, newest first."""
        found = self._stores.documents.list(scope, Sort.UPDATED, limit=wanted)
        return [Fused(one.id, 0.0, ()) for one in found]

    def _warn_once(self, degradation: Degradation) -> None:
        key = (degradation.lane, degradation.reason)
        if key not in self._warned:
            self._warned.add(key)
            # What the user switched off themselves is worth no warning.
            off = self._settings.embedding.embedder == "none" or not self._settings.search.semantic
            level = logging.INFO if off else logging.WARNING
            log.log(level, "%s lane: %s", degradation.lane, degradation.reason)
