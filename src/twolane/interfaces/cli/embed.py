"""`twolane embed` and `twolane generation`: vectors for passages, and which set of them answers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import AllSpaces, Call, PlainCall, open_library
from twolane.interfaces.cli.output import duration, passages_bar
from twolane.interfaces.wire import indexing as wire
from twolane.model.errors import EmbedderUnavailable
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.embedding.pipeline.switching import Gate
    from twolane.library import Library
    from twolane.library.embedding import Embedded

log = logging.getLogger("twolane")


def embed(
    call: Call,
    backfill: Annotated[
        bool,
        typer.Option(
            "--backfill",
            help="Wait for other workers and retries until nothing is pending.",
        ),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try passages that failed again now.")
    ] = False,
    all_spaces: AllSpaces = False,
    gate: Annotated[
        Path | None,
        typer.Option(
            "--gate",
            metavar="GOLDEN",
            help="Let new vectors take over only if this golden set is answered as well as before.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            min=0.0,
            max=1.0,
            help="How much worse the gate still lets through.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Embed the passages that have no vector yet."""
    others = {"embedding.gate_tolerance": tolerance}
    settings = call.load(others).settings
    try:
        with open_library(settings) as library:
            watched = _gate(library, gate)
            with passages_bar(quiet=call.quiet) as show:
                embedded = library.embed(
                    all_spaces=all_spaces,
                    backfill=backfill,
                    retry_failed=retry_failed,
                    gate=watched,
                    progress=show,
                )
    except KeyboardInterrupt:
        output.error("interrupted; what was embedded is kept; run the same command to go on")
        return failures.INTERRUPTED
    if call.as_json:
        output.say_json(wire.embedded(embedded))
    else:
        _tell(embedded, call)
    if embedded.stopped is not None:
        raise EmbedderUnavailable(embedded.stopped)
    return failures.PROBLEMS if embedded.refused else failures.OK


def _gate(library: Library, golden: Path | None) -> Gate | None:
    if golden is None:
        return None
    from twolane.interfaces.gates import golden_gate

    return golden_gate(library, golden, library.settings.embedding.gate_tolerance)


def _tell(embedded: Embedded, call: Call) -> None:
    if not call.quiet:
        output.say(embedded_in_all(embedded, call))
    tell_failed(embedded)
    if embedded.took_over is not None and not call.quiet:
        output.say(f"generation {embedded.took_over} answers searches now")
    if embedded.refused is not None:
        output.say(("the new vectors do not take over: ", output.BAD), embedded.refused)


def embed_now(
    library: Library, call: Call, *, all_spaces: bool = False
) -> tuple[Embedded | None, str | None]:
    """Embed what was just read; None if there is no embedder, and why it stopped, if it did."""
    try:
        with passages_bar(quiet=call.quiet) as show:
            embedded = library.embed(all_spaces=all_spaces, progress=show)
    except EmbedderUnavailable as error:
        log.warning("embedding did not start: %s", error)
        return None, str(error)
    return embedded, embedded.stopped


def embedded_in_all(embedded: Embedded, call: Call) -> str:
    """How many passages got a vector, and how long that and the whole command took."""
    said = f"{counted(embedded.embedded, 'passage')} embedded"
    took = f" in {duration(embedded.seconds)}" if embedded.embedded else ""
    return f"{said}{took}; {duration(call.seconds)} in all"


def tell_failed(embedded: Embedded) -> None:
    """Say how many passages have no vector because the model could not make one."""
    if embedded.failed:
        output.say(
            (f"{counted(embedded.failed, 'passage')} could not be embedded", output.BAD),
            ": twolane status --files",
        )


Number = Annotated[int, typer.Argument(metavar="N", help="The number of the generation.")]


def list_generations(call: Call) -> None:
    """Show every set of vectors, and how complete it is."""
    with call.library() as library:
        generations = library.status().generations
    if call.as_json:
        output.say_json(wire.generations(generations))
        return
    for standing in generations:
        generation, progress = standing.generation, standing.progress
        left = standing.seconds_left
        output.say(
            (f"{generation.number:>3}  {generation.state.value:<8}", output.TITLE),
            f"  {generation.space.embedder:<8}  {progress.ready:,} ready, "
            f"{progress.pending:,} pending, {progress.failed:,} failed",
            f", about {duration(left)} left" if left is not None else "",
        )
        if generation.reason is not None:
            output.say(generation.reason, indent=5)


def activate(call: PlainCall, number: Number) -> None:
    """Let this set of vectors answer searches."""
    with call.library() as library:
        library.activate_generation(number)
    if not call.quiet:
        output.say(f"generation {number} answers searches now")


def rollback(call: PlainCall) -> None:
    """Let the set of vectors that served before answer searches again."""
    with call.library() as library:
        earlier = library.roll_back_generation()
        left = dict(library.generations())[earlier].pending
    if not call.quiet:
        output.say(f"generation {earlier.number} ({earlier.space.embedder}) answers searches now")
    if left:
        output.say(f"{counted(left, 'passage')} pending: twolane embed")


def drop(call: PlainCall, number: Number) -> None:
    """Delete a set of vectors that does not answer searches."""
    with call.library() as library:
        library.drop_generation(number)
    if not call.quiet:
        output.say(f"generation {number} is gone")


generation = group(
    "generation",
    "List, activate, roll back and delete sets of vectors.",
    {"list": list_generations, "activate": activate, "rollback": rollback, "drop": drop},
)
