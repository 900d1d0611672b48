"""Bookmarks as every browser exports them: the Netscape bookmark file.

    <DT><H3>Folder</H3>
    <DL><p>
        <DT><A HREF="https://example.org" ADD_DATE="1700000000" TAGS="a,b">Title</A>
        <DD>Description
    </DL><p>

It is HTML that no browser ever closes properly, so only the order of these tags counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from html.parser import HTMLParser

from twolane.ingest.exchange.rows import BadRow, Row, Rows, Text, id_in, normalised, path_of
from twolane.model.document import Kind
from twolane.model.draft import Draft
from twolane.model.problem import ProblemCode
from twolane.model.values import dataclass


class Folders(StrEnum):
    """What becomes of the folders that bookmarks lie in."""

    TAGS = "tags"
    PATH = "path"
    NONE = "none"


# A tag that is longer than this was never closed; browsers put pictures of 20 kB into theirs.
_LONGEST_TAG = 4_000_000
_PIECE = 65_536

# What is left of an open tag at the end of a file is made out, if it is no longer than this.
_LONGEST_END = 2_048

# Folders that the browser made, not the user.
_OWN_FOLDERS = ("personal_toolbar_folder", "unfiled_bookmarks_folder")

# What a browser looks up when it is clicked on; nothing that could be found again.
_QUERIES = ("place:", "query:")


def read_bookmarks(text: Text, *, collection: str, folders: Folders) -> Rows:
    """The bookmarks of a file, one by one; malformed HTML gives what can be made out."""
    parser = _Parser()
    # An open tag is looked through again with every piece, so pieces grow with what is open.
    while piece := text.read(max(_PIECE, len(parser.rawdata))):
        parser.feed(piece)
        if len(parser.rawdata) > _LONGEST_TAG:
            yield BadRow(parser.place(), "a tag that never ends; what it holds was left out")
            parser.rawdata = ""
        yield from _rows(parser.taken(), collection, folders)
    if parser.rawdata.startswith("<") and len(parser.rawdata) > _LONGEST_END:
        # Closing would look for the end of it from every `<` that is in it.
        yield BadRow(parser.place(), "a tag that never ends; what it holds was left out")
        parser.rawdata = ""
    parser.close()
    parser.finish()
    yield from _rows(parser.taken(), collection, folders)


@dataclass(slots=True)
class _Entry:
    """A bookmark as it stands in the file."""

    place: str
    attributes: dict[str, str]
    folders: tuple[str, ...]
    title: str = ""
    description: str = ""


class _Parser(HTMLParser):
    """Gathers entries; an entry is complete when the next thing begins."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._entries: list[_Entry] = []
        self._entry: _Entry | None = None
        self._stack: list[str | None] = []
        self._named: str | None = None
        self._own = False
        self._into: str = ""
        self._heard: list[str] = []

    def place(self) -> str:
        return f"line {self.getpos()[0]}"

    def taken(self) -> list[_Entry]:
        """The entries that are complete; each is given once."""
        entries, self._entries = self._entries, []
        return entries

    def finish(self) -> None:
        """Complete the last entry."""
        self._hear("")
        self._complete()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        match tag:
            case "a":
                self._hear("title")
                self._complete()
                given = {name: value or "" for name, value in attrs}
                within = tuple(name for name in self._stack if name)
                self._entry = _Entry(self.place(), given, within)
            case "h3":
                self._hear("folder")
                self._complete()
                self._own = any(name in _OWN_FOLDERS for name, _ in attrs)
            case "dd":
                self._hear("description")
            case "dl":
                self._hear("")
                self._complete()
                self._stack.append(self._named)
                self._named = None
            case "dt":
                self._hear("")
                self._complete()

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "h3"):
            self._hear("")
        elif tag == "dl":
            self._hear("")
            self._complete()
            if self._stack:
                self._stack.pop()

    def handle_data(self, data: str) -> None:
        if self._into:
            self._heard.append(data)

    def _hear(self, into: str) -> None:
        """What was heard belongs to where it was said; what comes next goes `into` another."""
        said = " ".join("".join(self._heard).split())
        if self._into == "folder":
            self._named = None if self._own else said
        elif self._entry is not None and self._into == "title":
            self._entry.title = said
        elif self._entry is not None and self._into == "description":
            self._entry.description = said
        self._heard, self._into = [], into

    def _complete(self) -> None:
        if self._entry is not None:
            self._entries.append(self._entry)
            self._entry = None


def _rows(entries: list[_Entry], collection: str, folders: Folders) -> Iterator[Row | BadRow]:
    for entry in entries:
        # A space in an address is what a browser writes as %20.
        url = re.sub(r"\s", "%20", entry.attributes.get("href", "").strip())
        if not url:
            yield BadRow(entry.place, "a bookmark without an address (HREF)")
        elif url.startswith(_QUERIES):
            yield BadRow(entry.place, "a query of the browser, no page", ProblemCode.EXCLUDED)
        else:
            yield _row(entry, url, collection, folders)


def _row(entry: _Entry, url: str, collection: str, folders: Folders) -> Row:
    remarks: list[str] = []
    moments = {
        name: _moment(entry.attributes.get(name, ""), name, remarks)
        for name in ("add_date", "last_modified", "last_visit")
    }
    tags = [tag for tag in entry.attributes.get("tags", "").split(",") if tag.strip()]
    names = [name.replace("/", "-") for name in entry.folders]
    path = None
    if names and folders == Folders.TAGS:
        tags.append("/".join(names))
    elif folders == Folders.PATH:
        path = path_of([*names, entry.title or normalised(url)])
    draft = Draft(
        id=id_in(collection, normalised(url)),
        kind=Kind.BOOKMARK,
        title=entry.title,
        url=url,
        description=entry.description,
        tags=tuple(tags),
        collection=collection,
        path=path,
        created=moments["add_date"],
        updated=moments["last_modified"] or moments["add_date"],
        used=moments["last_visit"],
    )
    return Row(entry.place, draft, tuple(remarks))


# Seconds since 1970 as files have them, in milli- and microseconds, and since 1601 as Chrome has.
_SINCE_1601 = 11_644_473_600


def _moment(text: str, name: str, remarks: list[str]) -> datetime | None:
    if not text.strip("0 "):
        return None
    try:
        number = float(int(text))
        for most, scale in ((1e11, 1.0), (1e14, 1e3), (1e16, 1e6)):
            if abs(number) < most:
                return datetime.fromtimestamp(number / scale, UTC)
        return datetime.fromtimestamp(number / 1e6 - _SINCE_1601, UTC)
    except (ValueError, OverflowError, OSError):
        remarks.append(f"{name.upper()}: {text[:40]!r} is no time; it was left out")
        return None
