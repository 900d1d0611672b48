"""What the inside asks of the outside, in domain words.

A store adapter implements narrow ports: Documents, Lists, Retrieval, Vectors and Upkeep.
An adapter holds no ranking policy: it returns candidates, and its own order only picks the pool.
Every adapter translates its driver's errors into `twolane.errors` at its edge.
Stores are safe to call from several threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from twolane.answers import (
    Candidate,
    Frequencies,
    Match,
    Names,
    Neighbour,
    Place,
    Sketch,
    Sort,
    Traits,
)
from twolane.model import (
    Amendment,
    Batch,
    Chunk,
    Collection,
    Document,
    FileRecord,
    Forms,
    Kind,
    Problem,
    Rewording,
    Stamp,
)
from twolane.scopes import Scope, Word
from twolane.vector_ports import NOTHING, Embedder, Parallel, Reusing, SentenceEmbedder, Vectors

if TYPE_CHECKING:
    from twolane.vector_ports import Matrix, Vector  # noqa: TC004 - only types use these

__all__ = [
    "NOTHING",
    "Documents",
    "Embedder",
    "Entry",
    "Facets",
    "Known",
    "Lists",
    "Matrix",
    "Parallel",
    "Retrieval",
    "Reusing",
    "SentenceEmbedder",
    "Source",
    "Stats",
    "Store",
    "Stored",
    "Upkeep",
    "Vector",
    "Vectors",
]


@dataclass(frozen=True, slots=True)
class Known:
    """What the store already holds of one path: enough to tell that nothing changed."""

    id: str | None
    stamp: Stamp | None
    content_hash: str | None
    recipe: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as the store holds it, and how it was analysed."""

    document: Document
    recipe: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that a source offers, before it is read."""

    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the documents that can be found."""

    documents: int
    chunks: int
    languages: Mapping[str, int]
    bytes: int


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


class Documents(Protocol):
    """Keeps documents, their chunks and the ledger of files."""

    def collections(self) -> list[Collection]:
        """All collections, by name."""

    def add_collection(self, collection: Collection) -> None:
        """Create the collection, or replace its description if the name exists."""

    def rename_collection(self, name: str, new: str) -> None:
        """Give a collection another name; the ids of its files' documents begin with the new one.

        The new name must be free, and so must the ids.
        """

    def remove_collection(self, name: str) -> int:
        """Delete a collection with its documents and its ledger; the number of documents."""

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds: documents, and skipped or failed files."""

    def apply(self, *batches: Batch) -> None:
        """Make all changes of all batches, or none.

        A document that has not its expected version is a Conflict.

        An upsert replaces the document with the same id, its chunks and its tags.
        A delete names a document id that may be absent.
        `records` are ledger rows for files that gave no document (skipped, failed) or gave one
        with a remark (indexed); a record replaces the one with the same path.
        `forgotten` are paths whose ledger rows go.
        An upsert without a record of its own clears the ledger row of its path.
        An upsert that is encrypted takes every vector with it that served the document alone.
        The text is searchable when the call returns.
        """

    def amend(self, amendments: Sequence[Amendment]) -> None:
        """Make all the changes, or none; text, stems and vectors stay as they are.

        A document that has not its expected version, or is not there, is a Conflict.
        """

    def stored(self, ids: Sequence[str]) -> dict[str, Stored]:
        """The documents with these ids, hidden or not, for a writer that may change them."""

    def inventory(self, scope: Scope, *, deleted: bool) -> list[str]:
        """Ids of what the scope names, hidden documents too: those deleted, or the others.

        Sorted; for a writer, never for a lane.
        """

    def document(self, id: str, scope: Scope) -> Document | None:
        """The document, or None if there is none in scope."""

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids that are not hidden, for ids found in scope before."""

    def chunks(self, id: str) -> list[Chunk]:
        """A document's chunks in order."""

    def chunks_of(self, ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """The chunks of several documents, each in order; hidden and absent ones are left out."""

    def resolve(self, reference: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope whose id, path, URL or title is the reference.

        The first of these that matches anything wins, so a title never shadows an id; sorted.
        """

    def aliased(self, name: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope that have the name among their aliases, folded; sorted."""

    def recent(self, scope: Scope, *, limit: int) -> list[str]:
        """Ids of the documents in scope, most recently updated first, ties by id."""

    def ledger(self, collection: str) -> list[FileRecord]:
        """What became of each file of the collection, by path."""

    def stats(self, scope: Scope) -> Stats:
        """Counts over the documents in scope (archived ones included if the scope asks)."""

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Id and body of every document that is not hidden, read as they are asked for."""

    def forms(self) -> Forms:
        """The forms as they were last learned; cheap enough for every save.

        When a document is purged or encrypted, so are forms that no passage leaves out any more.
        """

    def learn(self, forms: Forms, rewordings: Iterable[Rewording]) -> None:
        """Keep these forms, and what is embedded for these passages because of them, or nothing.

        A passage that is another one by now stays as it is.
        """


class Lists(Protocol):
    """Lists the documents in a scope, in order."""

    def listed(
        self, scope: Scope, sort: Sort, *, reverse: bool, after: Place | None, limit: int
    ) -> list[Place]:
        """The next `limit` documents in scope in this order, after a place if one is given.

        Dates go from the latest, titles from A to Z, and either the other way with `reverse`.
        Documents without the date come last both ways; ties break by id.
        `sort` is never by relevance.
        """

    def traits(self, ids: Sequence[str]) -> Mapping[str, Traits]:
        """What signals look at, by id, for ids found in scope before; cheap for hundreds."""


class Retrieval(Protocol):
    """Finds candidates inside a scope; the limit counts documents and comes after the scope."""

    def lexical(
        self, words: Sequence[Word], scope: Scope, *, every: bool, limit: int
    ) -> list[Candidate]:
        """Documents in scope that hold every word (or any, if not `every`), at most `limit`.

        With no words, documents that meet `scope.clause`.
        """

    def exact(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter, at most `limit`.

        Spellings are compared as in `substrings`, in every field that a person sees.
        Documents whose names hold it come before those whose texts do.
        A text of one or two signs is only found where a word begins, and not in paths.
        """

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names may hold all pieces of one group, at most `limit`.

        Names are spelled as in `names`, one a line, so that a piece which begins or ends
        with a line break stands where a name begins or ends.
        A store may offer some that do not hold them, and none where a piece is shorter than
        three signs.
        """

    def languages(self) -> frozenset[str]:
        """The languages of all documents that are not hidden; cheap enough for every query."""

    def kinds(self) -> frozenset[Kind]:
        """The kinds of all documents that are not hidden; as cheap."""

    def properties(self) -> frozenset[str]:
        """The keys of all properties of documents that are not hidden; as cheap."""

    def vocabulary(self) -> Sequence[str]:
        """All terms that some document holds which is not hidden, sorted; kept between calls."""

    def frequencies(self, words: Sequence[Word]) -> Frequencies:
        """Document frequency of each term of the words, and average field lengths.

        For a prefix word the frequency of a term counts the documents with any stem
        that begins with it.
        """

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float,
        cosine: bool = False,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product with `vector`, best first.

        With `cosine` the lengths of both vectors are divided out first.
        With `detail` each carries its best chunk's vector and so many of its nearest chunks.

        Leaves out similarities below `floor`; ties break by document id, then position.
        """

    def vectors(
        self, generation: int, ids: Sequence[str]
    ) -> Mapping[str, list[tuple[int, Vector]]]:
        """(position, vector) of the chunks that `nearest` would compare, by document id.

        For ids found in scope before; a hidden document and one without vectors are left out.
        """

    def sharing(self, text_hashes: Sequence[str]) -> Mapping[str, int]:
        """How many documents that are not hidden hold each passage, by its text hash.

        A passage that no document holds is left out.
        """

    def sketches(self, ids: Sequence[str]) -> Mapping[str, Sketch]:
        """What tells copies apart, by document id, for ids found in scope before; cheap for many.

        A hidden document is left out, and so is one whose text is too short to have a sketch.
        """

    def revision(self) -> str:
        """A name for all that retrieval can see; another one whenever any of it changes.

        Cheap enough to be asked before every answer that is kept.
        """


class Upkeep(Protocol):
    """Keeps the store itself in order."""

    location: str

    def check(self) -> list[Problem]:
        """Everything that is wrong with the store; empty when it is sound."""

    def repair(self) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done, one problem each."""

    def settle(self, *, beyond: int = 0) -> None:
        """Do what writing left for later; answers are right before it, and faster after it.

        Nothing happens if it was left for no more than `beyond` documents, so that a writer may
        ask after each of many changes.
        """

    def backup(self, target: str) -> None:
        """Write a consistent copy of the live store to `target`."""

    def close(self) -> None:
        """Release the store; calling it twice is harmless."""


class Store(Documents, Lists, Retrieval, Vectors, Upkeep, Protocol):
    """All ports of one store."""


class Source(Protocol):
    """Where documents come from."""

    def entries(self) -> Iterator[Entry | FileRecord]:
        """Files that are offered, and ledger rows for those that are passed over."""

    def read(self, entry: Entry) -> bytes:
        """The file's bytes, read once; raises OSError if it cannot be read."""
