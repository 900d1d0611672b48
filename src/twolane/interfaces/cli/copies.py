"""`twolane backup` and `twolane restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import PlainCall, open_library
from twolane.settings import database_place


def backup(
    call: PlainCall,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to write.")],
) -> None:
    """Write a verified copy of the database, even while it is in use."""
    with call.library() as library:
        path = library.backup(target)
        count = library.status().stats.documents
    if not call.quiet:
        size = path.stat().st_size / 1e6
        output.say(f"{path}  {output.counted(count, 'document')}, {size:,.1f} MB, verified")


def restore(
    call: PlainCall,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A copy that `backup` wrote.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace also what holds documents that the copy lacks."),
    ] = False,
) -> None:
    """Put a copy in the place of the database; the old file is kept beside it."""
    settings = call.load().settings
    from twolane.library import restore_backup

    kept = restore_backup(source, settings, force=force)
    with open_library(settings) as library:
        count = library.status().stats.documents
    if not call.quiet:
        output.say(f"{database_place(settings)}  {output.counted(count, 'document')} restored")
        if kept is not None:
            output.say(f"the database that was there is now {kept}")
