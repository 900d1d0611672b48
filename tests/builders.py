"""Short ways to make the values that tests are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twolane.copies import sketch
from twolane.language import fold
from twolane.model import (
    Batch,
    Chunk,
    Document,
    Prepared,
    Space,
    Stamp,
    Stems,
    digest,
    passage_digest,
)
from twolane.scopes import Phrase, Word

if TYPE_CHECKING:
    from twolane.ports import Store, Vector

COLLECTION = "notes"
DIMENSIONS = 4


def prepared(
    id: str,
    body: str = "",
    *,
    languages: Sequence[str] = ("en",),
    stamp: Stamp | None = None,
    recipe: str = "",
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
    return Prepared(document, chunks, stems, stamp, recipe, sketch(stems.body))


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


def put(store: Store, *documents: Prepared) -> None:
    """Store the documents in the collection of the first one."""
    collection = documents[0].document.collection
    store.apply(Batch(collection, upserts=documents))


def space(model: str = "toy", *, dimensions: int = DIMENSIONS) -> Space:
    """A space of few dimensions."""
    return Space("hashing", model, "1", dimensions, "paragraphs")


def unit(*values: float) -> Vector:
    """The direction of these values as a unit vector of float32."""
    given = np.array(values, dtype=np.float64)
    return (given / np.linalg.norm(given)).astype(np.float32)


def embed(store: Store, generation: int, given: Prepared, *vectors: Vector) -> None:
    """Store one vector for each of the document's chunks."""
    rows = zip(given.chunks, vectors, strict=True)
    store.add_vectors(
        generation, [(chunk.content_hash, chunk.text_hash, vector) for chunk, vector in rows]
    )


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
