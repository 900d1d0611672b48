"""`twolane eval ablate`: what each choice is worth, measured by switching it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures, tuning_wire
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURE,
    DEFAULT_RUNS,
    Given,
    Measure,
    Runs,
    bench_folder,
    settings_of,
)
from twolane.interfaces.cli.eval_printing import say_grid
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar

if TYPE_CHECKING:
    from twolane.evaluation.ablation import Ablation


def ablate(
    golden: Annotated[
        list[Path], typer.Argument(metavar="GOLDEN...", help="Golden sets that name their vault.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only variations of this name; k-* for several."),
    ] = None,
    story: Annotated[
        bool,
        typer.Option("--story", help="Steps that build on each other instead of variations."),
    ] = False,
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
    from twolane.evaluation import ablation_tables
    from twolane.evaluation.ablation import ablate as measured
    from twolane.evaluation.ablation_files import save_ablation
    from twolane.evaluation.golden import load_golden, validate
    from twolane.evaluation.presets import selected
    from twolane.evaluation.text_files import write_text

    settings = load_settings(None, quiet=quiet, verbose=verbose, others=settings_of(given)).settings
    presets = selected(settings, only or (), story=story)
    sets = [(path, load_golden(path)) for path in golden]
    for _, one in sets:
        validate(one)
    try:
        with steps_bar(quiet=quiet) as steps:

            def show(text: str, done: int, total: int) -> None:
                steps.step(text)
                steps.show(done, total)

            done = measured(
                sets,
                presets,
                settings,
                bench_folder(settings),
                measure=measure,
                fresh=fresh,
                progress=show,
            )
    except KeyboardInterrupt:
        output.error("interrupted; what was measured is kept; run the same command to go on")
        return failures.INTERRUPTED
    file = save_ablation(done, runs, "story" if story else "ablation")
    if markdown is not None:
        write_text(markdown, ablation_tables.markdown(done, story=story))
    if as_json:
        output.say_json(tuning_wire.ablation_json(done, file))
    else:
        _tell(done, file, story=story, quiet=quiet)
    return failures.OK


def _tell(done: Ablation, file: Path, *, story: bool, quiet: bool) -> None:
    from twolane.evaluation.ablation_tables import COSTS, cells, remarks

    for name, rows in done.by_set.items():
        queries = output.counted(len(rows[0].run.asked), "query", "queries")
        output.say((name, output.TITLE), f"  {queries}")
        say_grid(cells(rows, done.measure, story=story))
        for remark in remarks(rows):
            output.say((remark, output.BAD), indent=2)
        output.say()
    if quiet:
        return
    compared = "the step that it builds on" if story else "the settings as they are"
    output.say((f"Δ: compared with {compared}. {COSTS}", output.DIM))
    kept = sum(row.kept for row in done.rows)
    if kept:
        output.say(
            (
                f"{kept} of {output.counted(len(done.rows), 'run')} were kept from before.",
                output.DIM,
            )
        )
    output.say("stored in ", (str(file), output.PLACE))
