"""The vectors of one generation, held in memory and kept in step with the file.

The file is the truth; this is a copy for exact scans.
It is filled once and then takes in only what other connections and processes committed:
new vectors by row number, changed documents by revision, deleted ones by tombstone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from twolane.model.errors import StoreError
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# Vectors are read in blocks, so that loading needs one block beyond the matrix itself.
_BLOCK = 2048

# Each chunk of a listed document with its vector, if there is one.
_CHUNKS = """
SELECT c.document, c.position, d.archived,
       coalesce(
           (SELECT v.row FROM vectors AS v
            WHERE v.generation = :generation AND v.content_hash = c.content_hash),
           -1)
FROM documents AS d JOIN chunks AS c ON c.document = d.row
WHERE d.listed {which}
ORDER BY c.document, c.position"""

_CHANGED = "SELECT row FROM documents WHERE revision > ?"
_GONE = "SELECT document FROM tombstones WHERE revision > ?"

# New vectors are found by their row numbers, hence the signs before `generation`: by an index that
# begins with it, all would be looked at for one new, and sorted in memory for their order.
_VECTORS = """
SELECT row, vector FROM vectors WHERE +generation = :generation AND row > :row ORDER BY row"""
_HOW_MANY_NEW = "SELECT count(*) FROM vectors WHERE +generation = :generation AND row > :row"
_HOW_MANY = "SELECT count(*) FROM vectors WHERE generation = :generation"

# Documents with a chunk that a vector newer than :row serves.
_SERVED_ANEW = """
SELECT c.document FROM vectors AS v JOIN chunks AS c ON c.content_hash = v.content_hash
WHERE +v.generation = :generation AND v.row > :row"""


class Near(NamedTuple):
    """A document near a vector: its row, its nearest chunks, and the vector of the first.

    `mean` is the mean similarity of all its chunks.
    A chunk is its position, its similarity and the row of the vector that serves it.
    """

    document: int
    chunks: list[tuple[int, float, int]]
    vector: Vector
    mean: float


class VectorCache:
    """One generation's vectors; safe to use from several threads."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self._lock = threading.Lock()
        self._revision = -1
        self._newest = 0
        self._count = 0
        self._vectors: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._vector_rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._layout = _Layout.empty()

    def refresh(self, connection: apsw.Connection) -> None:
        """Take in what was committed since the last call; cheap when nothing was."""
        with self._lock:
            revision, newest = connection.execute(
                "SELECT (SELECT revision FROM counters),"
                " (SELECT coalesce(max(row), 0) FROM vectors)"
            ).fetchone() or (0, 0)
            last = self._newest
            if revision == self._revision and newest == last:
                return
            if self._revision < 0:
                self._load_vectors(connection, 0)
                self._layout = self._read_layout(connection, "", {})
            else:
                changed = {row for (row,) in connection.execute(_CHANGED, (self._revision,))}
                changed |= {row for (row,) in connection.execute(_GONE, (self._revision,))}
                if newest > last:
                    self._load_vectors(connection, last)
                    changed |= {
                        row
                        for (row,) in connection.execute(
                            _SERVED_ANEW, {"generation": self.generation, "row": last}
                        )
                    }
                if changed:
                    self._replace(connection, changed)
                if self._count > 2 * len(self._layout.vectors) + _BLOCK:
                    # Most rows serve nothing any more: start over with those that do.
                    self._count = 0
                    self._vectors = np.empty((0, 0), np.float32)
                    self._load_vectors(connection, 0)
                    self._layout = self._read_layout(connection, "", {})
            self._revision, self._newest = revision, newest

    @one_thread()
    def nearest(
        self,
        vector: Vector,
        *,
        allowed: Sequence[int] | None,
        archived: bool,
        limit: int,
        floor: float,
        chunks: int = 1,
    ) -> list[Near]:
        """The best documents, each by its best chunk, with so many of its nearest ones.

        At least `limit` of them where there are as many, plus all that tie with the last.
        """
        with self._lock:
            layout, vectors = self._layout, self._vectors[: self._count]
            vector_rows = self._vector_rows
        if not len(layout.documents) or not len(vectors) or limit <= 0:
            return []
        if vector.shape != vectors.shape[1:]:
            raise StoreError(
                f"the query's vector has shape {vector.shape}, "
                f"those of the generation have {vectors.shape[1:]}"
            )
        usable = layout.usable(allowed, archived)
        if not usable.any():
            return []
        similarities = np.full(len(usable), -np.inf, np.float32)
        places = np.flatnonzero(usable)
        if len(places) * 5 < len(vectors):
            # Few documents count: gathering their vectors is cheaper than scanning all.
            similarities[places] = vectors[layout.vectors[places]] @ vector
        else:
            similarities[places] = (vectors @ vector)[layout.vectors[places]]
        best = np.maximum.reduceat(similarities, layout.starts)
        kept = np.flatnonzero(best >= max(floor, np.finfo(np.float32).min))
        if len(kept) > limit:
            last = np.partition(best[kept], len(kept) - limit)[len(kept) - limit]
            kept = kept[best[kept] >= last]
        ends = np.append(layout.starts[1:], len(similarities))
        # Chunks without a vector, or of documents that do not count, are no part of a mean.
        sums = np.add.reduceat(np.where(usable, similarities, 0.0), layout.starts)
        means = sums / np.maximum(np.add.reduceat(usable, layout.starts, dtype=np.int64), 1)
        found = []
        for place in kept:
            near = _nearest(similarities, layout.starts[place], ends[place], chunks)
            found.append(
                Near(
                    int(layout.documents[place]),
                    [
                        (
                            int(layout.positions[chunk]),
                            float(similarities[chunk]),
                            int(vector_rows[layout.vectors[chunk]]),
                        )
                        for chunk in near
                    ],
                    vectors[layout.vectors[near[0]]],
                    float(means[place]),
                )
            )
        return found

    def _load_vectors(self, connection: apsw.Connection, after: int) -> None:
        sought = {"generation": self.generation, "row": after}
        fresh = connection.execute(_HOW_MANY_NEW if after else _HOW_MANY, sought).get
        total = self._count + fresh
        cursor = connection.execute(_VECTORS, sought)
        while block := list(islice(cursor, _BLOCK)):
            end = self._count + len(block)
            self._reserve(total, len(block[0][1]) // 4)
            self._vector_rows[self._count : end] = [row for row, _ in block]
            joined = b"".join(blob for _, blob in block)
            self._vectors[self._count : end] = np.frombuffer(joined, "<f4").reshape(len(block), -1)
            self._count = end

    def _reserve(self, count: int, dimensions: int) -> None:
        if count <= len(self._vectors):
            return
        # A first load takes what it needs; growth takes an eighth more, to copy rarely.
        room = count if not self._count else count + count // 8
        vectors = np.empty((room, dimensions), np.float32)
        vector_rows = np.empty(room, np.int64)
        if self._count:
            vectors[: self._count] = self._vectors[: self._count]
            vector_rows[: self._count] = self._vector_rows[: self._count]
        self._vectors, self._vector_rows = vectors, vector_rows

    def _read_layout(
        self, connection: apsw.Connection, which: str, values: dict[str, str]
    ) -> _Layout:
        rows = connection.execute(
            _CHUNKS.format(which=which), {"generation": self.generation, **values}
        ).fetchall()
        table = np.array(rows, np.int64).reshape(-1, 4)
        vectors = np.searchsorted(self._vector_rows[: self._count], table[:, 3])
        vectors[table[:, 3] < 0] = -1
        return _Layout.of(table[:, 0], table[:, 1], table[:, 2] != 0, vectors)

    def _replace(self, connection: apsw.Connection, changed: set[int]) -> None:
        fresh = self._read_layout(
            connection,
            "AND d.row IN (SELECT value FROM json_each(:rows))",
            {"rows": str(sorted(changed))},
        )
        self._layout = self._layout.without(changed).merged(fresh)


def _nearest(similarities: Vector, start: int, end: int, count: int) -> list[int]:
    """The places of the nearest usable chunks of a document that has one, nearest first."""
    if end - start == 1:
        return [start]
    order = np.argsort(-similarities[start:end], kind="stable")[:count]
    return [start + int(place) for place in order if similarities[start + place] > -np.inf]


class _Layout:
    """Which chunk of which document is served by which row of the matrix; never changed."""

    __slots__ = ("archived", "chunk_documents", "documents", "positions", "starts", "vectors")

    def __init__(
        self,
        chunk_documents: NDArray[np.int64],
        positions: NDArray[np.int64],
        archived: NDArray[np.bool_],
        vectors: NDArray[np.int64],
    ) -> None:
        self.chunk_documents = chunk_documents
        self.positions = positions
        self.archived = archived
        self.vectors = vectors
        self.documents, self.starts = np.unique(chunk_documents, return_index=True)

    @classmethod
    def empty(cls) -> _Layout:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, np.empty(0, np.bool_), nothing)

    @classmethod
    def of(
        cls,
        chunk_documents: NDArray[np.int64],
        positions: NDArray[np.int64],
        archived: NDArray[np.bool_],
        vectors: NDArray[np.int64],
    ) -> _Layout:
        order = np.lexsort((positions, chunk_documents))
        return cls(chunk_documents[order], positions[order], archived[order], vectors[order])

    def usable(self, allowed: Sequence[int] | None, archived: bool) -> NDArray[np.bool_]:
        """Which chunks have a vector and belong to a document that counts."""
        usable = self.vectors >= 0
        if not archived:
            usable &= ~self.archived
        if allowed is not None:
            usable &= np.isin(self.chunk_documents, np.fromiter(allowed, np.int64, len(allowed)))
        return usable

    def without(self, documents: set[int]) -> _Layout:
        gone = np.fromiter(documents, np.int64, len(documents))
        kept = ~np.isin(self.chunk_documents, gone)
        return _Layout(
            self.chunk_documents[kept],
            self.positions[kept],
            self.archived[kept],
            self.vectors[kept],
        )

    def merged(self, other: _Layout) -> _Layout:
        return _Layout.of(
            np.concatenate((self.chunk_documents, other.chunk_documents)),
            np.concatenate((self.positions, other.positions)),
            np.concatenate((self.archived, other.archived)),
            np.concatenate((self.vectors, other.vectors)),
        )
