"""`twolane eval ablate`, `calibrate` and `fit`: what settings and weights are worth."""

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
    asked_library,
    bench_folder,
    load_sets,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import GoldenCall, SuiteCall
from twolane.interfaces.cli.output import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.errors import BadInput
from twolane.settings import Settings, model_path
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.evaluation.ablation import Ablation
    from twolane.evaluation.calibration import Calibration, Threshold
    from twolane.evaluation.fits import Asked, Fit
    from twolane.evaluation.fitting import Report
    from twolane.evaluation.suites import SuiteSet


def ablate(
    call: SuiteCall,
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
) -> int:
    """Switch one setting at a time and show what it gains and costs."""
    import twolane.evaluation.ablation as ablation
    from twolane.evaluation.files import write_text
    from twolane.evaluation.presets import load_presets, selected

    settings = call.load(settings_of(given)).settings
    chosen = selected(settings, only or (), load_presets(presets) if presets else None)
    sets = load_sets(golden)
    try:
        with steps_bar(quiet=call.quiet) as steps:

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
    if call.as_json:
        output.say_json(wire.ablation(done, file))
    else:
        _tell(done, detailed=bool(presets), quiet=call.quiet)
        say_stored(file, quiet=call.quiet)
    return failures.OK


def _tell(done: Ablation, *, detailed: bool, quiet: bool) -> None:
    from twolane.evaluation.ablation import COSTS, cells, remarks

    for name, rows in done.by_set.items():
        queries = counted(len(rows[0].run.asked), "query", "queries")
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
        runs = counted(len(done.rows), "run")
        output.say((f"{kept} of {runs} were kept from before.", output.DIM))


_SETTING = "search.min_similarity"

# The longest bar of a histogram.
_WIDTH = 30


def calibrate(
    call: GoldenCall,
    golden: GoldenSets,
    write: Annotated[
        bool, typer.Option("--write", help="Put the threshold into your settings file.")
    ] = False,
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Propose the highest threshold that keeps this share of what is relevant.",
            show_default=False,
        ),
    ] = None,
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
) -> None:
    """Show which similarities are relevant, and propose a threshold."""
    import twolane.evaluation.calibration as calibration

    loaded = call.load(settings_of(given))
    settings = calibration.open_settings(loaded.settings)
    samples = []
    with steps_bar(quiet=call.quiet) as steps:
        for path, one in load_sets(golden):
            with asked_library(
                one, path, settings, steps.step, has_db=call.db is not None
            ) as library:
                steps.step(f"asking {one.name}")
                samples.append(calibration.sample(one, library, steps.show))
        found = calibration.calibrate(samples, keep=keep)
    file = calibration.save_calibration(found, runs)
    change = _write(loaded.file, found.proposed) if write else None
    if call.as_json:
        output.say_json(wire.calibration(found, file, change))
        return
    _tell_calibrate(found, keep)
    say_stored(file, quiet=call.quiet)
    if change is not None:
        _tell_change(loaded.file, change, quiet=call.quiet)
    elif not call.quiet:
        output.say(f"--write puts {_SETTING} into your settings file.")


def _write(file: Path, threshold: Threshold) -> str:
    """Put the threshold into the settings file; what changed in it, or nothing."""
    from twolane.evaluation.files import write_text
    from twolane.evaluation.settings_text import difference, with_setting

    # Line ends are the user's, so they are not translated.
    before = file.read_bytes().decode("utf-8") if file.exists() else ""
    after = with_setting(before, _SETTING, threshold.similarity)
    if after != before:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, after)
    return difference(before, after, file.name)


def _tell_calibrate(found: Calibration, keep: float | None) -> None:
    queries = sum(sample.queries for sample in found.samples)
    output.say(
        (f"{found.space.embedder} ", output.TITLE),
        f"{found.space.model}, {counted(queries, 'query', 'queries')}, "
        f"{sum(len(one.relevant) for one in found.samples):,} relevant and "
        f"{sum(len(one.irrelevant) for one in found.samples):,} irrelevant pairs",
    )
    _tell_distributions(found)
    _tell_thresholds(found, keep)


def _tell_distributions(found: Calibration) -> None:
    most = [max(row[kind] for row in found.histogram) or 1 for kind in (2, 3)]
    rows = [["similarity", "relevant", "", "irrelevant", ""]]
    for low, high, *counts in found.histogram:
        row = [f"{_signed(low)} to {_signed(high)}"]
        for count, largest in zip(counts, most, strict=True):
            row += [f"{count:,}", "█" * round(_WIDTH * count / largest)]
        rows.append(row)
    say_grid(rows)
    output.say()
    head = ["", *(f"{share:.0%}" for share, _, _ in found.quantiles)]
    relevant = ["relevant", *(_signed(row[1]) for row in found.quantiles)]
    irrelevant = ["irrelevant", *(_signed(row[2]) for row in found.quantiles)]
    say_grid([head, relevant, irrelevant])
    output.say()


def _tell_thresholds(found: Calibration, keep: float | None) -> None:
    best = found.proposed
    why = "where Youden's J is largest" if keep is None else f"the highest that keeps {keep:.0%}"
    output.say(
        ("proposed threshold ", output.TITLE),
        (f"{_SETTING} = {best.similarity:g}", output.GOOD),
        f", {why}: it keeps {best.recall:.1%} of the relevant pairs "
        f"and {best.false_positives:.1%} of the irrelevant ones (J = {_signed(best.j)})",
    )
    for threshold in found.careful:
        shares = f"{threshold.recall:.1%} and {threshold.false_positives:.1%}"
        output.say(f"{threshold.similarity:g} keeps {shares}", indent=2)
    output.say()


def _tell_change(file: Path, change: str, *, quiet: bool) -> None:
    if change:
        output.say("changed ", (str(file), output.PLACE))
        output.say_text(change)
    elif not quiet:
        output.say((str(file), output.PLACE), " says so already")
    loaded = Settings.load()
    origin = loaded.origins[_SETTING]
    if origin != str(file):
        output.note(f"another value is in force: {_SETTING} comes from {origin}")


def _signed(value: float) -> str:
    from twolane.evaluation.figures import MINUS, share

    return share(value) if value >= 0 else f"{MINUS}{share(-value)}"


def fit(
    call: GoldenCall,
    suite: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SUITE]", help="A suite of sets to fit all weights on.", show_default=False
        ),
    ] = None,
    golden: Annotated[
        list[Path] | None,
        typer.Option(
            "--golden",
            metavar="FILE",
            help="Judgments of your own: fit the weights in use to them; any number of times.",
        ),
    ] = None,
    adopting: Annotated[
        bool, typer.Option("--adopt", help="Let searches use the new weights.")
    ] = False,
    runs: Runs = DEFAULT_RUNS,
    given: Given = None,
) -> None:
    """Fit the weights of the ranking to judged queries."""
    from twolane.evaluation.fits import adopt, ask_set, fit_again, fit_suite, save_fit
    from twolane.evaluation.suites import load_suite
    from twolane.ranking.model_files import known_model

    if (suite is None) == (not golden):
        raise BadInput("give either a SUITE, or --golden FILE with judgments of your own")
    loaded = call.load(settings_of(given))
    # A query that a busy machine cuts short would teach something wrong.
    settings = loaded.settings.changed(
        search={"query_seconds": 3600, "embed_seconds": 3600},
        rerank={"seconds": 60},
        expand={"seconds": 60},
    )
    with steps_bar(quiet=call.quiet) as steps:
        if suite is not None:
            chosen = load_suite(suite)

            def ask(one: SuiteSet) -> Asked:
                with asked_library(one.golden, one.path, settings, steps.step) as library:
                    steps.step(one.golden.name)
                    return ask_set(
                        one.golden,
                        library,
                        group=one.group,
                        weight=chosen.weight(one),
                        tells_chances=chosen.tells_chances(one),
                        progress=steps.show,
                    )

            found = fit_suite(chosen, known_model(settings), ask)
        else:
            asked = []
            for path, one in load_sets(golden or ()):
                has_db = call.db is not None
                with asked_library(one, path, settings, steps.step, has_db=has_db) as library:
                    steps.step(one.name)
                    asked.append(ask_set(one, library, progress=steps.show))
            found = fit_again(asked, known_model(settings))
    kept = save_fit(found, runs)
    file = model_path(settings) if adopting else None
    if file is not None:
        adopt(found, file)
    if call.as_json:
        output.say_json(wire.fit(found, kept, file))
        return
    for report in found.reports:
        _tell_fit(found, report)
    say_stored(kept, quiet=call.quiet)
    if file is not None and not call.quiet:
        output.say("searches use these weights: ", (str(file), output.PLACE))
    elif not call.quiet:
        output.say("--adopt lets searches use these weights")


def _tell_fit(found: Fit, report: Report) -> None:
    from twolane.evaluation.figures import share

    space = "" if report.basis == "lexical" else f" in {found.space.embedder}"
    output.say((f"{report.basis}{space}", output.TITLE))
    own, foreign = report.weights.own, report.weights.foreign
    rows = [["feature", "own language", "another"]]
    for name in dict.fromkeys((*own.features, *foreign.features)):
        cells = [one.features.get(name) for one in (own, foreign)]
        rows.append([name.value, *("–" if cell is None else f"{cell:.3f}" for cell in cells)])
    rows.append(["intercept", f"{own.intercept:.3f}", f"{foreign.intercept:.3f}"])
    say_grid(rows)
    output.say()
    if not report.held_out:
        return
    rows = [["left out", "queries", "ndcg@10", "ECE"]]
    for one in report.held_out:
        rows.append([one.name, f"{one.queries:,}", share(one.ndcg), share(one.error)])
    groups = list(dict.fromkeys(one.group for one in report.held_out))
    rows += [[f"mean of {group}", "", share(report.mean(group)), ""] for group in groups]
    rows.append(["mean of all sets", "", share(report.mean()), ""])
    say_grid(rows)
    output.say()
