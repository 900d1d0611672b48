"""Documents after they were saved: `twolane delete`, `archive`, `touch`, `tag` and more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import (
    NAMED,
    TIMES,
    Call,
    References,
    reference_to,
    suggesting,
    typed,
)
from twolane.interfaces.wire.documents import TagCounts, deleted_documents, saved_documents
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.scope import Scope
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.draft import Saved

DeletedIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DOC...]", help="Ids, URLs, unique titles or aliases."),
]


def delete(call: Call, references: References) -> None:
    """Delete saved documents; `undelete` brings them back."""
    with call.library() as library:
        saved = library.delete(ids_of(library, references))
    tell(saved, "deleted", call)


def undelete(call: Call, references: DeletedIds = None) -> None:
    """Restore deleted documents; without any, list them."""
    with call.library() as library:
        if not references:
            _list_deleted(library, call)
            return
        saved = library.restore(_deleted_ids(library, references))
    tell(saved, "brought back", call)


def purge(
    call: Call,
    references: DeletedIds = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything that is deleted and not restored.")
    ] = False,
) -> None:
    """Remove deleted documents for good."""
    if bool(references) == everything:
        raise BadInput("name the deleted documents to purge, or use --all")
    with call.library() as library:
        gone = [document.id for document in library.deleted(scope=NAMED)]
        ids = gone if everything else _deleted_ids(library, references or ())
        saved = library.purge(ids)
    tell(saved, "purged", call)


def archive(call: Call, references: References) -> None:
    """Hide saved documents from searches without --archived."""
    with call.library() as library:
        saved = library.archive(ids_of(library, references))
    tell(saved, "archived", call)


def unarchive(call: Call, references: References) -> None:
    """Bring archived documents back."""
    with call.library() as library:
        saved = library.unarchive(ids_of(library, references))
    tell(saved, "taken back", call)


def touch(
    call: Call,
    references: References,
    at: Annotated[
        datetime | None,
        typer.Option("--at", metavar="TIME", help="When, if not now; UTC.", formats=TIMES),
    ] = None,
) -> None:
    """Mark documents as used, now or at another time."""
    moment = None if at is None else at.replace(tzinfo=UTC)
    with call.library() as library:
        saved = library.touch(ids_of(library, references), at=moment)
    tell(saved, "touched", call)


def ids_of(library: Library, references: Sequence[str]) -> list[str]:
    """The ids of the documents that the references name."""
    with suggesting(library):
        return [
            library.document(reference_to(library, reference), scope=NAMED).id
            for reference in references
        ]


def tell(saved: Sequence[Saved], what: str, call: Call) -> None:
    """Say what became of the documents."""
    if call.as_json:
        output.say_json(saved_documents(saved))
    elif not call.quiet:
        changed = sum(document.changed for document in saved)
        output.say(f"{counted(changed, 'document')} {what}")


def _deleted_ids(library: Library, references: Sequence[str]) -> list[str]:
    """The ids of deleted documents; no list shows them, so their titles are looked up here."""
    gone = library.deleted(scope=NAMED)
    ids = []
    for reference in map(typed, references):
        matches = [
            document.id
            for document in gone
            if reference in (document.id, document.url, document.title)
        ]
        if not matches:
            raise NoSuchDocument(reference)
        if len(matches) > 1 and reference not in matches:
            raise BadInput(f"{reference!r} names several deleted documents: {', '.join(matches)}")
        ids.append(reference if reference in matches else matches[0])
    return ids


def _list_deleted(library: Library, call: Call) -> None:
    gone = library.deleted(scope=NAMED)
    if call.as_json:
        output.say_json(deleted_documents(gone))
        return
    for document in gone:
        output.say((document.id, output.PLACE), f"  {document.title}")


Tag = Annotated[str, typer.Argument(metavar="TAG", help="A tag, with or without its #.")]

InCollection = Annotated[
    list[str] | None, typer.Option("--collection", metavar="NAME", help="In this collection.")
]


def show(call: Call, collection: InCollection = None) -> None:
    """List the tags, and how many documents have each."""
    wanted = [typed(one) for one in collection or ()]
    with call.library() as library:
        scope = library.scope({"collection": wanted, "archived": "any"})
        tags = library.facets(scope=scope).tags
    if call.as_json:
        output.say_json(TagCounts(tags=dict(sorted(tags.items()))))
        return
    for name, count in sorted(tags.items(), key=lambda pair: (-pair[1], pair[0])):
        output.say((f"{count:>6,}", output.DIM), f"  {name}")


def add(call: Call, tag: Tag, references: References) -> None:
    """Add a tag to documents."""
    with call.library() as library:
        saved = library.add_tags(ids_of(library, references), [typed(tag)])
    tell(saved, "tagged", call)


def remove(call: Call, tag: Tag, references: References) -> None:
    """Remove a tag from documents."""
    with call.library() as library:
        saved = library.remove_tags(ids_of(library, references), [typed(tag)])
    tell(saved, "changed", call)


def rename(
    call: Call, tag: Tag, new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]
) -> None:
    """Rename a tag everywhere, and the tags below it."""
    with call.library() as library:
        old, renamed = typed(tag).lstrip("#"), typed(new).lstrip("#")
        saved = library.rename_tag(old, renamed)
        left = _bearing(library, old)
        if f"{renamed}/".casefold().startswith(f"{old}/".casefold()):
            # The new tag is the old one in other letters, or one below it.
            left -= sum(change.changed for change in saved)
    tell(saved, "changed", call)
    if call.as_json:
        return
    if left:
        output.note(f"{counted(left, 'document')} from files keep the tag: it is written there")
    elif not saved:
        output.note(
            f"no document has the tag {old!r}; `twolane tag list` shows those that there are"
        )


def _bearing(library: Library, tag: str) -> int:
    """How many documents bear the tag or one below it."""
    scope = Scope(tags=(tag,), archived=True)
    return sum(library.facets(scope=scope).collections.values())


tag = group(
    "tag",
    "List, add, remove and rename tags.",
    {"add": add, "remove": remove, "rename": rename, "list": show},
)
