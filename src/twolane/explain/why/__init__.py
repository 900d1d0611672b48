"""Why a document is among the results of a query, or why it is not.

The answer is measured, not guessed: the document is looked at with the store's own eyes, in a
scope of its own, and each suggestion is searched with before it is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from twolane.explain.why.case import Case, Question, case_of, place_of
from twolane.explain.why.files import file_named
from twolane.explain.why.restrictions import CONTRADICTION, Restriction, restrictions
from twolane.explain.why.suggesting import Suggester
from twolane.explain.why.values import (
    MAIN_LANES,
    Diagnosis,
    Obstacle,
    ObstacleKind,
    Opinion,
    Origin,
    Standing,
)
from twolane.explain.why.wording import by_lane, verdict
from twolane.model import deadlines
from twolane.model.answer import Contribution, Lane, LaneReport, Mode
from twolane.model.candidate import Fused
from twolane.model.errors import NoSuchDocument
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.model.space import Progress
from twolane.ports import Stores
from twolane.ports.generations import serving
from twolane.ports.source import Source
from twolane.query.lookup import meant
from twolane.ranking.rankings import Ranked
from twolane.ranking.search import Searcher
from twolane.settings import Settings

__all__ = ["Diagnoser", "Diagnosis"]

# How far down a document is looked for; no setting lets a search show more.
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document is in a ranking, if it is, with the votes that put it there.

    `found` counts the documents of the ranking, `lanes` tells how many each lane brought,
    `unjudged_ahead` counts those before it on which a lane abstained.
    """

    rank: int | None
    fused: Fused | None
    found: int
    lanes: tuple[LaneReport, ...]
    unjudged_ahead: int


class Diagnoser:
    """Says why; safe to share between threads."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        searcher: Searcher,
        source: Callable[[Path], Source],
    ) -> None:
        self._stores = stores
        self._settings = settings
        self._searcher = searcher
        self._suggester = Suggester(stores.documents, settings, searcher)
        self._source = source

    def why(self, text: str, reference: str, scope: Scope, *, mode: Mode, limit: int) -> Diagnosis:
        """Why the document that the reference names is, or is not, among the best `limit`.

        A file that is known and gave no document is diagnosed by its path and recorded reason.
        """
        started = time.perf_counter()
        require(scope, Capability.SEARCH)
        try:
            document = meant(self._stores.documents, reference, scope)
        except NoSuchDocument:
            file = file_named(self._stores.documents, reference, scope, self._source)
            if file is None:
                raise
            return _of_file(text, mode, limit, *file)
        diagnosis = self._diagnosis(Question(text, scope, mode, limit, document))
        return replace(diagnosis, took_ms=(time.perf_counter() - started) * 1000)

    def _diagnosis(self, question: Question) -> Diagnosis:
        ranked = self._ranked(question, question.limit)
        # The search may have taken all the time; the document is looked at all the same.
        with deadlines.time_to_show():
            case, failed, diagnosis = self._looked_at(question, ranked)
        if diagnosis.standing != Standing.SHOWN:
            suggestion = self._suggester.suggestion(case, failed)
            diagnosis = replace(diagnosis, suggestion=suggestion)
        return replace(diagnosis, verdict=verdict(diagnosis))

    def _looked_at(
        self, question: Question, ranked: Ranked
    ) -> tuple[Case, list[Restriction], Diagnosis]:
        """The diagnosis without suggestion and verdict, and what they are made of."""
        document, limit = question.document, question.limit
        case = case_of(self._stores, self._settings, self._searcher, question, ranked)
        failed = self._failed(case)
        place = self._place(case, searchable=not failed)
        rank = place.rank
        opinions = tuple(self._opinions(case, place, in_scope=not failed))
        obstacles = [one.obstacle(document) for one in failed]
        if rank is None and not failed:
            obstacles = list(self._lane_obstacles(case, place.lanes))
        standing = Standing.SHOWN
        if rank is None or rank > limit:
            standing = Standing.MISSING if rank is None else Standing.BELOW
        return (
            case,
            failed,
            Diagnosis(
                query=question.text,
                mode=question.mode,
                limit=limit,
                id=document.id,
                collection=document.collection,
                path=document.path,
                url=document.url,
                title=document.title,
                standing=standing,
                verdict="",
                rank=rank,
                score=place.fused.score if place.fused else None,
                relevance=place.fused.relevance if place.fused else None,
                copy_of=place.fused.copy_of if place.fused else None,
                found=place.found,
                unjudged_ahead=place.unjudged_ahead,
                obstacles=tuple(obstacles),
                opinions=opinions,
                words=case.words,
                coverage=case.coverage,
                passage=case.passage,
                suggestion=None,
                repairs=ranked.repairs,
                degraded=ranked.degraded,
                generation=ranked.generation,
                took_ms=0.0,
            ),
        )

    def _ranked(self, question: Question, limit: int) -> Ranked:
        return self._searcher.rank(question.text, question.scope, mode=question.mode, limit=limit)

    def _place(self, case: Case, *, searchable: bool) -> _Place:
        """Where the document is in the answer, or in the widest one that can be had."""
        id, usual = case.question.document.id, case.ranked
        found = place_of(usual, id)
        if found is not None or not searchable:
            rank, fused = found or (None, None)
            return _Place(rank, fused, len(usual.fused), usual.lanes, _unjudged(usual, rank))
        wide = self._ranked(case.question, _WIDEST)
        found = place_of(wide, id)
        if found is None:
            return _Place(None, None, len(wide.fused), wide.lanes, 0)
        # What the usual pools bring comes first, whatever wider ones would say.
        at_best = max(found[0], len(usual.fused) + 1)
        total = max(at_best, len(wide.fused))
        return _Place(at_best, found[1], total, wide.lanes, _unjudged(wide, found[0]))

    # ----------------------------------------------------------------------------- obstacles

    def _failed(self, case: Case) -> list[Restriction]:
        """The filters and demands that the document does not pass, each on its own."""
        question = case.question
        id = question.document.id
        if self._stores.documents.get([id], case.ranked.scope, frozenset()):
            return []
        anywhere = replace(question.alone, documents=())
        failed = [
            one
            for one in restrictions(question.scope, case.ranked.query)
            if not self._stores.documents.get([id], replace(anywhere, **one.alone), frozenset())
        ]
        return failed or [CONTRADICTION]

    def _lane_obstacles(self, case: Case, reports: Sequence[LaneReport]) -> Iterator[Obstacle]:
        """Why no lane brought a document that is in scope."""
        if case.ranked.lists or not reports:
            reason = "the query has no words to look for"
            yield Obstacle(ObstacleKind.NO_WORDS, Origin.QUERY, case.question.text, reason)
            return
        # What a lane for names or letters does not find was not meant for it, but for signs.
        query = case.ranked.query
        main = [one for one in reports if one.lane in MAIN_LANES and (query.marks or query.meaning)]
        for report in main or [one for one in reports if one.lane == Lane.EXACT] or reports:
            yield self._lane_obstacle(case, report)
        for one in case.ranked.not_run:
            reason = f"the {one.lane.value} lane did not run: {one.reason}"
            yield Obstacle(ObstacleKind.LANE, Origin.INDEX, one.lane.value, reason)

    def _lane_obstacle(self, case: Case, report: LaneReport) -> Obstacle:
        """Why one lane that ran did not bring a document that is in scope."""
        lane = report.lane
        if lane == Lane.IDENTITY:
            reason = f"none of its names is like “{case.ranked.letters}”"
            return Obstacle(ObstacleKind.LANE, Origin.QUERY, lane.value, reason)
        look = {Lane.LEXICAL: self._in_words, Lane.EXACT: self._in_letters}
        obstacle = look.get(lane, self._in_meaning)(case)
        reason = f"at least {report.hits:,} documents come before it {by_lane(lane)}"
        return obstacle or Obstacle(ObstacleKind.POOL, Origin.SETTING, "pool", reason)

    def _in_words(self, case: Case) -> Obstacle | None:
        if case.scored is None:
            reason = "it holds none of the words"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.QUERY, "words", reason)
        if self._settings.experiment.relaxation == "all" and not all(
            one.held for one in case.words
        ):
            reason = "it does not hold every word, which `experiment.relaxation` demands"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.SETTING, "relaxation", reason)
        return None

    def _in_letters(self, case: Case) -> Obstacle | None:
        letters = case.ranked.letters
        if self._stores.lexical.substring(letters, case.question.alone, limit=1):
            return None
        reason = f"“{letters}” does not stand in it"
        return Obstacle(ObstacleKind.NO_LETTERS, Origin.QUERY, letters, reason)

    def _in_meaning(self, case: Case) -> Obstacle | None:
        least = self._settings.search.min_similarity
        if case.similarity is None:
            reason = self._no_vectors(case.question)
            return Obstacle(ObstacleKind.NO_VECTORS, Origin.INDEX, "vectors", reason)
        if case.similarity < least:
            near = f"its nearest passage ({case.similarity:.3f} similar)"
            reason = f"{near} is below the `search.min_similarity` of {least:g}"
            return Obstacle(ObstacleKind.THRESHOLD, Origin.SETTING, "search.min_similarity", reason)
        return None

    def _no_vectors(self, question: Question) -> str:
        generation, id = serving(self._stores), question.document.id
        progress = Progress(0, 0, 0)
        if generation:
            progress = self._stores.queue.progress(generation.number, question.scope, detail=True)
        if id in progress.failures:
            return f"its passages could not be embedded ({progress.failures[id].reason})"
        return "its passages have no vectors yet (`twolane embed` makes them)"

    # -------------------------------------------------------------------------------- lanes

    def _opinions(self, case: Case, place: _Place, *, in_scope: bool) -> Iterator[Opinion]:
        """What each lane that ran says of the document; nothing where there is nothing to judge."""
        if case.ranked.lists:
            return
        cast = {one.lane: one for one in place.fused.contributions} if place.fused else {}
        alone = {Lane.LEXICAL: case.scored.score if case.scored else None}
        alone[Lane.DENSE] = case.similarity
        for report in place.lanes:
            lane = report.lane
            if lane in cast:
                yield _opinion(cast[lane], report.hits)
                continue
            yield Opinion(
                lane=lane,
                hits=report.hits,
                rank=None,
                score=alone.get(lane),
                weight=report.weight,
                vote=None,
                value=0.0,
                reason=self._lane_obstacle(case, report).reason
                if in_scope
                else "it is out of scope",
            )


def _unjudged(ranked: Ranked, rank: int | None) -> int:
    """How many documents before the rank have a lane that abstained."""
    ahead = ranked.fused[: rank - 1] if rank else ()
    return sum(any(one.abstained for one in fused.contributions) for fused in ahead)


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
        reason=_why_silent(cast) if cast.abstained else "",
    )


def _why_silent(cast: Contribution) -> str:
    if cast.counterpart is None:
        return "it is in another language than the query"
    return f"it is in another language than the query; judged by {cast.counterpart.id}"


def _of_file(
    text: str, mode: Mode, limit: int, collection: str, path: str, obstacle: Obstacle
) -> Diagnosis:
    """The diagnosis of a file that gave no document: its path and the reason, nothing else."""
    diagnosis = Diagnosis(
        query=text,
        mode=mode,
        limit=limit,
        id=None,
        collection=collection,
        path=path,
        url=None,
        title=None,
        standing=Standing.MISSING,
        verdict="",
        rank=None,
        score=None,
        found=0,
        unjudged_ahead=0,
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
    return replace(diagnosis, verdict=verdict(diagnosis))
