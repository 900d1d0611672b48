"""`twolane generation`: the sets of vectors, and which of them answers searches."""

from __future__ import annotations

from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.interfaces.cli.progress import duration
from twolane.interfaces.wire import indexing as wire

Number = Annotated[int, typer.Argument(metavar="N", help="The number of the generation.")]


def list_generations(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """Show every set of vectors, and how complete it is."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        found = library.status().generations
    if as_json:
        output.say_json(wire.generations(found))
        return
    for one in found:
        generation, progress = one.generation, one.progress
        left = one.seconds_left
        output.say(
            (f"{generation.number:>3}  {generation.state.value:<8}", output.TITLE),
            f"  {generation.space.embedder:<8}  {progress.ready:,} ready, "
            f"{progress.pending:,} pending, {progress.failed:,} failed",
            f", about {duration(left)} left" if left is not None else "",
        )
        if generation.reason is not None:
            output.say(generation.reason, indent=5)


def activate(number: Number, db: Db = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Let this set of vectors answer searches."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        library.activate_generation(number)
    if not quiet:
        output.say(f"generation {number} answers searches now")


def rollback(db: Db = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Let the set of vectors that served before answer searches again."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        earlier = library.roll_back_generation()
        left = dict(library.generations())[earlier].pending
    if not quiet:
        output.say(f"generation {earlier.number} ({earlier.space.embedder}) answers searches now")
    if left:
        output.say(f"{output.counted(left, 'passage')} pending: twolane embed")


def drop(number: Number, db: Db = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Delete a set of vectors that does not answer searches."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        library.drop_generation(number)
    if not quiet:
        output.say(f"generation {number} is gone")


generation = typer.Typer(
    name="generation",
    help="Sets of vectors: list them, choose which answers, go back, delete.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
generation.command("list")(guarded(list_generations))
for _command in (activate, rollback, drop):
    generation.command()(guarded(_command))
