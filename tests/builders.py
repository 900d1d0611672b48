"""Short ways to make the values that tests are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twolane import Library, Settings
from twolane.model.answer import Sort
from twolane.model.document import Batch, Chunk, Document, Prepared, Stems, digest, passage_digest
from twolane.model.problem import FileRecord, Stamp
from twolane.model.scope import ANYWHERE, Phrase, Scope, Word
from twolane.model.space import Space
from twolane.ports.documents import Among, Part, Stats, file_records
from twolane.ports.lexical import Likeness
from twolane.ports.vectors import NewVector
from twolane.text.shingles import sketch
from twolane.text.tokens import fold

if TYPE_CHECKING:
    from twolane.ports import Stores
    from twolane.ports.vectors import Vector

COLLECTION = "notes"
DIMENSIONS = 4


def prepared(
    id: str,
    body: str = "",
    *,
    languages: Sequence[str] = ("en",),
    stamp: Stamp | None = None,
    analyzer_version: str = "",
    **fields: Any,
) -> Prepared:
    """A document ready to be stored; each paragraph is a chunk, in the languages by turns."""
    fields.setdefault("title", "Untitled")
    fields.setdefault("collection", COLLECTION)
    fields.setdefault("path", f"{id}.md")
    fields.setdefault("content_hash", digest(body))
    document = Document(id=id, body=body, **fields)
    chunks = chunks_of(document, languages)
    stems = stems_of(document)
    return Prepared(document, chunks, stems, stamp, analyzer_version, sketch(stems.body))


def chunks_of(document: Document, languages: Sequence[str] = ("en",)) -> tuple[Chunk, ...]:
    """One chunk for each paragraph of the body."""
    chunks = []
    for position, found in enumerate(re.finditer(r"\S(?:.|\n(?!\n))*", document.body)):
        text = found.group()
        first = document.first_line + document.body.count("\n", 0, found.start())
        chunks.append(
            Chunk(
                position=position,
                start=found.start(),
                end=found.end(),
                first_line=first,
                last_line=first + text.count("\n"),
                headings=(),
                language=languages[position % len(languages)] if languages else None,
                tokens=len(text.split()),
                content_hash=passage_digest(f"{document.title}\n\n{text}"),
                text_hash=passage_digest(text),
            )
        )
    return tuple(chunks)


def stems_of(document: Document) -> Stems:
    """The document's streams in a toy language where a final `s` is the only ending."""
    return Stems(
        title=stream(document.title),
        aliases=stream(*document.aliases),
        tags=stream(*document.tags),
        headings=stream(*(heading.text for heading in document.headings)),
        description=stream(document.description, document.summary),
        url=stream(document.url or ""),
        body=stream(document.body),
    )


def stream(*texts: str) -> str:
    """Texts as one stream of stems."""
    return "".join(f" {stem} " for text in texts for stem in stemmed(text))


def stemmed(text: str) -> list[str]:
    """The stems of a text in the toy language."""
    return [found.removesuffix("s") for found in re.findall(r"[^\W_]+", fold(text))]


def word(text: str, *, prefix: bool = False) -> Word:
    """A query word with one term."""
    (stem,) = stemmed(text)
    return Word(text, (stem,), prefix)


def phrase(text: str, *, quoted: bool = False) -> Phrase:
    """The text's words next to each other, to the letter if quoted."""
    words = tuple(Word(stem, (stem,)) for stem in stemmed(text))
    return Phrase(words, text if quoted else None)


def put(store: Stores, *documents: Prepared) -> None:
    """Store the documents in the collection of the first one."""
    collection = documents[0].document.collection
    store.documents.apply(Batch(collection, upserts=documents))


def documents_of(store: Stores, ids: Sequence[str], scope: Scope = ANYWHERE) -> dict[str, Document]:
    """The documents with these ids that are in scope."""
    return {id: one.document for id, one in store.documents.get(ids, scope).items()}


def document_of(store: Stores, id: str, scope: Scope = ANYWHERE) -> Document | None:
    """The document, or None if there is none in scope."""
    return documents_of(store, [id], scope).get(id)


def chunks_in(store: Stores, id: str) -> list[Chunk]:
    """The chunks of a document that can be found."""
    held = store.documents.get([id], ANYWHERE, frozenset({Part.CHUNKS}))
    return list(held[id].chunks) if id in held else []


def recent(store: Stores, scope: Scope, limit: int | None = None) -> list[str]:
    """Ids of the documents in scope, the latest first."""
    return [one.id for one in store.documents.list(scope, Sort.UPDATED, limit=limit)]


def inventory(store: Stores, scope: Scope, *, deleted: bool) -> list[str]:
    """Ids of what the scope names, hidden documents too: those deleted, or the others."""
    among = Among.DELETED if deleted else Among.KEPT
    return [one.id for one in store.documents.list(scope, among=among)]


def ledger(store: Stores, collection: str, scope: Scope = ANYWHERE) -> list[FileRecord]:
    """What became of each file that the scope's owner is told of."""
    return file_records(store.documents.known(collection), scope.owner)


def vocabulary(store: Stores, scope: Scope) -> list[str]:
    """All terms of the owner's documents."""
    return sorted(store.lexical.similar_terms("", scope, Likeness.PREFIX, limit=10**6))


def passages_of(store: Stores, generation: int) -> dict[str, tuple[str | None, Vector]]:
    """Language and vector of each embedded passage by content hash, by document and position."""
    found: dict[str, tuple[str | None, Vector]] = {}
    ids = [one.id for one in store.documents.list(ANYWHERE)]
    held = store.vectors.get(generation, ids)
    for id in ids:
        chunks = {one.position: one for one in chunks_in(store, id)}
        for one in held.get(id, ()):
            chunk = chunks[one.position]
            found.setdefault(chunk.content_hash, (chunk.language, one.vector))
    return found


def names_in(store: Stores, scope: Scope) -> Stats:
    """What all documents of the scope's owner say."""
    return store.documents.stats(scope.all_of_owner)


def space(model: str = "toy", *, dimensions: int = DIMENSIONS) -> Space:
    """A space of few dimensions."""
    return Space("hashing", model, "1", dimensions, "paragraphs")


def unit(*values: float) -> Vector:
    """The direction of these values as a unit vector of float32."""
    given = np.array(values, dtype=np.float64)
    return (given / np.linalg.norm(given)).astype(np.float32)


def embed(store: Stores, generation: int, given: Prepared, *vectors: Vector) -> None:
    """Store one vector for each of the document's chunks."""
    rows = zip(given.chunks, vectors, strict=True)
    store.vectors.add(generation, [NewVector(chunk.content_hash, vector) for chunk, vector in rows])
    store.queue.complete(generation, [chunk.content_hash for chunk in given.chunks])


def open_library(db: Path, embedder: str = "hashing", **settings: Any) -> Library:
    """The library in this file, with an embedder that needs no model unless another is named."""
    embedding = {"embedder": embedder, **settings.pop("embedding", {})}
    return Library.open(settings=Settings(db=db, embedding=embedding, **settings))


def indexed_library(vault: Path, db: Path, embedder: str = "hashing", **settings: Any) -> Library:
    """The library in this file, with the vault indexed and embedded."""
    library = open_library(db, embedder, **settings)
    library.index(vault)
    library.embed()
    return library


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now

    def pass_time(self, seconds: float) -> None:
        """Let the seconds go by."""
        self.now += seconds


def write_notes(root: Path, notes: Mapping[str, str]) -> Path:
    """A folder of notes: path → text."""
    for name, text in notes.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root
