"""Documents and chunks: what can be found, and what a store is given to keep."""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from twolane.model.problem import FileRecord, Stamp
from twolane.model.values import dataclass

EMPTY: Mapping[str, Any] = MappingProxyType({})


class Kind(StrEnum):
    """What sort of thing a document is."""

    NOTE = "note"
    BOOKMARK = "bookmark"
    PROMPT = "prompt"


class TitleOrigin(StrEnum):
    """Where a document's title came from; a title taken from the path changes with a rename."""

    PROPERTY = "property"
    HEADING = "heading"
    PATH = "path"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: its level, plain text, line in the file and offset in the body."""

    level: int
    text: str
    line: int
    start: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a document: the target as written, and the words that carry it."""

    target: str
    anchor: str
    wiki: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A thing that can be found.

    `body` is the Markdown source without front matter and comments, NFC, with LF line ends.
    Its first line is line `first_line` of the file, so that passages can be cited by file line.
    """

    id: str
    collection: str
    title: str
    body: str
    kind: Kind = Kind.NOTE
    path: str | None = None
    url: str | None = None
    title_origin: TitleOrigin = TitleOrigin.GIVEN
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    description: str = ""
    summary: str = ""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    arguments: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    first_line: int = 1
    owner: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    used: datetime | None = None
    uses: int = 0
    searchable: bool = True
    archived: bool = False
    deleted: bool = False
    encrypted: bool = False
    content_hash: str = ""
    version: int = 1

    @property
    def hidden(self) -> bool:
        """Whether the document must appear in no lane, no list and no count."""
        return self.deleted or self.encrypted or not self.searchable


@dataclass(frozen=True, slots=True)
class Chunk:
    """An answer-sized piece of a document.

    `start` and `end` are offsets into the body, the lines are lines of the file, both inclusive.
    `content_hash` names the text that is embedded (breadcrumb and passage);
    `text_hash` names the passage alone, whatever the document is called.
    `boilerplate` are the keys of its lines that are not embedded, because many documents hold them.
    """

    position: int
    start: int
    end: int
    first_line: int
    last_line: int
    headings: tuple[str, ...]
    language: str | None
    tokens: int
    content_hash: str
    text_hash: str
    boilerplate: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """The keys of lines that many documents hold, and how many documents there were to tell."""

    keys: frozenset[int] = frozenset()
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Rewording:
    """A passage as it is from now on, if its content hash is still the one `before`."""

    id: str
    before: str
    after: Chunk


@dataclass(frozen=True, slots=True)
class Stems:
    """A document's searchable words, field by field, as streams of stems.

    A stream holds each stem between two spaces (`" run  race "`),
    so that counting a stem is one search for `" run "` that never matches part of a word.
    """

    title: str = ""
    aliases: str = ""
    tags: str = ""
    headings: str = ""
    description: str = ""
    url: str = ""
    body: str = ""


FIELDS: tuple[str, ...] = ("title", "aliases", "tags", "headings", "description", "url", "body")

# Stands between two passages in the body's stream of stems.
PASSAGE_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored: analysed once, the same for every store.

    `analyzer_version` names how it was analysed; a document with another one is analysed again.
    `sketch` tells its near-duplicates; a text that is too short has none.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    stems: Stems
    stamp: Stamp | None = None
    analyzer_version: str = ""
    sketch: bytes = b""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the chunks, sorted."""
        return tuple(sorted({chunk.language for chunk in self.chunks if chunk.language}))


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents from one source."""

    name: str
    root: str | None = None
    kind: Kind = Kind.NOTE
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes to one collection that happen together or not at all.

    `expected` says which version a document must have for that, by id; 0 is one that is not there.
    `purges` are deleted together with every vector that served them alone.
    `moves` tells, by the id of a document that is there or upserted here, which one it was before
    its file moved: that one goes, and its uses, its owner and its place in the archive stay.
    """

    collection: str
    upserts: Sequence[Prepared] = ()
    deletes: Sequence[str] = ()
    records: Sequence[FileRecord] = ()
    forgotten: Sequence[str] = ()
    purges: Sequence[str] = ()
    expected: Mapping[str, int] = field(default_factory=lambda: EMPTY)
    moves: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change to one document that leaves its text alone; None leaves a field as it is.

    `version` is the one that the document must have for the change to happen.
    `used` is the time of one more use; of all of them the latest is kept.
    """

    id: str
    version: int
    archived: bool | None = None
    deleted: bool | None = None
    used: datetime | None = None
    tags: tuple[str, ...] | None = None

    @property
    def counts(self) -> bool:
        """Whether this makes a new version; a look at a document does not."""
        return self.archived is not None or self.deleted is not None or self.tags is not None


def amended(document: Document, change: Amendment) -> Document:
    """The document after the change."""
    return replace(
        document,
        archived=document.archived if change.archived is None else change.archived,
        deleted=document.deleted if change.deleted is None else change.deleted,
        used=max(filter(None, (document.used, change.used)), default=None),
        uses=document.uses + (change.used is not None),
        tags=document.tags if change.tags is None else change.tags,
        version=document.version + change.counts,
    )


def digest(text: str) -> str:
    """A short stable name for a text; collisions are out of reach for any vault."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def passage_digest(text: str) -> str:
    """A name for a passage's text in sixteen letters: a library holds several for each passage."""
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
    return b2a_base64(hashed, newline=False).decode("ascii")
