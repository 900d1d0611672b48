"""Rank fusion: the formula, the example of the design, ties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate
from twolane.ranking.model import fuse

BOTH = {Lane.LEXICAL: 1.0, Lane.DENSE: 1.0}


def found(id: str, **ranks: int) -> Candidate:
    return Candidate(id, ranks={Lane(lane): rank for lane, rank in ranks.items()})


def test_first_in_words_and_second_in_meaning() -> None:
    """1/61 + 1/62 = .0325 beats a document that one lane found: the example of the design."""
    ranked = fuse(
        [found("words", lexical=2), found("x", dense=1), found("both", lexical=1, dense=2)],
        BOTH,
        k=60,
    )
    assert [one.id for one in ranked] == ["both", "x", "words"]
    assert ranked[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert round(ranked[0].score, 4) == 0.0325
    assert ranked[2].score == pytest.approx(1 / 62)


def test_contributions_are_the_score() -> None:
    """What is recorded adds up to what is ranked by, lane by lane."""
    (one,) = fuse([found("a", lexical=1, dense=2)], {Lane.LEXICAL: 2.0, Lane.DENSE: 1.0}, k=10)
    assert [(each.lane, each.feature, each.value, each.share) for each in one.contributions] == [
        (Lane.LEXICAL, Feature.RANK, 1, pytest.approx(2 / 11)),
        (Lane.DENSE, Feature.RANK, 2, pytest.approx(1 / 12)),
    ]
    assert one.score == pytest.approx(sum(each.share for each in one.contributions))


def test_ties_break_by_id() -> None:
    """Equal documents come in the order of their ids."""
    ranked = fuse([found("b", lexical=1), found("a", dense=1)], BOTH, k=60)
    assert [one.id for one in ranked] == ["a", "b"]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=20),
    st.floats(0, 200),
    st.floats(0.01, 10),
)
def test_better_in_both_lanes_is_never_worse(
    ranks: list[tuple[int, int]], k: float, weight: float
) -> None:
    """A document that precedes another in every lane precedes it in the answer, or ties."""
    candidates = [found(f"{at:02}", lexical=a, dense=b) for at, (a, b) in enumerate(ranks)]
    scores = {
        one.id: one.score for one in fuse(candidates, {Lane.LEXICAL: weight, Lane.DENSE: 1.0}, k=k)
    }
    for one in candidates:
        for other in candidates:
            if all(one.ranks[lane] <= other.ranks[lane] for lane in one.ranks):
                assert scores[one.id] >= scores[other.id]
