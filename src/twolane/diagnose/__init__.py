"""Why a document is among the results of a query, or why it is not.

The answer is measured, not guessed: the document is looked at with the store's own eyes, in a
scope of its own, and each suggestion is searched with before it is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from twolane.answers import Candidate, Contribution, Fused, Lane, Mode
from twolane.diagnose.files import Unindexed, file_named
from twolane.diagnose.parts import droppable, parts_of, without
from twolane.diagnose.restrictions import Restriction, restrictions
from twolane.diagnose.values import (
    Change,
    Diagnosis,
    Obstacle,
    ObstacleKind,
    Opinion,
    Origin,
    Passage,
    Standing,
    Suggestion,
    WordFound,
)
from twolane.diagnose.wording import verdict
from twolane.errors import NoSuchDocument
from twolane.lookup import meant
from twolane.model import FIELDS, Document
from twolane.permissions import require
from twolane.ports import Embedder, Store
from twolane.query import Filters, Query, parse
from twolane.results import passage_for
from twolane.scopes import Capability, Scope, Word
from twolane.scoring import Scored, score
from twolane.search import Ranked, Searcher
from twolane.settings import Settings
from twolane.spaces import serving

__all__ = ["Diagnoser", "Diagnosis"]

# How far down a document is looked for; no setting lets a search show more.
_WIDEST = 1000

# Searches that may be made to find a change that helps.
_MOST_TRIES = 24


@dataclass(frozen=True, slots=True)
class _Case:
    """A document and a query: what was asked, and what the search made of it."""

    text: str
    scope: Scope
    mode: Mode
    limit: int
    document: Document
    ranked: Ranked
    words: tuple[WordFound, ...]
    scored: Scored | None
    passage: Passage | None

    @property
    def alone(self) -> Scope:
        """The document and nothing else, for whoever may see it."""
        return _anywhere(self.scope, self.document.id)


@dataclass(frozen=True, slots=True)
class _Try:
    """A change to search with."""

    change: Change
    what: str
    text: str
    scope: Scope
    value: float | None = None


class Diagnoser:
    """Says why; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embedder: Embedder | None,
        no_embedder: str,
        unindexed: Unindexed = lambda reference: None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._unindexed = unindexed
        self._searching: Callable[[Settings], Searcher] = lambda chosen: Searcher(
            store, chosen, embedder, no_embedder
        )

    def why(self, text: str, reference: str, scope: Scope, *, mode: Mode, limit: int) -> Diagnosis:
        """Why the document that the reference names is, or is not, among the best `limit`.

        A file that is known and gave no document is diagnosed by its path and recorded reason.
        """
        started = time.perf_counter()
        require(scope, Capability.SEARCH)
        try:
            document = meant(self._store, reference, scope)
        except NoSuchDocument:
            found = file_named(self._store, reference, scope, self._unindexed)
            if found is None:
                raise
            collection, path, obstacle = found
            return _of_file(text, mode, limit, collection, path, obstacle)
        with closing(self._searching(self._settings)) as searcher:
            diagnosis = self._diagnosis(searcher, text, scope, mode, limit, document)
        return replace(diagnosis, took_ms=(time.perf_counter() - started) * 1000)

    def _diagnosis(
        self,
        searcher: Searcher,
        text: str,
        scope: Scope,
        mode: Mode,
        limit: int,
        document: Document,
    ) -> Diagnosis:
        ranked = searcher.rank(text, scope, mode=mode, limit=limit)
        case = self._case(text, scope, mode, limit, document, ranked)
        failed = self._failed(case)
        rank, fused, found = _place(ranked, document.id)
        if rank is None and not failed:
            wide = searcher.rank(text, scope, mode=mode, limit=_WIDEST)
            rank, fused, found = _place(wide, document.id)
            # What the usual pools bring comes first, whatever wider ones would say.
            rank = rank and max(rank, len(ranked.fused) + 1)
            found = max(found, rank or 0)
        opinions = tuple(self._opinions(case, fused, in_scope=not failed))
        obstacles = [one.obstacle(document) for one in failed]
        if not failed and rank is None:
            obstacles = list(self._lane_obstacles(case))
        standing = Standing.MISSING
        if rank is not None:
            standing = Standing.SHOWN if rank <= limit else Standing.BELOW
        suggestion = None
        if standing != Standing.SHOWN:
            suggestion = self._suggestion(searcher, case, failed)
        return Diagnosis(
            query=text,
            mode=mode,
            limit=limit,
            id=document.id,
            collection=document.collection,
            path=document.path,
            url=document.url,
            title=document.title,
            standing=standing,
            verdict=verdict(standing, rank, found, limit, opinions, case.words, obstacles),
            rank=rank,
            score=fused.score if fused else None,
            found=found,
            obstacles=tuple(obstacles),
            opinions=opinions,
            words=case.words,
            coverage=_coverage(ranked.query, case.scored),
            passage=case.passage,
            suggestion=suggestion,
            repairs=ranked.repairs,
            degraded=ranked.degraded,
            generation=ranked.generation,
            took_ms=0.0,
        )

    # -------------------------------------------------------------------- the document itself

    def _case(
        self, text: str, scope: Scope, mode: Mode, limit: int, document: Document, ranked: Ranked
    ) -> _Case:
        marks = ranked.query.marks
        alone = _anywhere(scope, document.id)
        candidates = self._store.lexical((), alone, every=False, limit=1)
        scored = score(marks, candidates, self._store.frequencies(marks)) if marks else []
        return _Case(
            text,
            scope,
            mode,
            limit,
            document,
            ranked,
            words=_words(ranked, candidates[0]) if candidates else (),
            scored=scored[0] if scored else None,
            passage=self._passage(ranked, mode, alone, document),
        )

    def _passage(
        self, ranked: Ranked, mode: Mode, alone: Scope, document: Document
    ) -> Passage | None:
        """The nearest passage by meaning, however far; by words where meaning says nothing."""
        chunks = {chunk.position: chunk for chunk in self._store.chunks(document.id)}
        position, similarity = None, None
        deaf = {one.lane for one in ranked.degraded}
        if mode != Mode.LEXICAL and ranked.query.meaning and Lane.DENSE not in deaf:
            lenient = replace(self._settings, min_similarity=-1.0)
            with closing(self._searching(lenient)) as searcher:
                near = searcher.rank(ranked.query.meaning, alone, mode=Mode.SEMANTIC, limit=1)
            for fused in near.fused:
                position, similarity = fused.position, fused.contributions[0].score
        if position is None:
            position = passage_for(document, list(chunks.values()), ranked.query.marks)
        chunk = chunks.get(position) if position is not None else None
        if chunk is None:
            return None
        lines = chunk.first_line, chunk.last_line
        return Passage(chunk.position, chunk.headings, lines, similarity)

    # ----------------------------------------------------------------------------- obstacles

    def _failed(self, case: _Case) -> list[Restriction]:
        """The filters and demands that the document does not pass, each on its own."""
        if self._store.document(case.document.id, case.ranked.scope) is not None:
            return []
        anywhere = replace(case.alone, documents=())
        failed = [
            one
            for one in restrictions(case.scope, case.ranked.query)
            if self._store.document(case.document.id, replace(anywhere, **one.alone)) is None
        ]
        return failed or [_CONTRADICTION]

    def _lane_obstacles(self, case: _Case) -> Iterator[Obstacle]:
        """Why no lane brought a document that is in scope."""
        query = case.ranked.query
        if not query.marks and not query.meaning and case.ranked.scope == case.scope:
            yield Obstacle(
                ObstacleKind.NO_WORDS, Origin.QUERY, case.text, "the query has no words to look for"
            )
            return
        for report in case.ranked.lanes:
            yield self._lane_obstacle(case, report.lane)
        for one in case.ranked.degraded:
            reason = f"the {one.lane.value} lane did not run ({one.reason})"
            yield Obstacle(ObstacleKind.LANE, Origin.INDEX, one.lane.value, reason)

    def _lane_obstacle(self, case: _Case, lane: Lane) -> Obstacle:
        """Why one lane that ran did not bring a document that is in scope."""
        settings = self._settings
        if lane == Lane.LEXICAL and case.scored is None:
            reason = "it holds none of the words"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.QUERY, lane.value, reason)
        if lane == Lane.LEXICAL and settings.relaxation == "all" and not _holds_all(case.words):
            reason = "it does not hold every word, which `relaxation` demands"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.SETTING, "relaxation", reason)
        similarity = case.passage.similarity if case.passage else None
        if lane == Lane.DENSE and similarity is None:
            return Obstacle(
                ObstacleKind.NO_VECTORS, Origin.INDEX, lane.value, self._no_vectors(case)
            )
        if lane == Lane.DENSE and similarity is not None and similarity < settings.min_similarity:
            reason = (
                f"its nearest passage is {similarity:.2f} similar "
                f"and `min_similarity` is {settings.min_similarity:g}"
            )
            return Obstacle(ObstacleKind.THRESHOLD, Origin.SETTING, "min_similarity", reason)
        hits = next(report.hits for report in case.ranked.lanes if report.lane == lane)
        reason = f"the {lane.value} lane's {hits:,} hits come before it"
        return Obstacle(ObstacleKind.POOL, Origin.SETTING, "pool", reason)

    def _no_vectors(self, case: _Case) -> str:
        generation = serving(self._store)
        failures = self._store.failures(generation.number) if generation else {}
        failure = failures.get(case.document.id)
        if failure:
            return f"its passages could not be embedded ({failure})"
        return "its passages have no vectors yet (run `twolane embed`)"

    # -------------------------------------------------------------------------------- lanes

    def _opinions(self, case: _Case, fused: Fused | None, *, in_scope: bool) -> Iterator[Opinion]:
        """What each lane that ran says of the document."""
        cast = {one.lane: one for one in fused.contributions} if fused else {}
        for report in case.ranked.lanes:
            lane = report.lane
            if lane in cast:
                yield _opinion(cast[lane], report.hits)
                continue
            score = case.scored.score if lane == Lane.LEXICAL and case.scored else None
            if lane == Lane.DENSE and case.passage:
                score = case.passage.similarity
            reason = "it is not in scope"
            if in_scope:
                reason = self._lane_obstacle(case, lane).reason
            yield Opinion(lane, report.hits, None, score, report.weight, None, 0.0, reason=reason)

    # --------------------------------------------------------------------------- suggestions

    def _suggestion(
        self, searcher: Searcher, case: _Case, failed: Sequence[Restriction]
    ) -> Suggestion | None:
        """The first single change that brings the document among the results."""
        if len(failed) > 1:
            # Whatever is dropped, the others still keep it out.
            return None
        for number, one in enumerate(self._tries(case, failed)):
            if number == _MOST_TRIES:
                break
            ranked = self._searched(searcher, case, one)
            rank, _, _ = _place(ranked, case.document.id)
            if rank is not None and rank <= case.limit:
                return Suggestion(one.change, one.what, one.text, rank, one.value)
        return None

    def _searched(self, searcher: Searcher, case: _Case, one: _Try) -> Ranked:
        if one.value is None:
            return searcher.rank(one.text, one.scope, mode=case.mode, limit=case.limit)
        lowered = replace(self._settings, min_similarity=one.value)
        with closing(self._searching(lowered)) as lenient:
            return lenient.rank(one.text, one.scope, mode=case.mode, limit=case.limit)

    def _tries(self, case: _Case, failed: Sequence[Restriction]) -> Iterator[_Try]:
        """The changes that may help: fewer terms, a lower threshold, fewer filters."""
        parts = parts_of(case.text)
        held = self._store.languages()
        read = {
            at: parse(parts[at], held, stemming=self._settings.stemming) for at in droppable(parts)
        }
        filters = [at for at, query in read.items() if query.filters != Filters()]
        filtered = any(one.kind not in _DEMANDS for one in failed)
        if not filtered:
            terms = [at for at in read if at not in filters]
            # What the document lacks is in its way first.
            terms.sort(key=lambda at: self._meets(case, read[at]))
            for at in terms:
                rest = without(parts, at)
                if parse(rest, held, stemming=self._settings.stemming).marks:
                    yield _Try(Change.TERM, parts[at], rest, case.scope)
        similarity = case.passage.similarity if case.passage else None
        if not failed and similarity is not None and similarity < self._settings.min_similarity:
            # Rounded down, so that the passage itself is not lost to rounding.
            value = int((similarity + 1) * 1000 - 0.5) / 1000 - 1
            yield _Try(Change.THRESHOLD, "min_similarity", case.text, case.scope, max(-1.0, value))
        for at in filters:
            yield _Try(Change.FILTER, parts[at], without(parts, at), case.scope)
        for one in failed:
            if one.without is not None:
                yield _Try(Change.FILTER, f"{one.kind} {one.what}", case.text, one.without)

    def _meets(self, case: _Case, part: Query) -> bool:
        """Whether the document holds all that a part of the query asks for."""
        if part.clause is not None:
            scope = replace(case.alone, clause=part.clause)
            return self._store.document(case.document.id, scope) is not None
        lacking = {one.word for one in case.words if not one.held}
        return not any(word.text in lacking for word in part.marks)


_DEMANDS = frozenset((ObstacleKind.DEMAND, ObstacleKind.EXCLUSION))

_CONTRADICTION = Restriction(
    ObstacleKind.CONTRADICTION,
    Origin.QUERY,
    "filters",
    {},
    lambda document: "the filters of the query and of the scope exclude each other",
)


def _anywhere(scope: Scope, id: str) -> Scope:
    """The document alone, whatever the filters say; only the owner decides who may see it."""
    return Scope(owner=scope.owner, capabilities=scope.capabilities, archived=True, documents=(id,))


def _place(ranked: Ranked, id: str) -> tuple[int | None, Fused | None, int]:
    """Rank and votes of the document, and how many documents there are in all."""
    for rank, fused in enumerate(ranked.fused, start=1):
        if fused.id == id:
            return rank, fused, len(ranked.fused)
    return None, None, len(ranked.fused)


def _words(ranked: Ranked, candidate: Candidate) -> tuple[WordFound, ...]:
    """Each word of the query as typed, with the fields that hold it.

    A word of a script without spaces has several positions, and all of them must be held.
    """
    taken = {repair.typed: repair.terms for repair in ranked.repairs}
    fields: dict[str, set[str]] = {}
    for word in ranked.query.marks:
        held = _fields(word, candidate)
        fields[word.text] = fields[word.text] & held if word.text in fields else held
    return tuple(
        WordFound(
            text,
            tuple(name for name in FIELDS if name in held),
            next((terms for typed, terms in taken.items() if text in typed), ()),
        )
        for text, held in fields.items()
    )


def _fields(word: Word, candidate: Candidate) -> set[str]:
    needles = [f" {term}" if word.prefix else f" {term} " for term in word.terms]
    return {
        name
        for name in FIELDS
        if any(needle in str(getattr(candidate.stems, name)) for needle in needles)
    }


def _holds_all(words: Sequence[WordFound]) -> bool:
    return all(one.held for one in words)


def _coverage(query: Query, scored: Scored | None) -> float | None:
    if not query.marks:
        return None
    return scored.coverage if scored else 0.0


def _opinion(cast: Contribution, hits: int) -> Opinion:
    return Opinion(
        lane=cast.lane,
        hits=hits,
        rank=cast.rank,
        score=cast.score,
        weight=cast.weight,
        vote=cast.vote,
        value=cast.value,
        abstained=cast.abstained,
        reason="it is in another language than the query" if cast.abstained else "",
    )


def _of_file(
    text: str, mode: Mode, limit: int, collection: str, path: str, obstacle: Obstacle
) -> Diagnosis:
    """The diagnosis of a file that gave no document: its path and the reason, nothing else."""
    return Diagnosis(
        query=text,
        mode=mode,
        limit=limit,
        id=None,
        collection=collection,
        path=path,
        url=None,
        title=None,
        standing=Standing.MISSING,
        verdict=verdict(Standing.MISSING, None, 0, limit, (), (), (obstacle,)),
        rank=None,
        score=None,
        found=0,
        obstacles=(obstacle,),
        opinions=(),
        words=(),
        coverage=None,
        passage=None,
        suggestion=None,
        repairs=(),
        degraded=(),
        generation=None,
        took_ms=0.0,
    )
