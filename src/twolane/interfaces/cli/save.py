"""`twolane save`: one bookmark, note or prompt from the command line."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import Call, open_library
from twolane.interfaces.cli.options import require_utf8, typed
from twolane.interfaces.wire.documents import saved_documents
from twolane.model.document import Kind, digest
from twolane.model.draft import SAVED, Draft
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.scope import Scope

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.settings import Settings

# How long a model of this machine may take to load, also where the machine is busy.
_LOADING_SECONDS = 15.0

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def save(
    call: Call,
    source: Annotated[
        str,
        typer.Argument(metavar="URL|FILE|-", help="A URL, a text file, or - for standard input."),
    ],
    title: Annotated[str, typer.Option(metavar="TEXT", help="Its title.")] = "",
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is about.")] = "",
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag to give it.")] = None,
    kind: Annotated[
        Kind | None, typer.Option(metavar="KIND", help="note or prompt, for a text.")
    ] = None,
    collection: Annotated[
        str, typer.Option(metavar="NAME", help="Default: bookmarks for a URL, otherwise saved.")
    ] = "",
    id: Annotated[str, typer.Option(metavar="ID", help="The id to save it under.")] = "",
) -> None:
    """Save a bookmark, or a text as a note or a prompt."""
    draft = _draft(typed(source), kind, typed(collection), typed(id))
    with open_library(_patient(call.load().settings), create=True) as library:
        draft = _added_to(_held(library, draft), draft)
        draft = replace(
            draft,
            title=typed(title) or draft.title,
            description=typed(description) or draft.description,
            tags=(*draft.tags, *map(typed, tag or ())),
        )
        saved = library.save(draft)
        fetched = None
        if library.settings.fetch.pages and draft.url and not draft.body:
            from twolane.interfaces.cli.exchanging import fetch_with_bar

            fetched = fetch_with_bar(library, scope=Scope(documents=(saved.id,)), quiet=call.quiet)
        # All passages are counted for this, so only where it is shown.
        shown = (
            saved.changed
            and not (call.as_json or call.quiet)
            and library.settings.embedding.embedder != "none"
        )
        waiting = library.status().progress.pending if shown else 0
    if call.as_json:
        output.say_json(saved_documents([saved]))
    elif not call.quiet:
        what = "saved" if saved.created else "changed" if saved.changed else "unchanged"
        output.say((saved.id, output.PLACE), f"  {what}")
        if fetched:
            from twolane.interfaces.cli.exchanging import tell_fetched

            tell_fetched(fetched, quiet=call.quiet)
        if waiting:
            passages = output.counted(waiting, "passage")
            output.note(f"{passages} can be found by words only so far; run: twolane embed")


def _patient(settings: Settings) -> Settings:
    """The settings with time to load a model of this machine; it then embeds in milliseconds."""
    set_to = settings.embedding.save_seconds
    if settings.embedding.embedder == "openai" or not set_to:
        return settings
    return settings.changed(embedding={"save_seconds": max(set_to, _LOADING_SECONDS)})


def _draft(source: str, kind: Kind | None, collection: str, id: str) -> Draft:
    """What the words of the command say; ids are those that an import would give."""
    from twolane.ingest.exchange.rows import id_in, normalised

    if _ADDRESS.match(source):
        if kind not in (None, Kind.BOOKMARK):
            raise BadInput(f"an address is saved as a bookmark, not as a {kind}")
        place = collection or "bookmarks"
        named = id or id_in(place, normalised(source))
        return Draft(named, kind=Kind.BOOKMARK, url=source, collection=place)
    if kind == Kind.BOOKMARK:
        raise BadInput(f"{source!r} is no address; write it with https://")
    body, name = _text(source)
    place = collection or SAVED
    return Draft(id or id_in(place, name), kind=kind or Kind.NOTE, body=body, collection=place)


def _text(source: str) -> tuple[str, str]:
    """A text and what it is called; one without a name is called after its content."""
    from twolane.ingest.exchange.files import opened

    if source == "-":
        body = sys.stdin.buffer.read().decode("utf-8", "replace")
        if not body.strip():
            raise BadInput("there is no text on standard input; nothing was saved")
        return body, digest(body)
    path = Path(source).expanduser()
    require_utf8(path)
    if not path.exists():
        raise BadInput(
            f"there is no file {source!r}; write an address with https://, "
            "and give a text on standard input: echo TEXT | twolane save -"
        )
    with opened(path) as file:
        return file.read().decode("utf-8", "replace"), path.name


def _held(library: Library, draft: Draft) -> Draft | None:
    """The document that would be replaced, if the user can see it."""
    try:
        held = library.document(draft.id, scope=Scope(archived=True))
    except NoSuchDocument:
        return None
    return Draft.of(held) if held.id == draft.id else None


def _added_to(held: Draft | None, draft: Draft) -> Draft:
    """The draft with what is held beside it: a second look at a page does not lose its tags."""
    if held is None:
        return draft
    return replace(held, body=draft.body or held.body, url=draft.url or held.url, updated=None)
