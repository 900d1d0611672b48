"""`twolane eval xquad`: search across languages, on paragraphs that exist in all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.answers import Mode
from twolane.interfaces import tuning_wire
from twolane.interfaces.cli.eval_options import (
    DEFAULT_RUNS,
    Given,
    Runs,
    bench_folder,
    settings_of,
)
from twolane.interfaces.cli.eval_printing import say_grid
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar

if TYPE_CHECKING:
    from twolane.evaluation.runs import Run
    from twolane.evaluation.summaries import Summary

MEASURES = ("ndcg@10", "recall@10", "mrr")


def xquad(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Holds xquad.en.json and so on.")
    ],
    languages: Annotated[
        str, typer.Option(metavar="L,L…", help="Which languages, with commas between.")
    ] = "en,ru",
    every: Annotated[
        int, typer.Option(metavar="N", min=1, help="Ask every N-th question only.")
    ] = 1,
    mode: Annotated[Mode, typer.Option(help="By words, by meaning, or both.")] = Mode.HYBRID,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures, without any text of XQuAD, too."),
    ] = None,
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Index XQuAD in several languages and ask in each for all of them."""
    from twolane.evaluation.running import bench, run_golden
    from twolane.evaluation.runs import store_run
    from twolane.evaluation.summaries import summarise
    from twolane.evaluation.text_files import write_text
    from twolane.evaluation.xquad import directional_recall, prepare

    settings = load_settings(None, quiet=quiet, verbose=verbose, others=settings_of(given)).settings
    named = [part.strip() for part in languages.split(",") if part.strip()]
    place = bench_folder(settings)
    with steps_bar(quiet=quiet) as steps:
        steps.step("writing notes")
        path, golden = prepare(folder, named, place, every=every)
        with bench(golden, path, settings, place, steps.step) as library:
            steps.step(f"{golden.name} {mode}")
            run = run_golden(golden, library, mode=mode, progress=steps.show)
    file = store_run(run, runs)
    summary, table = summarise(run, MEASURES), directional_recall(run)
    if figures is not None:
        write_text(figures, json.dumps(tuning_wire.xquad_figures(summary, table), indent=1) + "\n")
    if as_json:
        output.say_json(tuning_wire.xquad_json(summary, table, file))
        return
    _tell(run, summary, table)
    if not quiet:
        output.say("stored in ", (str(file), output.PLACE))


def _tell(run: Run, summary: Summary, table: dict[tuple[str, str], dict[int, float]]) -> None:
    from twolane.evaluation.figures import mean_with_interval, milliseconds, share

    output.say(
        (run.golden.name, output.TITLE),
        f"  {run.mode}  {output.counted(len(run.asked), 'query', 'queries')}",
    )
    rows = [["", *summary.table.measures]]
    rows.append(["all", *map(mean_with_interval, summary.intervals)])
    rows += [[row.label, *map(share, row.values)] for row in summary.table.by_direction]
    say_grid(rows)
    output.say()
    ks = list(next(iter(table.values())))
    head = ["", *(f"R@{k}" for k in ks)]
    say_grid([head, *([f"{a}→{b}", *map(share, row.values())] for (a, b), row in table.items())])
    output.say()
    times = f"{milliseconds(summary.p50)} ms p50, {milliseconds(summary.p95)} ms p95"
    output.say((times, output.DIM), indent=2)
    for reason, count in summary.degraded:
        output.say((f"{output.counted(count, 'answer')} without {reason}", output.BAD), indent=2)
