"""What other wordings of a query found, and what they say for the candidates of the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate
from twolane.ranking.rankings import Ranking


@dataclass(frozen=True, slots=True)
class Wordings:
    """The rankings of other wordings of a query, by the feature that each of them is."""

    rankings: Mapping[Feature, Ranking]

    def candidates(self) -> list[Candidate]:
        """All documents that they found, each with its best rank among them."""
        found: dict[str, Candidate] = {}
        for ranking in self.rankings.values():
            for rank, one in enumerate(ranking.candidates, start=1):
                known = found.setdefault(one.id, Candidate(one.id, one.languages))
                known.ranks[Lane.EXPAND] = min(rank, known.ranks.get(Lane.EXPAND, rank))
        return list(found.values())

    def measure(self, ranked: Sequence[Candidate]) -> None:
        """Give the candidates of the query what each wording says more for them, in log-odds.

        A ranking that does not have a document gives it what it gives its last one: at most that.
        """
        for feature, ranking in self.rankings.items():
            own = {one.id: one.score for one in ranking.candidates}
            least = min(own.values())
            for one in ranked:
                one.features[feature] = own.get(one.id, least) - one.score
