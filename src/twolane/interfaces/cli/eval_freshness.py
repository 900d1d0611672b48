"""`twolane eval freshness`: are the vectors those of the notes as they are now?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import say_grid
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.wire import evaluation as wire

if TYPE_CHECKING:
    import twolane.evaluation.freshness as evaluation

# More documents than this, and the screen shows nothing else; --json names them all.
_MOST = 20


def freshness(
    call: Call,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is stale.")
    ] = False,
) -> int:
    """Show which documents have no vector, or an old one."""
    import twolane.evaluation.freshness as evaluation

    with call.library() as library:
        state = evaluation.freshness(library)
    if call.as_json:
        output.say_json(wire.freshness(state))
    else:
        _show(state, quiet=call.quiet)
    return failures.PROBLEMS if strict and state.stale else failures.OK


def _show(state: evaluation.Freshness, *, quiet: bool) -> None:
    if state.generations and not quiet:
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
            for generation, progress in state.generations
        ]
        say_grid([head, *rows], indent=0)
    if state.degraded:
        output.say((state.degraded, output.BAD))
    _list("no vector: not found by meaning", state.missing)
    _list("only some passages have a vector", state.partial)
    if state.pending or state.failed:
        output.say(
            f"{output.counted(state.pending, 'passage')} pending, {state.failed:,} failed; ",
            "run: twolane embed",
        )
    if not state.stale and not quiet:
        output.say(("every passage has its vector", output.GOOD))


def _list(title: str, ids: Sequence[str]) -> None:
    if not ids:
        return
    output.say((f"{output.counted(len(ids), 'document')}: ", output.BAD), title)
    for id in ids[:_MOST]:
        output.say((id, output.PLACE), indent=2)
    if len(ids) > _MOST:
        output.say(f"and {len(ids) - _MOST:,} more: --json names them all", indent=2)
