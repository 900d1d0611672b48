"""How good are many rankings? Means over all queries, by direction and by category."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from twolane.errors import BadInput
from twolane.evaluation import metrics
from twolane.evaluation.golden_values import GoldenSet
from twolane.evaluation.metrics import Grades, Ranking
from twolane.evaluation.references import as_references

MEASURES = ("recall@10", "ndcg@10", "mrr")

_CUT: Mapping[str, Callable[..., float]] = {
    "hit": metrics.hit,
    "mrr": metrics.reciprocal_rank,
    "ndcg": metrics.ndcg,
    "precision": metrics.precision,
    "recall": metrics.recall,
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its cut-off: `of` gives the value of one ranking."""

    name: str
    of: Callable[[Ranking, Grades], float]


def measure(text: str) -> Measure:
    """The measure that `text` names: `recall@10`, `ndcg@5`, `mrr`, `mrr@10`, `hit@1` …"""
    name, _, cut = text.strip().lower().partition("@")
    if name == "mrr" and not cut:
        return Measure(name, metrics.reciprocal_rank)
    if name in _CUT and re.fullmatch("[1-9][0-9]{0,5}", cut):
        return Measure(f"{name}@{cut}", partial(_CUT[name], k=int(cut)))
    names = ", ".join(f"{known}@10" for known in _CUT)
    raise BadInput(f"no measure {text!r}; use {names} (with any cut-off) or mrr")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """The values of one query, in the order of the table's measures."""

    id: str
    direction: str | None
    category: str | None
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The means of some queries, in the order of the table's measures."""

    label: str
    count: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What every answerable query of a golden set scored, and the means."""

    measures: tuple[str, ...]
    queries: tuple[QueryRow, ...]

    @property
    def overall(self) -> Row | None:
        """The means over all queries; None if the set has no answerable query."""
        return _mean("all", self.queries) if self.queries else None

    @property
    def by_direction(self) -> tuple[Row, ...]:
        """The means of each direction, sorted; queries without one are left out."""
        return _groups((row.direction, row) for row in self.queries)

    @property
    def by_category(self) -> tuple[Row, ...]:
        """The means of each category, sorted; queries without one are left out."""
        return _groups((row.category, row) for row in self.queries)

    def column(self, name: str) -> tuple[float, ...]:
        """The values of one measure, query by query: what `significance` compares."""
        if name not in self.measures:
            raise BadInput(f"the table has no {name!r}; it has {', '.join(self.measures)}")
        place = self.measures.index(name)
        return tuple(row.values[place] for row in self.queries)


def tabulate(
    golden: GoldenSet,
    rankings: Mapping[str, Sequence[str]],
    measures: Sequence[str] = MEASURES,
) -> Table:
    """Score the ranking of every answerable query (query id → documents, best first).

    Results match references as `same_document` says.
    A query that found nothing has an empty ranking; one without a ranking was not run,
    and a mean that took it for a failure would lie, so `BadInput` is raised.
    """
    chosen = tuple(measure(text) for text in measures)
    asked = [query for query in golden.queries if not query.unanswerable]
    missing = [query.id for query in asked if query.id not in rankings]
    if missing:
        more = " …" if len(missing) > 5 else ""
        raise BadInput(
            f"no ranking for {len(missing)} queries of {golden.name}: "
            f"{', '.join(missing[:5])}{more}; "
            "run them, or give an empty ranking where nothing was found"
        )
    rows = []
    for query in asked:
        grades = query.grades
        ranking = as_references(rankings[query.id], grades)
        values = tuple(one.of(ranking, grades) for one in chosen)
        rows.append(QueryRow(query.id, query.direction, query.category, values))
    return Table(tuple(one.name for one in chosen), tuple(rows))


def _groups(labelled: Iterable[tuple[str | None, QueryRow]]) -> tuple[Row, ...]:
    groups: dict[str, list[QueryRow]] = {}
    for label, row in labelled:
        if label is not None:
            groups.setdefault(label, []).append(row)
    return tuple(_mean(label, groups[label]) for label in sorted(groups))


def _mean(label: str, rows: Sequence[QueryRow]) -> Row:
    columns = zip(*(row.values for row in rows), strict=True)
    return Row(label, len(rows), tuple(fmean(column) for column in columns))
