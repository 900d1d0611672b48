"""Two runs side by side: how much better, how surely, and for which queries and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twolane.errors import BadInput
from twolane.evaluation.runs import Place, Run
from twolane.evaluation.significance import Interval, difference_interval, randomisation_test

# Differences below this are rounding, not ranking.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """One query that got better or worse, with where its first answer stood and stands."""

    id: str
    query: str
    before: float
    after: float
    was: Place | None
    was_at: int | None
    now: Place | None
    now_at: int | None

    @property
    def delta(self) -> float:
        """How much it changed."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed in one measure between two runs over the same queries."""

    measure: str
    before: float
    after: float
    interval: Interval
    p: float
    changes: tuple[Change, ...]

    @property
    def delta(self) -> float:
        """The difference of the means."""
        return self.after - self.before

    @property
    def better(self) -> tuple[Change, ...]:
        """The queries that gained, most first."""
        gained = (change for change in self.changes if change.delta > 0)
        return tuple(sorted(gained, key=lambda change: (-change.delta, change.id)))

    @property
    def worse(self) -> tuple[Change, ...]:
        """The queries that lost, most first."""
        lost = (change for change in self.changes if change.delta < 0)
        return tuple(sorted(lost, key=lambda change: (change.delta, change.id)))


def compare(before: Run, after: Run, measure: str = "ndcg@10") -> Comparison:
    """The second run against the first, query by query."""
    old, new = before.table((measure,)), after.table((measure,))
    ids = [row.id for row in old.queries]
    if ids != [row.id for row in new.queries]:
        raise BadInput(
            f"{before.name} and {after.name} asked different queries; "
            "compare runs of the same golden set"
        )
    if not ids:
        raise BadInput(f"{before.golden.name} has no answerable query to compare")
    was, now = old.column(old.measures[0]), new.column(new.measures[0])
    return Comparison(
        measure=old.measures[0],
        before=sum(was) / len(was),
        after=sum(now) / len(now),
        interval=difference_interval(was, now),
        p=randomisation_test(was, now),
        changes=tuple(_changes(before, after, ids, was, now)),
    )


def passes(comparison: Comparison, tolerance: float) -> bool:
    """Whether the second run lost no more than the tolerance: the gate's rule.

    The mean decides; the interval is shown beside it so that a reader can judge the rule.
    """
    return comparison.delta >= -tolerance


def _changes(
    before: Run, after: Run, ids: Sequence[str], was: Sequence[float], now: Sequence[float]
) -> list[Change]:
    queries = {query.id: query for query in before.golden.queries}
    old = {one.id: one.ranking for one in before.asked}
    new = {one.id: one.ranking for one in after.asked}
    changes = []
    for id, one, other in zip(ids, was, now, strict=True):
        if abs(one - other) > _NOTHING:
            wanted = queries[id].relevant or tuple(queries[id].grades)
            was_at, old_place = _first(old[id], wanted)
            now_at, new_place = _first(new[id], wanted)
            changes.append(
                Change(id, queries[id].query, one, other, old_place, was_at, new_place, now_at)
            )
    return changes


def _first(ranking: Sequence[Place], wanted: Sequence[str]) -> tuple[int | None, Place | None]:
    from twolane.evaluation.references import as_references

    for rank, (name, place) in enumerate(
        zip(as_references([one.path for one in ranking], wanted), ranking, strict=True), start=1
    ):
        if name in wanted:
            return rank, place
    return None, None
