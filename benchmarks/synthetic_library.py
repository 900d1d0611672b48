"""A library of synthetic notes with synthetic vectors, written through the store itself.

Each note is one passage, unless more are asked for, so that a library of 100,000 chunks has
100,000 documents: the most rows that the full-text index can have for that many vectors.
Notes skip parsing and language detection, which other measurements time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice, pairwise
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


def library(folder: Path, count: int, *, joined: int = 1, passages: int = 1) -> Path:
    """A database with so many notes and their vectors; made once per folder.

    Each note is `joined` notes of the corpus in one, cut into so many `passages` of one length.
    """
    name = f"library-{count}" if joined == 1 else f"library-{count}x{joined}"
    path = folder / (f"{name}.db" if passages == 1 else f"{name}of{passages}.db")
    if path.exists():
        return path
    settings = Settings()
    unfinished = path.with_suffix(".unfinished")
    store = open_stores(unfinished)
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    generation = store.vectors.open_generation(space()).number
    made = vectors(count * passages, space().dimensions)
    first = 0
    notes = prepared(count, settings, joined=joined, passages=passages)
    for batch in batches(notes, settings.index.batch):
        store.documents.apply(Batch(COLLECTION, batch))
        chunks = [chunk for one in batch for chunk in one.chunks]
        rows = zip(chunks, made[first : first + len(chunks)], strict=True)
        store.vectors.add(
            generation,
            [
                NewVector(chunk.content_hash, vector, codes(vector, first + place))
                for place, (chunk, vector) in enumerate(rows)
            ],
        )
        first += len(chunks)
    # A library that was indexed a while ago has nothing left to do.
    store.maintenance.settle()
    store.maintenance.close()
    unfinished.rename(path)
    return path


def codes(vector: Vector, seed: int) -> bytes:
    """The codes of so many sentences as a passage has, scattered about its vector."""
    noise = _noise(len(vector))
    scattered = vector + vector.std() * noise[seed % len(noise)]
    scattered /= np.linalg.norm(scattered, axis=1, keepdims=True)
    return coded(scattered.astype(np.float32))


@cache
def _noise(dimensions: int) -> Vectors:
    """Enough of it that no two notes of a batch have the same."""
    return np.random.default_rng(corpus.SEED).standard_normal(
        (500, _SENTENCES, dimensions), np.float32
    )


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


def prepared(
    count: int, settings: Settings, *, joined: int = 1, passages: int = 1
) -> Iterator[Prepared]:
    """Notes of so many passages, analysed as far as the store needs."""
    analysed = analyzer_version(settings)
    notes = corpus.notes(count * joined, sections=False)
    for first in notes:
        rest = islice(notes, joined - 1)
        sections = (*first.sections, *(part for note in rest for part in note.sections))
        yield _prepared(replace(first, sections=sections), analysed, passages)


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """The things in lists of this size."""
    left = iter(things)
    while batch := list(islice(left, size)):
        yield batch


def _prepared(note: corpus.Note, analysed: str, passages: int) -> Prepared:
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
    ends = [len(body) * number // passages for number in range(passages + 1)]
    chunks = tuple(
        Chunk(
            position=position,
            start=start,
            end=end,
            first_line=body.count("\n", 0, start) + 1,
            last_line=body.count("\n", 0, end) + 1,
            headings=(),
            language=note.language,
            tokens=estimate_tokens(body[start:end]),
            content_hash=passage_digest(f"{note.title}\n\n{body[start:end]}"),
            text_hash=passage_digest(body[start:end]),
        )
        for position, (start, end) in enumerate(pairwise(ends))
    )
    stems = Stems(
        title=stream(note.title, note.language),
        tags="".join(stream(tag) for tag in note.tags),
        headings=stream(note.title, note.language),
        body=stream(body, note.language),
    )
    return Prepared(document, chunks, stems, analyzer_version=analysed, sketch=sketch(stems.body))
