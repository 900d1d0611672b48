"""Generations and their vectors, in SQLite."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.model import deadlines
from twolane.model.candidate import NearChunk, Neighbour
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.sql.generations import Generations, check, set_means
from twolane.stores.sql.session import Session
from twolane.stores.sqlite.conditions import ScopedRows, is_narrow
from twolane.stores.sqlite.database import Database

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector
    from twolane.stores.sqlite.matrix import VectorCache

# The order of the joins is ours: the planner would go through all vectors of the generation.
_OF_DOCUMENTS = """
SELECT d.id, c.position, v.vector, s.codes
FROM documents AS d CROSS JOIN chunks AS c ON c.document = d.row
CROSS JOIN vectors AS v ON v.generation = :generation AND v.content_hash = c.content_hash
LEFT JOIN sentences AS s ON s.generation = v.generation AND s.content_hash = v.content_hash
WHERE d.listed AND d.id = ANY(:ids) ORDER BY d.id, c.position"""

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

# Those that are not named are gone when all are centred anew.
_KEEP_ONLY = "DELETE FROM vectors WHERE generation = ? AND content_hash <> ALL(?)"

_CODES = """
SELECT v.row, s.codes FROM vectors AS v JOIN sentences AS s
    ON s.generation = v.generation AND s.content_hash = v.content_hash
WHERE v.row = ANY(?)"""


# A row number of vectors only grows.
_GROWN = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0)"


class SqliteVectors(Generations):
    """The VectorIndex port."""

    def __init__(
        self, database: Database, scoped: ScopedRows, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, _GROWN)
        self._file = database
        self._clock = clock
        self._scoped = scoped
        self._cached: dict[int, VectorCache] = {}

    def generations(self) -> list[Generation]:
        """All generations, oldest first; what is kept in memory of others is let go."""
        held = super().generations()
        for gone in set(self._cached) - {one.number for one in held}:
            self._cached.pop(gone, None)
        return held

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        for number, state in self.change_states(states, reason).items():
            if state in (None, GenerationState.RETIRED):
                # Its vectors may take much memory, and searches are done with them.
                self._cached.pop(number, None)

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

        def put(session: Session) -> None:
            space = self.demand(session, generation).space
            embedded_at: Mapping[str, float | None] = {}
            if means is not None:
                # Vectors that are only centred anew were embedded when they were.
                embedded_at = dict(session.rows(_TIMES, (generation,)))
                session.run(_KEEP_ONLY, (generation, [one.content_hash for one in fresh]))
                set_means(session, generation, means)
            if fresh:
                check(fresh, space)
                _add(session, generation, fresh, self._clock(), embedded_at)

        self._db.writing(put)

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
        with self._file.reading() as session:
            with deadlines.unhurried():
                cache.refresh(session.connection)
            allowed = self._scoped.rows(session, scope) if is_narrow(scope) else None
            best = cache.nearest(
                session.connection,
                vector,
                allowed=allowed,
                archived=scope.archived,
                limit=limit,
                floor=floor,
                chunks=max(detail, 1),
            )
            named = {
                row: (id, tuple(languages.split()))
                for row, id, languages in session.rows(
                    "SELECT row, id, languages FROM documents WHERE row = ANY(?)",
                    ([one.document for one in best],),
                )
            }
            shown = [row for one in best for _, _, row in one.chunks] if detail else []
            codes: dict[int, bytes] = dict(session.rows(_CODES, (shown,)))
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

        asked = {"generation": generation, "ids": list(ids)}
        held: dict[str, list[PassageVector]] = {}
        with self._db.reading() as session:
            for id, position, vector, codes in session.rows(_OF_DOCUMENTS, asked):
                one = PassageVector(position, np.frombuffer(vector, "<f4").copy(), codes or b"")
                held.setdefault(id, []).append(one)
        return held

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        import numpy as np

        with self._db.reading() as session:
            found = session.rows(_SAMPLE, {"generation": generation, "size": size})
        return [(id, np.frombuffer(vector, "<f4")) for id, vector in found]

    def _cache(self, generation: int) -> VectorCache:
        from twolane.stores.sqlite.matrix import VectorCache

        cache = self._cached.get(generation)
        return cache or self._cached.setdefault(generation, VectorCache(generation))


def generations_of(database: Database) -> Generations:
    """The generations of a file."""
    return Generations(database, _GROWN)


def _add(
    session: Session,
    generation: int,
    fresh: Sequence[NewVector],
    now: float,
    embedded_at: Mapping[str, float | None],
) -> None:
    held = {content for (content,) in session.rows(_HELD, ([one.content_hash for one in fresh],))}
    kept = [one for one in fresh if one.content_hash in held]
    session.run_all(
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
    session.run_all(
        "INSERT OR REPLACE INTO sentences(generation, content_hash, codes) VALUES (?,?,?)",
        [(generation, one.content_hash, one.sentences) for one in kept if one.sentences],
    )
