"""A query with the ranking that its lanes and the model made, before any of it is shown.

Beside it, what the rankings of other wordings of the query say for its candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twolane.model.answer import Degradation, Feature, Lane, LaneReport
from twolane.model.candidate import Candidate
from twolane.model.values import dataclass
from twolane.query.analyzer import AnalyzedQuery
from twolane.query.plan import Plan


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every document that the lanes brought for a query, best first.

    `found` are the ids of those that match: by words, names or letters, or likely by meaning.
    """

    query: AnalyzedQuery
    plan: Plan
    candidates: Sequence[Candidate]
    lanes: tuple[LaneReport, ...]
    degraded: tuple[Degradation, ...]
    generation: int | None
    found: tuple[str, ...]
    answerable: bool | None = None

    @property
    def not_run(self) -> tuple[Degradation, ...]:
        """The lanes that did not run, and why; others of `degraded` found less than they might."""
        ran = {report.lane for report in self.lanes}
        return tuple(one for one in self.degraded if one.lane not in ran)


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
