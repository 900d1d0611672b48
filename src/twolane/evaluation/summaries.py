"""What a run comes to: means with intervals, times, and what did not go as it should."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from twolane.errors import BadInput
from twolane.evaluation.metrics import auroc
from twolane.evaluation.runs import Asked, Run
from twolane.evaluation.significance import Interval, mean_interval
from twolane.evaluation.tables import MEASURES, Table


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the answers to unanswerable queries said about themselves."""

    unanswerable: int
    answerable: int
    not_judged: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one run.

    `intervals` belong to the means over all queries, in the order of the table's measures;
    there are none where no query is answerable.
    `degraded` counts the queries that were answered without a lane, by reason.
    """

    run: Run
    table: Table
    intervals: tuple[Interval, ...]
    p50: float
    p95: float
    degraded: tuple[tuple[str, int], ...]
    verdicts: Verdicts | None


def summarise(run: Run, measures: Sequence[str] = MEASURES) -> Summary:
    """The figures of a run in these measures."""
    table = run.table(measures)
    intervals = [mean_interval(table.column(name)) for name in table.measures if table.queries]
    reasons = Counter(reason for one in run.asked for reason in one.degraded)
    return Summary(
        run=run,
        table=table,
        intervals=tuple(intervals),
        p50=percentile(run.milliseconds, 0.50),
        p95=percentile(run.milliseconds, 0.95),
        degraded=tuple(sorted(reasons.items())),
        verdicts=_verdicts(run),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    if not values:
        raise BadInput("a run without queries has no times; ask at least one query")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def relevance_auroc(runs: Sequence[Run]) -> float | None:
    """How well the best result's relevance tells answerable from unanswerable queries.

    The queries may come from several golden sets asked in the same way.
    None if there are not both kinds, or no result has a relevance: this stage is not calibrated.
    """
    if not calibrated(runs):
        return None
    values: dict[bool, list[float]] = {True: [], False: []}
    for run in runs:
        unanswerable = _unanswerable(run)
        for one in run.asked:
            values[one.id in unanswerable].append(_best_relevance(one))
    return auroc(values[False], values[True]) if values[True] and values[False] else None


def calibrated(runs: Sequence[Run]) -> bool:
    """Whether any result of the runs has a relevance."""
    return any(
        place.relevance is not None for run in runs for one in run.asked for place in one.ranking
    )


def _best_relevance(one: Asked) -> float:
    """The relevance of the first result; where there is none, nothing is relevant."""
    return (one.ranking[0].relevance or 0.0) if one.ranking else 0.0


def _unanswerable(run: Run) -> frozenset[str]:
    return frozenset(query.id for query in run.golden.queries if query.unanswerable)


def _verdicts(run: Run) -> Verdicts | None:
    unanswerable = _unanswerable(run)
    if not unanswerable:
        return None
    said = Counter(one.answerable for one in run.asked if one.id in unanswerable)
    return Verdicts(said[False], said[True], said[None])
