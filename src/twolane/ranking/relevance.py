"""How likely a result is relevant: a probability that can be compared between queries.

A fused score orders the results of one query and says nothing else.
A fit, made by `twolane eval calibrate`, turns what is known of a result into a chance.
Every fit is monotone: more similar, better covered or better ranked never means less relevant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import Any

from twolane.model.answer import Contribution, Lane, Signs
from twolane.model.candidate import Fused
from twolane.model.errors import BadInput
from twolane.model.space import Space

FORMAT = "twolane-relevance/1"
NAMES: tuple[str, ...] = Signs._fields

# Whether a query can be answered is judged by so many results, however many are shown.
DEPTH = 20

# A coverage this near to 1 is all of the query; sums of rarities do not add up to the last bit.
_COMPLETE = 0.999

# What is usual for a query is what lies just behind the few passages that may answer it.
_USUAL = slice(3, 23)


@dataclass(frozen=True, slots=True)
class Logistic:
    """`1 / (1 + e^−(intercept + Σ weight × value))`, no weight below 0."""

    intercept: float
    weights: tuple[float, ...]

    def predict(self, values: Sequence[float]) -> float:
        """The probability at these values."""
        logit = self.intercept + sum(map(mul, self.weights, values))
        # Both forms are the same number; each overflows where the other does not.
        if logit >= 0:
            return 1 / (1 + math.exp(-logit))
        odds = math.exp(logit)
        return odds / (1 + odds)

    def of(self, signs: Signs) -> float:
        """The probability that a result with these signs is relevant."""
        return self.predict(signs)


@dataclass(frozen=True, slots=True)
class Fit:
    """A way from signs to a chance, and the chance from which on a query counts as answered."""

    logistic: Logistic
    threshold: float


# Who asks for letters gets what holds them, each verified: that is certain, and no estimate.
LITERAL = Fit(Logistic(math.inf, (0.0,) * len(NAMES)), 0.5)


@dataclass(frozen=True, slots=True)
class SpaceFits:
    """The fits of one space: for answers by words and meaning, and by meaning alone."""

    fingerprint: str
    embedder: str
    model: str
    hybrid: Fit
    semantic: Fit


@dataclass(frozen=True, slots=True)
class Fits:
    """All fits that are known; `lexical` is for answers by words alone, which need no space."""

    lexical: Fit | None = None
    spaces: tuple[SpaceFits, ...] = ()

    def of(self, lanes: Mapping[Lane, object], space: Space | None) -> Fit | None:
        """The fit for an answer of these lanes; None where this space was never calibrated."""
        if Lane.DENSE not in lanes:
            return self.lexical if lanes else None
        known = None if space is None else self._of_space(space)
        if known is None:
            return None
        return known.hybrid if Lane.LEXICAL in lanes else known.semantic

    def knows(self, space: Space) -> bool:
        """Whether the space has fits."""
        return self._of_space(space) is not None

    def with_space(self, fits: SpaceFits, lexical: Fit | None) -> Fits:
        """The same with these fits in place of those that the model, or words alone, had."""
        model = (fits.embedder, fits.model)
        others = [one for one in self.spaces if (one.embedder, one.model) != model]
        ordered = sorted([*others, fits], key=lambda one: (one.embedder, one.fingerprint))
        return Fits(lexical or self.lexical, tuple(ordered))

    def before(self, others: Fits) -> Fits:
        """These fits, and the others where these have none."""
        return Fits(self.lexical or others.lexical, (*self.spaces, *others.spaces))

    def _of_space(self, space: Space) -> SpaceFits | None:
        """The fits of the space itself, else of the same model.

        Another release of a model's package, or another way to cut passages, moves similarities
        far less than another model does.
        """
        fingerprint = _fingerprint(space)
        same = [one for one in self.spaces if one.fingerprint == fingerprint]
        akin = [
            one for one in self.spaces if (one.embedder, one.model) == (space.embedder, space.model)
        ]
        return next(iter([*same, *akin]), None)


# Every answer asks for it, and an index has few spaces.
@lru_cache(maxsize=16)
def _fingerprint(space: Space) -> str:
    return space.fingerprint


def rated(
    fused: Sequence[Fused], fit: Fit | None, *, count: int, coverage_power: float
) -> list[Fused]:
    """The first `count` documents of a ranking with their signs and, given a fit, relevance."""
    found = []
    for one, signs in zip(fused, signs_of(fused, count, coverage_power), strict=False):
        chance = None if fit is None else fit.logistic.of(signs)
        # In their order: naming what changes takes longer than all the rest.
        id, score, votes, position, _, _, boosts, sentence, copies, copy_of = one
        found.append(
            Fused(id, score, votes, position, signs, chance, boosts, sentence, copies, copy_of)
        )
    return [*found, *fused[len(found) :]]


def answerable(fused: Sequence[Fused], fit: Fit | None) -> bool | None:
    """Whether any of the best documents is likely enough to be relevant; None without a fit."""
    if fit is None:
        return None
    chances = [one.relevance for one in fused[:DEPTH] if one.relevance is not None]
    return max(chances, default=0.0) >= fit.threshold


def signs_of(fused: Sequence[Fused], count: int, coverage_power: float) -> list[Signs]:
    """The signs of the first `count` documents of a ranking.

    A document that the dense lane did not bring is as similar as the last one that it did.
    """
    dense = Lane.DENSE
    similarities = [
        one.score
        for each in fused
        for one in each.contributions
        if one.lane is dense and one.score is not None
    ]
    similarities.sort(reverse=True)
    behind = similarities[_USUAL]
    usual = behind[len(behind) // 2] if behind else math.inf
    least = max(0.0, similarities[-1]) if similarities else 0.0
    return [
        _signs(one.contributions, rank, least, usual, coverage_power)
        for rank, one in enumerate(fused[:count], start=1)
    ]


def _signs(
    votes: Sequence[Contribution], rank: int, least: float, usual: float, power: float
) -> Signs:
    similarity, coverage, wording, naming, foreign = least, 0.0, 0.0, 0.0, False
    for vote in votes:
        if vote.lane is Lane.DENSE:
            similarity = max(0.0, least if vote.score is None else vote.score)
        elif vote.lane is not Lane.LEXICAL:
            # The other lanes look for a name or for literal text.
            naming = max(naming, vote.vote / vote.rank if vote.rank else 0.0)
        elif vote.abstained:
            foreign = True
        else:
            # With the power 0 every match votes alike, and the share cannot be told.
            coverage = vote.vote ** (1 / power) if power else 1.0
            wording = 1 / vote.rank if vote.rank else 0.0
    prominence = max(0.0, similarity - usual)
    complete = float(coverage >= _COMPLETE)
    # In their order, since names would cost as much as the rest.
    return Signs(
        similarity,
        prominence,
        similarity if foreign else 0.0,
        coverage,
        complete,
        wording,
        naming,
        1 / rank,
    )


# ---------------------------------------------------------------------------------- the file


def fits_text(fits: Fits) -> str:
    """The fits as a file keeps them."""
    document = {
        "format": FORMAT,
        "lexical": None if fits.lexical is None else fit_json(fits.lexical),
        "spaces": [
            {
                "fingerprint": one.fingerprint,
                "embedder": one.embedder,
                "model": one.model,
                "hybrid": fit_json(one.hybrid),
                "semantic": fit_json(one.semantic),
            }
            for one in fits.spaces
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def fits_from_text(text: str) -> Fits:
    """The fits that a file keeps."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise BadInput(f"its format is {document['format']!r} and not {FORMAT!r}")
        lexical = document["lexical"]
        return Fits(
            None if lexical is None else _fit(lexical),
            tuple(
                SpaceFits(
                    str(one["fingerprint"]),
                    str(one["embedder"]),
                    str(one["model"]),
                    _fit(one["hybrid"]),
                    _fit(one["semantic"]),
                )
                for one in document["spaces"]
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{type(error).__name__}: {error}") from error


def fit_json(fit: Fit) -> dict[str, Any]:
    """One fit in plain values."""
    return {
        "intercept": fit.logistic.intercept,
        "weights": dict(zip(NAMES, fit.logistic.weights, strict=True)),
        "threshold": fit.threshold,
    }


def _fit(given: Mapping[str, Any]) -> Fit:
    if set(given["weights"]) != set(NAMES):
        raise BadInput(f"it is made of other signs than {', '.join(NAMES)}")
    weights = tuple(float(given["weights"][name]) for name in NAMES)
    numbers = (float(given["intercept"]), float(given["threshold"]), *weights)
    if not all(map(math.isfinite, numbers)) or min(weights) < 0:
        raise BadInput("its weights are not all numbers of at least 0")
    return Fit(Logistic(numbers[0], weights), numbers[1])
