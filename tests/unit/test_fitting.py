"""Fits from the signs of a result to the chance that it is relevant."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.evaluation.fitting import fit_logistic, reliability
from twolane.model.errors import BadInput

OUTCOMES = st.lists(
    st.tuples(st.floats(-1, 1, allow_subnormal=False).map(lambda x: round(x, 3)), st.booleans()),
    min_size=2,
    max_size=60,
).filter(lambda rows: {outcome for _, outcome in rows} == {True, False})


def drawn(seed: int, count: int) -> list[tuple[float, bool]]:
    """Similarities between -1 and 1, relevant with the chance that `truth` gives them."""
    dice = random.Random(seed)
    values = [dice.uniform(-1, 1) for _ in range(count)]
    return [(value, dice.random() < truth(value)) for value in values]


def truth(value: float) -> float:
    """The chance that the data is drawn with."""
    return 1 / (1 + math.exp(-(4 * value - 1)))


class TestLogistic:
    """Logistic regression whose weights are not negative."""

    def test_known_chances_are_found(self) -> None:
        """From many outcomes the weights that they were drawn with come back."""
        rows = drawn(2, 20_000)
        fit = fit_logistic([[value] for value, _ in rows], [outcome for _, outcome in rows])
        assert fit.weights[0] == pytest.approx(4, rel=0.1)
        assert fit.intercept == pytest.approx(-1, abs=0.15)

    @given(OUTCOMES, st.randoms(use_true_random=False))
    def test_it_never_falls(self, rows: list[tuple[float, bool]], dice: random.Random) -> None:
        """More of any feature never means less relevant, whatever the outcomes say."""
        outcomes = [outcome for _, outcome in rows]
        fit = fit_logistic([[value, dice.random()] for value, _ in rows], outcomes)
        assert all(weight >= 0 for weight in fit.weights)
        assert fit.predict([0.1, 0.5]) <= fit.predict([0.2, 0.5]) <= fit.predict([0.2, 0.6])

    def test_a_misleading_feature_gets_no_weight(self) -> None:
        """A sign that points the wrong way is ignored, and the base rate remains."""
        rows = drawn(3, 2_000)
        fit = fit_logistic([[-value] for value, _ in rows], [outcome for _, outcome in rows])
        assert fit.weights == (0.0,)
        share = sum(outcome for _, outcome in rows) / len(rows)
        assert fit.predict([0.3]) == pytest.approx(share, abs=1e-6)

    def test_what_can_be_told_apart_stays_finite(self) -> None:
        """Without a single error in the data the chances approach 0 and 1 and stay chances."""
        fit = fit_logistic([[0.0], [0.1], [0.9], [1.0]] * 50, [False, False, True, True] * 50)
        assert 0 < fit.predict([0.0]) < 0.1
        assert 0.9 < fit.predict([1.0]) < 1
        assert (fit.predict([-1e6]), fit.predict([1e6])) == (0.0, 1.0)

    def test_a_feature_that_never_changes_is_harmless(self) -> None:
        """A constant column neither divides by nothing nor counts."""
        rows = drawn(4, 500)
        outcomes = [outcome for _, outcome in rows]
        with_constant = fit_logistic([[value, 7.0] for value, _ in rows], outcomes)
        without = fit_logistic([[value] for value, _ in rows], outcomes)
        assert with_constant.predict([0.2, 7.0]) == pytest.approx(without.predict([0.2]), abs=1e-6)


class TestReliability:
    """How far predictions can be believed."""

    def test_the_figures_by_hand(self) -> None:
        """Brier is the mean squared error, ECE the weighted distance of bins, AUROC by pairs."""
        found = reliability([0.1, 0.1, 0.7, 0.9], [False, True, False, True], bins=2)
        assert found.brier == pytest.approx((0.01 + 0.81 + 0.49 + 0.01) / 4)
        assert [(one.low, one.high, one.count) for one in found.bins] == [(0, 0.5, 2), (0.5, 1, 2)]
        assert [one.relevant for one in found.bins] == [0.5, 0.5]
        assert found.ece == pytest.approx((2 * 0.4 + 2 * 0.3) / 4)
        assert found.auroc == pytest.approx((0.5 + 0 + 1 + 1) / 4)

    def test_honest_predictions_are_reliable(self) -> None:
        """Chances that the outcomes were drawn with have hardly any calibration error."""
        rows = drawn(5, 20_000)
        found = reliability([truth(value) for value, _ in rows], [outcome for _, outcome in rows])
        assert found.ece < 0.01
        assert sum(one.count for one in found.bins) == len(rows)

    def test_certainty_has_a_bin(self) -> None:
        """A chance of exactly 1 is in the last bin."""
        found = reliability([1.0, 0.0], [True, False])
        assert [(one.low, one.count) for one in found.bins] == [(0.0, 1), (0.9, 1)]
        assert (found.brier, found.ece, found.auroc) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("relevant", [[], [True, True], [False]])
def test_one_kind_of_outcome_is_not_enough(relevant: list[bool]) -> None:
    """A fit or a figure from relevant results alone, or from none, would say anything."""
    values = [0.5] * len(relevant)
    for attempt in (
        lambda: fit_logistic([[one] for one in values], relevant),
        lambda: reliability(values, relevant),
    ):
        with pytest.raises(BadInput, match="relevant and irrelevant"):
            attempt()
