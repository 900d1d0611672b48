"""Relevance: signs of a result, fits over them, and what they say of a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import CHUNKER
from twolane.model.answer import Contribution, Lane, Signs
from twolane.model.candidate import Fused
from twolane.model.errors import BadInput
from twolane.ranking.relevance import (
    DEPTH,
    LITERAL,
    NAMES,
    Fit,
    Fits,
    Logistic,
    SpaceFits,
    answerable,
    fits_from_text,
    fits_text,
    rated,
    signs_of,
)
from twolane.ranking.relevance_files import known_fits
from twolane.settings import Settings

SPACE = HashingEmbedder().space
FIT = Fit(Logistic(-4.0, (6.0, 3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0)), 0.4)
OTHER = Fit(Logistic(-1.0, (1.0,) * 8), 0.2)
CHANCES = st.floats(0, 1)
ANY_SIGNS = st.builds(Signs, **dict.fromkeys(NAMES, CHANCES))
PACKAGED = known_fits(Settings())


def vote(
    lane: Lane, rank: int | None, score: float, share: float = 1.0, *, abstained: bool = False
) -> Contribution:
    """What a lane gave a result."""
    return Contribution(lane, rank, score, 1.0, share, 0.1, abstained)


def ranking(*votes: list[Contribution]) -> list[Fused]:
    """Documents in this order with these votes."""
    return [Fused(f"d{at}", 1 / (at + 1), tuple(given)) for at, given in enumerate(votes)]


def space_fits(fingerprint: str, hybrid: Fit = FIT, model: str = SPACE.model) -> SpaceFits:
    """Fits of a space of the hashing embedder."""
    return SpaceFits(fingerprint, SPACE.embedder, model, hybrid, OTHER)


class TestSigns:
    """What is known of a result when it is shown."""

    def test_they_come_from_the_contributions(self) -> None:
        """Similarity is the dense lane's, coverage the root of the vote; who abstains saw none."""
        found = signs_of(
            ranking(
                [vote(Lane.DENSE, 1, 0.6), vote(Lane.LEXICAL, 1, 3.0)],
                [vote(Lane.LEXICAL, 2, 2.0, 0.25)],
                [vote(Lane.DENSE, 2, 0.5), vote(Lane.LEXICAL, None, 0.0, 0.9, abstained=True)],
                [vote(Lane.DENSE, 3, 0.4)],
                [vote(Lane.DENSE, 4, 0.1)],
            ),
            5,
            2.0,
        )
        assert [one.similarity for one in found] == [0.6, 0.1, 0.5, 0.4, 0.1]
        assert [one.foreign for one in found] == [0, 0, 0.5, 0, 0]
        assert [one.prominence for one in found] == pytest.approx([0.5, 0, 0.4, 0.3, 0])
        assert [one.coverage for one in found] == [1.0, 0.5, 0, 0, 0]
        assert [one.complete for one in found] == [1.0, 0, 0, 0, 0]
        assert [one.wording for one in found] == [1.0, 0.5, 0, 0, 0]
        assert [one.height for one in found] == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]

    def test_a_few_passages_make_nothing_usual(self) -> None:
        """Where hardly anything was found nothing stands out, and less than nothing is nothing."""
        found = signs_of(ranking([vote(Lane.DENSE, 1, 0.3)], [vote(Lane.DENSE, 2, -0.2)]), 9, 2.0)
        assert [(one.similarity, one.prominence) for one in found] == [(0.3, 0), (0, 0)]
        assert signs_of([], 9, 2.0) == []

    def test_a_vote_without_power_is_a_full_one(self) -> None:
        """Where every match votes alike, a match counts as complete."""
        (found,) = signs_of(ranking([vote(Lane.LEXICAL, 1, 1.0)]), 1, 0.0)
        assert (found.coverage, found.complete) == (1.0, 1.0)


class TestRating:
    """From signs to a chance."""

    @given(ANY_SIGNS, st.sampled_from(NAMES), CHANCES)
    def test_more_of_a_sign_is_never_worse(self, signs: Signs, name: str, more: float) -> None:
        """Each shipped fit gives a chance, and no smaller one where a sign is larger."""
        shipped = [fit for one in PACKAGED.spaces for fit in (one.hybrid, one.semantic)]
        better = signs._replace(**{name: max(more, getattr(signs, name))})
        for fit in (*shipped, PACKAGED.lexical):
            assert fit is not None
            assert 0 <= fit.logistic.of(signs) <= fit.logistic.of(better) <= 1

    def test_the_first_are_rated_and_the_rest_is_kept(self) -> None:
        """So many documents get signs and a relevance; the order and the others stay."""
        fused = ranking(*([vote(Lane.DENSE, at + 1, 0.5)] for at in range(30)))
        found = rated(fused, FIT, count=20, coverage_power=2.0)
        assert [one.id for one in found] == [one.id for one in fused]
        assert [one.relevance is not None for one in found] == [True] * 20 + [False] * 10
        assert found[20:] == fused[20:]
        unknown = rated(fused, None, count=20, coverage_power=2.0)
        assert unknown[0].signs == found[0].signs
        assert unknown[0].relevance is None

    def test_a_query_is_answered_by_its_best_result(self) -> None:
        """The threshold is met by any of the best results, not only by the first."""
        high, low = FIT.threshold + 0.01, FIT.threshold - 0.01
        fused = [Fused(f"d{at}", 1.0, (), relevance=low) for at in range(DEPTH)]
        assert answerable(fused, FIT) is False
        assert answerable([*fused[:3], fused[3]._replace(relevance=high)], FIT) is True
        assert answerable([*fused, fused[3]._replace(relevance=high)], FIT) is False
        assert answerable([], FIT) is False
        assert answerable(fused, None) is None


def test_letters_are_certain() -> None:
    """What holds the very letters that were asked for is relevant; if nothing does, nothing is."""
    found = rated(ranking([vote(Lane.EXACT, 1, 1.0)]), LITERAL, count=9, coverage_power=2.0)
    assert [one.relevance for one in found] == [1.0]
    assert answerable(found, LITERAL) is True
    assert answerable([], LITERAL) is False


class TestFits:
    """Which fit is whose."""

    def test_the_lanes_that_ran_choose(self) -> None:
        """Both lanes, meaning alone and words alone each have a fit of their own."""
        fits = Fits(OTHER, (space_fits(SPACE.fingerprint),))
        assert fits.of({Lane.LEXICAL: 1, Lane.DENSE: 1}, SPACE) is FIT
        assert fits.of({Lane.DENSE: 1}, SPACE) is OTHER
        assert fits.of({Lane.LEXICAL: 1}, SPACE) is OTHER
        assert fits.of({}, None) is None

    def test_an_unknown_space_has_none(self) -> None:
        """Another model's fit says nothing about this one."""
        fits = Fits(OTHER, (space_fits("x", model="another"),))
        assert fits.of({Lane.LEXICAL: 1, Lane.DENSE: 1}, SPACE) is None
        assert not fits.knows(SPACE)

    def test_the_space_itself_comes_before_its_kin(self) -> None:
        """A new release of a model keeps the old fit until it has one of its own."""
        kin = Fits(None, (space_fits("old"),))
        lanes = {Lane.LEXICAL: 1, Lane.DENSE: 1}
        assert kin.of(lanes, SPACE) is FIT
        both = kin.before(Fits(None, (space_fits(SPACE.fingerprint, OTHER),)))
        assert both.of(lanes, SPACE) is OTHER

    def test_they_survive_their_file(self) -> None:
        """What is read back is what was written."""
        fits = Fits(OTHER, (space_fits("a"), space_fits("b")))
        assert fits_from_text(fits_text(fits)) == fits
        assert fits_from_text(fits_text(Fits())) == Fits()

    @pytest.mark.parametrize(
        ("wrong", "right"),
        [
            ("twolane-relevance/1", "twolane-relevance/0"),
            ('"similarity"', '"brightness"'),
            ("6.0", "-6.0"),
            ("6.0", "NaN"),
            ('"spaces"', '"rooms"'),
            ("}", ""),
        ],
    )
    def test_a_foreign_file_is_refused(self, wrong: str, right: str) -> None:
        """Fits over other signs, or none at all, must not be applied to ours."""
        text = fits_text(Fits(None, (space_fits("a"),)))
        with pytest.raises(BadInput):
            fits_from_text(text.replace(wrong, right, 1))

    def test_shipped_spaces_are_calibrated(self) -> None:
        """Every space that comes with the package has fits, and so have words alone."""
        assert {one.embedder for one in PACKAGED.spaces} == {"use", "e5", "ensemble"}
        assert PACKAGED.lexical is not None
        assert PACKAGED.knows(UseEmbedder(chunker=CHUNKER).space)

    def test_signs_keep_their_order(self) -> None:
        """The signs are in the order of their names, which fits rely on."""
        signs = Signs(*map(float, range(len(NAMES))))
        assert tuple(signs) == tuple(getattr(signs, name) for name in NAMES)
