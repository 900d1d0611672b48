"""`twolane eval ablate`: what each choice is worth, measured by switching it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURE,
    DEFAULT_RUNS,
    Given,
    GoldenSets,
    Measure,
    Runs,
    bench_folder,
    load_sets,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire import evaluation as wire

if TYPE_CHECKING:
    from twolane.evaluation.ablation import Ablation


def ablate(
    golden: GoldenSets,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only variations of this name; k-* for several."),
    ] = None,
    presets: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file of presets instead of the variations."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what is already measured.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the tables as Markdown, too.")
    ] = None,
    measure: Measure = DEFAULT_MEASURE,
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Switch one setting at a time and show what it gains and costs."""
    import twolane.evaluation.ablation as ablation
    from twolane.evaluation.files import write_text
    from twolane.evaluation.presets import load_presets, selected

    settings = load_settings(None, quiet=quiet, verbose=verbose, others=settings_of(given)).settings
    chosen = selected(settings, only or (), load_presets(presets) if presets else None)
    sets = load_sets(golden)
    try:
        with steps_bar(quiet=quiet) as steps:

            def show(text: str, done: int, total: int) -> None:
                steps.step(text)
                steps.show(done, total)

            folder = bench_folder(settings)
            done = ablation.ablate(
                sets, chosen, settings, folder, measure=measure, fresh=fresh, progress=show
            )
    except KeyboardInterrupt:
        output.error("interrupted; what was measured is kept; run the same command to go on")
        return failures.INTERRUPTED
    file = ablation.save_ablation(done, runs, presets.stem if presets else "ablation")
    if markdown is not None:
        write_text(markdown, ablation.markdown(done, detailed=bool(presets)))
    if as_json:
        output.say_json(wire.ablation(done, file))
    else:
        _tell(done, detailed=bool(presets), quiet=quiet)
        say_stored(file, quiet=quiet)
    return failures.OK


def _tell(done: Ablation, *, detailed: bool, quiet: bool) -> None:
    from twolane.evaluation.ablation import COSTS, cells, remarks

    for name, rows in done.by_set.items():
        queries = output.counted(len(rows[0].run.asked), "query", "queries")
        output.say((name, output.TITLE), f"  {queries}")
        say_grid(cells(rows, done.measure, detailed=detailed))
        for remark in remarks(rows):
            output.say((remark, output.BAD), indent=2)
        output.say()
    if quiet:
        return
    compared = "what it follows" if detailed else "the settings as they are"
    output.say((f"Δ: compared with {compared}. {COSTS}", output.DIM))
    if kept := sum(row.kept for row in done.rows):
        runs = output.counted(len(done.rows), "run")
        output.say((f"{kept} of {runs} were kept from before.", output.DIM))
