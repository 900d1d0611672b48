"""`twolane eval compare`, `gate`, `report` and `tables`: what stored runs say, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURE,
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    Measure,
    Measures,
    Runs,
    measures_of,
)
from twolane.interfaces.cli.options import AsJson, Quiet, typed
from twolane.interfaces.wire import evaluation as wire
from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.evaluation.comparing import Change, Comparison
    from twolane.evaluation.runs import Place, Run


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The run before the change.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The run after it.")],
    measure: Measure = DEFAULT_MEASURE,
    rows: Annotated[
        int, typer.Option("-n", metavar="N", min=0, help="How many queries each way.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare two runs: by how much, how surely, and where."""
    import twolane.evaluation.comparing as comparing
    from twolane.evaluation.runs import load_run

    old, new = load_run(before), load_run(after)
    found = comparing.compare(old, new, measure)
    differences = comparing.circumstances(old, new)
    if as_json:
        output.say_json(wire.comparison(found, differences, rows))
        return
    _show(found, old, new)
    for what, was, now in differences:
        output.say((f"{what}: ", output.DIM), f"{was} → {now}", indent=2)
    _show_changes("better", found.better, rows, output.GOOD)
    _show_changes("worse", found.worse, rows, output.BAD)


def gate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run that wants to pass.")],
    baseline: Annotated[
        Path, typer.Option("--baseline", metavar="RUN", help="The run that it must not fall below.")
    ],
    measure: Measure = DEFAULT_MEASURE,
    tolerance: Annotated[
        float, typer.Option(metavar="T", min=0.0, help="How much worse is still let through.")
    ] = 0.01,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Exit with 1 if a run is worse than the baseline."""
    import twolane.evaluation.comparing as comparing
    from twolane.evaluation.runs import load_run

    found = comparing.compare(load_run(baseline), load_run(run), measure)
    passed = comparing.passes(found, tolerance)
    if as_json:
        output.say_json(wire.gate_decision(found, tolerance, passed=passed))
    elif not (passed and quiet):
        verdict = ("passed", output.GOOD) if passed else ("regression", output.BAD)
        output.say(verdict, f": {_moved(found)} (tolerance {tolerance:g})")
    return failures.OK if passed else failures.PROBLEMS


def _show(found: Comparison, before: Run, after: Run) -> None:
    from twolane.evaluation.figures import probability

    same = len(before.table((found.measure,)).queries) - len(found.changes)
    output.say((_moved(found), output.TITLE), f"  {probability(found.p)}")
    counts = f"{len(found.better)} better, {len(found.worse)} worse, {same} as before"
    output.say(f"{before.golden.name}: {counts}", indent=2)
    if before.name != after.name:
        output.say(("run: ", output.DIM), f"{before.name} → {after.name}", indent=2)


def _moved(found: Comparison) -> str:
    from twolane.evaluation.figures import change_with_interval, share

    return (
        f"{found.measure} {share(found.before)} → {share(found.after)}  "
        f"Δ {change_with_interval(found.interval)}"
    )


def _show_changes(title: str, changes: Sequence[Change], rows: int, style: str) -> None:
    from twolane.evaluation.figures import change

    if not changes or not rows:
        return
    output.say()
    output.say((title, style))
    for one in changes[:rows]:
        output.say(f"{change(one.delta)}  ", (one.query, output.TITLE), (f"  {one.id}", output.DIM))
        output.say(_first("before", one.ranks_before, one.was), indent=7)
        output.say(_first("after", one.ranks_after, one.now), indent=7)
    if len(changes) > rows:
        output.say(f"and {output.counted(len(changes) - rows, 'more', 'more')}", indent=7)


def _first(when: str, ranks: Sequence[int], first: Place | None) -> str:
    """Where the right answers stood, and who put the first of them there."""
    if first is None:
        return f"{when:<6}  no right answer"
    at = ", ".join(map(str, ranks))
    shares = ", ".join(f"{name} {share:+.2f}" for name, share in first.shares.items())
    return f"{when:<6}  rank {at}  {first.path}  ({shares or 'no features kept'})"


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
    """Write a report that shows runs side by side."""
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
    """Update tables in Markdown files from stored runs."""
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
