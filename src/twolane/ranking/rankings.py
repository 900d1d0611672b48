"""A query with the ranking that its lanes and the model made, before any of it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twolane.model.answer import Degradation, LaneReport
from twolane.model.candidate import Candidate
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
