"""A query together with other wordings of it, which whoever asks may know better than we do.

An agent that searches for somebody knows what it looks for: it can name the two or three words
that must be there, say the question in other words, or imagine the answer.
Each wording is one more ranked list; lists are fused by rank as the lanes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twolane.model import deadlines
from twolane.model.answer import Mode
from twolane.model.candidate import Fused
from twolane.model.scope import Scope
from twolane.query.intent import Intent
from twolane.ranking.rankings import Ranked
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
) -> Ranked:
    """The ranking by the query and its other wordings, each of which has `weight`."""
    ranked = searcher.rank(text, scope, mode=mode, limit=limit)
    if ranked.intent in _NAMES:
        return ranked
    # The query's own filters and demands hold for every wording of it.
    lists = [
        searcher.rank(wording, ranked.scope, mode=way, limit=limit)
        for wording, way in _wordings(phrasings, mode)
        if not deadlines.is_over()
    ]
    ranked = _blended(ranked, lists, weight)
    return replace(ranked, fused=searcher.folded(ranked.fused, limit))


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


def _blended(ranked: Ranked, lists: Sequence[Ranked], weight: float) -> Ranked:
    """All lists as one: a score is a sum over lists already, so sums are added."""
    best: dict[str, Fused] = {one.id: _unfolded(one) for one in ranked.fused}
    for other in lists:
        for one in other.fused:
            scaled = _scaled(_unfolded(one), weight)
            best[one.id] = _added(best[one.id], scaled) if one.id in best else scaled
    fused = sorted(best.values(), key=lambda one: (-one.score, one.id))
    answerable = [one.answerable for one in (ranked, *lists) if one.answerable is not None]
    return replace(ranked, fused=fused, answerable=any(answerable) if answerable else None)


def _unfolded(one: Fused) -> Fused:
    """What is a copy of what is told once all lists are one."""
    return one._replace(copies=(), copy_of=None) if one.copies or one.copy_of else one


def _scaled(one: Fused, weight: float) -> Fused:
    contributions = tuple(
        given._replace(weight=given.weight * weight, value=given.value * weight)
        for given in one.contributions
    )
    return one._replace(score=one.score * weight, contributions=contributions)


def _added(one: Fused, other: Fused) -> Fused:
    relevances = [each.relevance for each in (one, other) if each.relevance is not None]
    return one._replace(
        score=one.score + other.score,
        contributions=one.contributions + other.contributions,
        position=one.position if one.position is not None else other.position,
        relevance=max(relevances, default=None),
    )
