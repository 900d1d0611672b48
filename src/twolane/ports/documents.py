"""The port of documents: what is kept of them, how they change, and what they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Protocol

from twolane.model.answer import Place, Sort
from twolane.model.document import (
    Amendment,
    Batch,
    Boilerplate,
    Chunk,
    Collection,
    Document,
    Kind,
    Rewording,
)
from twolane.model.draft import Receipt
from twolane.model.problem import FileRecord, FileState, Stamp
from twolane.model.scope import EVERYBODY, Scope
from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds of one path: enough to tell that nothing changed.

    `id` is that of its document, None for a file that gave none; `record` is its ledger row: what
    became of a file that gave no document, or one with a remark.
    """

    id: str | None
    stamp: Stamp | None
    content_hash: str | None
    analyzer_version: str = ""
    owner: str | None = None
    hidden: bool = False
    record: FileRecord | None = None


def file_records(known: Mapping[str, Known], owner: str | None = None) -> list[FileRecord]:
    """What became of each file of a collection, by path; hidden documents are not told of.

    An owner is told of the files that gave a document of theirs: others are nobody's.
    """
    return [
        one.record or FileRecord(path, FileState.INDEXED, one.stamp)
        for path, one in sorted(known.items())
        if (one.record is not None and owner is None)
        or (one.id is not None and not one.hidden and owner in (None, one.owner))
    ]


class Part(Enum):
    """What `get` brings beside the title of a document, its place, its dates and its flags."""

    TEXT = "text"
    CHUNKS = "chunks"
    SKETCH = "sketch"


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as the store holds it, with the parts of it that were asked for.

    Without its text, a document has no body, headings, links, aliases, tags, arguments,
    properties, description and summary.
    """

    document: Document
    analyzer_version: str
    chunks: tuple[Chunk, ...] = ()
    sketch: bytes = b""


class Among(StrEnum):
    """Which documents are listed: those that can be found, all but deleted ones, or these."""

    VISIBLE = "visible"
    KEPT = "kept"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Stats:
    """The documents in a scope that can be found, in numbers and names.

    `languages` counts documents; `properties` are the names of all properties.
    `chunks`, and `bytes`, the size of all that is kept, are 0 unless details were asked for.
    """

    documents: int
    languages: Mapping[str, int]
    kinds: frozenset[Kind]
    properties: frozenset[str]
    bytes: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Facets:
    """How many documents have each kind, collection, tag and language, by name.

    A document counts once for each of its tags and languages.
    Tags that differ only in case count together, under the spelling that sorts first.
    """

    kinds: Mapping[str, int]
    collections: Mapping[str, int]
    tags: Mapping[str, int]
    languages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PutCollection:
    """Create the collection, or replace what is said of it; its documents stay."""

    collection: Collection


@dataclass(frozen=True, slots=True)
class RenameCollection:
    """Give a collection another name; the ids of its files' documents begin with the new one.

    The new name must be free, and so must the ids.
    """

    name: str
    new: str


@dataclass(frozen=True, slots=True)
class RemoveCollection:
    """Delete a collection with its documents, its ledger and vectors that served it alone."""

    name: str


@dataclass(frozen=True, slots=True)
class KeepReceipt:
    """Remember what became of a request, and forget all that is older than `since`.

    A key that the owner has used since is a StoreError.
    """

    receipt: Receipt
    since: datetime


@dataclass(frozen=True, slots=True)
class KeepBoilerplate:
    """Keep this boilerplate, and what is embedded for these passages because of it.

    A passage that is another one by now stays as it is.
    """

    boilerplate: Boilerplate
    rewordings: Sequence[Rewording] = field(default=())


Change = (
    Batch
    | Amendment
    | PutCollection
    | RenameCollection
    | RemoveCollection
    | KeepReceipt
    | KeepBoilerplate
)

WHOLE = frozenset({Part.TEXT})


class DocumentStore(Protocol):
    """Keeps documents, their chunks, and what became of the files that they came from."""

    def collections(self, scope: Scope = EVERYBODY) -> Sequence[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs.

        Of the scope only the owner counts.
        """

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds: of documents that are not deleted, and of files."""

    def apply(self, *changes: Change) -> None:
        """Make all changes in their order, or none; what they leave is searchable at the end.

        A document that has not the version that a change expects is a Conflict.

        An upsert replaces the document with the same id, its chunks and its tags; when and how
        often it was used stays unless the upsert says so.
        A delete names a document id that may be absent.
        `records` are ledger rows; one replaces the row with the same path.
        `forgotten` are paths whose ledger rows go.
        An upsert without a record of its own clears the ledger row of its path.
        A vector goes with the last passage that it serves.
        What is encrypted, purged or removed with its collection leaves no trace, not even in
        boilerplate.
        """

    def get(
        self,
        ids: Sequence[str],
        scope: Scope | None = None,
        parts: frozenset[Part] = WHOLE,
    ) -> dict[str, Stored]:
        """The documents with these ids that are in scope, by id, with these parts of them.

        Without a scope hidden ones too, for a writer that may change them.
        Without any part it is cheap for hundreds.
        """

    def list(
        self,
        scope: Scope,
        sort: Sort | None = None,
        *,
        reverse: bool = False,
        after: Place | None = None,
        limit: int | None = None,
        among: Among = Among.VISIBLE,
    ) -> Sequence[Place]:
        """The next `limit` documents in scope in this order, after a place if one is given.

        Dates go from the latest, titles from A to Z, and either the other way with `reverse`.
        Documents without the date come last both ways; ties break by id, and so does everything
        without a `sort`, which is never by relevance.
        """

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""

    def resolve(self, names: Sequence[str], scope: Scope) -> Sequence[str]:
        """Ids of the documents in scope that go by the first of the names that any goes by; sorted.

        A name is an id, else a path, else a URL, else a title, so that a title never shadows an id.
        If no name fits, they are the documents whose path ends in one of them after a `/`, as
        links between notes say it; else those with the first name among their aliases.
        """

    def revision(self) -> str:
        """A name for all documents: another one whenever any of them changes; costs nothing."""

    def stats(self, scope: Scope, *, detail: bool = False) -> Stats:
        """Counts and names over the documents in scope; cheap for every query if nothing changed.

        With `detail` passages are counted, too, and bytes, which takes a look at all of them.
        """

    def receipt(self, owner: str, key: str) -> Receipt | None:
        """What became of the owner's request with this key, if that is still known."""

    def boilerplate(self) -> Boilerplate:
        """The boilerplate as it was last detected; cheap enough for every save."""
