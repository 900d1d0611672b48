"""Generations and their vectors, in SQLite."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import apsw

from twolane.embedding.vector_checks import check_vectors
from twolane.model import deadlines
from twolane.model.candidate import NearChunk, Neighbour
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.sqlite.conditions import narrower_than_usual
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import dumped_texts
from twolane.stores.sqlite.scoped import ScopedRows
from twolane.stores.sqlite.versions import demand_generation

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector
    from twolane.stores.sqlite.matrix import VectorCache

# A row number of vectors only grows.
_GENERATIONS = """
SELECT number, space, state, reason,
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0)
FROM generations ORDER BY number"""

_OF_DOCUMENTS = """
SELECT d.id, c.position, v.vector, s.codes
FROM documents AS d JOIN chunks AS c ON c.document = d.row
JOIN vectors AS v ON v.generation = :generation AND v.content_hash = c.content_hash
LEFT JOIN sentences AS s ON s.generation = v.generation AND s.content_hash = v.content_hash
WHERE d.listed AND d.id IN (SELECT value FROM json_each(:ids)) ORDER BY d.id, c.position"""

# Passages that some document holds.
_HELD = """
SELECT value FROM json_each(?) WHERE EXISTS (
    SELECT 1 FROM chunks AS c WHERE c.content_hash = value)"""

# Passages with the lowest hashes, which say nothing of what stands in them.
_SAMPLE = """
SELECT min(d.id), v.vector
FROM vectors AS v
CROSS JOIN chunks AS c ON c.content_hash = v.content_hash
CROSS JOIN documents AS d ON d.row = c.document
WHERE v.generation = :generation AND d.listed
GROUP BY v.content_hash ORDER BY v.content_hash LIMIT :size"""

_TIMES = "SELECT content_hash, at FROM vectors WHERE generation = ?"

_CODES = """
SELECT v.row, s.codes FROM vectors AS v JOIN sentences AS s
    ON s.generation = v.generation AND s.content_hash = v.content_hash
WHERE v.row IN (SELECT value FROM json_each(?))"""


class SqliteVectors:
    """The VectorIndex port."""

    def __init__(
        self, database: Database, scoped: ScopedRows, clock: Callable[[], float] = time.time
    ) -> None:
        self._db = database
        self._clock = clock
        self._scoped = scoped
        self._cached: dict[int, VectorCache] = {}

    def generations(self) -> list[Generation]:
        """All generations, oldest first; what is kept in memory of others is let go."""
        with self._db.read() as connection:
            held = _generations(connection)
        for gone in set(self._cached) - {one.number for one in held}:
            self._cached.pop(gone, None)
        return held

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""
        with self._db.write() as connection:
            held = _generations(connection)
            serving = any(other.state == GenerationState.SERVING for other in held)
            state = GenerationState.FILLING if serving else GenerationState.SERVING
            for generation in reversed(held):
                if generation.space == space:
                    if generation.state == GenerationState.RETIRED:
                        _set_state(connection, generation.number, state, None)
                        return replace(generation, state=state)
                    return generation
            number = connection.execute(
                "INSERT INTO generations(fingerprint, space, state) VALUES (?,?,?)"
                " RETURNING number",
                (space.fingerprint, json.dumps(asdict(space)), str(state)),
            ).get
        return Generation(number, space, state)

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        with self._db.write() as connection:
            changed = dict(states)
            for one in _generations(connection):
                if one.state == GenerationState.SERVING:
                    if GenerationState.SERVING not in states.values():
                        changed.pop(one.number, None)
                    else:
                        changed.setdefault(one.number, GenerationState.RETIRED)
            for number, state in changed.items():
                if state is None:
                    connection.execute("DELETE FROM generations WHERE number = ?", (number,))
                else:
                    demand_generation(connection, number)
                    why = reason if state == GenerationState.HELD else None
                    _set_state(connection, number, state, why)
        for number, state in changed.items():
            if state in (None, GenerationState.RETIRED):
                # Its vectors may take much memory, and searches are done with them.
                self._cached.pop(number, None)

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT language, mean, passages FROM means WHERE generation = ?",
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
        with self._db.write() as connection:
            demand_generation(connection, generation)
            embedded_at: Mapping[str, float | None] = {}
            if means is not None:
                # Vectors that are only centred anew were embedded when they were.
                embedded_at = dict(rows(connection, _TIMES, (generation,)))
                connection.execute(
                    "DELETE FROM vectors WHERE generation = ?"
                    " AND content_hash NOT IN (SELECT value FROM json_each(?))",
                    (generation, dumped_texts([one.content_hash for one in fresh])),
                )
                _set_means(connection, generation, means)
            if fresh:
                _add(connection, generation, fresh, self._clock(), embedded_at)

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
        cache = self._cache(generation)
        # One snapshot, so that the rows in scope are rows that the matrix knows.
        with self._db.read() as connection, connection:
            with deadlines.unhurried():
                cache.refresh(connection)
            allowed = None
            if narrower_than_usual(scope) is not None:
                allowed = self._scoped.rows(connection, scope)
            best = cache.nearest(
                vector,
                allowed=allowed,
                archived=scope.archived,
                limit=limit,
                floor=floor,
                chunks=max(detail, 1),
            )
            named = {
                row: (id, tuple(languages.split()))
                for row, id, languages in connection.execute(
                    "SELECT row, id, languages FROM documents"
                    " WHERE row IN (SELECT value FROM json_each(?))",
                    (str([one.document for one in best]),),
                )
            }
            shown = [row for one in best for _, _, row in one.chunks] if detail else []
            codes: dict[int, bytes] = dict(rows(connection, _CODES, (str(shown),)))
        found = [
            Neighbour(
                *named[one.document],
                one.chunks[0][0],
                one.chunks[0][1],
                one.mean,
                one.vector if detail else None,
                tuple(
                    NearChunk(position, similarity, codes.get(row, b""))
                    for position, similarity, row in one.chunks[:detail]
                ),
            )
            for one in best
        ]
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.id))
        return found[:limit]

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id."""
        import numpy as np

        asked = {"generation": generation, "ids": dumped_texts(list(ids))}
        held: dict[str, list[PassageVector]] = {}
        with self._db.read() as connection:
            for id, position, vector, codes in connection.execute(_OF_DOCUMENTS, asked):
                one = PassageVector(position, np.frombuffer(vector, "<f4").copy(), codes or b"")
                held.setdefault(id, []).append(one)
        return held

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        import numpy as np

        with self._db.read() as connection:
            asked = {"generation": generation, "size": size}
            found = rows(connection, _SAMPLE, asked)
        return [(id, np.frombuffer(vector, "<f4")) for id, vector in found]

    def _cache(self, generation: int) -> VectorCache:
        from twolane.stores.sqlite.matrix import VectorCache

        cache = self._cached.get(generation)
        return cache or self._cached.setdefault(generation, VectorCache(generation))


def _add(
    connection: apsw.Connection,
    generation: int,
    fresh: Sequence[NewVector],
    now: float,
    embedded_at: Mapping[str, float | None],
) -> None:
    import numpy as np

    (space,) = [one.space for one in _generations(connection) if one.number == generation]
    try:
        matrix = np.stack([one.vector for one in fresh])
    except ValueError:
        # Rows of different lengths do not stack; the check names what was expected.
        matrix = np.empty((0, 0), np.float32)
    check_vectors(matrix, count=len(fresh), dimensions=space.dimensions)
    hashes = dumped_texts([one.content_hash for one in fresh])
    held = {content for (content,) in connection.execute(_HELD, (hashes,))}
    kept = [one for one in fresh if one.content_hash in held]
    connection.executemany(
        "INSERT OR REPLACE INTO vectors(generation, content_hash, vector, at) VALUES (?,?,?,?)",
        [
            (
                generation,
                one.content_hash,
                one.vector.astype("<f4").tobytes(),
                embedded_at.get(one.content_hash, now),
            )
            for one in kept
        ],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO sentences(generation, content_hash, codes) VALUES (?,?,?)",
        [(generation, one.content_hash, one.sentences) for one in kept if one.sentences],
    )


def _set_means(connection: apsw.Connection, generation: int, means: Mapping[str, Mean]) -> None:
    connection.execute("DELETE FROM means WHERE generation = ?", (generation,))
    connection.executemany(
        "INSERT INTO means(generation, language, mean, passages) VALUES (?,?,?,?)",
        [
            (generation, language, one.vector.astype("<f4").tobytes(), one.passages)
            for language, one in means.items()
        ],
    )


def _generations(connection: apsw.Connection) -> list[Generation]:
    return [
        Generation(number, Space(**json.loads(space)), GenerationState(state), reason, revision)
        for number, space, state, reason, revision in connection.execute(_GENERATIONS)
    ]


def _set_state(
    connection: apsw.Connection, number: int, state: GenerationState, reason: str | None
) -> None:
    connection.execute(
        "UPDATE generations SET state = ?, reason = ? WHERE number = ?",
        (str(state), reason, number),
    )
