"""The words of the domain, as frozen values.

One class per word of the glossary in ARCHITECTURE.md.
Nothing here reads, writes or decides; anything may import it.
"""

from __future__ import annotations

import hashlib
import json
from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

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
    `text_hash` names the passage alone, so that a new title can borrow the old vector.
    `lender` is the text hash of the passage that held this text before it was cut anew;
    its vector is borrowed until there is a better one.
    `forms` are the keys of the lines in it that are not embedded, because many documents hold them.
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
    lender: str | None = None
    forms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Forms:
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


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a source remembers of a file to tell whether it changed without reading it."""

    modified_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored: analysed once, the same for every store.

    `recipe` names how it was analysed; a document with another recipe is analysed again.
    `sketch` tells its copies; a text that is too short has none.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    stems: Stems
    stamp: Stamp | None = None
    recipe: str = ""
    sketch: bytes = b""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the chunks, sorted."""
        return tuple(sorted({chunk.language for chunk in self.chunks if chunk.language}))


class ProblemCode(StrEnum):
    """Why one file or lane did not go as planned."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too-large"
    BINARY = "binary"
    NOT_UTF8 = "not-utf8"
    FRONT_MATTER = "front-matter"
    OUTSIDE_ROOT = "outside-root"
    EXCLUDED = "excluded"
    CLASH = "clash"
    BAD_ROW = "bad-row"
    DUPLICATE = "duplicate"
    MENDED = "mended"
    INTERNAL = "internal"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong with one document, reported and never raised through a run."""

    path: str
    code: ProblemCode
    reason: str


class FileState(StrEnum):
    """What became of one file of a collection."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The ledger's row for a file: what became of it, and why."""

    path: str
    state: FileState
    stamp: Stamp | None = None
    reason: str = ""
    code: ProblemCode | None = None


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
    """

    collection: str
    upserts: Sequence[Prepared] = ()
    deletes: Sequence[str] = ()
    records: Sequence[FileRecord] = ()
    forgotten: Sequence[str] = ()
    purges: Sequence[str] = ()
    expected: Mapping[str, int] = field(default_factory=lambda: EMPTY)


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


@dataclass(frozen=True, slots=True)
class Space:
    """The identity of an embedding space: whatever changes a vector changes the fingerprint."""

    embedder: str
    model: str
    revision: str
    dimensions: int
    chunker: str
    query_prompt: str = ""
    passage_prompt: str = ""
    pooling: str = "model"
    centring: str = "none"
    # The dimensions in which sentences are embedded beside their passages, as `0:512`.
    sentences: str = "none"

    @property
    def fingerprint(self) -> str:
        """A digest of every field, stored beside every vector."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return digest(json.dumps(fields, sort_keys=True))


class GenerationState(StrEnum):
    """What a generation is for.

    Filling: on its way to its first complete state.
    Serving: answers searches.
    Standby: kept complete, and answers while the serving one lacks passages.
    Held: was rolled back or refused by a gate; serves only when it is told to.
    Retired: was replaced; kept as it is for a return.
    """

    FILLING = "filling"
    SERVING = "serving"
    STANDBY = "standby"
    HELD = "held"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of vectors in one space; `rate` is how many passages a second it last got.

    `reason` is why it is held back, where it is.
    """

    number: int
    space: Space
    state: GenerationState
    rate: float | None = None
    reason: str | None = None


def instead(generation: int) -> str:
    """Why a generation is held back when somebody chose another one."""
    return f"generation {generation} was chosen instead"


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that has no vector yet, with what is needed to embed it.

    `tries` is how often it has failed so far; `forms` are not embedded.
    """

    content_hash: str
    text_hash: str
    title: str
    headings: tuple[str, ...]
    text: str
    language: str | None = None
    tries: int = 0
    forms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a generation is: distinct passages by state.

    Of the failed ones, `abandoned` are not tried again until somebody asks for it.
    """

    ready: int
    pending: int
    failed: int
    abandoned: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a passage could not be embedded, how often it was tried, and when it is tried again.

    The time is in seconds since 1970; None: not until somebody asks for it.
    """

    reason: str
    tries: int
    next_try: float | None


def digest(text: str) -> str:
    """A short stable name for a text; collisions are out of reach for any vault."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def passage_digest(text: str) -> str:
    """A name for a passage's text in sixteen letters: a library holds several for each passage."""
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
    return b2a_base64(hashed, newline=False).decode("ascii")
