"""The single change that brings a document among the results, found by searching with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from twolane.explain.case import Case, place_of
from twolane.explain.diagnosis import Change, ObstacleKind, Origin, Suggestion
from twolane.explain.restrictions import Restriction
from twolane.model import deadlines
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.ports.documents import DocumentStore
from twolane.query import Filters, Query, parse
from twolane.ranking.rankings import Ranking
from twolane.ranking.search import Searcher
from twolane.settings import Settings

# Searches that may be made to find a change that helps.
_MOST_TRIES = 24

# Of a query with more terms than that, which nobody typed, only demands that are not met are in the
# way by themselves; so many of its terms are left out by turns, those first.
_FEW_TERMS = 2

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

    def __init__(self, documents: DocumentStore, settings: Settings, searcher: Searcher) -> None:
        self._documents = documents
        self._settings = settings
        self._searcher = searcher

    def suggestion(self, case: Case, failed: Sequence[Restriction]) -> Suggestion | None:
        """The first single change that brings the document among the results, None if none does.

        `failed` are the filters and demands that the document does not pass.
        None also if the time of the question is over before one is found.
        """
        if len(failed) > 1:
            # Whatever is dropped, the others still keep it out.
            return None
        with suppress(TooSlow):
            return self._first(case, failed)
        return None

    def _first(self, case: Case, failed: Sequence[Restriction]) -> Suggestion | None:
        question = case.question
        for number, one in enumerate(self._tries(case, failed)):
            if number == _MOST_TRIES or deadlines.is_over():
                break
            place = place_of(self._searched(case, one), question.document.id)
            if place is not None and place[0] <= question.limit:
                return Suggestion(one.change, one.what, one.text, place[0], one.value)
        return None

    def _searched(self, case: Case, one: _Try) -> Ranking:
        mode, limit = case.question.mode, case.question.limit
        if one.value is None:
            return self._searcher.rank(one.text, one.scope, mode=mode, limit=limit)
        lowered = self._settings.changed(search={"min_similarity": one.value})
        with closing(self._searcher.under(lowered)) as lenient:
            return lenient.rank(one.text, one.scope, mode=mode, limit=limit)

    def _tries(self, case: Case, failed: Sequence[Restriction]) -> Iterator[_Try]:
        text, scope = case.question.text, case.question.scope
        parts = parts_of(text)
        read = {at: self._read(parts[at], scope) for at in droppable(parts)}
        filters = [at for at, query in read.items() if query.filters != Filters()]
        if all(restriction.kind in _DEMANDS for restriction in failed):
            terms = [at for at in read if at not in filters]
            # What the document lacks is in its way first.
            terms.sort(key=lambda at: self._meets(case, read[at]))
            if len(terms) > _MOST_TRIES:
                terms = terms[:_FEW_TERMS] if failed else []
            for at in terms:
                rest = without(parts, at)
                if self._read(rest, scope).marks:
                    yield _Try(Change.TERM, parts[at], rest, scope)
        least = self._settings.search.min_similarity
        if not failed and case.similarity is not None and case.similarity < least:
            # A little lower, so that the passage itself is not lost to rounding.
            value = max(-1.0, round(case.similarity - 0.001, 3))
            yield _Try(Change.THRESHOLD, "min_similarity", text, scope, value)
        for restriction in failed:
            if restriction.without is not None and restriction.kind == ObstacleKind.ARCHIVED:
                yield _Try(Change.ARCHIVED, restriction.what, text, restriction.without)
            elif restriction.without is not None:
                yield _Try(
                    Change.FILTER,
                    f"{restriction.kind} {restriction.what}",
                    text,
                    restriction.without,
                )
            elif restriction.origin == Origin.QUERY:
                for at in filters:
                    yield _Try(Change.FILTER, parts[at], without(parts, at), scope)

    def _read(self, text: str, scope: Scope) -> Query:
        stats = self._documents.stats(scope.all_of_owner)
        return parse(
            text,
            frozenset(stats.languages),
            stemming=self._settings.experiment.stemming,
            properties=stats.properties,
        )

    def _meets(self, case: Case, part: Query) -> bool:
        """Whether the document holds all that a part of the query asks for."""
        question = case.question
        if part.clause is not None:
            scope = replace(question.alone, clause=part.clause)
            return bool(self._documents.get([question.document.id], scope, frozenset()))
        lacking = {one.word for one in case.words if not one.held}
        return not any(word.text in lacking for word in part.marks)


# ------------------------------------------------------- what was typed, part by part

_QUOTES = {'"': '"', "«": "»", "“": "”", "„": "“", "'": "'"}
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_SPACE = re.compile(r"\s+")

# A quotation may follow these: an exclusion, a field's name, a parenthesis.
_BEFORE_QUOTE = "-:("


def parts_of(text: str) -> list[str]:
    """The parts of a query, each a word, a quotation, a filter or a group, with their operators.

    Joined by spaces they say what was typed.
    """
    parts: list[str] = []
    at = 0
    while at < len(text):
        space = _SPACE.match(text, at)
        if space:
            at = space.end()
            continue
        end = _end_of_part(text, at)
        parts.append(text[at:end])
        at = end
    return parts


def droppable(parts: list[str]) -> list[int]:
    """The places of the parts that can be dropped: all that are no operators."""
    return [at for at, part in enumerate(parts) if part not in _OPERATORS]


def without(parts: list[str], at: int) -> str:
    """The query without one part and the operator that tied it to the others."""
    first, after = at, at + 1
    while first > 0 and parts[first - 1] in _OPERATORS:
        first -= 1
    if first == 0:
        while after < len(parts) and parts[after] in ("AND", "OR"):
            after += 1
    return " ".join((*parts[:first], *parts[after:]))


def _end_of_part(text: str, start: int) -> int:
    """Where the part that begins here ends: at a space outside of quotes and parentheses."""
    at, depth = start, 0
    while at < len(text):
        sign = text[at]
        opens = at == start or text[at - 1] in _BEFORE_QUOTE or (depth and text[at - 1].isspace())
        closer = text.find(_QUOTES[sign], at + 1) if opens and sign in _QUOTES else -1
        if closer >= 0:
            at = closer + 1
            continue
        if sign.isspace() and (depth == 0 or ")" not in text[at:]):
            break
        depth += (sign == "(") - (sign == ")" and depth > 0)
        at += 1
    return at
