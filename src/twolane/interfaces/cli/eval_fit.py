"""`twolane eval fit`: the weights of the ranking model, from judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.eval_options import (
    DEFAULT_RUNS,
    AskedDb,
    Given,
    Runs,
    asked_library,
    load_sets,
    say_grid,
    say_stored,
    settings_of,
)
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Quiet, Verbose
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.errors import BadInput
from twolane.settings import model_path

if TYPE_CHECKING:
    from twolane.evaluation.fits import Asked, Fit
    from twolane.evaluation.fitting import Report
    from twolane.evaluation.suites import SuiteSet


def fit(
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
    as_json: AsJson = False,
    db: AskedDb = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Fit the weights of the ranking to judged queries."""
    from twolane.evaluation.fits import adopt, ask_set, fit_again, fit_suite, save_fit
    from twolane.evaluation.suites import load_suite
    from twolane.ranking.model_files import known_model

    if (suite is None) == (not golden):
        raise BadInput("give either a SUITE, or --golden FILE with judgments of your own")
    loaded = load_settings(db, quiet=quiet, verbose=verbose, others=settings_of(given))
    # A query that a busy machine cuts short would teach something wrong.
    settings = loaded.settings.changed(
        search={"query_seconds": 3600, "embed_seconds": 3600},
        rerank={"seconds": 60},
        expand={"seconds": 60},
    )
    with steps_bar(quiet=quiet) as steps:
        if suite is not None:
            chosen = load_suite(suite)

            def ask(one: SuiteSet) -> Asked:
                with asked_library(one.golden, one.path, settings, steps.step) as library:
                    steps.step(one.golden.name)
                    weight = chosen.weight(one)
                    return ask_set(
                        one.golden, library, group=one.group, weight=weight, progress=steps.show
                    )

            found = fit_suite(chosen, known_model(settings), ask)
        else:
            asked = []
            for path, one in load_sets(golden or ()):
                has_db = db is not None
                with asked_library(one, path, settings, steps.step, has_db=has_db) as library:
                    steps.step(one.name)
                    asked.append(ask_set(one, library, progress=steps.show))
            found = fit_again(asked, known_model(settings))
    kept = save_fit(found, runs)
    file = model_path(settings) if adopting else None
    if file is not None:
        adopt(found, file)
    if as_json:
        output.say_json(wire.fit(found, kept, file))
        return
    for report in found.reports:
        _tell(found, report)
    say_stored(kept, quiet=quiet)
    if file is not None and not quiet:
        output.say("searches use these weights: ", (str(file), output.PLACE))
    elif not quiet:
        output.say("--adopt lets searches use these weights")


def _tell(found: Fit, report: Report) -> None:
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
