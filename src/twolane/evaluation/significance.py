"""How far can a mean, or a difference of means, be trusted?

Everything is seeded: the same values give the same interval and the same p.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twolane import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
# Up to here all 2^n ways to flip the signs are fewer than the samples would be.
EXACT = 12
# How many numbers are drawn at a time: enough for NumPy to be fast, few enough to stay small.
_BLOCK = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the interval that holds the truth at about `level`."""

    estimate: float
    low: float
    high: float
    level: float


def mean_interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = 0
) -> Interval:
    """The mean with its percentile bootstrap interval over queries.

    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    if not 0 < level < 1:
        raise BadInput(f"a level of {level} is no level; use a share such as 0.95")
    return _bootstrap([values], resamples, level, seed)


def pooled(sets: Sequence[Sequence[float]]) -> Interval | None:
    """The mean of the means of several sets; each set counts the same, however many queries it has.

    None if there is no set.

    The bootstrap draws queries anew within each set (a stratified bootstrap): the interval says
    how far other queries to these collections could move the mean, not other collections.
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 8.
    """
    return _bootstrap(sets, RESAMPLES, 0.95, 0) if sets else None


def difference_interval(
    before: Sequence[float],
    after: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The mean of `after - before`, query by query, with its paired bootstrap interval.

    T. Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006.
    """
    return mean_interval(_differences(before, after), resamples=resamples, level=level, seed=seed)


def randomisation_test(
    before: Sequence[float], after: Sequence[float], *, samples: int = RESAMPLES, seed: int = 0
) -> float:
    """The two-sided p of the mean difference if the two systems were interchangeable per query.

    All 2^n exchanges for up to 12 queries, else `samples` random ones,
    of which the observed is counted as one more, so that p is never 0.

    M. D. Smucker, J. Allan and B. Carterette, A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation, CIKM 2007; B. Phipson and G. K. Smyth, Permutation P-values
    Should Never Be Zero, 2010.
    """
    import numpy as np

    data = _checked(_differences(before, after))
    count = len(data)
    # Sums of the same numbers in another order differ in their last bits; equal must stay equal.
    observed = abs(data.sum()) - 1e-9 * np.abs(data).sum()
    if count <= EXACT:
        flips = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        return float(np.mean(np.abs((1 - 2 * flips) @ data) >= observed))
    generator = np.random.default_rng(seed)
    extreme = 0
    for rows in _blocks(samples, count):
        signs = 1 - 2 * generator.integers(0, 2, (rows, count), dtype=np.int8)
        extreme += int(np.count_nonzero(np.abs(signs @ data) >= observed))
    return (extreme + 1) / (samples + 1)


def _bootstrap(
    sets: Sequence[Sequence[float]], resamples: int, level: float, seed: int
) -> Interval:
    import numpy as np

    generator = np.random.default_rng(seed)
    drawn = [_resampled(_checked(values), resamples, generator) for values in sets]
    tail = (1 - level) / 2
    low, high = np.quantile(np.mean(drawn, axis=0), [tail, 1 - tail])
    estimate = float(np.mean([np.mean(values) for values in sets]))
    return Interval(estimate, float(low), float(high), level)


def _resampled(
    data: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """The means of so many samples, each as large as the data and drawn from it."""
    import numpy as np

    return np.concatenate(
        [
            data[generator.integers(0, len(data), (rows, len(data)))].mean(axis=1)
            for rows in _blocks(resamples, len(data))
        ]
    )


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    if len(before) != len(after):
        raise BadInput(
            f"{len(before)} values before and {len(after)} after; compare the same queries"
        )
    return [new - old for old, new in zip(before, after, strict=True)]


def _checked(values: Sequence[float]) -> NDArray[np.float64]:
    import numpy as np

    if not len(values):
        raise BadInput("no values to draw from; give those of at least one query")
    if not all(math.isfinite(value) for value in values):
        raise BadInput("a value is not a finite number; leave its query out on both sides")
    return np.asarray(values, dtype=np.float64)


def _blocks(total: int, width: int) -> Iterator[int]:
    """How many rows of `width` numbers to draw at a time, until `total` are drawn."""
    if total < 1:
        raise BadInput(f"{total} samples say nothing; draw 1 or more")
    size = max(1, _BLOCK // width)
    for start in range(0, total, size):
        yield min(size, total - start)
