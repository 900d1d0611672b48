"""The vectors of one generation, held in memory and kept in step with the file.

The file is the truth; this is a copy to find the nearest in. It gives exact similarities: codes of
a byte a number, a quarter of the size, only say which documents cannot be among the best.
It is filled once and then takes in only what other connections and processes committed:
new vectors by row number, changed documents by revision, deleted ones by tombstone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from twolane.model.errors import StoreError
from twolane.settings.machine import one_thread
from twolane.stores.vector_codes import Codes

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# So many vectors are held whole (some 400 MB); of more only the codes are, and the few vectors that
# an answer needs are read from the file.
RESIDENT = 200_000

# As many are compared whole as quickly as by their codes.
_FEW = 10_000

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

_OF_ROWS = "SELECT row, vector FROM vectors WHERE row IN (SELECT value FROM json_each(?))"

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

    def __init__(self, generation: int, most: int = RESIDENT) -> None:
        """At most so many vectors are held whole; of more only their codes are."""
        self.generation = generation
        self._most = most
        self._lock = threading.Lock()
        self._revision = -1
        self._newest = 0
        self._forget()

    def _forget(self) -> None:
        self._count = 0
        self._asked = 0
        self._shape: tuple[int, ...] = ()
        self._vectors: Matrix | None = np.empty((0, 0), np.float32)
        self._codes: Codes | None = None
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
                    self._forget()
                    self._load_vectors(connection, 0)
                    self._layout = self._read_layout(connection, "", {})
            self._revision, self._newest = revision, newest

    @one_thread()
    def nearest(
        self,
        connection: apsw.Connection,
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
        Among many, those that cannot be told from the best by codes are compared by vectors.
        """
        with self._lock:
            if self._count and vector.shape != self._shape:
                raise StoreError(
                    f"the query's vector has shape {vector.shape}, "
                    f"those of the generation have {self._shape}"
                )
            layout = self._layout.served(archived)
            if allowed is not None:
                layout = layout.of_documents(np.fromiter(allowed, np.int64, len(allowed)))
            codes = self._codes_for(len(layout.vectors))
            vectors = None if self._vectors is None else self._vectors[: self._count]
            vector_rows = self._vector_rows
        if not len(layout.vectors) or limit <= 0:
            return []
        if codes is not None and len(layout.documents) > limit:
            similarities, margin = codes.similarities(vector)
            best = np.maximum.reduceat(similarities[layout.vectors], layout.starts)
            layout = layout.at(np.flatnonzero(best >= _last_of(best, limit) - margin))
        if vectors is None:
            vectors = _read(connection, vector_rows[layout.vectors])
            at = np.arange(len(vectors))
        else:
            at = layout.vectors
        if len(at) * 5 < len(vectors):
            # Few documents count: gathering their vectors is cheaper than scanning all.
            similarities = vectors[at] @ vector
        else:
            similarities = (vectors @ vector)[at]
        best = np.maximum.reduceat(similarities, layout.starts)
        kept = np.flatnonzero(best >= floor)
        if len(kept) > limit:
            kept = kept[best[kept] >= _last_of(best[kept], limit)]
        ends = np.append(layout.starts[1:], len(similarities))
        means = np.add.reduceat(similarities, layout.starts) / (ends - layout.starts)
        found = []
        for place in kept.tolist():
            near = _nearest(similarities, int(layout.starts[place]), int(ends[place]), chunks)
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
                    vectors[at[near[0]]],
                    float(means[place]),
                )
            )
        return found

    def _codes_for(self, chunks: int) -> Codes | None:
        """The codes, if so many chunks are better told by them; they are made when they pay."""
        if chunks <= _FEW:
            return None
        self._asked += 1
        if self._codes is None and self._vectors is not None and self._asked > 1:
            self._codes = Codes.of(self._vectors[: self._count])
        return self._codes

    def _load_vectors(self, connection: apsw.Connection, after: int) -> None:
        sought = {"generation": self.generation, "row": after}
        fresh = connection.execute(_HOW_MANY_NEW if after else _HOW_MANY, sought).get
        total = self._count + fresh
        if total > self._most and self._vectors is not None:
            self._codes = self._codes or Codes.of(self._vectors[: self._count])
            self._vectors = None
        cursor = connection.execute(_VECTORS, sought)
        while block := list(islice(cursor, _BLOCK)):
            end = self._count + len(block)
            joined = b"".join(blob for _, blob in block)
            vectors = np.frombuffer(joined, "<f4").reshape(len(block), -1)
            self._shape = vectors.shape[1:]
            self._vector_rows = _grown(self._vector_rows, self._count, total)
            self._vector_rows[self._count : end] = [row for row, _ in block]
            if self._vectors is not None:
                self._vectors = _grown(self._vectors, self._count, total, vectors.shape[1])
                self._vectors[self._count : end] = vectors
            if self._codes is not None:
                self._codes = self._codes.with_more(vectors, self._count, total)
            self._count = end

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


def _grown(held: NDArray[Any], count: int, total: int, *shape: int) -> NDArray[Any]:
    """An array with room for so many rows in all, the first ones as they are."""
    if total <= len(held) and (not count or held.shape[1:] == shape):
        return held
    # A first load takes what it needs; growth takes an eighth more, to copy rarely.
    room = np.empty((total if not count else total + total // 8, *shape), held.dtype)
    if count:
        room[:count] = held[:count]
    return room


def _last_of(values: Vector, count: int) -> float:
    """The lowest of the so many highest values."""
    if len(values) <= count:
        return -np.inf
    return float(np.partition(values, len(values) - count)[len(values) - count])


def _read(connection: apsw.Connection, rows: NDArray[np.int64]) -> Matrix:
    """The vectors of these rows, from the file."""
    found = dict(connection.execute(_OF_ROWS, (str(rows.tolist()),)))
    joined = b"".join(found[row] for row in rows.tolist())
    return np.frombuffer(joined, "<f4").reshape(len(rows), -1)


def _nearest(similarities: Vector, start: int, end: int, count: int) -> list[int]:
    """The places of the nearest chunks of a document, nearest first."""
    if end - start == 1:
        return [start]
    order = np.argsort(-similarities[start:end], kind="stable")[:count]
    return [start + place for place in order.tolist()]


class _Layout:
    """Which chunk of which document is served by which row of the matrix; never changed."""

    __slots__ = (
        "_served",
        "archived",
        "chunk_documents",
        "documents",
        "positions",
        "starts",
        "vectors",
    )

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
        # Chunks are in the order of their documents.
        first = np.ones(len(chunk_documents), np.bool_)
        np.not_equal(chunk_documents[1:], chunk_documents[:-1], out=first[1:])
        self.starts = np.flatnonzero(first)
        self.documents = chunk_documents[self.starts]
        self._served: list[_Layout | None] = [None, None]

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

    def served(self, archived: bool) -> _Layout:
        """What has a vector, with or without what is archived; made once."""
        known = self._served[archived]
        if known is None:
            usable = self.vectors >= 0
            if not archived:
                usable &= ~self.archived
            known = self._served[archived] = self if usable.all() else self._where(usable)
        return known

    def of_documents(self, documents: NDArray[np.int64]) -> _Layout:
        """What these documents have of it; each is named once."""
        # `np.unique` would import all of `numpy.ma`, which delays a first answer by 15 ms.
        documents = np.sort(documents)
        at = np.searchsorted(self.documents, documents)
        known = at < len(self.documents)
        known[known] = self.documents[at[known]] == documents[known]
        return self.at(at[known])

    def at(self, documents: NDArray[np.int64]) -> _Layout:
        """What the documents at these places have of it."""
        ends = np.append(self.starts[1:], len(self.vectors))
        lengths = (ends - self.starts)[documents]
        # The places of each document's chunks, one document after the other.
        before = np.cumsum(lengths) - lengths
        return self._where(
            np.arange(lengths.sum()) + np.repeat(self.starts[documents] - before, lengths)
        )

    def _where(self, chunks: NDArray[Any]) -> _Layout:
        return _Layout(
            self.chunk_documents[chunks],
            self.positions[chunks],
            self.archived[chunks],
            self.vectors[chunks],
        )

    def without(self, documents: set[int]) -> _Layout:
        gone = np.fromiter(documents, np.int64, len(documents))
        return self._where(~np.isin(self.chunk_documents, gone))

    def merged(self, other: _Layout) -> _Layout:
        return _Layout.of(
            np.concatenate((self.chunk_documents, other.chunk_documents)),
            np.concatenate((self.positions, other.positions)),
            np.concatenate((self.archived, other.archived)),
            np.concatenate((self.vectors, other.vectors)),
        )
