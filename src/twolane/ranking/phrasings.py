"""A query together with other wordings of it, which whoever asks may know better than we do.

An agent that searches for somebody knows what it looks for: it can name the two or three words
that must be there, say the question in other words, or imagine the answer.
Each wording is one more ranking, and what they say of a document is averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twolane.model import deadlines
from twolane.model.answer import Mode
from twolane.model.candidate import Candidate
from twolane.model.scope import Scope
from twolane.query.intent import Intent
from twolane.ranking.model import chance
from twolane.ranking.rankings import Ranking
from twolane.ranking.search import Searcher

# What has one of these shapes names its document; other words could only blur it.
_NAMES = frozenset(
    {
        Intent.QUOTED,
        Intent.BOOLEAN,
        Intent.DATE,
        Intent.URL,
        Intent.PATH,
        Intent.SYMBOL,
        Intent.SLUG,
    }
)


@dataclass(frozen=True, slots=True)
class Phrasings:
    """Other wordings of a query; empty ones are not there.

    `short_query` is a few words that should occur, `rephrased_query` the question in other words,
    `expected_answer` a sentence as it may stand in the note.
    """

    short_query: str = ""
    rephrased_query: str = ""
    expected_answer: str = ""

    def __bool__(self) -> bool:
        return bool(self.short_query or self.rephrased_query or self.expected_answer)


def rank_phrasings(
    searcher: Searcher,
    text: str,
    phrasings: Phrasings,
    scope: Scope,
    *,
    mode: Mode,
    limit: int,
    weight: float,
) -> Ranking:
    """The ranking by the query and its other wordings, each of which has `weight`."""
    ranking = searcher.rank(text, scope, mode=mode, limit=limit)
    if ranking.query.intent in _NAMES:
        return ranking
    # The query's own filters and demands hold for every wording of it.
    others = [
        searcher.rank(wording, ranking.query.scope, mode=way, limit=limit)
        for wording, way in _wordings(phrasings, mode)
        if not deadlines.is_over()
    ]
    return searcher.collapsed(_blended(ranking, others, weight), limit)


def _wordings(phrasings: Phrasings, mode: Mode) -> list[tuple[str, Mode]]:
    """Each wording with the lanes that it is made for, of those that are wanted."""
    if mode == Mode.EXACT:
        return []
    wordings = []
    if phrasings.short_query and mode != Mode.SEMANTIC:
        wordings.append((phrasings.short_query, Mode.LEXICAL))
    if phrasings.rephrased_query:
        wordings.append((phrasings.rephrased_query, mode))
    if phrasings.expected_answer and mode != Mode.LEXICAL:
        wordings.append((phrasings.expected_answer, Mode.SEMANTIC))
    return wordings


def _blended(ranking: Ranking, others: Sequence[Ranking], weight: float) -> Ranking:
    """All rankings as one: the weighted mean of the log-odds that each gives a document.

    A ranking that does not have a document gives it what it gives its last one: at most that much.
    """
    given = [(ranking, 1.0), *((one, weight) for one in others if one.candidates)]
    total = sum(share for _, share in given)
    blended: dict[str, Candidate] = {}
    for one, _ in reversed(given):
        blended |= {each.id: each for each in one.candidates}
    scores = dict.fromkeys(blended, 0.0)
    for one, share in given:
        own = {each.id: each.score for each in one.candidates}
        least = min(own.values(), default=0.0)
        for id in scores:
            scores[id] += share * own.get(id, least)
    for id, candidate in blended.items():
        candidate.score = scores[id] / total
        candidate.relevance = chance(candidate.score)
    ordered = sorted(blended.values(), key=lambda one: (-one.score, one.foreign, one.id))
    answers = [one.answerable for one, _ in given if one.answerable is not None]
    found = {id: None for one, _ in given for id in one.found}
    return replace(
        ranking,
        candidates=ordered,
        found=tuple(found),
        answerable=any(answers) if answers else None,
    )
