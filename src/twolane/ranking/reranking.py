"""An optional stage: a model reads the best passages together with the query.

What it says is one more feature beside the others, so that a poor reranker gets a small weight.
The feature is told from the mean of all that it read: nothing of what it thinks of the query as a
whole moves a relevance, and an answer without the stage has the same relevances as with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from twolane.embedding.stages import Stage
from twolane.model.answer import Degradation, Feature, Lane
from twolane.model.candidate import Candidate
from twolane.model.errors import StageError
from twolane.model.values import dataclass
from twolane.ports.reranker import Reranker
from twolane.query.analyzer import AnalyzedQuery

# Beyond so many log-odds from the mean a reranker is only louder, not surer.
_MOST = 4.0

# What a reranker reads of each candidate, by id.
Passages = Callable[[AnalyzedQuery, Sequence[Candidate]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker, how it is asked, and what it reads.

    `weight` is that of its feature until a fit knows better; `replaces` lets it alone order what
    it has read, which is there to be measured.
    """

    reranker: Reranker
    stage: Stage
    passages: Passages
    documents: int
    weight: float
    replaces: bool = False

    @property
    def named_weight(self) -> tuple[str, float]:
        """Its name, and its weight until a fit knows better."""
        return self.reranker.name, self.weight

    def measure(self, query: AnalyzedQuery, ranked: Sequence[Candidate]) -> Degradation | None:
        """Give the candidates the reranker's feature, or tell why they have none.

        A document that was not read gets what the worst of those got: at most that much.
        """
        best = ranked[: self.documents]
        if len(best) < 2 or not query.parsed.meaning:
            return None
        texts = self.passages(query, best)
        read = [one for one in best if one.id in texts]
        asked = [texts[one.id] for one in read]
        try:
            scores = self.stage.ask(lambda: self.reranker.log_odds(query.parsed.meaning, asked))
        except StageError as error:
            return Degradation(Lane.RERANK, f"{error}; the order is that of the other features")
        mean = sum(scores) / len(scores)
        for one, score in zip(read, scores, strict=True):
            one.features[Feature.RERANK] = min(max(score - mean, -_MOST), _MOST)
        least = min(one.features[Feature.RERANK] for one in read)
        for one in ranked:
            one.features.setdefault(Feature.RERANK, least)
        return None

    def replaced(self, ranked: list[Candidate]) -> list[Candidate]:
        """The candidates; if it replaces, those that were read come first, in its own order."""
        if not self.replaces:
            return ranked
        best = ranked[: self.documents]
        by_score = sorted(best, key=lambda one: -one.features.get(Feature.RERANK, 0.0))
        return [*by_score, *ranked[self.documents :]]
