"""`twolane db`, `backup` and `restore`: the database itself, its tables, checks and copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.models import TyperPath

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import PlainCall, open_library, require_utf8
from twolane.model.errors import BadInput
from twolane.settings import Settings, database_place
from twolane.text.plural import counted


def show(call: PlainCall) -> int:
    """Show where the database is, and its schema version."""
    settings = call.load().settings
    from twolane.library import schema_of

    found = schema_of(settings)
    if not call.quiet:
        output.say(("database  ", output.DIM), found.location)
        if found.server:
            output.say(("server    ", output.DIM), found.server)
    if found.version == 0:
        output.say(
            ("tables    ", output.DIM), "none yet: twolane index FOLDER, or twolane db upgrade"
        )
        return failures.PROBLEMS
    if found.version < found.known:
        behind = f"version {found.version} of {found.known}: twolane db upgrade"
        output.say(("tables    ", output.DIM), behind)
        return failures.PROBLEMS
    if not call.quiet:
        output.say(("tables    ", output.DIM), f"version {found.version}, up to date")
    return failures.OK


def upgrade(call: PlainCall) -> None:
    """Create the tables, or upgrade them to this version."""
    settings = call.load().settings
    from twolane.library import schema_of

    before = schema_of(settings).version
    with open_library(settings, create=True) as library:
        location = library.location
    now = schema_of(settings).version
    if not call.quiet:
        changed = f"version {before} is now {now}" if before else f"version {now} was made"
        output.say(
            f"{location}  tables: {changed if before != now else f'version {now}, as before'}"
        )


def check(call: PlainCall) -> int:
    """Check the database from end to end."""
    with call.library() as library:
        problems = library.check()
        location = library.location
    output.say_first(
        [(("problem  ", output.BAD), f"{one.path}: {one.reason}") for one in problems],
        "",
        indent=0,
    )
    if problems:
        output.say("mend it with: twolane doctor --fix")
        return failures.PROBLEMS
    if not call.quiet:
        output.say(f"{location} is sound")
    return failures.OK


def copy(
    call: PlainCall,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            click_type=TyperPath(),
            help="Where to: a new file, or an empty database (postgresql://…).",
        ),
    ],
) -> None:
    """Copy everything into another database, and verify it."""
    settings = call.load().settings
    require_utf8(target)
    there = settings.changed(db=target)
    if there.db == settings.db:
        raise BadInput("a database cannot be copied into itself; name another one")
    with (
        open_library(settings) as library,
        _whole(there) as partial,
        open_library(partial, create=True) as other,
    ):
        done = library.copy_to(other)
    if not call.quiet:
        output.say(
            f"{database_place(there)}  {counted(done.documents, 'document')}, "
            f"{counted(done.vectors, 'vector')}, verified"
        )


@contextmanager
def _whole(there: Settings) -> Iterator[Settings]:
    """Settings to write to; a new file gets its name when all of it is there."""
    place = there.db
    if not isinstance(place, Path) or place.exists():
        yield there
        return
    part = place.with_name(f"{place.name}.part")
    # A process that was killed may have left some of it.
    for ending in ("", "-wal", "-shm"):
        part.with_name(part.name + ending).unlink(missing_ok=True)
    yield there.changed(db=part)
    part.replace(place)


class Engine(StrEnum):
    """What can search beside the database."""

    QDRANT = "qdrant"


def reindex(
    call: PlainCall,
    into: Annotated[Engine, typer.Option("--into", help="The engine to fill.")],
    back: Annotated[
        bool, typer.Option("--back", help="Let what was there before the last time answer again.")
    ] = False,
) -> None:
    """Fill the search engine beside the database anew."""
    with call.library() as library:
        done = library.reindex(back=back)
    if not call.quiet:
        what = "the collections before" if done is None else counted(done, "document")
        output.say(f"{into.value}  {what}, serving")


def backup(
    call: PlainCall,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to write.")],
) -> None:
    """Copy the database to a file, even while it is in use."""
    with call.library() as library:
        path = library.backup(target)
        count = library.status().stats.documents
    if not call.quiet:
        size = path.stat().st_size / 1e6
        output.say(f"{path}  {counted(count, 'document')}, {size:,.1f} MB, verified")


def restore(
    call: PlainCall,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A copy that `backup` wrote.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace it even if documents would be lost."),
    ] = False,
) -> None:
    """Replace the database by a backup; the old one is kept."""
    settings = call.load().settings
    from twolane.library import restore_backup

    kept = restore_backup(source, settings, force=force)
    with open_library(settings) as library:
        count = library.status().stats.documents
    if not call.quiet:
        output.say(f"{database_place(settings)}  {counted(count, 'document')} restored")
        if kept is not None:
            output.say(f"the database that was there is now {kept}")


database = group(
    "db",
    "Inspect, upgrade, check, copy and reindex the database.",
    {"status": show, "upgrade": upgrade, "check": check, "copy": copy, "reindex": reindex},
)
