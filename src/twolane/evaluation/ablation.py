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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import twolane
from twolane import Library, Settings
from twolane.errors import BadInput
from twolane.evaluation.comparing import Comparison, compare
from twolane.evaluation.fingerprints import golden_digest, ranking_code
from twolane.evaluation.golden import GoldenSet
from twolane.evaluation.presets import Preset
from twolane.evaluation.running import DEPTH, bench, plain_settings, run_golden
from twolane.evaluation.runs import FORMAT, Run, load_run, save_run
from twolane.evaluation.summaries import percentile
from twolane.evaluation.tables import measure as known_measure

log = logging.getLogger("twolane")

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
        return sum(bool(one.degraded) for one in self.run.asked)


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
        if changed.embedder == "none" or not any(one.degraded for one in run.asked):
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
                FORMAT,
                DEPTH,
                preset.mode,
                dict(plain_settings(library.settings)),
                golden_digest(golden),
                library.digest(),
                ranking_code(),
            ],
            sort_keys=True,
        )
    )


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
