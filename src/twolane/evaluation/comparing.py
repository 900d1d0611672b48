"""Two runs side by side: how much better, how surely, and for which queries and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twolane import BadInput
from twolane.evaluation.golden import as_references
from twolane.evaluation.runs import Place, Run
from twolane.evaluation.significance import Interval, difference_interval, randomisation_test

# Differences below this are rounding, not ranking.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """One query that got better or worse, with where its answers stood and stand.

    `ranks_before` and `ranks_after` are the ranks of all right answers that were returned,
    `was` and `now` the first of them.
    """

    id: str
    query: str
    before: float
    after: float
    was: Place | None
    now: Place | None
    ranks_before: tuple[int, ...] = ()
    ranks_after: tuple[int, ...] = ()

    @property
    def delta(self) -> float:
        """How much it changed."""
        return self.after - self.before

    @property
    def was_at(self) -> int | None:
        """The rank of the first right answer before."""
        return self.ranks_before[0] if self.ranks_before else None

    @property
    def now_at(self) -> int | None:
        """The rank of the first right answer after."""
        return self.ranks_after[0] if self.ranks_after else None


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
    _require_same_judgments(before, after)
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


def circumstances(before: Run, after: Run) -> list[tuple[str, str, str]]:
    """What else differs between two runs: (what, before, after); settings by their names."""
    pairs = [
        ("mode", before.mode, after.mode),
        ("space", before.space, after.space),
        ("corpus", before.corpus, after.corpus),
        ("commit", before.commit, after.commit),
    ]
    for old, new in ((before.settings, after.settings), (before.machine, after.machine)):
        pairs += [(name, old.get(name), new.get(name)) for name in {**old, **new}]
    return [(name, _shown(old), _shown(new)) for name, old, new in pairs if old != new]


def _require_same_judgments(before: Run, after: Run) -> None:
    judged = {query.id: query.grades for query in before.golden.queries}
    for query in after.golden.queries:
        if judged.get(query.id) != query.grades:
            raise BadInput(
                f"query {query.id!r} has other judgments in {after.name} than in {before.name}; "
                "run both with the same golden set"
            )


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "(empty)"
    if value is None:
        return "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _changes(
    before: Run, after: Run, ids: Sequence[str], was: Sequence[float], now: Sequence[float]
) -> Iterator[Change]:
    queries = {query.id: query for query in before.golden.queries}
    old = {answer.id: answer.ranking for answer in before.asked}
    new = {answer.id: answer.ranking for answer in after.asked}
    for id, one, other in zip(ids, was, now, strict=True):
        if abs(one - other) <= _NOTHING:
            continue
        wanted = queries[id].relevant or tuple(queries[id].grades)
        ranks, later = _ranks(old[id], wanted), _ranks(new[id], wanted)
        first = old[id][ranks[0] - 1] if ranks else None
        first_now = new[id][later[0] - 1] if later else None
        yield Change(id, queries[id].query, one, other, first, first_now, ranks, later)


def _ranks(ranking: Sequence[Place], wanted: Sequence[str]) -> tuple[int, ...]:
    names = as_references([place.path for place in ranking], wanted)
    return tuple(rank for rank, name in enumerate(names, start=1) if name in wanted)
