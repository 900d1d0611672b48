"""Documents on their way through the lanes, before they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
from twolane.model.answer import Boost, Contribution, Counterpart, Signs


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may match by words, with the counts that scoring needs.

    `frequencies` are how often each field holds a term, and `lengths` how many words the fields
    have, both in the order of `FIELDS`; terms that no field holds are left out.
    A term that was asked for as a prefix is spelled as in `Word.keys`.
    """

    id: str
    languages: tuple[str, ...]
    frequencies: Mapping[str, Sequence[int]]
    lengths: Sequence[int]


@dataclass(frozen=True, slots=True)
class Frequencies:
    """What scoring needs to know of the whole index.

    `document_frequency` is how many documents hold a term; one that was asked for as a prefix is
    spelled as in `Word.keys`.
    """

    documents: int
    document_frequency: Mapping[str, int]
    average_lengths: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class NearChunk:
    """A chunk near a vector, with the codes of its sentences' vectors; it may have none."""

    position: int
    similarity: float
    sentences: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A document near a vector: its best chunk and that chunk's similarity.

    `vector` is the best chunk's own and `chunks` are its nearest ones, nearest first, where they
    were asked for; `sentence` is the place of the nearest sentence in its chunk, once it is known.
    """

    id: str
    languages: tuple[str, ...]
    position: int
    similarity: float
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    chunks: tuple[NearChunk, ...] = field(default=(), compare=False, repr=False)
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A document that holds a text letter by letter, and where it does.

    `field` is the first field that holds it, `at` the place in that field's folded text, which is
    `length` signs long; `whole` tells that it stands there between two edges of words.
    """

    id: str
    languages: tuple[str, ...]
    field: str
    at: int
    length: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Names:
    """What a document is called."""

    id: str
    languages: tuple[str, ...]
    title: str
    aliases: tuple[str, ...] = ()
    path: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document in a lane.

    `vote` scales the lane's weight for this document: a match of half the query votes half.
    `counterpart` is the document in the query's language that a document in another one
    translates; for a document in the query's language it is the translation that lifted it.
    `sentence` is the place of the nearest sentence of the chunk at `position`.
    """

    id: str
    languages: tuple[str, ...]
    score: float
    position: int | None = None
    vote: float = 1.0
    matched: tuple[str, ...] = ()
    counterpart: Counterpart | None = None
    sentence: int | None = None


class Fused(NamedTuple):
    """A document after fusion, with everything that made its score.

    `position` is the chunk that the dense lane found, `sentence` the place of its nearest sentence.
    `relevance` is the chance that it is relevant, by its signs; None where that is not known.
    `copies` are the ids of its copies further down, `copy_of` the document that it is a copy of.
    """

    id: str
    score: float
    contributions: tuple[Contribution, ...]
    position: int | None = None
    signs: Signs | None = None
    relevance: float | None = None
    boosts: tuple[Boost, ...] = ()
    sentence: int | None = None
    copies: tuple[str, ...] = ()
    copy_of: str | None = None
