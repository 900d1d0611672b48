"""`twolane eval report` and `twolane eval tables`: runs for people to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    Measures,
    Runs,
    measures_of,
)
from twolane.interfaces.cli.options import AsJson, Quiet, typed
from twolane.interfaces.wire import evaluation as wire
from twolane.model.errors import BadInput


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Stored runs; the first is the baseline.")
    ],
    html: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The HTML file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same figures as Markdown tables.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What it is about.")] = "",
    measures: Measures = DEFAULT_MEASURES,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write one HTML file that shows runs side by side, or the same as Markdown."""
    from twolane.evaluation.files import write_text
    from twolane.evaluation.report import gather, html_report, markdown_report
    from twolane.evaluation.runs import load_run

    if html is None and markdown is None:
        raise BadInput("say where the report goes: -o report.html, --markdown report.md, or both")
    gathered = gather([load_run(path) for path in runs], measures_of(measures), typed(title))
    written = []
    for path, made in ((html, html_report), (markdown, markdown_report)):
        if path is not None:
            write_text(path, made(gathered))
            written.append((path, True))
    if as_json:
        output.say_json(wire.changed_files(written))
    elif not quiet:
        for path, _ in written:
            output.say("written: ", (str(path), output.PLACE))


def tables(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Markdown files with markers.")
    ],
    runs: Runs = DEFAULT_RUNS,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if a table is outdated.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write the tables between markers in Markdown files from stored runs."""
    from twolane.evaluation.files import read_text, write_text
    from twolane.evaluation.report import StoredRuns, refreshed

    stored = StoredRuns(runs)
    # All files are made before any is written: a mistake in the last changes none.
    texts = [(path, read_text(path)) for path in files]
    made = [(path, text, refreshed(text, stored, str(path))) for path, text in texts]
    changed = [(path, text != fresh) for path, text, fresh in made]
    if not check:
        for path, text, fresh in made:
            if text != fresh:
                write_text(path, fresh)
    if as_json:
        output.say_json(wire.changed_files(changed))
    elif not quiet:
        verb = "outdated" if check else "changed"
        for path, differs in changed:
            output.say((str(path), output.PLACE), f"  {verb if differs else 'up to date'}")
    outdated = check and any(differs for _, differs in changed)
    return failures.PROBLEMS if outdated else failures.OK
