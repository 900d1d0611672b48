"""A query with the ranking that its lanes made, before any of it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twolane.model.answer import Degradation, LaneReport, Repair
from twolane.model.candidate import Fused
from twolane.model.scope import Scope, Word
from twolane.query import Query
from twolane.query.intent import Intent
from twolane.query.plan import Plan


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query as it was understood, and every document that its lanes brought, best first.

    `scope` is the caller's, narrowed by the query's own filters and demands.
    `letters` is what is looked for by its letters, as it was typed.
    `translated` are the words with those of other languages that were looked for, if any were.
    `lists` where there was nothing to rank by, and the documents in scope are listed.
    """

    query: Query
    intent: Intent
    scope: Scope
    plan: Plan
    letters: str
    fused: Sequence[Fused]
    lanes: tuple[LaneReport, ...]
    degraded: tuple[Degradation, ...]
    generation: int | None
    repairs: tuple[Repair, ...]
    answerable: bool | None = None
    translated: tuple[Word, ...] = ()
    lists: bool = False

    @property
    def not_run(self) -> tuple[Degradation, ...]:
        """The lanes that did not run, and why; others of `degraded` found less than they might."""
        ran = {report.lane for report in self.lanes}
        return tuple(one for one in self.degraded if one.lane not in ran)
