"""The ranking model: one number that orders results, explains them and says how sure it is.

`score = intercept + Σ weight × feature` is the log-odds that a document is relevant, and
`relevance` the same as a chance. Weights are at least 0, and fitted by `twolane eval fit`: one set
for documents in the query's languages, one for the others, which words can judge but little;
one for answers by words and meaning, one for words alone, one for meaning alone.
A linear sum of scores carries over to other collections better than a fusion of ranks does:
Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (TOIS 2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from twolane.model.answer import Contribution, Feature, Lane
from twolane.model.candidate import Candidate
from twolane.model.space import Space
from twolane.model.values import dataclass
from twolane.ranking.background import Usual

# So many of the best results say whether a query is answered.
DEPTH = 10

# In a library of few documents each of them is likelier to be the one from the start, by Bayes'
# rule in inverse proportion to their number. In larger ones what is found by chance counts as well,
# and for smaller ones nothing was measured: docs/explanation/ranking-model.md, section 10.
_MANY, _FEWEST = 200, 50

# How far a document's log-odds move towards those that another wording of the query gives it,
# unless the weights were fitted with wordings (measured: docs/howto/optional-stages.md).
WORDING_WEIGHTS = {
    Feature.SHORT_QUERY: 0.1,
    Feature.REPHRASED_QUERY: 0.1,
    Feature.EXPECTED_ANSWER: 0.5,
}


@dataclass(frozen=True, slots=True)
class Weights:
    """What each unit of a feature adds to the log-odds, and what they are without any."""

    intercept: float
    features: Mapping[Feature, float]

    def score(self, features: Mapping[Feature, float]) -> float:
        """The log-odds of a document with these features; one without a weight counts nothing."""
        total = self.intercept
        weights = self.features
        for feature, value in features.items():
            if feature in weights:
                total += weights[feature] * value
        return total


@dataclass(frozen=True, slots=True)
class LanguageWeights:
    """The weights for documents in the query's languages, and for all others."""

    own: Weights
    foreign: Weights

    def of(self, candidate: Candidate) -> Weights:
        """The weights that the candidate is judged by."""
        return self.foreign if candidate.foreign else self.own


@dataclass(frozen=True, slots=True)
class SpaceWeights:
    """The weights of answers with meaning in one space.

    `usual` is how similar two passages usually are: its deviation counts where an index is too
    small to tell, its mean always, but for spaces that nobody fitted. These have the name `*`.
    """

    embedder: str
    model: str
    usual: Usual
    hybrid: LanguageWeights
    semantic: LanguageWeights

    @property
    def is_fitted(self) -> bool:
        """Whether the weights were fitted to this very space."""
        return self.embedder != ANY


# The name of the weights for spaces that nobody fitted.
ANY = "*"


@dataclass(frozen=True, slots=True)
class RankingModel:
    """All weights that are known; from a relevance of `threshold` on a query is answered.

    `reranker` is the one whose feature they were fitted with, if there was one.
    """

    lexical: LanguageWeights
    spaces: tuple[SpaceWeights, ...]
    threshold: float
    reranker: str = ""

    def of_space(self, space: Space | None) -> SpaceWeights:
        """The weights of the space, else those for any."""
        for known in self.spaces:
            if space and (known.embedder, known.model) == (space.embedder, space.model):
                return known
        return self.spaces[-1]

    def before(self, other: RankingModel) -> RankingModel:
        """This model, and the other's spaces where this one has none."""
        known = {(one.embedder, one.model) for one in self.spaces}
        more = [one for one in other.spaces if (one.embedder, one.model) not in known]
        ordered = sorted((*self.spaces, *more), key=lambda one: one.embedder == ANY)
        return RankingModel(self.lexical, tuple(ordered), self.threshold, self.reranker)

    def with_stages(self, reranker: str = "", weight: float = 0.0) -> RankingModel:
        """This model with weights for the features of optional stages that it was not fitted with.

        `weight` is that of the reranker, unless the model was fitted with this very one.
        """

        def both(one: LanguageWeights) -> LanguageWeights:
            return LanguageWeights(known(one.own), known(one.foreign))

        def known(one: Weights) -> Weights:
            features = {**WORDING_WEIGHTS, **one.features}
            if reranker and (self.reranker != reranker or Feature.RERANK not in features):
                features[Feature.RERANK] = weight
            return replace(one, features=features)

        spaces = [
            replace(one, hybrid=both(one.hybrid), semantic=both(one.semantic))
            for one in self.spaces
        ]
        return replace(self, lexical=both(self.lexical), spaces=tuple(spaces), reranker=reranker)


class Scorer:
    """Scores the candidates of one query.

    `dense` are the weights of documents that have vectors, where the query was asked of these;
    others are judged by their words alone.
    """

    def __init__(self, lexical: LanguageWeights, dense: LanguageWeights | None) -> None:
        self._lexical = lexical
        self._dense = dense

    @classmethod
    def of(
        cls, model: RankingModel, space: Space | None, *, by_words: bool, by_meaning: bool
    ) -> Scorer:
        """The scorer for a query that was asked of these lanes, in this space."""
        known = model.of_space(space)
        dense = known.hybrid if by_words else known.semantic
        return cls(model.lexical, dense if by_meaning else None)

    def rank(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with their scores, best first; ties by language, then by id.

        A document rises towards one that says the same in another language and scores higher: what
        is known of one of them holds for the other.
        """
        scores = {one.id: self.weights(one).score(one.features) for one in candidates}
        for one in candidates:
            one.score = scores[one.id]
            for other, closeness in one.parallels.items():
                if other in scores:
                    lifted = scores[one.id] + closeness * (scores[other] - scores[one.id])
                    one.score = max(one.score, lifted)
            one.relevance = chance(one.score)
        return sorted(candidates, key=lambda one: (-one.score, one.foreign, one.id))

    def weights(self, candidate: Candidate) -> Weights:
        """The weights that the candidate is judged by."""
        if self._dense is not None and Feature.PASSAGE in candidate.features:
            return self._dense.of(candidate)
        return self._lexical.of(candidate)

    def explain(self, candidate: Candidate, ranked: Mapping[str, Candidate]) -> None:
        """Tell what each feature gave a candidate that is shown, the most first."""
        weights = self.weights(candidate)
        shares = [
            Contribution(feature.lane, feature, value, weight, weight * value)
            for feature, value in candidate.features.items()
            if (weight := weights.features.get(feature, 0.0)) and value
        ]
        # What holds for every document says the least about this one.
        shares.sort(key=lambda one: (one.feature == Feature.SMALL_LIBRARY, -abs(one.share)))
        gain = candidate.score - weights.score(candidate.features)
        if gain > 0:
            shares.append(_parallel(candidate, weights, ranked, gain))
        candidate.contributions = tuple(shares)


def chance(log_odds: float) -> float:
    """The chance that has these log-odds."""
    if log_odds < 0:
        return math.exp(max(log_odds, -700.0)) / (1 + math.exp(max(log_odds, -700.0)))
    return 1 / (1 + math.exp(-log_odds))


def small_library(documents: int) -> float:
    """What each document of a library with so many has in its favour, in log-odds."""
    return max(0.0, math.log(_MANY / max(documents, _FEWEST)))


def answerable(ranked: Sequence[Candidate], threshold: float) -> bool:
    """Whether any of the best is likely enough to be relevant."""
    return any((one.relevance or 0.0) >= threshold for one in ranked[:DEPTH])


def likely(ranked: Sequence[Candidate], least: float) -> Sequence[Candidate]:
    """Those whose relevance is at least this, or not known."""
    if not least:
        return ranked
    return [one for one in ranked if one.relevance is None or one.relevance >= least]


def fuse(
    candidates: Sequence[Candidate], weights: Mapping[Lane, float], *, k: float
) -> list[Candidate]:
    """The candidates by `Σ weight / (k + rank)` over the lanes that brought them, ties by id.

    Weighted reciprocal rank fusion, the baseline of the model: Cormack, Clarke and Büttcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
    (SIGIR 2009).
    """
    for candidate in candidates:
        candidate.contributions = tuple(
            Contribution(lane, Feature.RANK, rank, weights[lane], weights[lane] / (k + rank))
            for lane, rank in candidate.ranks.items()
            if lane in weights
        )
        candidate.score = sum(one.share for one in candidate.contributions)
    return sorted(candidates, key=lambda one: (-one.score, one.id))


def _parallel(
    candidate: Candidate, weights: Weights, ranked: Mapping[str, Candidate], gain: float
) -> Contribution:
    """The document that spoke for the candidate: the one that lifts it highest."""
    own = weights.score(candidate.features)

    def lift(id: str) -> float:
        other = ranked.get(id)
        return candidate.parallels[id] * (other.score - own) if other else -math.inf

    document = max(sorted(candidate.parallels), key=lift)
    closeness = candidate.parallels[document]
    feature = Feature.PARALLEL
    return Contribution(feature.lane, feature, closeness, gain / closeness, gain, document)
