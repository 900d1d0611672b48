"""`twolane eval run`: ask every query of golden sets, and keep what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.answers import Mode
from twolane.interfaces import eval_wire
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    AskedDb,
    Given,
    Measures,
    Runs,
    bench_folder,
    measures_of,
    settings_of,
)
from twolane.interfaces.cli.eval_printing import say_grid
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose, typed
from twolane.interfaces.cli.progress import Steps, steps_bar

if TYPE_CHECKING:
    from twolane.evaluation.golden import GoldenSet
    from twolane.evaluation.summaries import Summary, Verdicts
    from twolane.evaluation.tables import Row
    from twolane.library import Library
    from twolane.settings import Settings

    Stored = list[tuple[Summary, Path]]


def run(
    golden: Annotated[
        list[Path], typer.Argument(metavar="GOLDEN...", help="Golden sets: files or BEIR folders.")
    ],
    mode: Annotated[
        list[Mode] | None,
        typer.Option(help="How to search; several times for several runs.  [default: hybrid]"),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="What to call the run; otherwise as the set.")
    ] = "",
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
    measures: Measures = DEFAULT_MEASURES,
    as_json: AsJson = False,
    db: AskedDb = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Ask every query of golden sets, score the answers, store the runs."""
    from twolane.evaluation.golden import load_golden, validate

    asking = _Asking(
        settings=load_settings(
            db, quiet=quiet, verbose=verbose, others=settings_of(given)
        ).settings,
        has_db=db is not None,
        modes=tuple(dict.fromkeys(mode or [Mode.HYBRID])),
        name=typed(name),
        runs=runs,
        measures=measures_of(measures),
        quiet=quiet,
    )
    # A mistake in the last set is told before the first has taken its time.
    sets = [(path, load_golden(path)) for path in golden]
    for _, one in sets:
        validate(one)
    stored: Stored = []
    for path, one in sets:
        done = asking.ask(one, path, alone=len(sets) == 1)
        stored += done
        if not as_json:
            _show(done, quiet=quiet)
    auroc = _auroc(stored)
    if as_json:
        output.say_json(eval_wire.runs_json(stored, auroc))
    elif auroc is not None:
        _show_auroc(stored, auroc)


@dataclass(frozen=True, slots=True)
class _Asking:
    """How the golden sets of one command are asked."""

    settings: Settings
    has_db: bool
    modes: tuple[Mode, ...]
    name: str
    runs: Path
    measures: tuple[str, ...]
    quiet: bool

    def ask(self, golden: GoldenSet, path: Path, *, alone: bool) -> Stored:
        """One stored run per mode; each is kept as soon as it is done."""
        from twolane.evaluation.running import run_golden
        from twolane.evaluation.runs import store_run
        from twolane.evaluation.summaries import summarise

        label = self.name if alone or not self.name else f"{self.name}-{golden.name}"
        stored = []
        with steps_bar(quiet=self.quiet) as steps, self._library(golden, path, steps) as library:
            for mode in self.modes:
                steps.step(f"{golden.name} {mode}")
                done = run_golden(golden, library, name=self.name, mode=mode, progress=steps.show)
                kept = store_run(done, self.runs, label=label)
                stored.append((summarise(done, self.measures), kept))
        return stored

    def _library(self, golden: GoldenSet, path: Path, steps: Steps) -> Library:
        from twolane.evaluation.golden import validate
        from twolane.evaluation.naming import Names
        from twolane.evaluation.running import bench

        if not self.has_db:
            return bench(golden, path, self.settings, bench_folder(self.settings), steps.step)
        library = open_library(self.settings)
        try:
            validate(golden, Names(library).known())
        except BaseException:
            library.close()
            raise
        return library


def _auroc(stored: Stored) -> dict[str, float | None] | None:
    """By mode, over all sets of the command; None if there was no unanswerable query."""
    from twolane.evaluation.summaries import relevance_auroc

    if not any(summary.verdicts for summary, _ in stored):
        return None
    runs = [summary.run for summary, _ in stored]
    modes = dict.fromkeys(one.mode for one in runs)
    return {mode: relevance_auroc([one for one in runs if one.mode == mode]) for mode in modes}


# ------------------------------------------------------------------------------- what is printed


def _show(stored: Stored, *, quiet: bool) -> None:
    for summary, path in stored:
        _show_summary(summary)
        if not quiet:
            output.say("stored in ", (str(path), output.PLACE), indent=2)
        output.say()


def _show_summary(summary: Summary) -> None:
    from twolane.evaluation.figures import mean_with_interval, milliseconds

    run, table = summary.run, summary.table
    named = "" if run.name == run.golden.name else f"  {run.name}"
    output.say(
        (run.golden.name, output.TITLE),
        f"{named}  {run.mode}  {output.counted(len(run.asked), 'query', 'queries')}",
    )
    if table.queries:
        overall = ["all", str(len(table.queries)), *map(mean_with_interval, summary.intervals)]
        say_grid(
            [
                ["", "n", *table.measures],
                overall,
                *_rows(table.by_direction),
                *_rows(table.by_category),
            ]
        )
    if summary.verdicts:
        output.say(_said(summary.verdicts), indent=2)
    times = f"{milliseconds(summary.p50)} ms p50, {milliseconds(summary.p95)} ms p95"
    output.say((times, output.DIM), indent=2)
    for reason, count in summary.degraded:
        output.say((f"{output.counted(count, 'answer')} without {reason}", output.BAD), indent=2)


def _rows(rows: Sequence[Row]) -> list[list[str]]:
    from twolane.evaluation.figures import share

    return [[row.label, str(row.count), *map(share, row.values)] for row in rows]


def _said(verdicts: Verdicts) -> str:
    asked = verdicts.unanswerable + verdicts.answerable + verdicts.not_judged
    said = f"unanswerable: {verdicts.unanswerable} of {asked} answers say so"
    if verdicts.not_judged:
        said += f", {verdicts.not_judged} not judged"
    return said


def _show_auroc(stored: Stored, auroc: Mapping[str, float | None]) -> None:
    from twolane.evaluation.figures import share
    from twolane.evaluation.summaries import calibrated

    for mode, value in auroc.items():
        if value is not None:
            said = f"AUROC {share(value)}"
        elif calibrated([one.run for one, _ in stored if one.run.mode == mode]):
            said = "no answerable queries to compare with; name a set of the same notes beside it"
        else:
            said = "not calibrated: no result has a relevance"
        output.say(f"answerable or not, {mode}: {said}")
