"""A fit from the features of a result to the chance that it is relevant, and what it is worth.

Pure functions over numbers; fitting needs NumPy.
The fit is monotone: more similar, better covered or better ranked never means less relevant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twolane import BadInput
from twolane.evaluation.metrics import auroc
from twolane.ranking.relevance import Logistic
from twolane.settings.linear_algebra import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Keeps the weights finite where some results can be told apart without an error.
_RIDGE = 1.0
_MOST_STEPS = 5_000
_CONVERGED = 1e-9


def fit_logistic(rows: Sequence[Sequence[float]], relevant: Sequence[bool]) -> Logistic:
    """Logistic regression with weights of at least 0, by accelerated projected gradient.

    A. Beck and M. Teboulle, A fast iterative shrinkage-thresholding algorithm for linear inverse
    problems, SIAM Journal on Imaging Sciences 2(1), 2009; with the projection as its step.
    """
    import numpy as np

    _require_both(relevant)
    given = np.asarray(rows, dtype=np.float64)
    outcomes = np.asarray(relevant, dtype=np.float64)
    means, scales = given.mean(axis=0), given.std(axis=0)
    # A feature that never changes says nothing, and must not divide by nothing.
    scales[scales == 0] = 1.0
    design = np.column_stack([np.ones(len(given)), (given - means) / scales])
    weights = _descended(design, outcomes)
    plain = weights[1:] / scales
    return Logistic(float(weights[0] - plain @ means), tuple(map(float, plain)))


@dataclass(frozen=True, slots=True)
class Bin:
    """Results whose predicted chance lies between two limits, and what became of them."""

    low: float
    high: float
    count: int
    predicted: float
    relevant: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far predicted chances can be believed.

    `brier` is the mean squared error, `ece` the mean distance between what was predicted and
    what came true over the bins, `auroc` the chance that a relevant result is rated higher.
    """

    brier: float
    ece: float
    auroc: float
    bins: tuple[Bin, ...]


def reliability(
    predicted: Sequence[float], relevant: Sequence[bool], *, bins: int = 10
) -> Reliability:
    """What predictions were worth, in bins of equal width; empty bins are left out.

    G. W. Brier, Verification of forecasts expressed in terms of probability, 1950;
    M. P. Naeini, G. F. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using
    Bayesian binning, AAAI 2015.
    """
    _require_both(relevant)
    pairs = list(zip(predicted, relevant, strict=True))
    groups: dict[int, list[tuple[float, bool]]] = {}
    for chance, outcome in pairs:
        groups.setdefault(min(int(chance * bins), bins - 1), []).append((chance, outcome))
    rows = tuple(_bin(number, bins, groups[number]) for number in sorted(groups))
    return Reliability(
        brier=sum((chance - outcome) ** 2 for chance, outcome in pairs) / len(pairs),
        ece=sum(row.count * abs(row.predicted - row.relevant) for row in rows) / len(pairs),
        auroc=auroc(
            [chance for chance, outcome in pairs if outcome],
            [chance for chance, outcome in pairs if not outcome],
        ),
        bins=rows,
    )


def _bin(number: int, bins: int, pairs: Sequence[tuple[float, bool]]) -> Bin:
    count = len(pairs)
    return Bin(
        low=number / bins,
        high=(number + 1) / bins,
        count=count,
        predicted=sum(chance for chance, _ in pairs) / count,
        relevant=sum(outcome for _, outcome in pairs) / count,
    )


@one_thread()
def _descended(design: NDArray[np.float64], outcomes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of least loss: the first is free, the others are at least 0."""
    import numpy as np

    count, width = design.shape
    penalty = np.full(width, _RIDGE / count)
    penalty[0] = 0.0
    step = 1 / (np.linalg.norm(design, 2) ** 2 / (4 * count) + _RIDGE / count)
    weights = np.zeros(width)
    ahead, pace = weights.copy(), 1.0
    for _ in range(_MOST_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ ahead, -500, 500)))
        moved = ahead - step * (design.T @ (chances - outcomes) / count + penalty * ahead)
        moved[1:] = np.maximum(moved[1:], 0.0)
        faster = (1 + math.sqrt(1 + 4 * pace**2)) / 2
        ahead = moved + (pace - 1) / faster * (moved - weights)
        moves, weights, pace = float(np.abs(moved - weights).max()), moved, faster
        if moves < _CONVERGED:
            break
    return weights


def _require_both(relevant: Sequence[bool]) -> None:
    if not any(relevant) or all(relevant):
        raise BadInput("a fit needs relevant and irrelevant results; give queries that have both")
