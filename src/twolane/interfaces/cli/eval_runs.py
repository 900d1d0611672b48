"""`twolane eval run`, `suite`, `compare`, `gate`, `report`, `tables`: runs of golden sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import (
    DEFAULT_MEASURE,
    DEFAULT_MEASURES,
    DEFAULT_RUNS,
    Given,
    Measure,
    Measures,
    Runs,
    asked_library,
    load_sets,
    measures_of,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import (
    AsJson,
    GoldenCall,
    Quiet,
    SuiteCall,
    typed,
)
from twolane.interfaces.cli.output import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.answer import Mode
from twolane.model.errors import BadInput
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.evaluation.comparing import Change, Comparison
    from twolane.evaluation.metrics import Row
    from twolane.evaluation.runs import Place, Run, Summary
    from twolane.evaluation.suites import SuiteRun, SuiteSet

    Stored = list[tuple[Summary, Path]]


def run(
    call: GoldenCall,
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
) -> None:
    """Run the queries of golden sets, and store the scores."""
    from twolane.evaluation.runs import run_golden, store_run, summarise

    loaded = call.load(settings_of(given))
    modes, chosen, name = dict.fromkeys(mode or [Mode.HYBRID]), measures_of(measures), typed(name)
    paths = [*(golden or ()), *(beir or ())]
    if not paths:
        raise BadInput("name a golden set to run: a file, or a BEIR folder with --beir")
    stored: Stored = []
    for path, one in load_sets(paths):
        label = name if len(paths) == 1 or not name else f"{name}-{one.name}"
        done: Stored = []
        with (
            steps_bar(quiet=call.quiet) as steps,
            asked_library(
                one, path, loaded.settings, steps.step, has_db=call.db is not None
            ) as library,
        ):
            for lanes in modes:
                steps.step(f"{one.name} {lanes}")
                asked = run_golden(one, library, name=name, mode=lanes, progress=steps.show)
                # Each run is kept as soon as it is done.
                done.append((summarise(asked, chosen), store_run(asked, runs, label=label)))
        stored += done
        for summary, file in () if call.as_json else done:
            _show(summary)
            say_stored(file, quiet=call.quiet, indent=2)
            output.say()
    auroc = _auroc(stored)
    if call.as_json:
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
        f"{named}  {run.mode}  {counted(len(run.asked), 'query', 'queries')}",
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
        output.say((f"{counted(count, 'answer')} without {reason}", output.BAD), indent=2)


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
    call: SuiteCall,
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
) -> None:
    """Run many golden sets; compare with a stored run."""
    from twolane.evaluation.files import store_new
    from twolane.evaluation.metrics import measure
    from twolane.evaluation.runs import DEPTH, run_golden
    from twolane.evaluation.suites import load_suite, load_suite_run, run_suite, save_suite_run

    named = measures_of(measures)
    settings = call.load(settings_of(given)).settings
    before = load_suite_run(baseline) if baseline else None
    chosen = load_suite(file).only(only or ())
    depth = max(DEPTH, *(measure(name).cut or 0 for name in named))
    with steps_bar(quiet=call.quiet) as steps:

        def ask(one: SuiteSet) -> Run:
            with asked_library(one.golden, one.path, settings, steps.step) as library:
                steps.step(f"{one.golden.name} {mode}")
                return run_golden(one.golden, library, mode=mode, depth=depth, progress=steps.show)

        run = run_suite(chosen, ask)
    stem = f"suite-{run.name}-{run.mode}"
    kept = store_new(runs, stem, run.created, lambda path: save_suite_run(run, path))
    if call.as_json:
        output.say_json(wire.suite(run, before, named, kept))
    else:
        _show_suite(run, before, named)
        say_stored(kept, quiet=call.quiet)


def _show_suite(run: SuiteRun, before: SuiteRun | None, measures: tuple[str, ...]) -> None:
    from twolane.evaluation.figures import share
    from twolane.evaluation.suites import cells, suite_auroc

    queries = sum(len(one.queries) for one in run.sets)
    output.say(
        (run.name, output.TITLE),
        f"  {run.mode}  {counted(len(run.sets), 'set')}, {counted(queries, 'query', 'queries')}",
    )
    say_grid(cells(run, before, measures))
    for name, value in suite_auroc(run).items():
        output.say(f"answerable or not, {name}: AUROC {share(value)}", indent=2)


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
    _show_compare(found, old, new)
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


def _show_compare(found: Comparison, before: Run, after: Run) -> None:
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
        output.say(f"and {counted(len(changes) - rows, 'more', 'more')}", indent=7)


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
