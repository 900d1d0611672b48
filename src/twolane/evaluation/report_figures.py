"""The figures of a report: runs by golden set, each compared with the first of its set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from twolane.errors import BadInput
from twolane.evaluation.comparing import Change, Comparison, circumstances, compare
from twolane.evaluation.references import as_references
from twolane.evaluation.runs import Run
from twolane.evaluation.summaries import Summary, summarise

# How many queries are listed one by one: enough to see a pattern, few enough to read.
LISTED = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of a group: its label, its figures, and how it differs from the first."""

    label: str
    summary: Summary
    comparison: Comparison | None
    differences: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one golden set; the first is the baseline."""

    golden: str
    description: str
    entries: tuple[Entry, ...]

    @property
    def labelled(self) -> list[tuple[str, Summary]]:
        """The figures by label."""
        return [(one.label, one.summary) for one in self.entries]

    @property
    def answerable(self) -> bool:
        """Whether there is anything to score."""
        return bool(self.entries[0].summary.intervals)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that a report shows."""

    title: str
    measures: tuple[str, ...]
    groups: tuple[Group, ...]


def gather(runs: Sequence[Run], measures: Sequence[str], title: str = "") -> Gathered:
    """The figures of the runs, by golden set in the order given."""
    if not runs:
        raise BadInput("a report shows at least one run; name some")
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.golden.name, []).append(run)
    made = tuple(_group(name, held, measures) for name, held in groups.items())
    named = made[0].entries[0].summary.table.measures
    return Gathered(title or "Search quality", named, made)


def dense_scores(run: Run) -> tuple[list[float], list[float]]:
    """The similarities of right and of other results, as far as the run kept them."""
    grades = {query.id: query.grades for query in run.golden.queries}
    right: list[float] = []
    other: list[float] = []
    for one in run.asked:
        names = as_references([place.path for place in one.ranking], grades[one.id])
        for name, place in zip(names, one.ranking, strict=True):
            for vote in place.votes:
                if vote.lane == "dense" and vote.score is not None:
                    (right if grades[one.id].get(name, 0) >= 1 else other).append(vote.score)
    return right, other


def deltas(entry: Entry) -> list[tuple[str, float]]:
    """What every query of an entry gained or lost, the unchanged ones included."""
    if entry.comparison is None:
        return []
    changed = {one.id: one.delta for one in entry.comparison.changes}
    texts = {query.id: query.query for query in entry.summary.run.golden.queries}
    return [(texts[row.id], changed.get(row.id, 0.0)) for row in entry.summary.table.queries]


def moved(one: Change) -> str:
    """Where the right answers stood and stand: `4, 12 → 1, 2`, `3 → none`."""
    before, after = (
        ", ".join(map(str, ranks)) or "none" for ranks in (one.ranks_before, one.ranks_after)
    )
    return f"{before} → {after}"


def _group(name: str, runs: Sequence[Run], measures: Sequence[str]) -> Group:
    first = runs[0]
    entries = []
    for run, label in zip(runs, _labels(runs), strict=True):
        summary = summarise(run, measures)
        comparable = run is not first and bool(summary.intervals)
        entries.append(
            Entry(
                label=label,
                summary=summary,
                comparison=compare(first, run, summary.table.measures[0]) if comparable else None,
                differences=tuple(circumstances(first, run)) if run is not first else (),
            )
        )
    return Group(name, first.golden.description, tuple(entries))


def _labels(runs: Sequence[Run]) -> list[str]:
    """Short names that tell the runs of one golden set apart."""
    names = [run.name if run.name != run.golden.name else run.mode for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.name} {run.mode}" for run in runs]
    total, seen = Counter(names), Counter[str]()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} #{seen[name]}" if total[name] > 1 else name)
    return labels
