"""The JSON of the evaluation commands; the only place that spells its keys.

The files of golden sets and runs have formats of their own, in `twolane.evaluation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.evaluation.comparing import Change, Comparison
    from twolane.evaluation.freshness import Freshness
    from twolane.evaluation.golden import GoldenSet
    from twolane.evaluation.runs import Place
    from twolane.evaluation.significance import Interval
    from twolane.evaluation.summaries import Summary
    from twolane.evaluation.tables import Row, Table

Json = dict[str, Any]


def runs_json(
    stored: Sequence[tuple[Summary, Path]], auroc: Mapping[str, float | None] | None
) -> Json:
    """What `eval run` measured; `auroc` by mode if there were unanswerable queries."""
    return {
        "runs": [_run(summary, path) for summary, path in stored],
        "relevance_auroc": dict(auroc) if auroc is not None else None,
    }


def comparison_json(
    comparison: Comparison, circumstances: Sequence[tuple[str, str, str]], rows: int
) -> Json:
    """What `eval compare` found, with the queries that changed most on either side."""
    return {
        "measure": comparison.measure,
        "before": comparison.before,
        "after": comparison.after,
        "delta": _interval(comparison.interval),
        "p": comparison.p,
        "better_count": len(comparison.better),
        "worse_count": len(comparison.worse),
        "better": [_change(one) for one in comparison.better[:rows]],
        "worse": [_change(one) for one in comparison.worse[:rows]],
        "differences": [
            {"what": what, "before": before, "after": after}
            for what, before, after in circumstances
        ],
    }


def gate_json(comparison: Comparison, tolerance: float, *, passed: bool) -> Json:
    """What `eval gate` decided, and on what grounds."""
    return {
        "passed": passed,
        "measure": comparison.measure,
        "baseline": comparison.before,
        "run": comparison.after,
        "delta": _interval(comparison.interval),
        "p": comparison.p,
        "tolerance": tolerance,
    }


def freshness_json(freshness: Freshness) -> Json:
    """What `eval freshness` found."""
    return {
        "stale": freshness.stale,
        "missing": list(freshness.missing),
        "partial": list(freshness.partial),
        "borrowed": list(freshness.borrowed),
        "pending": freshness.pending,
        "failed": freshness.failed,
        "generations": [
            {
                "number": generation.number,
                "state": generation.state.value,
                "embedder": generation.space.embedder,
                "model": generation.space.model,
                "dimensions": generation.space.dimensions,
                "fingerprint": generation.space.fingerprint,
                "ready": progress.ready,
                "pending": progress.pending,
                "failed": progress.failed,
            }
            for generation, progress in freshness.generations
        ],
        "degraded": freshness.degraded,
    }


def golden_json(sets: Sequence[tuple[Path, GoldenSet]]) -> Json:
    """The golden sets that were written or checked, in short."""
    return {
        "sets": [
            {
                "file": str(path),
                "name": golden.name,
                "queries": len(golden.queries),
                "unanswerable": sum(query.unanswerable for query in golden.queries),
            }
            for path, golden in sets
        ]
    }


def files_json(files: Sequence[tuple[Path, bool]]) -> Json:
    """The files that were looked at, and whether they changed."""
    return {"files": [{"file": str(path), "changed": changed} for path, changed in files]}


def _run(summary: Summary, path: Path) -> Json:
    run, table = summary.run, summary.table
    verdicts = summary.verdicts
    return {
        "name": run.name,
        "golden": run.golden.name,
        "mode": run.mode,
        "file": str(path),
        "created": run.created,
        "queries": len(run.asked),
        "overall": {
            "count": len(table.queries),
            **{
                name: _interval(interval)
                for name, interval in zip(table.measures, summary.intervals, strict=True)
            },
        }
        if table.queries
        else None,
        "by_direction": [_row(table, row) for row in table.by_direction],
        "by_category": [_row(table, row) for row in table.by_category],
        "ms": {"p50": summary.p50, "p95": summary.p95},
        "degraded": [{"reason": reason, "queries": count} for reason, count in summary.degraded],
        "unanswerable": {
            "said_unanswerable": verdicts.unanswerable,
            "said_answerable": verdicts.answerable,
            "not_judged": verdicts.not_judged,
        }
        if verdicts
        else None,
    }


def _row(table: Table, row: Row) -> Json:
    values = dict(zip(table.measures, row.values, strict=True))
    return {"label": row.label, "count": row.count, **values}


def _interval(interval: Interval) -> Json:
    return {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
    }


def _change(change: Change) -> Json:
    return {
        "id": change.id,
        "query": change.query,
        "before": change.before,
        "after": change.after,
        "delta": change.delta,
        "ranks_before": list(change.ranks_before),
        "ranks_after": list(change.ranks_after),
        "first_before": _place(change.was_at, change.was),
        "first_after": _place(change.now_at, change.now),
    }


def _place(rank: int | None, place: Place | None) -> Json | None:
    if place is None:
        return None
    return {
        "rank": rank,
        "path": place.path,
        "score": place.score,
        "votes": [
            {
                "lane": vote.lane,
                "rank": vote.rank,
                "score": vote.score,
                "value": vote.value,
                "abstained": vote.abstained,
            }
            for vote in place.votes
        ],
    }
