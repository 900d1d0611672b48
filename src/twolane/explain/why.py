"""Why a document is among the results of a query, or why it is not.

The answer is measured, not guessed: the document is looked at with the store's own eyes, in a
scope of its own, and each suggestion is searched with before it is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from twolane.explain.case import Case, Question, case_of, place_of
from twolane.explain.diagnosis import (
    MAIN_LANES,
    Diagnosis,
    Obstacle,
    ObstacleKind,
    Opinion,
    Origin,
    Standing,
    by_lane,
    verdict,
)
from twolane.explain.restrictions import CONTRADICTION, Restriction, restrictions
from twolane.explain.suggestions import Suggester
from twolane.explain.unindexed import file_named
from twolane.model import deadlines
from twolane.model.answer import Lane, LaneReport, Mode
from twolane.model.candidate import Candidate
from twolane.model.errors import NoSuchDocument
from twolane.model.scope import Capability, Scope, require
from twolane.model.space import Progress
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.generations import serving
from twolane.ports.source import Source
from twolane.query.lookup import meant
from twolane.ranking.rankings import Ranking
from twolane.ranking.search import Searcher
from twolane.settings import Settings

# How far down a document is looked for; no setting lets a search show more.
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document is in a ranking, if it is, with the features that put it there.

    `found` counts the documents of the ranking, `lanes` tells how many each lane brought.
    """

    rank: int | None
    candidate: Candidate | None
    found: int
    lanes: tuple[LaneReport, ...]


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
        ranking = self._ranked(question, question.limit)
        # The search may have taken all the time; the document is looked at all the same.
        with deadlines.time_to_show():
            case, failed, diagnosis = self._looked_at(question, ranking)
        if diagnosis.standing != Standing.SHOWN:
            suggestion = self._suggester.suggestion(case, failed)
            diagnosis = replace(diagnosis, suggestion=suggestion)
        return replace(diagnosis, verdict=verdict(diagnosis))

    def _looked_at(
        self, question: Question, ranking: Ranking
    ) -> tuple[Case, list[Restriction], Diagnosis]:
        """The diagnosis without suggestion and verdict, and what they are made of."""
        document, limit = question.document, question.limit
        case = case_of(self._stores, self._settings, self._searcher, question, ranking)
        failed = self._failed(case)
        place = self._place(case, searchable=not failed)
        rank, candidate = place.rank, place.candidate
        opinions = tuple(self._opinions(case, place, in_scope=not failed))
        obstacles = [restriction.obstacle for restriction in failed]
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
                rank=rank,
                score=candidate.score if candidate else None,
                relevance=candidate.relevance if candidate else None,
                copy_of=candidate.copy_of if candidate else None,
                foreign=candidate.foreign if candidate else False,
                contributions=candidate.contributions if candidate else (),
                found=place.found,
                obstacles=tuple(obstacles),
                opinions=opinions,
                words=case.words,
                coverage=case.coverage,
                passage=case.passage,
                repairs=ranking.query.repairs,
                degraded=ranking.degraded,
                generation=ranking.generation,
            ),
        )

    def _ranked(self, question: Question, limit: int) -> Ranking:
        return self._searcher.rank(question.text, question.scope, mode=question.mode, limit=limit)

    def _place(self, case: Case, *, searchable: bool) -> _Place:
        """Where the document is in the answer, or in the widest one that can be had."""
        id, usual = case.question.document.id, case.ranking
        found = place_of(usual, id)
        if found is not None or not searchable:
            rank, candidate = found or (None, None)
            return _Place(rank, candidate, len(usual.candidates), usual.lanes)
        wide = self._ranked(case.question, _WIDEST)
        found = place_of(wide, id)
        if found is None:
            return _Place(None, None, len(wide.candidates), wide.lanes)
        # What the usual pools bring comes first, whatever wider ones would say.
        at_best = max(found[0], len(usual.candidates) + 1)
        return _Place(at_best, found[1], max(at_best, len(wide.candidates)), wide.lanes)

    # ----------------------------------------------------------------------------- obstacles

    def _failed(self, case: Case) -> list[Restriction]:
        """The filters and demands that the document does not pass, each on its own."""
        question = case.question
        id = question.document.id
        if self._stores.documents.get([id], case.ranking.query.scope, frozenset()):
            return []
        anywhere = replace(question.alone, documents=())
        failed = [
            restriction
            for restriction in restrictions(
                question.scope, case.ranking.query.parsed, question.document
            )
            if not self._stores.documents.get(
                [id], replace(anywhere, **restriction.alone), frozenset()
            )
        ]
        return failed or [CONTRADICTION]

    def _lane_obstacles(self, case: Case, reports: Sequence[LaneReport]) -> Iterator[Obstacle]:
        """Why no lane brought a document that is in scope."""
        if case.ranking.query.filters_only or not reports:
            reason = "the query has no words to look for"
            yield Obstacle(ObstacleKind.NO_WORDS, Origin.QUERY, case.question.text, reason)
            return
        # What a lane for names or letters does not find was not meant for it, but for signs.
        query = case.ranking.query.parsed
        main = [one for one in reports if one.lane in MAIN_LANES and (query.marks or query.meaning)]
        for report in main or [one for one in reports if one.lane == Lane.EXACT] or reports:
            yield self._lane_obstacle(case, report)
        for one in case.ranking.not_run:
            reason = f"the {one.lane.value} lane did not run: {one.reason}"
            yield Obstacle(ObstacleKind.LANE, Origin.INDEX, one.lane.value, reason)

    def _lane_obstacle(self, case: Case, report: LaneReport) -> Obstacle:
        """Why one lane that ran did not bring a document that is in scope."""
        lane = report.lane
        if lane == Lane.IDENTITY:
            reason = f"none of its names is like “{case.ranking.query.literal}”"
            return Obstacle(ObstacleKind.LANE, Origin.QUERY, lane.value, reason)
        look = {Lane.LEXICAL: self._in_words, Lane.EXACT: self._in_letters}
        obstacle = look.get(lane, self._in_meaning)(case)
        reason = f"at least {report.hits:,} documents come before it {by_lane(lane)}"
        return obstacle or Obstacle(ObstacleKind.POOL, Origin.SETTING, "pool", reason)

    def _in_words(self, case: Case) -> Obstacle | None:
        if case.bm25f is None:
            reason = "it holds none of the words"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.QUERY, "words", reason)
        if self._settings.experiment.relaxation == "all" and not all(
            word.held for word in case.words
        ):
            reason = "it does not hold every word, which `experiment.relaxation` demands"
            return Obstacle(ObstacleKind.NO_WORDS, Origin.SETTING, "relaxation", reason)
        return None

    def _in_letters(self, case: Case) -> Obstacle | None:
        letters = case.ranking.query.literal
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
        if case.ranking.query.filters_only:
            return
        candidate = place.candidate
        for report in place.lanes:
            rank = candidate.ranks.get(report.lane) if candidate else None
            share = sum(
                one.share
                for one in (candidate.contributions if candidate else ())
                if one.lane == report.lane
            )
            reason = "it is out of scope"
            if in_scope:
                reason = "" if rank else self._lane_obstacle(case, report).reason
            yield Opinion(report.lane, report.hits, rank, share, reason)


def _of_file(
    text: str, mode: Mode, limit: int, collection: str, path: str, obstacle: Obstacle
) -> Diagnosis:
    """The diagnosis of a file that gave no document: its path and the reason, nothing else."""
    diagnosis = Diagnosis(
        query=text,
        mode=mode,
        limit=limit,
        collection=collection,
        path=path,
        standing=Standing.MISSING,
        obstacles=(obstacle,),
    )
    return replace(diagnosis, verdict=verdict(diagnosis))
