"""Generations and their vectors, in PostgreSQL with pgvector.

What is near is found exactly where few passages count, through an index where many do.
First documents are chosen, then their passages are looked at one by one: what is told of a
document is computed from all of its passages, whichever way it was chosen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgvector import Vector as Written

from twolane.embedding.vector_checks import check_query
from twolane.model.candidate import NearChunk, Neighbour
from twolane.model.scope import Scope
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.postgres.conditions import FEW, Demands
from twolane.stores.postgres.migrating import SCHEMA
from twolane.stores.sql.counting import Counted
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.generations import Generations, check, set_means
from twolane.stores.sql.session import Database, Session

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# A generation of more passages than this gets an index: comparing all takes too long.
EXACTLY = 20_000
# How many passages the index gives for each question, in any order: the nearest are chosen among
# these. Of the ten nearest of 100,000 vectors of `use`, 400 held .91, 1,000 .979, 2,000 .990 and
# 3,000 .994, for 3, 10, 16 and 23 ms of CPU time. With an index that was built half as carefully
# 2,000 held .969; in the order of nearness, which leaves out what is found late, 1,000 held .935.
_SEEN = 2_000
_AT_ONCE = 400
BUILT_WITH = "ef_construction = 256"
# The index has four bytes a number up to here, and two bytes a number up to there.
_WHOLE_NUMBERS, _HALF_NUMBERS = 2000, 4000

# All passages of documents in scope, compared one by one.
_SCAN = """
SELECT d.id, d.languages, v.document, v.position, v.row, -(v.embedding <#> ?) AS similarity
FROM vectors AS v JOIN documents AS d ON d.row = v.document
WHERE v.generation = {generation} AND {condition}"""

# How many documents are in scope, counted no further than it matters: not at all without an index.
_COUNT = """
SELECT CASE WHEN to_regclass(?) IS NULL THEN 0 ELSE (SELECT count(*) FROM (
    SELECT 1 FROM documents AS d WHERE {condition} LIMIT ?) AS counted) END"""

# Near passages in scope, as the index of the generation finds them, and of these the nearest: the
# sum lets the server sort what it takes for sorted.
_INDEXED = """
SELECT document FROM (
    SELECT v.document, v.embedding::{kind}({dimensions}) <#> ?::{kind}({dimensions}) AS distance
    FROM vectors AS v JOIN documents AS d ON d.row = v.document
    WHERE v.generation = {generation} AND {condition} ORDER BY distance LIMIT ?) AS seen
ORDER BY distance + 0 LIMIT ?"""

# All passages of documents that the index chose.
_CHOSEN = """
SELECT d.id, d.languages, v.document, v.position, v.row, -(v.embedding <#> ?) AS similarity
FROM vectors AS v JOIN documents AS d ON d.row = v.document
WHERE v.generation = {generation} AND v.document = ANY(ARRAY({chosen}))"""

# Of these passages all of the documents with the nearest ones, nearest first; with the vectors and
# the sentences of so many of a document.
_NEAREST = """
SELECT p.id, p.languages, p.position, p.similarity, v.embedding, v.sentences
FROM (SELECT *, dense_rank() OVER (ORDER BY best DESC, id) AS rank
      FROM (SELECT *, row_number() OVER near AS place, first_value(similarity) OVER near AS best
            FROM ({passages}) AS compared
            WINDOW near AS (PARTITION BY document ORDER BY similarity DESC, position)) AS placed
      WHERE best >= ?) AS p
LEFT JOIN vectors AS v ON v.row = p.row AND p.place <= ?
WHERE p.rank <= ? ORDER BY p.rank, p.place"""

# What lets the server use the index, for so many passages.
_BY_INDEX = """
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', ?, true), set_config('enable_seqscan', 'off', true)"""

# Rows of _NEAREST by the document's id, nearest first.
_Passages = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a generation's vectors, as `VectorIndex.nearest` says it.

    All documents in scope are the `owner`'s, if there is one, and no more than `most`.
    """

    generation: int
    vector: Vector
    condition: Condition
    limit: int
    floor: float
    detail: int
    owner: str | None = None
    most: float = math.inf


def index_name(generation: int) -> str:
    """The name of the index of a generation's vectors."""
    return f"vectors_near_{generation}"


def kind_of(dimensions: int) -> str | None:
    """The type under which vectors are indexed; None for those that no index takes."""
    if dimensions <= _WHOLE_NUMBERS:
        return "vector"
    return "halfvec" if dimensions <= _HALF_NUMBERS else None


def neighbours(session: Session, asked: Question) -> list[Neighbour]:
    """Documents in scope by their best passage, best first, ties by id."""
    if asked.limit <= 0:
        return []
    passages = _by_index(session, asked) if _is_large(session, asked) else None
    if passages is None:
        passages = _by_scan(session, asked)
    found = (_neighbour(own, asked.detail) for own in passages.values())
    return [one for one in found if one.similarity >= asked.floor]


def _is_large(session: Session, asked: Question) -> bool:
    if asked.most <= FEW:
        return False
    condition, values = asked.condition
    name = f"{SCHEMA}.{index_name(asked.generation)}"
    ((count,),) = session.rows(_COUNT.format(condition=condition), (name, *values, FEW + 1))
    return bool(count > FEW) and asked.limit < count


def _by_scan(session: Session, asked: Question) -> _Passages:
    condition, values = asked.condition
    if asked.owner is not None:
        # Told of the vectors themselves, so that an index finds them all at once.
        condition, values = f"v.owner = ? AND {condition}", [asked.owner, *values]
    passages = _SCAN.format(generation=asked.generation, condition=condition)
    return _passages(session, asked, passages, (Written(asked.vector), *values), asked.floor)


def _by_index(session: Session, asked: Question) -> _Passages | None:
    """Passages of documents with the nearest ones; None where the index did not find enough.

    A document may have several near passages, so more of these are asked for.
    """
    dimensions = len(asked.vector)
    condition, values = asked.condition
    chosen = _INDEXED.format(
        generation=asked.generation,
        condition=condition,
        kind=kind_of(dimensions),
        dimensions=dimensions,
    )
    passages = _CHOSEN.format(generation=asked.generation, chosen=chosen)
    vector = Written(asked.vector)
    near = asked.limit * 4
    bound = (vector, vector, *values, max(_SEEN, near), near)
    # The index goes on until there are enough in scope.
    session.rows(_BY_INDEX, (str(_AT_ONCE),))
    found = _passages(session, asked, passages, bound, -math.inf)
    session.run("SET LOCAL enable_seqscan = on")
    return found if len(found) >= asked.limit else None


def _passages(
    session: Session, asked: Question, passages: str, values: Sequence[Any], floor: float
) -> _Passages:
    """The passages of the nearest documents of those that a statement gives."""
    statement = _NEAREST.format(passages=passages)
    found: _Passages = {}
    for row in session.rows(statement, (*values, floor, asked.detail, asked.limit)):
        found.setdefault(row[0], []).append(row)
    return found


def _neighbour(passages: Sequence[Any], detail: int) -> Neighbour:
    """A document by its passages, nearest first; with the vector of the best, if in detail."""
    id, languages, position, similarity, vector, _ = passages[0]
    mean = sum(passage[3] for passage in passages) / len(passages)
    return Neighbour(
        id,
        tuple(languages),
        position,
        float(similarity),
        float(mean),
        as_array(vector) if detail else None,
        tuple(
            NearChunk(position, float(similarity), bytes(sentences))
            for _, _, position, similarity, _, sentences in passages[:detail]
        ),
    )


def as_array(vector: object) -> Vector:
    """A vector as the driver gives it, as one of ours that nobody else holds."""
    import numpy as np

    given = vector.to_numpy() if hasattr(vector, "to_numpy") else vector
    return np.array(given, dtype=np.float32)


# Whoever opens generations or changes their states does it alone.
_ALONE = "LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE"

_OF_DOCUMENTS = """
SELECT d.id, v.position, v.embedding, v.sentences
FROM documents AS d JOIN vectors AS v ON v.document = d.row AND v.generation = ?
WHERE d.listed AND d.id = ANY(?) ORDER BY d.id, v.position"""

# Every passage with this content gets the vector; without codes it keeps those that it has.
# Vectors that are only centred anew were embedded when they were.
_ADD = """
INSERT INTO vectors AS held (generation, document, position, owner, headings, content_hash,
                             dimensions, embedding, sentences, embedded_at)
SELECT :generation, c.document, c.position, c.owner, c.headings, c.content_hash,
       :dimensions, :vector, :sentences, to_timestamp(:now)
FROM chunks AS c WHERE c.content_hash = :content_hash
ON CONFLICT (document, generation, position) DO UPDATE SET
    embedding = excluded.embedding, owner = excluded.owner,
    headings = excluded.headings, content_hash = excluded.content_hash,
    sentences = CASE WHEN excluded.sentences = '' AND held.content_hash = excluded.content_hash
                     THEN held.sentences ELSE excluded.sentences END,
    embedded_at = CASE WHEN :centred AND held.content_hash = excluded.content_hash
                       THEN held.embedded_at ELSE excluded.embedded_at END"""

# Those that are not named are gone when all are centred anew.
_KEEP_ONLY = "DELETE FROM vectors WHERE generation = ? AND content_hash <> ALL(?)"

# A new vector is seen by whoever asks for the revision; it is also a lock against dropping.
_NOTE = "UPDATE generations SET revision = revision + 1 WHERE number = ?"

# Passages with the lowest hashes, which say nothing of what stands in them.
_SAMPLE = """
SELECT DISTINCT ON (v.content_hash) d.id, v.embedding
FROM vectors AS v JOIN documents AS d ON d.row = v.document
WHERE v.generation = ? AND d.listed ORDER BY v.content_hash, d.id LIMIT ?"""


class PostgresVectors(Generations):
    """The VectorIndex port; the index of a generation that is dropped goes when a store settles."""

    def __init__(
        self,
        database: Database,
        counted: Counted,
        demands: Demands,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(database, "revision", _ALONE)
        self._counted = counted
        self._clock = clock
        self._demands = demands

    def add(
        self,
        generation: int,
        vectors: Iterable[NewVector],
        *,
        means: Mapping[str, Mean] | None = None,
    ) -> None:
        """Store the vectors, or replace those with their content hashes."""
        from pgvector import Vector as Written

        fresh = list(vectors)
        if not fresh and means is None:
            return

        def put(session: Session) -> None:
            session.run(_NOTE, (generation,))
            space = self.demand(session, generation).space
            if means is not None:
                session.run(_KEEP_ONLY, (generation, [one.content_hash for one in fresh]))
                set_means(session, generation, means)
            if fresh:
                check(fresh, space)
                session.run_all(_ADD, [values(one, space.dimensions) for one in fresh])

        def values(one: NewVector, dimensions: int) -> dict[str, object]:
            return {
                "generation": generation,
                "dimensions": dimensions,
                "vector": Written(one.vector),
                "sentences": one.sentences,
                "content_hash": one.content_hash,
                "now": self._clock(),
                "centred": means is not None,
            }

        self._db.writing(put, sharing=True)

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float = -1.0,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product with `vector`, best first."""
        import numpy as np

        asked = np.asarray(vector, dtype=np.float32)
        with self._db.reading(scope) as session:
            check_query(asked, self.demand(session, generation))
            condition = self._demands.condition(session, scope)
            most = self._most(session, scope)
            question = Question(
                generation, asked, condition, limit, floor, detail, scope.owner, most
            )
            return neighbours(session, question)

    def _most(self, session: Session, scope: Scope) -> int:
        """No more documents than this are in scope; nothing is counted that is not known."""
        if scope.documents:
            return len(scope.documents)
        if scope.owner is None:
            return self._counted.totals(session).documents
        return self._counted.said(session, scope.owner).documents

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id."""
        held: dict[str, list[PassageVector]] = {}
        with self._db.reading() as session:
            found = session.rows(_OF_DOCUMENTS, (generation, list(ids)))
        for id, position, vector, sentences in found:
            one = PassageVector(position, as_array(vector), bytes(sentences))
            held.setdefault(id, []).append(one)
        return held

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        with self._db.reading() as session:
            found = session.rows(_SAMPLE, (generation, size))
        return [(id, as_array(vector)) for id, vector in found]


def generations_of(database: Database) -> Generations:
    """The generations of a database."""
    return Generations(database, "revision", _ALONE)
