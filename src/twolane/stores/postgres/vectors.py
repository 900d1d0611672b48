"""Generations and their vectors, in PostgreSQL with pgvector."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from twolane.embedding.vector_checks import check_vectors
from twolane.model.candidate import Neighbour
from twolane.model.errors import BadVectors, StoreError
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.postgres.database import SHARING, Connection, Database, rows, run, run_all
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.nearest import Question, as_array, neighbours

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

_GENERATIONS = "SELECT number, space, state, reason, revision FROM generations ORDER BY number"

# Whoever opens generations or changes their states does it alone.
_ALONE = "LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE"

_OF_DOCUMENTS = """
SELECT d.id, v.position, v.embedding, v.sentences
FROM documents AS d JOIN vectors AS v ON v.document = d.row AND v.generation = %s
WHERE d.listed AND d.id = ANY(%s) ORDER BY d.id, v.position"""

# Every passage with this content gets the vector; without codes it keeps those that it has.
# Vectors that are only centred anew were embedded when they were.
_ADD = """
INSERT INTO vectors AS held (generation, document, position, owner, headings, content_hash,
                             dimensions, embedding, sentences, embedded_at)
SELECT %(generation)s, c.document, c.position, c.owner, c.headings, c.content_hash,
       %(dimensions)s, %(vector)s, %(sentences)s, to_timestamp(%(now)s)
FROM chunks AS c WHERE c.content_hash = %(content_hash)s
ON CONFLICT (document, generation, position) DO UPDATE SET
    embedding = excluded.embedding, owner = excluded.owner,
    headings = excluded.headings, content_hash = excluded.content_hash,
    sentences = CASE WHEN excluded.sentences = '' AND held.content_hash = excluded.content_hash
                     THEN held.sentences ELSE excluded.sentences END,
    embedded_at = CASE WHEN %(centred)s AND held.content_hash = excluded.content_hash
                       THEN held.embedded_at ELSE excluded.embedded_at END"""

# Those that are not named are gone when all are centred anew.
_KEEP_ONLY = "DELETE FROM vectors WHERE generation = %s AND content_hash <> ALL(%s)"

# A new vector is seen by whoever asks for the revision; it is also a lock against dropping.
_NOTE = "UPDATE generations SET revision = revision + 1 WHERE number = %s"

# Passages with the lowest hashes, which say nothing of what stands in them.
_SAMPLE = """
SELECT DISTINCT ON (v.content_hash) d.id, v.embedding
FROM vectors AS v JOIN documents AS d ON d.row = v.document
WHERE v.generation = %s AND d.listed ORDER BY v.content_hash, d.id LIMIT %s"""


class PostgresVectors:
    """The VectorIndex port."""

    def __init__(
        self, database: Database, demands: Demands, clock: Callable[[], float] = time.time
    ) -> None:
        self._db = database
        self._clock = clock
        self._demands = demands

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        with self._db.read() as connection:
            return held_generations(connection)

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""

        def find_or_make(connection: Connection) -> Generation:
            run(connection, _ALONE)
            held = held_generations(connection)
            serving = any(other.state == GenerationState.SERVING for other in held)
            state = GenerationState.FILLING if serving else GenerationState.SERVING
            for generation in reversed(held):
                if generation.space == space:
                    if generation.state == GenerationState.RETIRED:
                        _set_state(connection, generation.number, state, None)
                        return replace(generation, state=state)
                    return generation
            ((number,),) = rows(
                connection,
                "INSERT INTO generations(fingerprint, space, state) VALUES (%s, %s, %s)"
                " RETURNING number",
                (space.fingerprint, json.dumps(asdict(space)), str(state)),
            )
            return Generation(number, space, state)

        return self._db.write(find_or_make, SHARING)

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""

        def change(connection: Connection) -> None:
            run(connection, _ALONE)
            changed = dict(states)
            for one in held_generations(connection):
                if one.state == GenerationState.SERVING:
                    if GenerationState.SERVING not in states.values():
                        changed.pop(one.number, None)
                    else:
                        changed.setdefault(one.number, GenerationState.RETIRED)
            for number, state in changed.items():
                if state is None:
                    # Its vectors go with it; its index is dropped when the store settles.
                    run(connection, "DELETE FROM generations WHERE number = %s", (number,))
                else:
                    demand_generation(connection, number)
                    why = reason if state == GenerationState.HELD else None
                    _set_state(connection, number, state, why)

        self._db.write(change, SHARING)

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT language, mean, passages FROM means WHERE generation = %s",
                (generation,),
            )
        return {
            language: Mean(np.frombuffer(mean, "<f4"), passages)
            for language, mean, passages in found
        }

    def add(
        self,
        generation: int,
        vectors: Iterable[NewVector],
        *,
        means: Mapping[str, Mean] | None = None,
    ) -> None:
        """Store the vectors, or replace those with their content hashes."""
        fresh = list(vectors)
        if not fresh and means is None:
            return

        def put(connection: Connection) -> None:
            if not run(connection, _NOTE, (generation,)):
                demand_generation(connection, generation)
            if means is not None:
                hashes = [one.content_hash for one in fresh]
                run(connection, _KEEP_ONLY, (generation, hashes))
                _set_means(connection, generation, means)
            if fresh:
                times = {"now": self._clock(), "centred": means is not None}
                _add(connection, generation, fresh, times)

        self._db.write(put, SHARING)

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
        with self._db.read(scope) as connection:
            dimensions = demand_generation(connection, generation).space.dimensions
            if asked.shape != (dimensions,):
                raise BadVectors(
                    f"generation {generation} holds vectors of {dimensions} numbers, but the "
                    f"query's has shape {asked.shape}; embed the query in the generation's space"
                )
            condition = self._demands.condition(connection, scope)
            question = Question(generation, asked, condition, limit, floor, detail)
            return neighbours(connection, question)

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id."""
        held: dict[str, list[PassageVector]] = {}
        with self._db.read() as connection:
            found = rows(connection, _OF_DOCUMENTS, (generation, list(ids)))
        for id, position, vector, sentences in found:
            one = PassageVector(position, as_array(vector), bytes(sentences))
            held.setdefault(id, []).append(one)
        return held

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        with self._db.read() as connection:
            found = rows(connection, _SAMPLE, (generation, size))
        return [(id, as_array(vector)) for id, vector in found]


def held_generations(connection: Connection) -> list[Generation]:
    """All generations, oldest first."""
    return [
        Generation(number, Space(**json.loads(space)), GenerationState(state), reason, revision)
        for number, space, state, reason, revision in rows(connection, _GENERATIONS)
    ]


def demand_generation(connection: Connection, number: int) -> Generation:
    """The generation; StoreError if there is none: another process may have dropped it."""
    for one in held_generations(connection):
        if one.number == number:
            return one
    raise StoreError(f"there is no generation {number}; `twolane status` lists them")


def _add(
    connection: Connection,
    generation: int,
    fresh: Sequence[NewVector],
    times: Mapping[str, float | bool],
) -> None:
    import numpy as np
    from pgvector import Vector as Written

    dimensions = demand_generation(connection, generation).space.dimensions
    try:
        matrix = np.stack([one.vector for one in fresh])
    except ValueError:
        # Rows of different lengths do not stack; the check names what was expected.
        matrix = np.empty((0, 0), np.float32)
    check_vectors(matrix, count=len(fresh), dimensions=dimensions)
    with connection.cursor() as cursor:
        cursor.executemany(
            _ADD.encode(),
            [
                {
                    **times,
                    "generation": generation,
                    "dimensions": dimensions,
                    "vector": Written(one.vector),
                    "sentences": one.sentences,
                    "content_hash": one.content_hash,
                }
                for one in fresh
            ],
        )


def _set_means(connection: Connection, generation: int, means: Mapping[str, Mean]) -> None:
    run(connection, "DELETE FROM means WHERE generation = %s", (generation,))
    run_all(
        connection,
        "INSERT INTO means(generation, language, mean, passages) VALUES (%s, %s, %s, %s)",
        [
            (generation, language, one.vector.astype("<f4").tobytes(), one.passages)
            for language, one in means.items()
        ],
    )


def _set_state(
    connection: Connection, number: int, state: GenerationState, reason: str | None
) -> None:
    run(
        connection,
        "UPDATE generations SET state = %s, reason = %s WHERE number = %s",
        (str(state), reason, number),
    )
