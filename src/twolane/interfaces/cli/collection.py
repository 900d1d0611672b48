"""`twolane collection`: the named sets of documents in one library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import Call, require_utf8, typed
from twolane.interfaces.wire import documents as wire
from twolane.model.document import Kind
from twolane.model.errors import BadInput
from twolane.model.scope import Scope
from twolane.text.plural import counted

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
    call: Call,
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
) -> None:
    """Add a collection: a folder, or a place for imports."""
    if root is not None:
        require_utf8(root.expanduser().resolve())
    with call.library(create=True) as library:
        added = library.add_collection(
            typed(name),
            root,
            kind=kind,
            include=_patterns(include),
            exclude=_patterns(exclude),
            description=typed(description),
        )
    _tell(added, "added", call)
    if added.root and not (call.as_json or call.quiet):
        output.say(f"Read it with: twolane index {added.root}")


def show(call: Call) -> None:
    """List the collections."""
    with call.library() as library:
        collections = library.collections()
        counts = library.facets(scope=Scope(archived=True)).collections
    if call.as_json:
        output.say_json(wire.collections_details(collections, counts))
        return
    for shown in collections:
        output.say((shown.name, output.TITLE), ("  ", ""), (shown.root or "", output.DIM))
        said = [shown.kind.value, counted(counts.get(shown.name, 0), "document")]
        said += [f"include {pattern}" for pattern in shown.include]
        said += [f"exclude {pattern}" for pattern in shown.exclude]
        output.say(", ".join(said), indent=2)
        if shown.description:
            output.say(shown.description, indent=2)


def rename(
    call: Call, name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]
) -> None:
    """Rename a collection."""
    with call.library() as library:
        renamed = library.rename_collection(typed(name), typed(new))
    _tell(renamed, "is the new name", call)


def describe(
    call: Call,
    name: Name,
    description: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What it is, in one sentence.")
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
) -> None:
    """Change the description or the files of a collection."""
    if description is None and include is None and exclude is None:
        raise BadInput("nothing to change; give a sentence, --include or --exclude")
    with call.library() as library:
        described = library.describe_collection(
            typed(name),
            description=None if description is None else typed(description),
            include=None if include is None else _patterns(include),
            exclude=None if exclude is None else _patterns(exclude),
        )
    _tell(described, "is described", call)


def remove(
    call: Call,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do it, even if it holds documents.")] = False,
) -> None:
    """Remove a collection and its documents; files stay."""
    chosen = typed(name)
    with call.library() as library:
        count = library.facets(scope=Scope(archived=True)).collections.get(chosen, 0)
        if count and not yes:
            documents = counted(count, "document")
            raise BadInput(f"{chosen!r} holds {documents}; to delete all of it, add --yes")
        gone = library.remove_collection(chosen)
    if call.as_json:
        output.say_json(wire.RemovedCollection(removed=chosen, documents=gone))
    elif not call.quiet:
        output.say((chosen, output.TITLE), f" is gone, with {counted(gone, 'document')}")


def _patterns(given: Sequence[str] | None) -> tuple[str, ...]:
    # An empty pattern takes back what was set before.
    return tuple(typed(pattern) for pattern in given or () if pattern)


def _tell(changed: Collection, what: str, call: Call) -> None:
    if call.as_json:
        output.say_json(wire.collection_details(changed))
    elif not call.quiet:
        output.say((changed.name, output.TITLE), f" {what}")


collection = group(
    "collection",
    "Add, list, describe, rename and remove collections.",
    {"add": add, "rename": rename, "describe": describe, "remove": remove, "list": show},
)
