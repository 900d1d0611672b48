"""The JSON of the commands that try settings out; the only place that spells its keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.evaluation.ablation import Ablation, Measured
    from twolane.evaluation.calibration import Calibration
    from twolane.evaluation.summaries import Summary

Json = dict[str, Any]


def ablation_json(ablation: Ablation, file: Path) -> Json:
    """What `eval ablate` measured."""
    return {
        "measure": ablation.measure,
        "file": str(file),
        "sets": [
            {"name": name, "rows": [_row(row, ablation.measure) for row in rows]}
            for name, rows in ablation.by_set.items()
        ],
    }


def calibration_json(
    calibration: Calibration, file: Path, change: str | None, adopted: Path | None
) -> Json:
    """What `eval calibrate` found.

    `change` is what became of the settings file, if asked for; `adopted` is the file that searches
    find the fit in, if they use it.
    """
    from twolane.evaluation.calibration_files import as_json

    return {
        **as_json(calibration),
        "file": str(file),
        "settings_change": change,
        "adopted": str(adopted) if adopted else None,
    }


def xquad_json(
    summary: Summary, table: Mapping[tuple[str, str], Mapping[int, float]], file: Path
) -> Json:
    """What `eval xquad` measured."""
    return {
        "name": summary.run.golden.name,
        "mode": summary.run.mode,
        "file": str(file),
        "queries": len(summary.run.asked),
        "overall": _overall(summary),
        "recall": _recall(table),
        "ms": {"p50": summary.p50, "p95": summary.p95},
        "degraded": [{"reason": reason, "queries": count} for reason, count in summary.degraded],
    }


def xquad_figures(summary: Summary, table: Mapping[tuple[str, str], Mapping[int, float]]) -> Json:
    """The figures of `eval xquad` with what they depend on, and no text of XQuAD."""
    run = summary.run
    return {
        "format": "twolane-xquad/1",
        "name": run.golden.name,
        "mode": run.mode,
        "embedder": run.settings.get("embedder"),
        "started": run.created,
        "commit": run.commit,
        "space": run.space,
        "machine": dict(run.machine),
        "queries": len(run.asked),
        "overall": _overall(summary),
        "by_language": [
            {
                "language": row.label,
                "queries": row.count,
                **dict(zip(summary.table.measures, row.values, strict=True)),
            }
            for row in summary.table.by_direction
        ],
        "recall": _recall(table),
        "ms": {"p50": summary.p50, "p95": summary.p95},
    }


def _overall(summary: Summary) -> Json:
    return {
        name: {"estimate": one.estimate, "low": one.low, "high": one.high, "level": one.level}
        for name, one in zip(summary.table.measures, summary.intervals, strict=True)
    }


def _recall(table: Mapping[tuple[str, str], Mapping[int, float]]) -> list[Json]:
    return [
        {"from": asked, "to": sought, **{f"recall@{k}": value for k, value in row.items()}}
        for (asked, sought), row in table.items()
    ]


def _row(row: Measured, measure: str) -> Json:
    from twolane.evaluation.ablation_files import figures

    comparison = row.comparison
    return {
        "preset": row.preset.name,
        "reason": row.preset.reason,
        "changes": dict(row.preset.changes),
        "mode": row.preset.mode.value,
        "follows": row.preset.follows,
        "figures": figures(row, measure),
        "delta": None
        if comparison is None
        else {
            "estimate": comparison.interval.estimate,
            "low": comparison.interval.low,
            "high": comparison.interval.high,
            "level": comparison.interval.level,
            "p": comparison.p,
            "better": len(comparison.better),
            "worse": len(comparison.worse),
        },
        "ms": {"p50": row.p50, "p95": row.p95},
        "bytes": {"database": row.weight.database, "vectors": row.weight.vectors},
        "degraded": row.degraded,
        "kept": row.kept,
    }
