"""`twolane embed`: give every passage its vector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.interfaces.cli.progress import passages_bar
from twolane.interfaces.wire import indexing as wire
from twolane.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from twolane.embedding.pipeline.switching import Gate
    from twolane.library import Library
    from twolane.library.embedding import Embedded


def embed(
    backfill: Annotated[
        bool,
        typer.Option(
            "--backfill",
            help="Go on until nothing is pending: wait for other workers and for further tries.",
        ),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try passages that failed again now.")
    ] = False,
    all_spaces: Annotated[
        bool, typer.Option("--all-spaces", help="Also fill the better, slower embedding space.")
    ] = False,
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
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Embed the passages that have no vector yet."""
    others = {"embedding.gate_tolerance": tolerance}
    settings = load_settings(db, quiet=quiet, verbose=verbose, others=others).settings
    try:
        with open_library(settings) as library:
            watched = _gate(library, gate)
            with passages_bar(quiet=quiet) as show:
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
    if as_json:
        output.say_json(wire.embedded(embedded))
    else:
        _tell(embedded, quiet=quiet)
    if embedded.stopped is not None:
        raise EmbedderUnavailable(embedded.stopped)
    return failures.PROBLEMS if embedded.refused else failures.OK


def _gate(library: Library, golden: Path | None) -> Gate | None:
    if golden is None:
        return None
    from twolane.interfaces.gates import golden_gate

    return golden_gate(library, golden, library.settings.embedding.gate_tolerance)


def _tell(embedded: Embedded, *, quiet: bool) -> None:
    if not quiet:
        said = f"{output.counted(embedded.embedded, 'passage')} embedded"
        output.say(f"{said} in {embedded.seconds:.1f} s" if embedded.embedded else said)
    if embedded.failed:
        output.say(
            (f"{output.counted(embedded.failed, 'passage')} could not be embedded", output.BAD),
            ": twolane status --files",
        )
    if embedded.took_over is not None and not quiet:
        output.say(f"generation {embedded.took_over} answers searches now")
    if embedded.refused is not None:
        output.say(("the new vectors do not take over: ", output.BAD), embedded.refused)
