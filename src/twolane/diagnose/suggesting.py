"""The single change that brings a document among the results, found by searching with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from twolane.diagnose.case import Case, place_of
from twolane.diagnose.parts import droppable, parts_of, without
from twolane.diagnose.restrictions import Restriction
from twolane.diagnose.values import Change, ObstacleKind, Origin, Suggestion
from twolane.ports import Store
from twolane.query import Filters, Query, parse
from twolane.scopes import Scope
from twolane.search import Ranked, Searcher
from twolane.settings import Settings

# Searches that may be made to find a change that helps.
_MOST_TRIES = 24

_DEMANDS = frozenset((ObstacleKind.DEMAND, ObstacleKind.EXCLUSION))


@dataclass(frozen=True, slots=True)
class _Try:
    """A change to search with."""

    change: Change
    what: str
    text: str
    scope: Scope
    value: float | None = None


class Suggester:
    """Finds a change by trying: fewer terms first, then a lower threshold, then fewer filters."""

    def __init__(self, store: Store, settings: Settings, searcher: Searcher) -> None:
        self._store = store
        self._settings = settings
        self._searcher = searcher

    def suggestion(self, case: Case, failed: Sequence[Restriction]) -> Suggestion | None:
        """The first single change that brings the document among the results, None if none does.

        `failed` are the filters and demands that the document does not pass.
        """
        if len(failed) > 1:
            # Whatever is dropped, the others still keep it out.
            return None
        question = case.question
        for number, one in enumerate(self._tries(case, failed)):
            if number == _MOST_TRIES:
                break
            place = place_of(self._searched(case, one), question.document.id)
            if place is not None and place[0] <= question.limit:
                return Suggestion(one.change, one.what, one.text, place[0], one.value)
        return None

    def _searched(self, case: Case, one: _Try) -> Ranked:
        mode, limit = case.question.mode, case.question.limit
        if one.value is None:
            return self._searcher.rank(one.text, one.scope, mode=mode, limit=limit)
        lowered = replace(self._settings, min_similarity=one.value)
        with closing(self._searcher.under(lowered)) as lenient:
            return lenient.rank(one.text, one.scope, mode=mode, limit=limit)

    def _tries(self, case: Case, failed: Sequence[Restriction]) -> Iterator[_Try]:
        text, scope = case.question.text, case.question.scope
        parts = parts_of(text)
        read = {at: self._read(parts[at]) for at in droppable(parts)}
        filters = [at for at, query in read.items() if query.filters != Filters()]
        if all(one.kind in _DEMANDS for one in failed):
            terms = [at for at in read if at not in filters]
            # What the document lacks is in its way first.
            terms.sort(key=lambda at: self._meets(case, read[at]))
            for at in terms:
                rest = without(parts, at)
                if self._read(rest).marks:
                    yield _Try(Change.TERM, parts[at], rest, scope)
        least = self._settings.min_similarity
        if not failed and case.similarity is not None and case.similarity < least:
            # A little lower, so that the passage itself is not lost to rounding.
            value = max(-1.0, round(case.similarity - 0.001, 3))
            yield _Try(Change.THRESHOLD, "min_similarity", text, scope, value)
        for one in failed:
            if one.without is not None and one.kind == ObstacleKind.ARCHIVED:
                yield _Try(Change.ARCHIVED, one.what, text, one.without)
            elif one.without is not None:
                yield _Try(Change.FILTER, f"{one.kind} {one.what}", text, one.without)
            elif one.origin == Origin.QUERY:
                for at in filters:
                    yield _Try(Change.FILTER, parts[at], without(parts, at), scope)

    def _read(self, text: str) -> Query:
        return parse(
            text,
            self._store.languages(),
            stemming=self._settings.stemming,
            properties=self._store.properties(),
        )

    def _meets(self, case: Case, part: Query) -> bool:
        """Whether the document holds all that a part of the query asks for."""
        question = case.question
        if part.clause is not None:
            scope = replace(question.alone, clause=part.clause)
            return self._store.document(question.document.id, scope) is not None
        lacking = {one.word for one in case.words if not one.held}
        return not any(word.text in lacking for word in part.marks)
