"""Calling the embedder: batches by tokens, and a bad passage that fails alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from twolane.embedding.sentence_codes import coded, sentence_part, silent
from twolane.embedding.vector_checks import check_vectors
from twolane.ingest.chunking import embedded_sentences, embedded_text, estimate_tokens
from twolane.model.errors import EmbedderError, EmbedderUnavailable
from twolane.model.space import Pending, Space
from twolane.model.values import dataclass
from twolane.ports.embedder import Embedder, Reusing, SentenceEmbedder, Together

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

T = TypeVar("T")

# More short texts than this in one call gain nothing, and a failure halves them too often.
_MOST_PASSAGES = 64

# A passage that fails alone is bad; so many calls in a row that fail mean a bad embedder.
# Halving a batch of the most passages down to one bad one takes seven.
_FAILURES_IN_A_ROW = 16


def batches(
    claimed: Sequence[Pending], tokens: int, passages: int = _MOST_PASSAGES
) -> list[list[Pending]]:
    """The passages in batches of like length, each of about as many tokens, padding counted.

    None has more than `passages`.
    """
    most = min(passages, _MOST_PASSAGES)
    ordered = sorted(
        ((estimate_tokens(passage.text), passage) for passage in claimed), key=lambda two: two[0]
    )
    made: list[list[Pending]] = []
    for size, one in ordered:
        # The longest text of a batch is its last; every other one is padded to it.
        if not made or len(made[-1]) >= most or size * (len(made[-1]) + 1) > tokens:
            made.append([])
        made[-1].append(one)
    return made


@dataclass(slots=True)
class BatchResult:
    """What became of a batch: passages with their vectors, and those that failed, with reasons.

    `sentences` are the codes of the passages' sentences by content hash.
    """

    rows: list[tuple[Pending, Vector]] = field(default_factory=list)
    failures: list[tuple[Pending, str]] = field(default_factory=list)
    sentences: dict[str, bytes] = field(default_factory=dict)

    @property
    def matrix(self) -> Matrix:
        """The vectors, one below the other."""
        import numpy as np

        stacked: Matrix = np.stack([vector for _, vector in self.rows])
        return stacked


@dataclass(frozen=True, slots=True)
class Reusable:
    """What another generation knows of passages, by content hash: vectors and sentences' codes."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    sentences: Mapping[str, bytes] | None = None


class BatchEmbedder:
    """Embeds batches in one space; safe to share between threads."""

    def __init__(self, embedder: Embedder, space: Space, breadcrumb: bool) -> None:
        self._embedder = embedder
        self._space = space
        self._breadcrumb = breadcrumb
        self._lock = threading.Lock()
        self._in_a_row = 0

    def embed(self, batch: Sequence[Pending], known: Reusable) -> BatchResult:
        """Embed the batch; if it fails, its halves, down to the passage that is bad.

        Raises EmbedderUnavailable when it is the embedder that is bad.
        `known` is what another space holds that the embedder may use.
        """
        made = BatchResult()
        self._embed(batch, known, made)
        return made

    def _embed(self, batch: Sequence[Pending], known: Reusable, made: BatchResult) -> None:
        try:
            matrix, sentences = _guarded(lambda: self._vectors(batch, known))
            check_vectors(matrix, count=len(batch), dimensions=self._space.dimensions)
        except EmbedderUnavailable:
            raise
        except EmbedderError as error:
            self._count_failure(error)
            if len(batch) == 1:
                made.failures.append((batch[0], str(error)))
                return
            middle = len(batch) // 2
            self._embed(batch[:middle], known, made)
            self._embed(batch[middle:], known, made)
            return
        with self._lock:
            self._in_a_row = 0
        made.rows += zip(batch, matrix, strict=True)
        made.sentences |= sentences

    def _vectors(
        self, batch: Sequence[Pending], known: Reusable
    ) -> tuple[Matrix, dict[str, bytes]]:
        """The vectors of passages, and the codes of their sentences where the space has any."""
        embedder, part = self._embedder, sentence_part(self._space)
        texts = [self._dressed(embedded_text, passage) for passage in batch]
        codes: dict[str, bytes] = {}
        if known.vectors and known.sentences is not None:
            # Who has a vector there has all the sentences that it will ever have.
            codes = {key: known.sentences.get(key, b"") for key in known.vectors}
        fresh = [passage for passage in batch if passage.content_hash not in codes]
        found = [self._dressed(embedded_sentences, passage) for passage in fresh] if part else []
        said = [[text for text in each if text] for each in found]
        rows: Matrix | None = None
        if known.vectors and isinstance(embedder, Reusing):
            given = [known.vectors.get(passage.content_hash) for passage in batch]
            matrix = embedder.embed_beside(texts, given)
        elif part and isinstance(embedder, Together):
            matrix, rows = embedder.embed_together(texts, said)
        else:
            matrix = embedder.embed_passages(texts)
        if part is None or not any(said) or not isinstance(embedder, SentenceEmbedder):
            return matrix, codes
        if rows is None:
            rows = embedder.embed_sentences([text for each in said for text in each])
        return matrix, codes | _coded(fresh, found, rows, part)

    def _dressed(self, dress: Callable[..., T], passage: Pending) -> T:
        """What is embedded of a passage under its title and headings."""
        headings = passage.headings if self._breadcrumb else ()
        return dress(passage.title, headings, passage.text, passage.boilerplate)

    def _count_failure(self, error: EmbedderError) -> None:
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row < _FAILURES_IN_A_ROW:
                return
        raise EmbedderUnavailable(
            f"the embedder failed {_FAILURES_IN_A_ROW} times in a row, last with: {error}"
        ) from error


def _coded(
    batch: Sequence[Pending], found: Sequence[Sequence[str]], matrix: Matrix, part: slice
) -> dict[str, bytes]:
    """The codes of each passage's sentences; an empty one has no row, and nothing to say."""
    count = sum(1 for each in found for text in each if text)
    check_vectors(matrix, count=count, dimensions=part.stop - part.start)
    nothing = silent(matrix.shape[1])
    made, width = coded(matrix), len(nothing)
    each_made = (made[at : at + width] for at in range(0, len(made), width))
    return {
        one.content_hash: b"".join(next(each_made) if text else nothing for text in each)
        for one, each in zip(batch, found, strict=True)
    }


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except EmbedderError:
        raise
    except Exception as error:
        # An embedder is foreign code: whatever it raises, the text stays searchable.
        raise EmbedderError(f"{type(error).__name__}: {error}") from error
