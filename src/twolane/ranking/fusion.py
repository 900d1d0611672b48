"""Weighted reciprocal rank fusion, the baseline of the ranking model.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods" (SIGIR 2009): ranks are comparable where scores are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twolane.model.answer import Contribution, Feature, Lane
from twolane.model.candidate import Candidate


def fuse(
    candidates: Sequence[Candidate], weights: Mapping[Lane, float], *, k: float
) -> list[Candidate]:
    """The candidates by `Σ weight / (k + rank)` over the lanes that brought them, ties by id."""
    for candidate in candidates:
        candidate.contributions = tuple(
            Contribution(lane, Feature.RANK, rank, weights[lane], weights[lane] / (k + rank))
            for lane, rank in candidate.ranks.items()
            if lane in weights
        )
        candidate.score = sum(one.share for one in candidate.contributions)
    return sorted(candidates, key=lambda one: (-one.score, one.id))
