"""The read path: text → query → lanes → fusion → results."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial

from twolane.answers import Answer, Degradation, Fused, Hit, Lane, LaneReport, Mode, Repair, Result
from twolane.copies import folded, originals
from twolane.errors import EmbedderError, EmbedderUnavailable, NotPermitted, StoreError
from twolane.exact import exact_hits
from twolane.exact_results import exact_result_of, only_by_letters
from twolane.fusion import Ranking, fuse
from twolane.identity import identity_hits
from twolane.intent import Intent
from twolane.lanes import Closer, Found, dense_hits, lexical_hits
from twolane.model import Space
from twolane.permissions import require
from twolane.plan import Plan, plan_for
from twolane.ports import Store
from twolane.query import Query
from twolane.relevance import DEPTH, LITERAL, Fits, answerable, rated
from twolane.relevance_files import known_fits
from twolane.results import results_of
from twolane.scopes import Capability, Scope, Word
from twolane.sentence_codes import sentence_part
from twolane.settings import Settings
from twolane.signals import boosted, floored
from twolane.spaces import Background, Embedders, Served, bounds, choose, confidence, embed_query
from twolane.translating import translated_hits
from twolane.understanding import Asked, Understanding

log = logging.getLogger("twolane")

# A name belongs to few documents.
_FEW = 10

SWITCHED_OFF = "semantic search is switched off (semantic = false)"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query as it was understood, and every document that its lanes brought, best first.

    `scope` is the caller's, narrowed by the query's own filters and demands.
    `letters` is what is looked for by its letters, as it was typed.
    `translated` are the words with those of other languages that were looked for, if any were.
    `lists` where there was nothing to rank by, and the documents in scope are listed.
    """

    query: Query
    intent: Intent
    scope: Scope
    plan: Plan
    letters: str
    fused: Sequence[Fused]
    lanes: tuple[LaneReport, ...]
    degraded: tuple[Degradation, ...]
    generation: int | None
    repairs: tuple[Repair, ...]
    answerable: bool | None = None
    translated: tuple[Word, ...] = ()
    lists: bool = False


class Searcher:
    """Answers queries over one store; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embedders: Embedders,
        pinned: int | None = None,
    ) -> None:
        """`pinned` is the generation to ask, whether it serves or not."""
        self._store = store
        self._settings = settings
        self._embedders = embedders
        self._pinned = pinned
        self._background = Background()
        self._overdue: set[Future[Found]] = set()
        self._understanding = Understanding(store, settings)
        self._warned: set[tuple[Lane, str]] = set()

    def answer(self, text: str, mode: Mode, ranked: Ranked, shown: Sequence[Fused]) -> Answer:
        """The answer that shows some of a ranking."""
        results = self.results(shown, ranked.query, ranked.letters, ranked.translated)
        return Answer(
            query=text,
            mode=mode,
            lanes=ranked.lanes,
            degraded=ranked.degraded,
            generation=ranked.generation,
            took_ms=0.0,
            results=results,
            repairs=ranked.repairs,
            misread=ranked.query.misread,
            intent=str(ranked.intent),
            found=tuple(one.id for one in ranked.fused),
            collections=self.described(results),
            answerable=ranked.answerable,
            plan=ranked.plan.weights,
        )

    def described(self, results: Sequence[Result]) -> dict[str, str]:
        """What the collections of the results are, where somebody said it."""
        shown = {one.collection for one in results}
        held = self._store.collections() if shown else []
        return {one.name: one.description for one in held if one.name in shown and one.description}

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
        wanted = self._settings.limit if limit is None else limit
        asked = asked or self.asked(text, scope, mode=mode)
        query, narrowed, intent = asked.query, asked.scope, asked.intent
        plan = plan_for(mode, intent, self._settings, [one.kind for one in asked.repairs])
        found, degraded = self._run(asked, plan, wanted, scope)
        plan = plan.followed(found)
        same = self._same(one.hits for one in found.values()) if mode != Mode.EXACT else {}
        fused = fuse(
            [
                Ranking(lane, plan.weights[lane], one.hits, one.translated)
                for lane, one in found.items()
            ],
            translation=self._settings.translation_weight,
            k=self._settings.rrf_k,
            plausible=self._plausible(query),
            same=same,
        )
        fused = boosted(self._store, fused, query, self._settings, datetime.now(UTC))
        fused = folded(fused, same, wanted)
        words = found.get(Lane.LEXICAL)
        full = words is not None and len(words.hits) >= max(self._settings.pool, wanted)
        fused = floored(
            self._store, fused, query, narrowed, self._settings, limit=wanted, full=full
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
            coverage_power=self._settings.coverage_power,
        )
        return Ranked(
            query=query,
            intent=intent,
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
        return Searcher(self._store, settings, self._embedders, self._pinned)

    def close(self) -> None:
        """Let the background threads end."""
        self._background.close()

    @cached_property
    def _fits(self) -> Fits:
        return known_fits(self._settings)

    def _same(self, lists: Iterable[Sequence[Hit | Fused]]) -> dict[str, str]:
        return originals(self._store, lists) if self._settings.fold_copies else {}

    def _plausible(self, query: Query) -> frozenset[str] | None:
        if not self._settings.abstention or not query.reading.spoken:
            return None
        return query.reading.languages

    def _run(
        self, asked: Asked, plan: Plan, wanted: int, caller: Scope
    ) -> tuple[dict[Lane, Found], tuple[Degradation, ...]]:
        """Run the lanes beside each other; the dense one within its time."""
        query, scope, letters = asked.query, asked.scope, asked.letters
        pool = max(self._settings.pool, wanted)
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
        started = time.perf_counter()
        hits: Sequence[Hit] = ()
        failure = None
        try:
            hits = find(self._store, letters, scope, limit=limit)
        except StoreError as error:
            failure = str(error)
        return Found(hits, (time.perf_counter() - started) * 1000, failure=failure)

    def _lexical(self, asked: Asked, pool: int) -> Found:
        started = time.perf_counter()
        hits = lexical_hits(
            self._store,
            asked.query,
            asked.scope,
            limit=pool,
            common_share=self._settings.common_share,
            coverage_power=self._settings.coverage_power,
            relaxation=self._settings.relaxation,
        )
        translated = translated_hits(
            self._store,
            asked.translated,
            asked.scope,
            own=self._plausible(asked.query),
            limit=pool,
            coverage_power=self._settings.coverage_power,
        )
        return Found(hits, (time.perf_counter() - started) * 1000, translated=translated)

    def _start_dense(
        self, query: Query, scope: Scope, pool: int, asked: Scope
    ) -> Future[Found] | Found:
        if Capability.SEMANTIC not in asked.capabilities:
            return Found((), 0.0, failure=str(NotPermitted(Capability.SEMANTIC)))
        if not self._settings.semantic:
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
                hits = served.steadily(self._store, ask)
            except (EmbedderError, StoreError) as error:
                if served is None or not self._is_gone(served):
                    taken = (time.perf_counter() - started) * 1000
                    return Found((), taken, failure=str(error))
                continue
            if hits or not self._is_gone(served):
                taken = (time.perf_counter() - started) * 1000
                return Found(hits, taken, served.generation, remark=served.remark)

    def _meant(self, served: Served, query: Query, scope: Scope, pool: int) -> Sequence[Hit]:
        settings, generation = self._settings, served.generation
        languages, brevity = query.reading.languages, settings.brevity
        vector = embed_query(served, query.meaning, languages, self._store, brevity=brevity)
        return dense_hits(
            self._store,
            generation.number,
            vector,
            scope,
            limit=settings.dense_pool or pool,
            floor=settings.min_similarity,
            cosine=settings.similarity == "cosine",
            confidence=confidence(generation.space) if settings.confidence else lambda _: 1.0,
            closer=self._closer(generation.space, query),
        )

    def _is_gone(self, served: Served) -> bool:
        """Whether the generation was dropped while it was asked: another one serves by now."""
        return self._pinned is None and all(
            one.number != served.generation.number for one in self._store.generations()
        )

    def _served(self) -> Served:
        if self._pinned is None:
            return choose(self._store, self._embedders)
        for one in self._store.generations():
            if one.number == self._pinned and (embedder := self._embedders.of(one.space)):
                return Served(one, embedder)
        raise EmbedderUnavailable(f"generation {self._pinned} is gone, or its embedder is")

    def _closer(self, space: Space, query: Query) -> Closer:
        """How the space's passages are looked at once they are found."""
        return Closer(
            sentence_weight=self._settings.sentence_weight,
            sentence_part=sentence_part(space),
            plausible=query.reading.languages if query.reading.spoken else None,
            bounds=bounds(space) if self._settings.counterparts else None,
        )

    def _finish_dense(self, waiting: Future[Found] | Found) -> Found:
        if isinstance(waiting, Found):
            return waiting
        seconds = self._settings.embed_seconds
        try:
            return waiting.result(timeout=seconds)
        except TimeoutError:
            self._overdue.add(waiting)
            return Found((), seconds * 1000, failure=f"the embedder took longer than {seconds:g} s")

    def _listed(self, scope: Scope, wanted: int) -> list[Fused]:
        """A query of filters alone lists what they leave, newest first."""
        return [Fused(id, 0.0, ()) for id in self._store.recent(scope, limit=wanted)]

    def results(
        self,
        fused: Sequence[Fused],
        query: Query,
        letters: str = "",
        translated: Sequence[Word] = (),
    ) -> tuple[Result, ...]:
        """What is shown of documents that were found."""
        ids = [one.id for one in fused]
        documents, chunks = self._store.documents(ids), self._store.chunks_of(ids)
        by_letters = {
            one.id: exact_result_of(one, documents[one.id], chunks.get(one.id, ()), letters)
            for one in fused
            if one.id in documents and only_by_letters(one)
        }
        others = [one for one in fused if one.id not in by_letters]
        found = results_of(others, documents, chunks, query.marks, translated)
        shown = {one.id: one for one in found} | by_letters
        # A document may go between the lanes and here; it is then rightly missing.
        return tuple(shown[id] for id in ids if id in shown)

    def _warn_once(self, degradation: Degradation) -> None:
        key = (degradation.lane, degradation.reason)
        if key not in self._warned:
            self._warned.add(key)
            # What the user switched off themselves is worth no warning.
            off = self._settings.embedder == "none" or not self._settings.semantic
            level = logging.INFO if off else logging.WARNING
            log.log(level, "%s lane: %s", degradation.lane, degradation.reason)
