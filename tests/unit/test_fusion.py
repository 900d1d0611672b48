"""Fusion: the formula, the example of the design, abstention, ties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.model.answer import Contribution, Lane
from twolane.model.candidate import Fused, Hit
from twolane.ranking.fusion import Ranking, fuse


def hit(id: str, *languages: str, vote: float = 1.0, position: int | None = None) -> Hit:
    return Hit(id, languages or ("en",), score=0.5, vote=vote, position=position)


def lexical(*hits: Hit, weight: float = 1.0) -> Ranking:
    return Ranking(Lane.LEXICAL, weight, hits)


def dense(*hits: Hit, weight: float = 1.0) -> Ranking:
    return Ranking(Lane.DENSE, weight, hits)


def test_first_in_words_and_second_in_meaning() -> None:
    """1/61 + 1/62 = .0325 beats a document that one lane found: the example of the design."""
    fused = fuse([lexical(hit("both"), hit("words")), dense(hit("x"), hit("both"))], k=60)
    assert fused[0].id == "both"
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert round(fused[0].score, 4) == 0.0325
    words = next(one for one in fused if one.id == "words")
    assert words.score == pytest.approx(1 / 62)


def test_contributions_are_the_score() -> None:
    """What is recorded adds up to what is ranked by, lane by lane."""
    fused = fuse(
        [lexical(hit("a", vote=0.4), weight=2.0), dense(hit("b"), hit("a", position=3))], k=10
    )
    a = next(one for one in fused if one.id == "a")
    assert [(one.lane, one.rank, one.value) for one in a.contributions] == [
        (Lane.LEXICAL, 1, pytest.approx(2.0 * 0.4 / 11)),
        (Lane.DENSE, 2, pytest.approx(1 / 12)),
    ]
    assert a.score == pytest.approx(sum(one.value for one in a.contributions))
    assert a.position == 3


def test_words_abstain_on_other_languages() -> None:
    """A document in no plausible language gets the lexical weight at its dense rank."""
    fused = fuse(
        [lexical(hit("english")), dense(hit("russian", "ru"), hit("english"))],
        k=60,
        plausible={"en"},
    )
    russian = next(one for one in fused if one.id == "russian")
    assert russian.score == pytest.approx(1 / 61 + 1 / 61)
    abstained = russian.contributions[-1]
    assert (abstained.lane, abstained.rank, abstained.abstained) == (Lane.LEXICAL, None, True)


def test_an_unsure_lane_abstains_with_its_surest_vote() -> None:
    """Where the words matched only a third of the query, silence weighs no more than that."""
    fused = fuse(
        [lexical(hit("english", vote=1 / 3)), dense(hit("english"), hit("russian", "ru"))],
        k=60,
        plausible={"en"},
    )
    assert [one.id for one in fused] == ["english", "russian"]
    assert fused[1].score == pytest.approx(1 / 62 + 1 / 3 / 62)


def test_a_guess_does_not_overtake_the_first_of_both_lanes() -> None:
    """A document that leads by words and by meaning stays first, however little of it matched."""
    fused = fuse(
        [
            lexical(hit("first", vote=0.1), hit("other", vote=0.8)),
            dense(hit("first"), hit("russian", "ru"), hit("other")),
        ],
        k=10,
        plausible={"en"},
    )
    assert [one.id for one in fused] == ["other", "first", "russian"]
    russian = fused[-1]
    assert russian.contributions[-1].abstained
    assert russian.score == pytest.approx(0.999 * fused[1].score)


def test_a_lane_that_found_nothing_has_nothing_to_lend() -> None:
    """Without a single match by words, meaning alone decides, in every language."""
    fused = fuse([lexical(), dense(hit("english"), hit("russian", "ru"))], k=60, plausible={"en"})
    assert [one.id for one in fused] == ["english", "russian"]
    assert fused[1].score == pytest.approx(1 / 62)


@pytest.mark.parametrize(
    ("plausible", "languages", "why"),
    [
        (None, ("ru",), "the query has no language: names and codes are in all"),
        ({"en", "ru"}, ("ru",), "the document has a chunk in a plausible language"),
        ({"en"}, ("en", "ru"), "one of its chunks is in a plausible language"),
    ],
)
def test_words_do_not_abstain(
    plausible: set[str] | None, languages: tuple[str, ...], why: str
) -> None:
    """Silence counts as a no where the lane could have matched."""
    fused = fuse([lexical(hit("a")), dense(hit("other", *languages))], k=60, plausible=plausible)
    other = next(one for one in fused if one.id == "other")
    assert other.score == pytest.approx(1 / 61), why


def test_a_foreign_match_keeps_the_better_of_two_votes() -> None:
    """A foreign document keeps the vote its words earned, or gets the lent one if that is more."""
    strong = fuse(
        [lexical(hit("ru", "ru"), hit("a")), dense(hit("b"), hit("ru", "ru"))],
        k=60,
        plausible={"en"},
    )
    found = next(one for one in strong if one.id == "ru")
    assert found.score == pytest.approx(1 / 61 + 1 / 62)
    assert not any(one.abstained for one in found.contributions)
    weak = fuse(
        [lexical(hit("a"), hit("ru", "ru", vote=0.1)), dense(hit("ru", "ru"))],
        k=60,
        plausible={"en"},
    )
    found = next(one for one in weak if one.id == "ru")
    assert found.score == pytest.approx(1 / 61 + 1 / 61)
    (lent,) = (one for one in found.contributions if one.abstained)
    assert lent.rank == 2


def test_a_lane_at_a_loss_is_lent_less() -> None:
    """The words take the dense lane's word for it, and no more surely than it gives it."""
    fused = fuse(
        [lexical(hit("a")), dense(hit("ru", "ru", vote=0.25), hit("a", vote=0.25))],
        k=60,
        plausible={"en"},
    )
    russian = next(one for one in fused if one.id == "ru")
    assert russian.score == pytest.approx(0.25 / 61 + 0.5 / 61)


def test_no_abstention_without_a_lexical_lane() -> None:
    """A lane that did not run cannot abstain."""
    fused = fuse([dense(hit("ru", "ru"))], k=60, plausible={"en"})
    assert fused[0].score == pytest.approx(1 / 61)


ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(first=ids, second=ids, k=st.floats(0, 100), weights=st.tuples(*[st.floats(0.1, 5)] * 2))
def test_fusion_is_the_formula(
    first: list[str], second: list[str], k: float, weights: tuple[float, float]
) -> None:
    """For any two rankings, each document's score is Σ weight / (k + rank), sorted, ties by id."""
    fused = fuse(
        [
            lexical(*map(hit, first), weight=weights[0]),
            dense(*map(hit, second), weight=weights[1]),
        ],
        k=k,
    )
    expected = {
        id: (weights[0] / (k + first.index(id) + 1) if id in first else 0.0)
        + (weights[1] / (k + second.index(id) + 1) if id in second else 0.0)
        for id in {*first, *second}
    }
    assert {one.id: one.score for one in fused} == pytest.approx(expected)
    assert [one.id for one in fused] == [
        one.id for one in sorted(fused, key=lambda one: (-one.score, one.id))
    ]


def test_what_was_read_in_translation_is_half_of_the_lane_s_opinion() -> None:
    """Half by the dense rank, half by the words that mean the same, with the factor asked for."""
    russian = [hit("a", "ru"), hit("b", "ru")]
    read = Ranking(Lane.LEXICAL, 1.0, [hit("english")], [russian[1]])
    fused = fuse([read, dense(*russian)], k=60, plausible={"en"}, translation=1.5)
    lent = {one.id: one.contributions[-1].value for one in fused if one.id != "english"}
    assert lent["a"] == pytest.approx((1 / 61 + 0) / 2)
    assert lent["b"] == pytest.approx((1 / 62 + 1.5 / 61) / 2)


def test_translations_are_heard_without_the_dense_lane() -> None:
    """Where meaning is missing, words that mean the same still bring a document."""
    fused = fuse(
        [Ranking(Lane.LEXICAL, 1.0, [hit("english")], [hit("russian", "ru")])],
        k=60,
        plausible={"en"},
    )
    assert [one.id for one in fused] == ["english", "russian"]
    assert fused[1].contributions[0].abstained


def test_what_is_fused_has_every_field() -> None:
    """Contributions and fused documents are made of whole tuples, so none of them may be short."""
    found = fuse([lexical(hit("a")), dense(hit("b", "ru", position=0))], k=60, plausible=["en"])
    assert {len(one) for one in found} == {len(Fused._fields)}
    votes = [vote for one in found for vote in one.contributions]
    assert [vote.abstained for vote in votes].count(True) == 1
    assert {len(vote) for vote in votes} == {len(Contribution._fields)}
