"""`twolane backup` and `twolane restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import Db, Quiet, Verbose
from twolane.settings import database_place


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to write.")],
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a verified copy of the database, even while it is in use."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        path = library.backup(target)
        count = library.status().stats.documents
    if not quiet:
        size = path.stat().st_size / 1e6
        output.say(f"{path}  {output.counted(count, 'document')}, {size:,.1f} MB, verified")


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A copy that `backup` wrote.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace also what holds documents that the copy lacks."),
    ] = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Put a copy in the place of the database; the old file is kept beside it."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    from twolane.library import restore_backup

    kept = restore_backup(source, settings, force=force)
    with open_library(settings) as library:
        count = library.status().stats.documents
    if not quiet:
        output.say(f"{database_place(settings)}  {output.counted(count, 'document')} restored")
        if kept is not None:
            output.say(f"the database that was there is now {kept}")
