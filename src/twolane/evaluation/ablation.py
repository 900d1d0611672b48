"""Ablation: what each choice is worth, measured by taking it away.

Every preset runs over every golden set and is compared, query by query, with the preset that
it follows; beside the difference stand what it costs in time and in memory.
Each run is kept as soon as it is done, under a name made of everything that it depends on
(settings, golden set, corpus, code), so an interrupted ablation goes on where it stopped,
and a repeated one runs nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import twolane
from twolane import BadInput, Library, Settings
from twolane.evaluation.comparing import Comparison, compare
from twolane.evaluation.figures import change_with_interval, milliseconds, share
from twolane.evaluation.golden import GoldenSet
from twolane.evaluation.indexes import bench, golden_digest, ranking_code
from twolane.evaluation.metrics import MEASURES
from twolane.evaluation.metrics import measure as known_measure
from twolane.evaluation.presets import Preset
from twolane.evaluation.runs import (
    DEPTH,
    Run,
    load_run,
    percentile,
    plain_settings,
    run_golden,
    save_run,
    store_measurement,
)
from twolane.evaluation.runs import FORMAT as RUN_FORMAT
from twolane.settings import model_path

log = logging.getLogger("twolane")

FORMAT = "twolane-ablation/1"
COSTS = (
    "ms: one query, with the model and the vectors loaded. "
    "MB: the database file and, once more, the vectors that a search holds in memory."
)

# Called before each step with what it is, its number and how many there are.
Progress = Callable[[str, int, int], None]

_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Weight:
    """What a configuration keeps: the database file, and the vectors that a search reads.

    The peak memory of the process would say nothing about one of many configurations
    that were measured in it, so it is not used here.
    """

    database: int
    vectors: int

    @property
    def megabytes(self) -> float:
        """Both together."""
        return (self.database + self.vectors) / 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """One preset over one golden set.

    `comparison` is with the preset that this one follows; None if that was not measured.
    `kept` says that the run was not made now but taken from an earlier time.
    """

    preset: Preset
    run: Run
    comparison: Comparison | None
    weight: Weight
    kept: bool

    @property
    def p50(self) -> float:
        """The median time of a query, in milliseconds."""
        return percentile(self.run.milliseconds, 0.50)

    @property
    def p95(self) -> float:
        """The time in milliseconds that one query in twenty exceeds."""
        return percentile(self.run.milliseconds, 0.95)

    @property
    def degraded(self) -> int:
        """How many queries were answered without a lane."""
        return sum(bool(answer.degraded) for answer in self.run.asked)


@dataclass(frozen=True, slots=True)
class Ablation:
    """All presets over all golden sets, set by set, in the order of the presets."""

    measure: str
    settings: Settings
    code: str
    rows: tuple[Measured, ...]

    @property
    def by_set(self) -> dict[str, list[Measured]]:
        """The rows of each golden set, by its name."""
        found: dict[str, list[Measured]] = {}
        for row in self.rows:
            found.setdefault(row.run.golden.name, []).append(row)
        return found


def ablate(
    sets: Sequence[tuple[Path, GoldenSet]],
    presets: Sequence[Preset],
    settings: Settings,
    folder: Path,
    *,
    measure: str = "ndcg@10",
    fresh: bool = False,
    progress: Progress = lambda text, done, total: None,
) -> Ablation:
    """Run every preset over every set and compare each with the one that it follows.

    Indexes and runs are kept in `folder`; `fresh` runs everything anew all the same.
    """
    chosen = known_measure(measure).name
    _require_answers(sets)
    # The code is named before it runs: whoever edits it meanwhile edits what runs next time.
    code = ranking_code()
    rows: list[Measured] = []
    total = len(sets) * len(presets)
    for source, golden in sets:
        done: dict[str, Run] = {}
        for preset in presets:
            progress(f"{golden.name}: {preset.name}", len(rows), total)
            run, weight, kept = _measured(source, golden, preset, settings, folder, fresh)
            done[preset.name] = run
            # A step that is only there to be compared with has nothing before it.
            before = done.get(preset.follows or "")
            comparison = compare(before, run, chosen) if before else None
            rows.append(Measured(preset, run, comparison, weight, kept))
    progress("done", total, total)
    return Ablation(chosen, settings, code, tuple(rows))


def _measured(
    source: Path, golden: GoldenSet, preset: Preset, settings: Settings, folder: Path, fresh: bool
) -> tuple[Run, Weight, bool]:
    changed = preset.applied(settings)
    with bench(golden, source, changed, folder) as library:
        place = folder / "runs" / f"{_key(golden, preset, library)}.json"
        held = None if fresh else _kept(place)
        if held is not None:
            return replace(held, name=preset.name), _weight(library), True
        run = run_golden(golden, library, name=preset.name, mode=preset.mode)
        # A lane that failed today may work tomorrow; one that is switched off stays off.
        if changed.embedding.embedder == "none" or not any(answer.degraded for answer in run.asked):
            place.parent.mkdir(parents=True, exist_ok=True)
            save_run(run, place)
        return run, _weight(library), False


def _kept(place: Path) -> Run | None:
    try:
        return load_run(place) if place.exists() else None
    except BadInput as error:
        # A run can be made again, so a file that went bad is only worth a word.
        log.warning("a kept run is measured again: %s", error)
        return None


def _key(golden: GoldenSet, preset: Preset, library: Library) -> str:
    """A name for everything that a run depends on; presets that come to the same share it."""
    return twolane.digest(
        json.dumps(
            [
                RUN_FORMAT,
                DEPTH,
                preset.mode,
                dict(plain_settings(library.settings)),
                golden_digest(golden),
                library.digest(),
                ranking_code(),
                _own_weights(library),
            ],
            sort_keys=True,
        )
    )


def _own_weights(library: Library) -> str:
    """The user's own weights of the ranking model, which another fit may have changed meanwhile."""
    try:
        return model_path(library.settings).read_text("utf-8")
    except OSError:
        return ""


def _weight(library: Library) -> Weight:
    status = library.status()
    held = status.generation.space.dimensions * status.progress.ready if status.generation else 0
    return Weight(status.stats.bytes, held * _FLOAT_BYTES)


def _require_answers(sets: Sequence[tuple[Path, GoldenSet]]) -> None:
    names = [golden.name for _, golden in sets]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two golden sets are called {name!r}; rename one, or give it once")
    for path, golden in sets:
        if all(query.unanswerable for query in golden.queries):
            raise BadInput(
                f"{path.name} has no answerable query, and rankings can only be compared by those; "
                "leave it out"
            )


# ------------------------------------------------------------------------------- the artefact


def save_ablation(ablation: Ablation, folder: Path, label: str) -> Path:
    """Write every figure, and every ranking that it came from, into a new file of the folder.

    Rankings are numbers into one list of documents, so that a hundred runs fit in a file that
    can be kept; votes and scores are only in the runs themselves.
    """
    presets = {row.preset.name: row.preset for row in ablation.rows}
    content = {
        "measure": ablation.measure,
        "commit": ablation.rows[0].run.commit,
        # The code that was measured, which may have been edited meanwhile.
        "code": ablation.code,
        "settings": dict(plain_settings(ablation.settings)),
        "presets": [_preset(one) for one in presets.values()],
        "sets": [_set(rows, ablation.measure) for rows in ablation.by_set.values()],
    }
    return store_measurement(folder, label, FORMAT, content)


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


def delta(comparison: Comparison | None) -> dict[str, Any] | None:
    """How a run differs from the one that it is compared with."""
    if comparison is None:
        return None
    interval = {name: round(value, 6) for name, value in asdict(comparison.interval).items()}
    counts = {"better": len(comparison.better), "worse": len(comparison.worse)}
    return {**interval, "p": round(comparison.p, 6), **counts}


def _preset(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "reason": preset.reason,
        "changes": dict(preset.changes),
        "mode": preset.mode.value,
        "follows": preset.follows,
    }


def _set(rows: Sequence[Measured], measure: str) -> dict[str, Any]:
    golden = rows[0].run.golden
    paths = sorted(
        {place.path for row in rows for answer in row.run.asked for place in answer.ranking}
    )
    numbers = {path: number for number, path in enumerate(paths)}
    return {
        "name": golden.name,
        "golden": golden_digest(golden),
        "queries": [query.id for query in golden.queries],
        "documents": paths,
        "runs": [_run(row, numbers, measure) for row in rows],
    }


def _run(row: Measured, numbers: Mapping[str, int], measure: str) -> dict[str, Any]:
    return {
        "preset": row.preset.name,
        "created": row.run.created,
        "space": row.run.space,
        "corpus": row.run.corpus,
        "figures": figures(row, measure),
        "delta": delta(row.comparison),
        "degraded": row.degraded,
        "database_bytes": row.weight.database,
        "vector_bytes": row.weight.vectors,
        "ms": row.run.milliseconds,
        "rankings": [[numbers[place.path] for place in answer.ranking] for answer in row.run.asked],
    }


# ------------------------------------------------------------------------------- tables


def cells(rows: Sequence[Measured], measure: str, *, detailed: bool) -> list[list[str]]:
    """The table of one golden set: a head, then a row for each preset.

    A detailed one has all usual measures, and the directions.
    """
    shown = tuple(dict.fromkeys((*MEASURES, measure))) if detailed else (measure,)
    directions = [one.label for one in rows[0].run.table(shown).by_direction] if detailed else []
    head = ["", *shown, *(f"{measure} {direction}" for direction in directions)]
    head += [f"Δ {measure} [95 %]", "better/worse", "p50 ms", "p95 ms", "MB"]
    table = [head]
    for row in rows:
        scores = row.run.table(shown)
        by_direction = {one.label: one.values for one in scores.by_direction}
        place = scores.measures.index(measure)
        table.append(
            [
                row.preset.name,
                *map(share, scores.overall.values if scores.overall else ()),
                *(share(by_direction[direction][place]) for direction in directions),
                *_change(row.comparison),
                milliseconds(row.p50),
                milliseconds(row.p95),
                f"{row.weight.megabytes:.2f}",
            ]
        )
    return table


def remarks(rows: Sequence[Measured]) -> list[str]:
    """What a reader of the table must know about single rows."""
    said = []
    for row in rows:
        reasons = [answer.degraded[0] for answer in row.run.asked if answer.degraded]
        # Without an embedder the dense lane is missing on purpose.
        if reasons and row.run.settings.get("embedding.embedder") != "none":
            said.append(
                f"{row.preset.name}: {len(reasons)} of {len(row.run.asked)} queries were answered "
                f"without a lane ({reasons[0]}); measure again when that is mended"
            )
    return said


def markdown(ablation: Ablation, *, detailed: bool) -> str:
    """All tables as a Markdown text."""
    parts = []
    for name, rows in ablation.by_set.items():
        head, *body = cells(rows, ablation.measure, detailed=detailed)
        table = [head, ["---"] * len(head), *body]
        lines = [f"| {' | '.join(row)} |" for row in table]
        parts += [f"## {name}, {len(rows[0].run.asked)} queries", "", *lines, ""]
    reasons = {row.preset.name: row.preset.reason for row in ablation.rows}
    parts += [COSTS, "", *(f"- `{name}`: {reason}" for name, reason in reasons.items()), ""]
    return "\n".join(parts)


def _change(comparison: Comparison | None) -> list[str]:
    if comparison is None:
        return ["", ""]
    counts = f"{len(comparison.better)}/{len(comparison.worse)}"
    return [change_with_interval(comparison.interval), counts]
