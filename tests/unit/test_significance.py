"""Intervals hold the truth as often as they say, and p is what the definition says."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from statistics import fmean

import numpy as np
import pytest

from twolane.evaluation.significance import (
    Interval,
    difference_interval,
    mean_interval,
    randomisation_test,
)
from twolane.model.errors import BadInput

BEFORE = [0.1, 0.5, 0.9, 0.3, 1.0, 0.2, 0.0, 0.7]
AFTER = [0.2, 0.5, 1.0, 0.6, 0.9, 0.6, 0.1, 0.8]


def test_the_estimate_is_the_mean_and_lies_inside() -> None:
    """The interval is around the mean difference, at the level asked for."""
    interval = difference_interval(BEFORE, AFTER)
    assert interval.estimate == pytest.approx(fmean(AFTER) - fmean(BEFORE))
    assert interval.low < interval.estimate < interval.high
    assert interval.level == 0.95
    wider = difference_interval(BEFORE, AFTER, level=0.99)
    assert wider.low < interval.low
    assert wider.high > interval.high


def test_the_bootstrap_of_two_values_is_known() -> None:
    """Resampling 0 and 1 gives means 0, 1/2, 1 with shares 1/4, 1/2, 1/4."""
    assert mean_interval([0.0, 1.0], level=0.9) == Interval(0.5, 0.0, 1.0, 0.9)
    assert mean_interval([0.0, 1.0], level=0.4) == Interval(0.5, 0.5, 0.5, 0.4)
    assert mean_interval([0.25] * 7) == Interval(0.25, 0.25, 0.25, 0.95)


def test_a_difference_is_paired() -> None:
    """A constant gain on very different queries is certain, since each is its own control."""
    interval = difference_interval([0.0, 0.5, 0.25], [0.25, 0.75, 0.5])
    assert interval == Interval(0.25, 0.25, 0.25, 0.95)


def test_the_same_values_give_the_same_answer() -> None:
    """Everything is seeded; another seed gives another, near answer."""
    long = [*BEFORE, *AFTER]
    again = [*AFTER, *BEFORE[:4], *AFTER[4:]]
    assert mean_interval(long) == mean_interval(long)
    assert mean_interval(long) != mean_interval(long, seed=1)
    assert mean_interval(long).low == pytest.approx(mean_interval(long, seed=1).low, abs=0.01)
    assert randomisation_test(long, again) == randomisation_test(long, again)


def test_a_large_set_is_drawn_in_blocks() -> None:
    """More numbers than one block holds give the interval of the normal approximation."""
    values = np.random.default_rng(3).random(2_500)
    interval = mean_interval(values.tolist(), resamples=1_000)
    error = values.std() / np.sqrt(len(values))
    assert interval.low == pytest.approx(values.mean() - 1.96 * error, abs=0.2 * error)
    assert interval.high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)


def test_intervals_cover_the_true_mean_at_about_their_level() -> None:
    """In 600 simulated evaluations a 90 % interval holds the true mean about 540 times."""
    generator = np.random.default_rng(11)
    covered = 0
    for seed in range(600):
        # Values like those of a metric: between 0 and 1, piled up at one end.
        values = generator.beta(2.0, 1.0, 60)
        interval = mean_interval(values.tolist(), resamples=1_000, level=0.9, seed=seed)
        covered += interval.low <= 2 / 3 <= interval.high
    # The standard error of the share is .012.
    assert covered / 600 == pytest.approx(0.9, abs=0.04)


def test_p_of_few_queries_is_exact() -> None:
    """Three queries that all gain: two of the eight sign patterns are as extreme."""
    assert randomisation_test([0.0, 0.0, 0.0], [0.1, 0.2, 0.4]) == 2 / 8


def test_exact_p_equals_enumeration() -> None:
    """All sign patterns counted one by one, with ties counted as extreme."""
    differences = [new - old for old, new in zip(BEFORE, AFTER, strict=True)]
    sums = [
        sum(sign * value for sign, value in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    extreme = sum(abs(one) >= abs(sum(differences)) - 1e-12 for one in sums)
    assert randomisation_test(BEFORE, AFTER) == extreme / len(sums)


def test_sampled_p_is_near_the_exact_p() -> None:
    """Queries without a difference change no p, so padding past the exact limit must not either."""
    exact = randomisation_test(BEFORE, AFTER)
    padded = randomisation_test([*BEFORE, *[0.5] * 10], [*AFTER, *[0.5] * 10])
    # The standard error of 10,000 samples is at most .005.
    assert padded == pytest.approx(exact, abs=0.02)


def test_p_is_never_zero_and_one_without_a_difference() -> None:
    """A certain difference has the smallest p that the samples can show; none has p = 1."""
    same = [0.5] * 40
    assert randomisation_test(same, [0.7] * 40) == 1 / 10_001
    assert randomisation_test(same, same) == 1.0
    assert randomisation_test(same[:5], same[:5]) == 1.0


def test_p_does_not_depend_on_which_system_comes_first() -> None:
    """The test is two-sided."""
    assert randomisation_test(BEFORE, AFTER) == randomisation_test(AFTER, BEFORE)


@pytest.mark.parametrize("queries", [10, 30])
def test_p_is_uniform_where_systems_are_alike(queries: int) -> None:
    """Of 500 comparisons of alike systems a share t has p <= t, exact and sampled."""
    generator = np.random.default_rng(5)
    found = []
    for seed in range(500):
        before, after = generator.random((2, queries)).tolist()
        found.append(randomisation_test(before, after, samples=500, seed=seed))
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        # Three standard errors of a share of 500.
        share = float(np.mean(np.asarray(found) <= level))
        assert share == pytest.approx(level, abs=3 * np.sqrt(level * (1 - level) / 500) + 0.002)


def test_impossible_questions_are_refused() -> None:
    """No values, unequal numbers of them, and impossible settings get an error that says so."""
    with pytest.raises(BadInput, match="at least one query"):
        mean_interval([])
    with pytest.raises(BadInput, match="at least one query"):
        randomisation_test([], [])
    with pytest.raises(BadInput, match="2 values before and 1 after"):
        difference_interval([1.0, 2.0], [1.0])
    with pytest.raises(BadInput, match="not a finite number"):
        mean_interval([1.0, float("nan")])
    with pytest.raises(BadInput, match="level of 95"):
        mean_interval([1.0], level=95)
    with pytest.raises(BadInput, match="0 samples"):
        mean_interval([1.0], resamples=0)


def test_numpy_is_imported_when_it_is_needed() -> None:
    """Importing the evaluation costs no NumPy: most commands never draw a sample."""
    code = (
        "import sys;"
        "import twolane.evaluation.golden, twolane.evaluation.metrics;"
        "import twolane.evaluation.significance, twolane.evaluation.golden_formats;"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
