"""Weighted reciprocal rank fusion with abstention.

Reciprocal rank fusion after Cormack, Clarke and Büttcher (SIGIR 2009): ranks are comparable
where scores are not.
Abstention is ours: a lane that cannot judge a document must not vote against it by silence.
Each vote is recorded in the same pass; the record is the explanation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from twolane.answers import Contribution, Fused, Hit, Lane


@dataclass(frozen=True, slots=True)
class Ranking:
    """One lane's answer: its weight and its hits, best first."""

    lane: Lane
    weight: float
    hits: Sequence[Hit]


def fuse(
    rankings: Sequence[Ranking],
    *,
    k: float,
    plausible: Collection[str] | None = None,
) -> list[Fused]:
    """All documents of all rankings by `Σ weight × vote / (k + rank)`, ties by id.

    `plausible` are the languages that the query may be in, or None where it has no language.
    With them, the lexical lane abstains on a document that it did not find and whose languages
    are none of them, and lends its weight to the document's dense rank.
    """
    votes: dict[str, list[Contribution]] = {}
    chunks: dict[str, int] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking.hits, start=1):
            votes.setdefault(hit.id, []).append(_vote(ranking, rank, hit, k))
            if hit.position is not None:
                chunks[hit.id] = hit.position
    if plausible is not None:
        _abstain({ranking.lane: ranking for ranking in rankings}, votes, k, plausible)
    fused = [
        Fused(id, sum(one.value for one in cast), tuple(cast), chunks.get(id))
        for id, cast in votes.items()
    ]
    fused.sort(key=lambda one: (-one.score, one.id))
    return fused


def _vote(ranking: Ranking, rank: int, hit: Hit, k: float) -> Contribution:
    return Contribution(
        lane=ranking.lane,
        rank=rank,
        score=hit.score,
        weight=ranking.weight,
        vote=hit.vote,
        value=ranking.weight * hit.vote / (k + rank),
        matched=hit.matched,
    )


def _abstain(
    rankings: Mapping[Lane, Ranking],
    votes: dict[str, list[Contribution]],
    k: float,
    plausible: Collection[str],
) -> None:
    lexical, dense = rankings.get(Lane.LEXICAL), rankings.get(Lane.DENSE)
    if lexical is None or dense is None:
        return
    found = {hit.id for hit in lexical.hits}
    # What the lane would have said at best: its own surest vote for this query.
    vote = max((hit.vote for hit in lexical.hits), default=0.0)
    for rank, hit in enumerate(dense.hits, start=1):
        if hit.id not in found and not set(hit.languages) & set(plausible):
            votes[hit.id].append(
                Contribution(
                    lane=Lane.LEXICAL,
                    rank=None,
                    score=None,
                    weight=lexical.weight,
                    vote=vote,
                    value=lexical.weight * vote / (k + rank),
                    abstained=True,
                )
            )
