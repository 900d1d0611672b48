"""`twolane eval calibrate`: what a similarity means in the space in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.eval_options import (
    DEFAULT_RUNS,
    AskedDb,
    Given,
    GoldenSets,
    Runs,
    asked_library,
    load_sets,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import load_settings, settings_file
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.settings import Settings

if TYPE_CHECKING:
    from twolane.evaluation.calibration import Calibration, Threshold

_SETTING = "search.min_similarity"

# The longest bar of a histogram.
_WIDTH = 30


def calibrate(
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
    as_json: AsJson = False,
    db: AskedDb = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show which similarities are relevant, and propose a threshold."""
    import twolane.evaluation.calibration as calibration

    loaded = load_settings(db, quiet=quiet, verbose=verbose, others=settings_of(given))
    settings = calibration.open_settings(loaded.settings)
    samples = []
    with steps_bar(quiet=quiet) as steps:
        for path, one in load_sets(golden):
            with asked_library(one, path, settings, steps.step, has_db=db is not None) as library:
                steps.step(f"asking {one.name}")
                samples.append(calibration.sample(one, library, steps.show))
        found = calibration.calibrate(samples, keep=keep)
    file = calibration.save_calibration(found, runs)
    change = _write(settings_file(loaded), found.proposed) if write else None
    if as_json:
        output.say_json(wire.calibration(found, file, change))
        return
    _tell(found, keep)
    say_stored(file, quiet=quiet)
    if change is not None:
        _tell_change(settings_file(loaded), change, quiet=quiet)
    elif not quiet:
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


def _tell(found: Calibration, keep: float | None) -> None:
    queries = sum(sample.queries for sample in found.samples)
    output.say(
        (f"{found.space.embedder} ", output.TITLE),
        f"{found.space.model}, {output.counted(queries, 'query', 'queries')}, "
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
