"""From what a search knows of a result to the chance that it is relevant.

Pure functions over numbers: fitting needs NumPy, predicting needs nothing.
Every fit is monotone: more similar, better covered or better ranked never means less relevant.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twolane.answers import Contribution, Lane
from twolane.errors import BadInput
from twolane.evaluation.metrics import auroc

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A coverage this near to 1 is all of the query; sums of rarities do not add up to the last bit.
_COMPLETE = 0.999

# Keeps the weights finite where some results can be told apart without an error.
_RIDGE = 1.0
_MOST_STEPS = 5_000
_CONVERGED = 1e-9


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of one result when it is shown; more of anything is a better sign.

    `nearness` is how far its similarity lies below the best of the same answer (0 at most),
    `coverage` the share of the query's information that its words hold, `complete` whether they
    hold all of it, `height` 1 / rank.
    """

    similarity: float
    nearness: float
    coverage: float
    complete: float
    height: float

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers in the order of `NAMES`."""
        return (self.similarity, self.nearness, self.coverage, self.complete, self.height)


NAMES = Features.__slots__


def features(
    answer: Sequence[Sequence[Contribution]], *, coverage_power: float, floor: float
) -> list[Features]:
    """The features of each result of an answer, from its contributions, best result first.

    A result that the dense lane did not bring is as similar as its `floor`, the threshold, allows.
    """
    votes = [{one.lane: one for one in given} for given in answer]
    similarities = [_similarity(given.get(Lane.DENSE), floor) for given in votes]
    best = max(similarities, default=floor)
    found = []
    for rank, (given, similarity) in enumerate(zip(votes, similarities, strict=True), start=1):
        coverage = _coverage(given.get(Lane.LEXICAL), coverage_power)
        complete = float(coverage >= _COMPLETE)
        found.append(Features(similarity, similarity - best, coverage, complete, 1 / rank))
    return found


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising line through points: probability by one value, flat beyond the ends."""

    points: tuple[tuple[float, float], ...]

    def predict(self, value: float) -> float:
        """The probability at a value."""
        at = bisect_right(self.points, (value, math.inf))
        if at == 0:
            return self.points[0][1]
        if at == len(self.points):
            return self.points[-1][1]
        (left, low), (right, high) = self.points[at - 1], self.points[at]
        return low + (high - low) * (value - left) / (right - left)

    def of(self, found: Features) -> float:
        """The probability that a result is relevant, by its similarity alone."""
        return self.predict(found.similarity)

    def as_json(self) -> dict[str, Any]:
        """The fit as an artefact keeps it."""
        return {"kind": "isotonic", "feature": NAMES[0], "points": [list(p) for p in self.points]}


@dataclass(frozen=True, slots=True)
class Logistic:
    """`1 / (1 + e^−(intercept + Σ weight × value))`, no weight below 0."""

    intercept: float
    weights: tuple[float, ...]

    def predict(self, values: Sequence[float]) -> float:
        """The probability at these values."""
        pairs = zip(self.weights, values, strict=True)
        logit = self.intercept + sum(weight * value for weight, value in pairs)
        # Both forms are the same number; each overflows where the other does not.
        if logit >= 0:
            return 1 / (1 + math.exp(-logit))
        odds = math.exp(logit)
        return odds / (1 + odds)

    def of(self, found: Features) -> float:
        """The probability that a result is relevant, by all of its features."""
        return self.predict(found.values)

    def as_json(self) -> dict[str, Any]:
        """The fit as an artefact keeps it."""
        weights = dict(zip(NAMES, self.weights, strict=True))
        return {"kind": "logistic", "intercept": self.intercept, "weights": weights}


Fit = Isotonic | Logistic


def fit_from_json(given: Mapping[str, Any]) -> Fit:
    """The fit that an artefact keeps."""
    if given.get("kind") == "isotonic":
        return Isotonic(tuple((float(x), float(y)) for x, y in given["points"]))
    if given.get("kind") == "logistic" and set(given["weights"]) == set(NAMES):
        weights = tuple(float(given["weights"][name]) for name in NAMES)
        return Logistic(float(given["intercept"]), weights)
    raise BadInput("this fit was made by another Twolane; calibrate again")


def fit_isotonic(values: Sequence[float], relevant: Sequence[bool]) -> Isotonic:
    """The rising function that is nearest to the outcomes, by pooling adjacent violators.

    M. Ayer et al., An empirical distribution function for sampling with incomplete information,
    Annals of Mathematical Statistics 26(4), 1955.
    """
    _require_both(relevant)
    # A block is [lowest value, highest value, relevant, count]; equal values belong together.
    blocks: list[list[float]] = []
    for value, outcome in sorted(zip(values, map(float, relevant), strict=True)):
        if blocks and blocks[-1][1] == value:
            blocks[-1][2] += outcome
            blocks[-1][3] += 1
        else:
            blocks.append([value, value, outcome, 1.0])
    pooled: list[list[float]] = []
    for block in blocks:
        pooled.append(block)
        while len(pooled) > 1 and _share(pooled[-2]) >= _share(pooled[-1]):
            _, high, outcomes, count = pooled.pop()
            pooled[-1][1] = high
            pooled[-1][2] += outcomes
            pooled[-1][3] += count
    points = [
        (end, _share(block)) for block in pooled for end in dict.fromkeys((block[0], block[1]))
    ]
    return Isotonic(tuple(points))


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


def _similarity(vote: Contribution | None, floor: float) -> float:
    return floor if vote is None or vote.score is None else vote.score


def _coverage(vote: Contribution | None, power: float) -> float:
    """The share behind a vote; a lane that abstained or has not found the document saw nothing."""
    if vote is None or vote.abstained:
        return 0.0
    # With the power 0 every match votes alike, and the share cannot be told.
    return float(vote.vote ** (1 / power)) if power else 1.0


def _share(block: Sequence[float]) -> float:
    return block[2] / block[3]


def _bin(number: int, bins: int, pairs: Sequence[tuple[float, bool]]) -> Bin:
    count = len(pairs)
    return Bin(
        low=number / bins,
        high=(number + 1) / bins,
        count=count,
        predicted=sum(chance for chance, _ in pairs) / count,
        relevant=sum(outcome for _, outcome in pairs) / count,
    )


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
