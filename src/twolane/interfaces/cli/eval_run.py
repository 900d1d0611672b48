"""`twolane eval run` and `twolane eval suite`: ask golden sets, and keep what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    AskedDb,
    Given,
    Measures,
    Runs,
    asked_library,
    load_sets,
    measures_of,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose, typed
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.answer import Mode
from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.evaluation.metrics import Row
    from twolane.evaluation.runs import Summary

    Stored = list[tuple[Summary, Path]]
    from twolane.evaluation.runs import Run
    from twolane.evaluation.suites import SuiteRun, SuiteSet


def run(
    golden: Annotated[
        list[Path] | None,
        typer.Argument(metavar="GOLDEN...", help="Golden sets: files or BEIR folders."),
    ] = None,
    beir: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="A BEIR folder, with its corpus; any number of times."),
    ] = None,
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
    """Run the queries of golden sets, and store the scores."""
    from twolane.evaluation.runs import run_golden, store_run, summarise

    loaded = load_settings(db, quiet=quiet, verbose=verbose, others=settings_of(given))
    modes, chosen, name = dict.fromkeys(mode or [Mode.HYBRID]), measures_of(measures), typed(name)
    paths = [*(golden or ()), *(beir or ())]
    if not paths:
        raise BadInput("name a golden set to run: a file, or a BEIR folder with --beir")
    stored: Stored = []
    for path, one in load_sets(paths):
        label = name if len(paths) == 1 or not name else f"{name}-{one.name}"
        done: Stored = []
        with (
            steps_bar(quiet=quiet) as steps,
            asked_library(one, path, loaded.settings, steps.step, has_db=db is not None) as library,
        ):
            for lanes in modes:
                steps.step(f"{one.name} {lanes}")
                asked = run_golden(one, library, name=name, mode=lanes, progress=steps.show)
                # Each run is kept as soon as it is done.
                done.append((summarise(asked, chosen), store_run(asked, runs, label=label)))
        stored += done
        for summary, file in () if as_json else done:
            _show(summary)
            say_stored(file, quiet=quiet, indent=2)
            output.say()
    auroc = _auroc(stored)
    if as_json:
        output.say_json(wire.runs_figures(stored, auroc))
    elif auroc is not None:
        _show_auroc(stored, auroc)


def _auroc(stored: Stored) -> dict[str, float | None] | None:
    """By mode, over all sets of the command; None if there was no unanswerable query."""
    from twolane.evaluation.runs import relevance_auroc

    if not any(summary.verdicts for summary, _ in stored):
        return None
    runs = [summary.run for summary, _ in stored]
    modes = dict.fromkeys(one.mode for one in runs)
    return {mode: relevance_auroc([one for one in runs if one.mode == mode]) for mode in modes}


def _show(summary: Summary) -> None:
    from twolane.evaluation.figures import mean_with_interval, milliseconds

    run, table = summary.run, summary.table
    named = "" if run.name == run.golden.name else f"  {run.name}"
    output.say(
        (run.golden.name, output.TITLE),
        f"{named}  {run.mode}  {output.counted(len(run.asked), 'query', 'queries')}",
    )
    if table.queries:
        overall = ["all", str(len(table.queries)), *map(mean_with_interval, summary.intervals)]
        groups = _rows([*table.by_direction, *table.by_category])
        say_grid([["", "n", *table.measures], overall, *groups])
    if (told := summary.verdicts) is not None:
        asked = told.unanswerable + told.answerable + told.not_judged
        rest = f", {told.not_judged} not judged" if told.not_judged else ""
        output.say(f"unanswerable: {told.unanswerable} of {asked} answers say so{rest}", indent=2)
    times = f"{milliseconds(summary.p50)} ms p50, {milliseconds(summary.p95)} ms p95"
    output.say((times, output.DIM), indent=2)
    for reason, count in summary.degraded:
        output.say((f"{output.counted(count, 'answer')} without {reason}", output.BAD), indent=2)


def _rows(rows: Sequence[Row]) -> list[list[str]]:
    from twolane.evaluation.figures import share

    return [[row.label, str(row.count), *map(share, row.values)] for row in rows]


def _show_auroc(stored: Stored, auroc: Mapping[str, float | None]) -> None:
    from twolane.evaluation.figures import share
    from twolane.evaluation.runs import calibrated

    for mode, value in auroc.items():
        if value is not None:
            said = f"AUROC {share(value)}"
        elif calibrated([one.run for one, _ in stored if one.run.mode == mode]):
            said = "no answerable queries to compare with; name a set of the same notes beside it"
        else:
            said = "not calibrated: no result has a relevance"
        output.say(f"answerable or not, {mode}: {said}")


def suite(
    file: Annotated[
        Path, typer.Argument(metavar="SUITE", help="A TOML or JSON file that names golden sets.")
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A stored run of the suite to show the difference to."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this set or group; any number of times."),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="By words, by meaning, or both.")] = Mode.HYBRID,
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
    measures: Measures = DEFAULT_MEASURES,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run many golden sets; compare with a stored run."""
    from twolane.evaluation.files import store_new
    from twolane.evaluation.metrics import measure
    from twolane.evaluation.runs import DEPTH, run_golden
    from twolane.evaluation.suites import load_suite, load_suite_run, run_suite, save_suite_run

    named = measures_of(measures)
    settings = load_settings(None, quiet=quiet, verbose=verbose, others=settings_of(given)).settings
    before = load_suite_run(baseline) if baseline else None
    chosen = load_suite(file).only(only or ())
    depth = max(DEPTH, *(measure(name).cut or 0 for name in named))
    with steps_bar(quiet=quiet) as steps:

        def ask(one: SuiteSet) -> Run:
            with asked_library(one.golden, one.path, settings, steps.step) as library:
                steps.step(f"{one.golden.name} {mode}")
                return run_golden(one.golden, library, mode=mode, depth=depth, progress=steps.show)

        run = run_suite(chosen, ask)
    stem = f"suite-{run.name}-{run.mode}"
    kept = store_new(runs, stem, run.created, lambda path: save_suite_run(run, path))
    if as_json:
        output.say_json(wire.suite(run, before, named, kept))
    else:
        _show_suite(run, before, named)
        say_stored(kept, quiet=quiet)


def _show_suite(run: SuiteRun, before: SuiteRun | None, measures: tuple[str, ...]) -> None:
    from twolane.evaluation.figures import share
    from twolane.evaluation.suites import cells, suite_auroc

    queries = sum(len(one.queries) for one in run.sets)
    output.say(
        (run.name, output.TITLE),
        f"  {run.mode}  {output.counted(len(run.sets), 'set')}, "
        f"{output.counted(queries, 'query', 'queries')}",
    )
    say_grid(cells(run, before, measures))
    for name, value in suite_auroc(run).items():
        output.say(f"answerable or not, {name}: AUROC {share(value)}", indent=2)
