"""Generations and their vectors, in PostgreSQL with pgvector."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.model.candidate import Neighbour
from twolane.model.errors import BadVectors
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.nearest import Question, as_array, neighbours
from twolane.stores.sql.generations import Generations, check, set_means
from twolane.stores.sql.session import Database, Session

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

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


class PostgresVectors:
    """The VectorIndex port."""

    def __init__(
        self, database: Database, demands: Demands, clock: Callable[[], float] = time.time
    ) -> None:
        self._db = database
        self._clock = clock
        self._demands = demands
        self._generations = generations_of(database)

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        return self._generations.all()

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""
        return self._generations.open(space)

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        # The index of one that is dropped goes when the store settles.
        self._generations.set_state(states, reason)

    def note_model(self, generation: int, name: str) -> str:
        """Keep what a server called the model of this generation; the first name stays."""
        return self._generations.note_model(generation, name)

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        return self._generations.means(generation)

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
            space = self._generations.demand(session, generation).space
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
            dimensions = self._generations.demand(session, generation).space.dimensions
            if asked.shape != (dimensions,):
                raise BadVectors(
                    f"generation {generation} holds vectors of {dimensions} numbers, but the "
                    f"query's has shape {asked.shape}; embed the query in the generation's space"
                )
            condition = self._demands.condition(session, scope)
            question = Question(generation, asked, condition, limit, floor, detail)
            return neighbours(session, question)

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
