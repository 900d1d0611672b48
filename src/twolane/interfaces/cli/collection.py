"""`twolane collection`: the named sets of documents in one library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, require_utf8, typed
from twolane.interfaces.wire import documents as wire
from twolane.model.document import Kind
from twolane.model.errors import BadInput
from twolane.model.scope import Scope

if TYPE_CHECKING:
    from twolane.model.document import Collection

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the collection.")]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Files that belong to it: '*.txt'."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Paths to leave out, as in .gitignore."),
]


def add(
    name: Name,
    root: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="The folder that it is read from.")
    ] = None,
    kind: Annotated[
        Kind, typer.Option("--kind", metavar="KIND", help="note, bookmark or prompt.")
    ] = Kind.NOTE,
    include: Include = None,
    exclude: Exclude = None,
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What it is, in one sentence.")
    ] = "",
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Add a collection: a folder with a name and patterns of its own, or a place for imports."""
    if root is not None:
        require_utf8(root.expanduser().resolve())
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings, create=True) as library:
        added = library.add_collection(
            typed(name),
            root,
            kind=kind,
            include=_patterns(include),
            exclude=_patterns(exclude),
            description=typed(description),
        )
    _tell(added, "added", as_json=as_json, quiet=quiet)
    if added.root and not (as_json or quiet):
        output.say(f"Read it with: twolane index {added.root}")


def show(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """List the collections."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        held = library.collections()
        counts = library.facets(scope=Scope(archived=True)).collections
    if as_json:
        output.say_json(wire.collections_details(held, counts))
        return
    for one in held:
        output.say((one.name, output.TITLE), ("  ", ""), (one.root or "", output.DIM))
        said = [one.kind.value, output.counted(counts.get(one.name, 0), "document")]
        said += [f"include {pattern}" for pattern in one.include]
        said += [f"exclude {pattern}" for pattern in one.exclude]
        output.say(", ".join(said), indent=2)
        if one.description:
            output.say(one.description, indent=2)


def rename(
    name: Name,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Give a collection another name; nothing is read or embedded again."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        renamed = library.rename_collection(typed(name), typed(new))
    _tell(renamed, "is the new name", as_json=as_json, quiet=quiet)


def describe(
    name: Name,
    description: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What it is, in one sentence.")
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say what a collection is, for people and agents, or which files belong to it."""
    if description is None and include is None and exclude is None:
        raise BadInput("nothing to change; give a sentence, --include or --exclude")
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        described = library.describe_collection(
            typed(name),
            description=None if description is None else typed(description),
            include=None if include is None else _patterns(include),
            exclude=None if exclude is None else _patterns(exclude),
        )
    _tell(described, "is described", as_json=as_json, quiet=quiet)


def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do it, even if it holds documents.")] = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Delete a collection with its documents from the library; files stay where they are."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    chosen = typed(name)
    with open_library(settings) as library:
        held = library.facets(scope=Scope(archived=True)).collections.get(chosen, 0)
        if held and not yes:
            held_there = output.counted(held, "document")
            raise BadInput(f"{chosen!r} holds {held_there}; to delete all of it, add --yes")
        gone = library.remove_collection(chosen)
    if as_json:
        output.say_json(wire.RemovedCollection(removed=chosen, documents=gone))
    elif not quiet:
        output.say((chosen, output.TITLE), f" is gone, with {output.counted(gone, 'document')}")


def _patterns(given: Sequence[str] | None) -> tuple[str, ...]:
    # An empty pattern takes back what was set before.
    return tuple(typed(one) for one in given or () if one)


def _tell(one: Collection, what: str, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        output.say_json(wire.collection_details(one))
    elif not quiet:
        output.say((one.name, output.TITLE), f" {what}")


collection = typer.Typer(
    name="collection",
    help="Name the sets of documents in a library, and say what they are.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (add, rename, describe, remove):
    collection.command()(guarded(_command))
collection.command("list")(guarded(show))
