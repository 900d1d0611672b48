"""Documents on their way from a lane to an answer, and what stores tell of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from twolane.model.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

from twolane.model.answer import Contribution, Feature, Lane


class PassageTerms(NamedTuple):
    """What one passage of a body holds of a query.

    Its place in the body, the terms, how many pairs of words that follow each other in the query
    stand side by side, and how often terms occur in all.
    """

    place: int
    terms: frozenset[str]
    pairs: int
    occurrences: int


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """A document that may match by words, with the counts that its features need.

    `frequencies` are how often each field holds a term, and `lengths` how many words the fields
    have, both in the order of `FIELDS`; terms that no field holds are left out.
    A term that was asked for as a prefix is spelled as in `Word.keys`.
    `passages` are those passages of the body that hold any term, in order, if the document is told
    in detail.
    `adjacent` are the places in the query's sequence of words at which a word and the next one
    stand side by side in the body.
    """

    id: str
    languages: tuple[str, ...]
    frequencies: Mapping[str, Sequence[int]]
    lengths: Sequence[int]
    passages: tuple[PassageTerms, ...] = ()
    adjacent: tuple[int, ...] = ()


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
    """A document near a vector: its best chunk, that chunk's similarity, and the mean of all.

    `vector` is the best chunk's own and `chunks` are its nearest ones, nearest first, where they
    were asked for.
    """

    id: str
    languages: tuple[str, ...]
    position: int
    similarity: float
    mean: float
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    chunks: tuple[NearChunk, ...] = field(default=(), compare=False, repr=False)


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


@dataclass(slots=True)
class Candidate:
    """A document that some lane brought, with its row of features.

    The lanes fill it, then the ranking model: it is the one value between a query and its answer.
    A feature that is not there is missing: no lane could measure it.
    `ranks` are its ranks in the lanes that brought it, `matched` the query's words that it holds.
    `foreign` is set where it is in none of the query's languages.
    `passage` is the chunk that holds most of the query's words; `position` is the one that meaning
    found, `sentence` the place of its nearest sentence, `similarity` that of its nearest chunk.
    `parallels` are documents that say the same in another language, with how surely, from 0 to 1.
    `copies` are the ids of its copies further down, `copy_of` the document that it is a copy of.
    """

    id: str
    languages: tuple[str, ...] = ()
    features: dict[Feature, float] = field(default_factory=dict)
    ranks: dict[Lane, int] = field(default_factory=dict)
    matched: tuple[str, ...] = ()
    foreign: bool = False
    passage: int | None = None
    position: int | None = None
    sentence: int | None = None
    similarity: float | None = None
    parallels: dict[str, float] = field(default_factory=dict)
    score: float = 0.0
    relevance: float | None = None
    contributions: tuple[Contribution, ...] = ()
    copies: tuple[str, ...] = ()
    copy_of: str | None = None
