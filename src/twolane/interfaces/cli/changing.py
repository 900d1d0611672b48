"""What becomes of documents: `twolane delete`, `undelete`, `purge`, `archive`, `touch` and more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.naming import reference_to, suggesting
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import TIMES, AsJson, Db, Quiet, Verbose, typed
from twolane.interfaces.wire.documents import deleted_documents, saved_documents
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.scope import Scope

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.draft import Saved

References = Annotated[
    list[str], typer.Argument(metavar="DOC...", help="Ids, paths, URLs, unique titles or aliases.")
]
DeletedIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DOC...]", help="Ids, URLs, unique titles or aliases."),
]


def delete(
    references: References,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Delete saved documents; they can be restored until they are purged."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        saved = library.delete(ids_of(library, references))
    tell(saved, "deleted", as_json=as_json, quiet=quiet)


def undelete(
    references: DeletedIds = None,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Bring deleted documents back; without any, list those that can be."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        if not references:
            _list_deleted(library, as_json=as_json)
            return
        saved = library.restore(_deleted_ids(library, references))
    tell(saved, "brought back", as_json=as_json, quiet=quiet)


def purge(
    references: DeletedIds = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything that is deleted and not restored.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Remove deleted documents for good, with their texts and vectors."""
    if bool(references) == everything:
        raise BadInput("name the deleted documents to purge, or use --all")
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        gone = [one.id for one in library.deleted(scope=_NAMED)]
        ids = gone if everything else _deleted_ids(library, references or ())
        saved = library.purge(ids)
    tell(saved, "purged", as_json=as_json, quiet=quiet)


def archive(
    references: References,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Put saved documents aside: a search finds them only with --archived."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        saved = library.archive(ids_of(library, references))
    tell(saved, "archived", as_json=as_json, quiet=quiet)


def unarchive(
    references: References,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Take documents back from the archive."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        saved = library.unarchive(ids_of(library, references))
    tell(saved, "taken back", as_json=as_json, quiet=quiet)


def touch(
    references: References,
    at: Annotated[
        datetime | None,
        typer.Option("--at", metavar="TIME", help="When, if not now; UTC.", formats=TIMES),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Count a use of documents, files' too: when they were last used, and how often."""
    moment = None if at is None else at.replace(tzinfo=UTC)
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        saved = library.touch(ids_of(library, references), at=moment)
    tell(saved, "touched", as_json=as_json, quiet=quiet)


# Who names a document means it, archived or not.
_NAMED = Scope(archived=True)


def ids_of(library: Library, references: Sequence[str]) -> list[str]:
    """The ids of the documents that the references name."""
    with suggesting(library, _NAMED):
        return [library.document(reference_to(library, one), scope=_NAMED).id for one in references]


def tell(saved: Sequence[Saved], what: str, *, as_json: bool, quiet: bool) -> None:
    """Say what became of the documents."""
    if as_json:
        output.say_json(saved_documents(saved))
    elif not quiet:
        changed = sum(one.changed for one in saved)
        output.say(f"{output.counted(changed, 'document')} {what}")


def _deleted_ids(library: Library, references: Sequence[str]) -> list[str]:
    """The ids of deleted documents; no list shows them, so their titles are looked up here."""
    gone = library.deleted(scope=_NAMED)
    ids = []
    for reference in map(typed, references):
        named = [one.id for one in gone if reference in (one.id, one.url, one.title)]
        if not named:
            raise NoSuchDocument(reference)
        if len(named) > 1 and reference not in named:
            raise BadInput(f"{reference!r} names several deleted documents: {', '.join(named)}")
        ids.append(reference if reference in named else named[0])
    return ids


def _list_deleted(library: Library, *, as_json: bool) -> None:
    gone = library.deleted(scope=_NAMED)
    if as_json:
        output.say_json(deleted_documents(gone))
        return
    for one in gone:
        output.say((one.id, output.PLACE), f"  {one.title}")
