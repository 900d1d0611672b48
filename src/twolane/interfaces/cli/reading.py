"""`twolane get` and `twolane outline`: read what a search found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.errors import BadInput, NoSuchDocument
from twolane.interfaces import wire
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, typed
from twolane.model import Document, Heading
from twolane.scopes import Scope

if TYPE_CHECKING:
    from twolane.library import Library

# Who names a document means it, archived or not.
_NAMED = Scope(archived=True)

_LINES = re.compile(r"(.+):([0-9]{1,9})(?:(-)([0-9]{1,9})?)?", re.DOTALL)


def get(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="DOC[:FROM-TO|#HEADING]", help="An id, path, URL or title; lines of the file."
        ),
    ],
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print a document, a few lines of it, or a section."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        part = _part(library, typed(reference))
    if as_json:
        output.say_json(wire.document_json(part.document, part.text, _lines_of(part), part.heading))
    else:
        output.say_text(part.text)


def outline(
    reference: Annotated[
        str, typer.Argument(metavar="DOC", help="An id, path, URL or unique title.")
    ],
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print the headings of a document, each with its line."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        document = library.document(typed(reference), scope=_NAMED)
    if as_json:
        output.say_json(wire.outline_json(document))
        return
    output.say((document.title, output.TITLE))
    width = max((len(str(one.line)) for one in document.headings), default=0)
    top = min((one.level for one in document.headings), default=1)
    for one in document.headings:
        inward = "  " * (one.level - top)
        output.say((f"{one.line:>{width}}", output.DIM), f"  {inward}{one.text}", indent=2)


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a document's body, and the line of the file on which it begins."""

    document: Document
    text: str
    first_line: int
    heading: str | None = None


def _part(library: Library, reference: str) -> _Part:
    """What the reference names; a title or path may hold `:` or `#`, so the whole is tried first.

    After that the longest name that is a document wins.
    """
    try:
        document = library.document(reference, scope=_NAMED)
    except NoSuchDocument:
        ranged = _LINES.fullmatch(reference)
        if ranged and (found := _find(library, ranged[1])):
            return _between(found, ranged)
        for name, heading in _splits(reference):
            if found := _find(library, name):
                return _section(found, heading)
        raise
    return _Part(document, document.body, document.first_line)


def _find(library: Library, name: str) -> Document | None:
    try:
        return library.document(name, scope=_NAMED)
    except NoSuchDocument:
        return None


def _splits(reference: str) -> Iterator[tuple[str, str]]:
    """Name and heading at each `#`, the last one first."""
    at = reference.rfind("#")
    while at > 0:
        yield reference[:at], reference[at + 1 :]
        at = reference.rfind("#", 0, at)


def _between(document: Document, ranged: re.Match[str]) -> _Part:
    lines = document.body.removesuffix("\n").split("\n")
    begin = document.first_line
    end = begin + len(lines) - 1
    first = int(ranged[2])
    last = int(ranged[4]) if ranged[4] else end if ranged[3] else first
    if first > last or first > end or last < begin:
        raise BadInput(f"{ranged[1]!r} has the lines {begin}-{end}; {first}-{last} are not in it")
    # Front matter is not shown, so a range that begins in it begins after it.
    first = max(first, begin)
    text = "\n".join(lines[first - begin : last - begin + 1])
    return _Part(document, f"{text}\n", first)


def _section(document: Document, heading: str) -> _Part:
    sought = _key(heading)
    for place, one in enumerate(document.headings):
        if _key(one.text) == sought:
            text = document.body[one.start : _end_of(document, place)]
            return _Part(document, f"{text.rstrip()}\n", one.line, one.text)
    raise BadInput(f"{document.id} has no heading {heading!r}; {_listed(document.headings)}")


def _end_of(document: Document, place: int) -> int:
    """Where the section of a heading ends: at the next heading that is not below it."""
    level = document.headings[place].level
    following = document.headings[place + 1 :]
    return next((one.start for one in following if one.level <= level), len(document.body))


def _key(heading: str) -> str:
    from twolane.language import fold

    return " ".join(fold(heading).split())


def _listed(headings: tuple[Heading, ...]) -> str:
    if not headings:
        return "it has none"
    return "its headings are\n" + "\n".join(f"  {one.text}" for one in headings)


def _lines_of(part: _Part) -> tuple[int, int] | None:
    if not part.text.strip():
        return None
    return part.first_line, part.first_line + part.text.removesuffix("\n").count("\n")
