"""`twolane tag`: the tags of saved documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.changing import ids_of, tell
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.naming import References
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.cli.options import typed
from twolane.interfaces.wire.documents import TagCounts
from twolane.model.scope import Scope

if TYPE_CHECKING:
    from twolane.library import Library

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
        output.note(
            f"{output.counted(left, 'document')} from files keep the tag: it is written there"
        )
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
