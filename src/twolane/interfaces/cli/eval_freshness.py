"""`twolane eval freshness`: are the vectors those of the notes as they are now?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import say_grid
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.interfaces.wire import evaluation as wire

if TYPE_CHECKING:
    import twolane.evaluation.freshness as evaluation

# More documents than this, and the screen shows nothing else; --json names them all.
_MOST = 20


def freshness(
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is stale.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Show which documents have no vector, or an old one, and which models made the vectors."""
    import twolane.evaluation.freshness as evaluation

    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        found = evaluation.freshness(library)
    if as_json:
        output.say_json(wire.freshness(found))
    else:
        _show(found, quiet=quiet)
    return failures.PROBLEMS if strict and found.stale else failures.OK


def _show(found: evaluation.Freshness, *, quiet: bool) -> None:
    if found.generations and not quiet:
        head = ["generation", "state", "embedder", "model", "dimensions", "ready", "pending"]
        rows = [
            [
                str(generation.number),
                generation.state.value,
                generation.space.embedder,
                generation.space.model,
                str(generation.space.dimensions),
                f"{progress.ready:,}",
                f"{progress.pending + progress.failed:,}",
            ]
            for generation, progress in found.generations
        ]
        say_grid([head, *rows], indent=0)
    if found.degraded:
        output.say((found.degraded, output.BAD))
    _list("no vector: not found by meaning", found.missing)
    _list("only some passages have a vector", found.partial)
    if found.pending or found.failed:
        output.say(
            f"{output.counted(found.pending, 'passage')} pending, {found.failed:,} failed; ",
            "run: twolane embed",
        )
    if not found.stale and not quiet:
        output.say(("every passage has its vector", output.GOOD))


def _list(title: str, ids: Sequence[str]) -> None:
    if not ids:
        return
    output.say((f"{output.counted(len(ids), 'document')}: ", output.BAD), title)
    for id in ids[:_MOST]:
        output.say((id, output.PLACE), indent=2)
    if len(ids) > _MOST:
        output.say(f"and {len(ids) - _MOST:,} more: --json names them all", indent=2)
