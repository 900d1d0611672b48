"""What is said of similar documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from twolane.model.answer import Degradation
from twolane.model.document import Kind


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands: its document's chunk, the headings above it, its lines."""

    position: int
    heading: tuple[str, ...]
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """The two passages that make two documents similar, and how similar the passages are."""

    own: Place
    other: Place
    similarity: float


@dataclass(frozen=True, slots=True)
class Similar:
    """A document that is similar to the one that was asked about, and why.

    `score` orders the answer: similarity of documents and passages, or of words without vectors.
    `similarity` is that of the two documents as wholes, None without vectors.
    `shared` are rare words that both hold, as this document writes them, most telling first.
    """

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    title: str
    tags: tuple[str, ...]
    updated: datetime | None
    score: float
    similarity: float | None
    pair: Pair | None
    shared: tuple[str, ...]
    linked: bool


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The documents that are most similar to one, best first."""

    id: str
    title: str
    generation: int | None
    degraded: tuple[Degradation, ...]
    took_ms: float
    results: tuple[Similar, ...]
