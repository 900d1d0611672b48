"""`twolane eval suite`: many golden sets in one table, beside an earlier run of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    Given,
    Measures,
    Runs,
    asked_library,
    measures_of,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.answer import Mode

if TYPE_CHECKING:
    from twolane.evaluation.runs import Run
    from twolane.evaluation.suites import SuiteRun, SuiteSet


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
    """Run many golden sets; show each, their mean, and the difference to a stored run."""
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
        _show(run, before, named)
        say_stored(kept, quiet=quiet)


def _show(run: SuiteRun, before: SuiteRun | None, measures: tuple[str, ...]) -> None:
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
