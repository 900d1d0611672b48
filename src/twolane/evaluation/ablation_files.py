"""An ablation as an artefact: every figure, and every ranking that it came from.

Rankings are lists of numbers into one list of documents, so that a hundred runs fit in a file
that can be kept; votes and scores of the single runs are only in the runs themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from twolane.evaluation.ablation import Ablation, Measured
from twolane.evaluation.fingerprints import golden_digest
from twolane.evaluation.running import machine, plain_settings
from twolane.evaluation.tables import MEASURES
from twolane.evaluation.text_files import write_text

FORMAT = "twolane-ablation/1"


def save_ablation(ablation: Ablation, folder: Path, label: str) -> Path:
    """Write the ablation into the folder under a name of its own."""
    now = datetime.now(UTC)
    head = {
        "format": FORMAT,
        "created": now.isoformat(timespec="seconds"),
        "measure": ablation.measure,
        "commit": ablation.rows[0].run.commit,
        "code": ablation.code,
        "machine": dict(machine()),
        "settings": dict(plain_settings(ablation.settings)),
    }
    presets = list(dict.fromkeys(row.preset.name for row in ablation.rows))
    firsts = [next(row for row in ablation.rows if row.preset.name == name) for name in presets]
    lines = [f"{_text(name)}: {_text(value)}," for name, value in head.items()]
    lines += ['"presets": [', ",\n".join(_text(_preset(row)) for row in firsts), "],"]
    sets = ",\n".join(_set(rows, ablation.measure) for rows in ablation.by_set.values())
    lines += ['"sets": [', sets, "]"]
    return store("\n".join(["{", *lines, "}", ""]), folder, label, now)


def store(text: str, folder: Path, label: str, now: datetime) -> Path:
    """Write an artefact as `<label>-<yyyymmdd-hhmmss>.json`; nothing is overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{label}-{now.strftime('%Y%m%d-%H%M%S')}"
    names = (f"{stem}{again}.json" for again in chain([""], (f"-{n}" for n in count(2))))
    path = next(folder / name for name in names if not (folder / name).exists())
    write_text(path, text)
    return path


def figures(row: Measured, measure: str) -> dict[str, Any]:
    """What a run scored in the usual measures and this one: overall and by direction."""
    table = row.run.table(tuple(dict.fromkeys((*MEASURES, measure))))
    groups = (*([table.overall] if table.overall else []), *table.by_direction)
    return {
        group.label: {
            name: round(value, 6) for name, value in zip(table.measures, group.values, strict=True)
        }
        for group in groups
    }


def _preset(row: Measured) -> dict[str, Any]:
    return {
        "name": row.preset.name,
        "reason": row.preset.reason,
        "changes": dict(row.preset.changes),
        "mode": row.preset.mode.value,
        "follows": row.preset.follows,
    }


def _set(rows: Sequence[Measured], measure: str) -> str:
    """One golden set: a line for what its runs share, then a line for each run."""
    golden = rows[0].run.golden
    paths = sorted({place.path for row in rows for one in row.run.asked for place in one.ranking})
    shared = {
        "name": golden.name,
        "golden": golden_digest(golden),
        "queries": [query.id for query in golden.queries],
        "documents": paths,
    }
    numbers = {path: number for number, path in enumerate(paths)}
    runs = ",\n".join(_text(_run(row, numbers, measure)) for row in rows)
    return f'{_text(shared)[:-1]}, "runs": [\n{runs}\n]}}'


def _run(row: Measured, numbers: Mapping[str, int], measure: str) -> dict[str, Any]:
    comparison = row.comparison
    return {
        "preset": row.preset.name,
        "created": row.run.created,
        "space": row.run.space,
        "corpus": row.run.corpus,
        "figures": figures(row, measure),
        "delta": None
        if comparison is None
        else {
            "estimate": round(comparison.interval.estimate, 6),
            "low": round(comparison.interval.low, 6),
            "high": round(comparison.interval.high, 6),
            "level": comparison.interval.level,
            "p": round(comparison.p, 6),
        },
        "degraded": row.degraded,
        "database_bytes": row.weight.database,
        "vector_bytes": row.weight.vectors,
        "ms": [one.ms for one in row.run.asked],
        "rankings": [[numbers[place.path] for place in one.ranking] for one in row.run.asked],
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
