"""A library of synthetic notes with synthetic vectors, written through the store itself.

Each note is one passage, so that a library of 100,000 chunks has 100,000 documents:
the most rows that the full-text index can have for that many vectors.
Notes skip parsing and language detection, which other measurements time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

import corpus
from twolane.embedding.embedders.use import UseEmbedder
from twolane.embedding.sentence_codes import coded
from twolane.ingest.analysis import analyzer_version
from twolane.ingest.chunking import CHUNKER, estimate_tokens
from twolane.model.document import (
    Batch,
    Chunk,
    Collection,
    Document,
    Heading,
    Prepared,
    Stems,
    digest,
    passage_digest,
)
from twolane.model.space import Space
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores
from twolane.text.shingles import sketch
from twolane.text.tokens import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twolane.ports.vectors import Vector

    Vectors = NDArray[np.float32]

T = TypeVar("T")

COLLECTION = "notes"

# Passages about one thing lie close together: so many passages to a thing, so far from its centre.
_PER_CLUSTER = 33
_SPREAD = 0.8

# Notes of our own short set have so many sentences to a passage.
_SENTENCES = 10


def library(folder: Path, count: int, *, joined: int = 1) -> Path:
    """A database with so many notes, passages and vectors; made once per folder.

    Each note is `joined` notes of the corpus in one.
    """
    path = folder / (f"library-{count}.db" if joined == 1 else f"library-{count}x{joined}.db")
    if path.exists():
        return path
    settings = Settings()
    unfinished = path.with_suffix(".unfinished")
    store = open_stores(unfinished)
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    generation = store.vectors.open_generation(space()).number
    made = vectors(count, space().dimensions)
    first = 0
    for batch in batches(prepared(count, settings, joined=joined), settings.index.batch):
        store.documents.apply(Batch(COLLECTION, batch))
        chunks = [one.chunks[0] for one in batch]
        rows = zip(chunks, made[first : first + len(batch)], strict=True)
        store.vectors.add(
            generation,
            [
                NewVector(chunk.content_hash, vector, codes(vector, first + place))
                for place, (chunk, vector) in enumerate(rows)
            ],
        )
        first += len(batch)
    # A library that was indexed a while ago has nothing left to do.
    store.maintenance.settle()
    store.maintenance.close()
    unfinished.rename(path)
    return path


def codes(vector: Vector, seed: int) -> bytes:
    """The codes of so many sentences as a passage has, scattered about its vector."""
    random = np.random.default_rng(seed)
    scattered = vector + random.normal(0, vector.std(), (_SENTENCES, len(vector)))
    scattered /= np.linalg.norm(scattered, axis=1, keepdims=True)
    return coded(scattered.astype(np.float32))


def space() -> Space:
    """The space of the default embedder, so that its queries fit the vectors."""
    return UseEmbedder(chunker=CHUNKER).space


def vectors(count: int, dimensions: int, *, seed: int = corpus.SEED) -> Vectors:
    """Unit vectors in clusters, the same for the same count."""
    import numpy as np

    dice = np.random.default_rng(seed)
    centres = dice.standard_normal((max(1, count // _PER_CLUSTER), dimensions), np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    found = dice.standard_normal((count, dimensions), np.float32)
    found *= _SPREAD / np.sqrt(np.float32(dimensions))
    found += centres[dice.integers(len(centres), size=count)]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def prepared(count: int, settings: Settings, *, joined: int = 1) -> Iterator[Prepared]:
    """Notes of one passage, analysed as far as the store needs."""
    analysed = analyzer_version(settings)
    notes = corpus.notes(count * joined, sections=False)
    for first in notes:
        rest = islice(notes, joined - 1)
        sections = (*first.sections, *(part for note in rest for part in note.sections))
        yield _prepared(replace(first, sections=sections), analysed)


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """The things in lists of this size."""
    left = iter(things)
    while batch := list(islice(left, size)):
        yield batch


def _prepared(note: corpus.Note, analysed: str) -> Prepared:
    body = note.body()
    moment = datetime.fromisoformat(note.created).replace(tzinfo=UTC)
    document = Document(
        id=f"{COLLECTION}/{note.path}",
        collection=COLLECTION,
        title=note.title,
        body=body,
        path=note.path,
        tags=note.tags,
        headings=(Heading(1, note.title, 1, 0),),
        created=moment,
        updated=moment,
        content_hash=digest(body),
    )
    chunk = Chunk(
        position=0,
        start=0,
        end=len(body),
        first_line=1,
        last_line=body.count("\n") + 1,
        headings=(),
        language=note.language,
        tokens=estimate_tokens(body),
        content_hash=passage_digest(f"{note.title}\n\n{body}"),
        text_hash=passage_digest(body),
    )
    stems = Stems(
        title=stream(note.title, note.language),
        tags="".join(stream(tag) for tag in note.tags),
        headings=stream(note.title, note.language),
        body=stream(body, note.language),
    )
    return Prepared(document, (chunk,), stems, analyzer_version=analysed, sketch=sketch(stems.body))
