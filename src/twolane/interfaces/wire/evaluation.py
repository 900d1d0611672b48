"""Judged queries, and what measuring the search by them found.

What the server sends has a shape; what only the evaluation commands print is written here.
The files of golden sets and runs have formats of their own, in `twolane.evaluation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from twolane.interfaces.wire.shape import Json, Shape, builtins, shape

if TYPE_CHECKING:
    from twolane.evaluation.ablation import Ablation, Measured
    from twolane.evaluation.calibration import Calibration
    from twolane.evaluation.comparing import Change, Comparison
    from twolane.evaluation.fits import Fit
    from twolane.evaluation.freshness import Freshness
    from twolane.evaluation.golden import GoldenSet
    from twolane.evaluation.metrics import Row, Table
    from twolane.evaluation.runs import Place, Summary
    from twolane.evaluation.suites import SuiteRun

Group = Annotated[dict[str, Any], Meta(description="`label`, `count`, and a number by measure.")]
Overall = Annotated[
    dict[str, Any],
    Meta(
        description="`count`, and by measure the mean (`estimate`) with its interval "
        "(`low`, `high`, `level`)."
    ),
]


class Judgment(Shape):
    """A judged query."""

    id: str
    query: str
    relevant: list[str]
    partial: list[str]
    unanswerable: bool
    lang: str | None
    direction: str | None
    category: str | None


class Judgments(Shape):
    """All judged queries."""

    name: str
    judgments: list[Judgment]


class Noted(Shape):
    """Whether it was noted that a result was opened."""

    noted: Annotated[bool, Meta(description="False where `feedback.enabled` is off.")]


class Forgotten(Shape):
    """How many notes of opened results were deleted."""

    forgotten: int


class Percentiles(Shape):
    """Milliseconds that half of the queries took at most, and nineteen of twenty."""

    p50: float
    p95: float


class DegradedQueries(Shape):
    """How many queries were answered without a lane, and why."""

    reason: str
    queries: int


class Measures(Shape):
    """What a run of the judged queries comes to: in all, by group, and query by query."""

    golden: str
    mode: str
    queries: int
    overall: Overall | None
    by_direction: list[Group]
    by_category: list[Group]
    ms: Percentiles | None
    degraded: list[DegradedQueries]
    each: Annotated[
        list[dict[str, Any]], Meta(description="`id`, `query`, and a number by measure.")
    ]


def judgments(held: GoldenSet) -> Judgments:
    """All judged queries of a golden set."""
    return shape(Judgments, held, judgments=held.queries)


def measures(summary: Summary) -> Measures:
    """What a run of the judged queries comes to."""
    texts = {query.id: query.query for query in summary.run.golden.queries}
    each = [
        {"id": row.id, "query": texts[row.id], **_by_measure(summary.table, row.values)}
        for row in summary.table.queries
    ]
    return shape(Measures, None, **_figures(summary), each=each)


def no_measures(name: str, mode: str) -> Measures:
    """The same where nothing was judged yet."""
    return Measures(
        golden=name,
        mode=mode,
        queries=0,
        overall=None,
        by_direction=[],
        by_category=[],
        ms=None,
        degraded=[],
        each=[],
    )


def runs_figures(
    stored: Sequence[tuple[Summary, Path]], auroc: Mapping[str, float | None] | None
) -> Json:
    """What `eval run` measured; `auroc` by mode if there were unanswerable queries."""
    return {"runs": [_run(*one) for one in stored], "relevance_auroc": auroc}


def suite(run: SuiteRun, before: SuiteRun | None, measures: Sequence[str], file: Path) -> Json:
    """What `eval suite` measured; `delta` is the difference in the first measure to `before`."""
    from twolane.evaluation.runs import percentile
    from twolane.evaluation.suites import overall, overall_change, set_change, set_mean, suite_auroc

    first = measures[0]
    return {
        "name": run.name,
        "mode": run.mode,
        "file": file,
        "sets": [
            {
                "name": one.name,
                "group": one.group,
                "queries": len(one.queries),
                **{name: set_mean(one, name) for name in measures},
                "delta": set_change(before, one, first),
                "ms_p50": percentile(one.milliseconds, 0.5),
            }
            for one in run.sets
        ],
        "mean": {name: overall(run, name) for name in measures},
        "mean_delta": overall_change(before, run, first),
        "relevance_auroc": suite_auroc(run),
    }


def comparison(found: Comparison, circumstances: Sequence[tuple[str, str, str]], rows: int) -> Json:
    """What `eval compare` found, with the queries that changed most on either side."""
    return {
        "measure": found.measure,
        "before": found.before,
        "after": found.after,
        "delta": found.interval,
        "p": found.p,
        "better_count": len(found.better),
        "worse_count": len(found.worse),
        "better": [_change(one) for one in found.better[:rows]],
        "worse": [_change(one) for one in found.worse[:rows]],
        "differences": [
            {"what": what, "before": before, "after": after}
            for what, before, after in circumstances
        ],
    }


def gate_decision(found: Comparison, tolerance: float, *, passed: bool) -> Json:
    """What `eval gate` decided, and on what grounds."""
    return {
        "passed": passed,
        "measure": found.measure,
        "baseline": found.before,
        "run": found.after,
        "delta": found.interval,
        "p": found.p,
        "tolerance": tolerance,
    }


def ablation(found: Ablation, file: Path) -> Json:
    """What `eval ablate` measured."""
    return {
        "measure": found.measure,
        "file": file,
        "sets": [
            {"name": name, "rows": [_ablated(row, found.measure) for row in rows]}
            for name, rows in found.by_set.items()
        ],
    }


def calibration(found: Calibration, file: Path, change: str | None) -> Json:
    """What `eval calibrate` found; `change` is what became of the settings file, if asked for."""
    from twolane.evaluation.calibration import as_json

    return {**as_json(found), "file": file, "settings_change": change}


def fit(found: Fit, file: Path, adopted: Path | None) -> Json:
    """What `eval fit` found; `adopted` is the file that searches read it from, if they do."""
    return {
        "embedder": found.space.embedder,
        "reports": [asdict(report) for report in found.reports],
        "file": file,
        "adopted": adopted,
    }


def freshness(found: Freshness) -> Json:
    """What `eval freshness` found."""
    generations = [
        {
            "number": generation.number,
            "state": generation.state,
            "embedder": generation.space.embedder,
            "model": generation.space.model,
            "dimensions": generation.space.dimensions,
            "fingerprint": generation.space.fingerprint,
            "ready": progress.ready,
            "pending": progress.pending,
            "failed": progress.failed,
        }
        for generation, progress in found.generations
    ]
    return {"stale": found.stale, **builtins(found), "generations": generations}


def golden_files(sets: Sequence[tuple[Path, GoldenSet]]) -> Json:
    """The golden sets that were written or checked, in short."""
    return {
        "sets": [
            {
                "file": path,
                "name": held.name,
                "queries": len(held.queries),
                "unanswerable": sum(query.unanswerable for query in held.queries),
            }
            for path, held in sets
        ]
    }


def changed_files(files: Sequence[tuple[Path, bool]]) -> Json:
    """The files that were looked at, and whether they changed."""
    return {"files": [{"file": path, "changed": changed} for path, changed in files]}


def _figures(summary: Summary) -> Json:
    """What a run comes to, in all and by group."""
    table = summary.table
    overall = {"count": len(table.queries), **_by_measure(table, summary.intervals)}
    return {
        "golden": summary.run.golden.name,
        "mode": summary.run.mode,
        "queries": len(summary.run.asked),
        "overall": overall if table.queries else None,
        "by_direction": [_group(table, row) for row in table.by_direction],
        "by_category": [_group(table, row) for row in table.by_category],
        "ms": {"p50": summary.p50, "p95": summary.p95},
        "degraded": [{"reason": reason, "queries": count} for reason, count in summary.degraded],
    }


def _run(summary: Summary, path: Path) -> Json:
    run, verdicts = summary.run, summary.verdicts
    unanswerable = verdicts and {
        "said_unanswerable": verdicts.unanswerable,
        "said_answerable": verdicts.answerable,
        "not_judged": verdicts.not_judged,
    }
    about = {"name": run.name, "file": path, "created": run.created}
    return {**about, **_figures(summary), "unanswerable": unanswerable}


def _group(table: Table, row: Row) -> Json:
    return {"label": row.label, "count": row.count, **_by_measure(table, row.values)}


def _by_measure(table: Table, values: Sequence[object]) -> Json:
    # A run in which no query is answerable has no intervals.
    return dict(zip(table.measures, values, strict=bool(values)))


def _change(change: Change) -> Json:
    return {
        "id": change.id,
        "query": change.query,
        "before": change.before,
        "after": change.after,
        "delta": change.delta,
        "ranks_before": change.ranks_before,
        "ranks_after": change.ranks_after,
        "first_before": _first(change.was_at, change.was),
        "first_after": _first(change.now_at, change.now),
    }


def _first(rank: int | None, place: Place | None) -> Json | None:
    if place is None:
        return None
    return {"rank": rank, "path": place.path, "score": place.score, "shares": place.shares}


def _ablated(row: Measured, measure: str) -> Json:
    from twolane.evaluation.ablation import delta, figures

    return {
        "preset": row.preset.name,
        "reason": row.preset.reason,
        "changes": row.preset.changes,
        "mode": row.preset.mode,
        "follows": row.preset.follows,
        "figures": figures(row, measure),
        "delta": delta(row.comparison),
        "ms": {"p50": row.p50, "p95": row.p95},
        "bytes": row.weight,
        "degraded": row.degraded,
        "kept": row.kept,
    }
