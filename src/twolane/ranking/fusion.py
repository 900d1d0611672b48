"""Weighted reciprocal rank fusion with abstention.

Reciprocal rank fusion after Cormack, Clarke and Büttcher (SIGIR 2009): ranks are comparable
where scores are not.
Abstention is ours: a lane that cannot judge a document must not vote against it by silence.
Each vote is recorded in the same pass; the record is the explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from operator import attrgetter
from typing import Any, cast

from twolane.model.answer import Contribution, Lane
from twolane.model.candidate import Fused, Hit
from twolane.model.document import EMPTY

# Ties go by id; who may not overtake must not win a tie either.
_JUST_BELOW = 0.999

_NO_CHUNK = (None, None)


@dataclass(frozen=True, slots=True)
class Ranking:
    """One lane's answer: its weight and its hits, best first.

    `translated` are those in other languages, by words that mean the same.
    """

    lane: Lane
    weight: float
    hits: Sequence[Hit]
    translated: Sequence[Hit] = ()


# A lane that did not run.
_SILENT = Ranking(Lane.DENSE, 0.0, ())

_UNREAD: tuple[float, tuple[str, ...]] = (0.0, ())


def fuse(
    rankings: Sequence[Ranking],
    *,
    k: float,
    plausible: Collection[str] | None = None,
    same: Mapping[str, str] = EMPTY,
    translation: float = 1.0,
) -> list[Fused]:
    """All documents of all rankings by `Σ weight × vote / (k + rank)`, ties by id.

    `plausible` are the languages that the query may be in, or None where it has no language.
    With them, the lexical lane abstains on a document whose languages are none of them, and
    lends its weight to the document's dense rank, unless the words it found there count for more.
    If it could read some documents in translation, half of that is what it thinks of each, which
    counts `translation` times as much as words of the query's own language would.
    Where that document has a counterpart in the query's language, the lane judges it by that.
    Documents that are the `same` (copy → original) share a rank, so that copies push nothing down.
    """
    votes: dict[str, tuple[Contribution, ...]] = {}
    chunks: dict[str, tuple[int, int | None]] = {}
    by_words: dict[str, Contribution] = {}
    for ranking in rankings:
        given = _cast(ranking, k, same)
        for hit, one in zip(ranking.hits, given, strict=True):
            id = hit.id
            votes[id] = (*votes[id], one) if id in votes else (one,)
            if hit.position is not None:
                chunks[id] = (hit.position, hit.sentence)
        if ranking.lane is Lane.LEXICAL:
            by_words = {hit.id: one for hit, one in zip(ranking.hits, given, strict=True)}
    if plausible is not None:
        lanes = {ranking.lane: ranking for ranking in rankings}
        _abstain(lanes, votes, by_words, k, plausible, same, translation)
    fused = []
    for id, cast_for in votes.items():
        position, sentence = chunks.get(id, _NO_CHUNK)
        score = cast_for[0].value if len(cast_for) == 1 else sum([one.value for one in cast_for])
        fused.append(_fused((id, score, cast_for, position, None, None, (), sentence, (), None)))
    # Ties are rare, and sorting twice by one thing is faster than once by two.
    if len({one.score for one in fused}) < len(fused):
        fused.sort(key=attrgetter("id"))
    fused.sort(key=attrgetter("score"), reverse=True)
    return fused


def _cast(ranking: Ranking, k: float, same: Mapping[str, str]) -> list[Contribution]:
    """What the lane gives each of its hits."""
    lane, weight = ranking.lane, ranking.weight
    given = []
    for rank, hit in _ranked(ranking.hits, same):
        vote = hit.vote
        value = weight * vote / (k + rank)
        given.append(
            _contribution(
                (lane, rank, hit.score, weight, vote, value, False, hit.matched, hit.counterpart)
            )
        )
    return given


# A search makes hundreds of these, and their names and defaults would take longer than all the
# rest of fusion, so they are made of whole tuples.
_contribution = cast(
    "Callable[[tuple[Any, ...]], Contribution]", partial(tuple.__new__, Contribution)
)
_fused = cast("Callable[[tuple[Any, ...]], Fused]", partial(tuple.__new__, Fused))


def _ranked(hits: Sequence[Hit], same: Mapping[str, str]) -> Iterable[tuple[int, Hit]]:
    """The hits with their ranks from 1; a copy has the rank of the first that says the same."""
    if not same:
        return enumerate(hits, start=1)
    ranks: dict[str, int] = {}
    return [(ranks.setdefault(same.get(hit.id, hit.id), len(ranks) + 1), hit) for hit in hits]


def _value(ranking: Ranking, rank: int, hit: Hit, k: float) -> float:
    return ranking.weight * hit.vote / (k + rank)


def _abstain(
    rankings: Mapping[Lane, Ranking],
    votes: dict[str, tuple[Contribution, ...]],
    said: Mapping[str, Contribution],
    k: float,
    plausible: Collection[str],
    same: Mapping[str, str],
    translation: float,
) -> None:
    lexical = rankings.get(Lane.LEXICAL)
    if lexical is None:
        return
    dense = rankings.get(Lane.DENSE, _SILENT)
    # What the lane would give the documents that it read in translation, and by which words.
    read = {
        hit.id: (translation * _value(lexical, rank, hit, k), hit.matched)
        for rank, hit in _ranked(lexical.translated, same)
    }
    # What the lane would have said at best: its own surest vote for this query.
    surest = max((hit.vote for hit in lexical.hits), default=0.0)
    own = frozenset(plausible)
    # The best by words, if it is also nearer in meaning, is not overtaken by a mere guess.
    best = lexical.hits[0].id if lexical.hits else None
    ceiling = inf
    for rank, hit in _ranked(dense.hits, same):
        if not own.isdisjoint(hit.languages):
            if hit.id == best:
                ceiling = _JUST_BELOW * sum([one.value for one in votes[hit.id]])
            continue
        # It takes the dense lane's word for it, so a lane at a loss is believed less.
        vote = surest * sqrt(hit.vote)
        value = lexical.weight * vote / (k + rank)
        matched: tuple[str, ...] = ()
        if read:
            said_of, matched = read.get(hit.id, _UNREAD)
            value = (value + said_of) / 2
        value = max(0.0, min(value, ceiling - _value(dense, rank, hit, k)))
        if hit.counterpart is not None:
            # The surer it is that both say the same, the more its opinion of the other counts,
            # also where that is a no.
            close = hit.counterpart.closeness
            other = said.get(hit.counterpart.id)
            value = close * (other.value if other else 0.0) + (1 - close) * value
        _lend(lexical.weight, votes, said, hit, vote, value, matched)
    near = {hit.id for hit in dense.hits}
    for hit in lexical.translated:
        if hit.id not in near:
            value, matched = read[hit.id]
            _lend(lexical.weight, votes, said, hit, hit.vote, value / 2, matched)


def _lend(
    weight: float,
    votes: dict[str, tuple[Contribution, ...]],
    said: Mapping[str, Contribution],
    hit: Hit,
    vote: float,
    value: float,
    matched: tuple[str, ...],
) -> None:
    """Let the lane vote for a document that it cannot judge, unless it `said` more of it."""
    id = hit.id
    given, cast_for = said.get(id), votes.get(id, ())
    rank = score = None
    if given is not None:
        # A stray word in another language is no reason to rank below no word at all.
        if given.value >= value:
            return
        rank, score, matched = given.rank, given.score, matched or given.matched
        cast_for = tuple([one for one in cast_for if one is not given])
    lent = _contribution(
        (Lane.LEXICAL, rank, score, weight, vote, value, True, matched, hit.counterpart)
    )
    votes[id] = (*cast_for, lent)
