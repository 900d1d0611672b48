"""Generations, vectors and the work that is left, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import apsw

from twolane.chunking import lead_text
from twolane.errors import StoreError
from twolane.model import Generation, GenerationState, Pending, Progress, Space
from twolane.stores.sqlite.database import Database, rows
from twolane.vector_checks import check_vectors

if TYPE_CHECKING:
    from twolane.ports import Vector
    from twolane.stores.sqlite.matrix import VectorCache

# Distinct passages of listed documents without a vector, first document first.
_WITHOUT_VECTOR = """
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = :generation AND v.content_hash = c.content_hash)"""

# Those of them that nobody works on and that are due.
_FREE = f"""
SELECT content_hash, text_hash, title, headings, language, start, "end", row FROM (
    SELECT c.content_hash, c.text_hash, d.title, c.headings, c.language, c.start, c."end",
           d.row, d.id,
           c.position,
           row_number() OVER (PARTITION BY c.content_hash ORDER BY d.id, c.position) AS place
{_WITHOUT_VECTOR} AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.generation = :generation AND j.content_hash = c.content_hash
      AND (j.leased_until > :now OR j.retry_at > :now)))
WHERE place = 1 ORDER BY id, position LIMIT :limit"""

_LEASE = """
INSERT INTO jobs(generation, content_hash, worker, leased_until) VALUES (?,?,?,?)
ON CONFLICT(generation, content_hash) DO UPDATE SET
    worker = excluded.worker, leased_until = excluded.leased_until"""

_FAIL = """
INSERT INTO jobs(generation, content_hash, tries, retry_at, reason) VALUES (?,?,1,?,?)
ON CONFLICT(generation, content_hash) DO UPDATE SET
    tries = tries + 1, retry_at = excluded.retry_at, reason = excluded.reason,
    worker = NULL, leased_until = NULL"""

# Vectors that serve no chunk: neither its own, nor the one that is lent to a chunk without.
_UNUSED = """
DELETE FROM vectors AS v
WHERE NOT EXISTS (
    SELECT 1 FROM chunks AS c
    WHERE c.text_hash = v.text_hash AND c.content_hash = v.content_hash)
  AND NOT (
    EXISTS (
        SELECT 1 FROM chunks AS c
        WHERE c.text_hash = v.text_hash AND NOT EXISTS (
            SELECT 1 FROM vectors AS own
            WHERE own.generation = v.generation AND own.content_hash = c.content_hash))
    AND v.content_hash = (
        SELECT min(other.content_hash) FROM vectors AS other
        WHERE other.generation = v.generation AND other.text_hash = v.text_hash))"""


# Each passage's vector with its language, first document first.
_ALL_VECTORS = """
SELECT content_hash, text_hash, language, vector FROM (
    SELECT v.content_hash, v.text_hash, c.language, v.vector, d.id, c.position,
           row_number() OVER (PARTITION BY v.content_hash ORDER BY d.id, c.position) AS place
    FROM vectors AS v
    JOIN chunks AS c ON c.text_hash = v.text_hash AND c.content_hash = v.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE v.generation = ? AND d.listed)
WHERE place = 1 ORDER BY id, position"""


class SqliteVectors:
    """The Vectors port."""

    _db: Database
    _clock: Callable[[], float]
    _cached: dict[int, VectorCache]

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        with self._db.read() as connection:
            return _generations(connection)

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space that is not retired, created if there is none."""
        with self._db.write() as connection:
            held = _generations(connection)
            for generation in held:
                if generation.space == space and generation.state != GenerationState.RETIRED:
                    return generation
            serving = any(other.state == GenerationState.SERVING for other in held)
            state = GenerationState.FILLING if serving else GenerationState.SERVING
            number = connection.execute(
                "INSERT INTO generations(fingerprint, space, state) VALUES (?,?,?)"
                " RETURNING number",
                (space.fingerprint, json.dumps(asdict(space)), str(state)),
            ).get
        return Generation(number, space, state)

    def activate(self, generation: int) -> None:
        """Let this generation serve and retire the one that did."""
        with self._db.write() as connection:
            _demand(connection, generation)
            connection.execute(
                "UPDATE generations SET state = ? WHERE state = ?",
                (str(GenerationState.RETIRED), str(GenerationState.SERVING)),
            )
            connection.execute(
                "UPDATE generations SET state = ? WHERE number = ?",
                (str(GenerationState.SERVING), generation),
            )

    def drop_generation(self, generation: int) -> None:
        """Delete a generation with its vectors."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM generations WHERE number = ?", (generation,))
        self._cached.pop(generation, None)

    def claim(self, generation: int, *, worker: str, limit: int, seconds: float) -> list[Pending]:
        """Up to `limit` passages without a vector, leased to `worker` for `seconds`."""
        now = self._clock()
        with self._db.write() as connection:
            found = rows(connection, _FREE, {"generation": generation, "now": now, "limit": limit})
            connection.executemany(
                _LEASE, [(generation, row[0], worker, now + seconds) for row in found]
            )
            bodies: dict[int, str] = {}
            claimed = []
            for content_hash, text_hash, title, headings, language, start, end, row in found:
                if row not in bodies:
                    bodies[row] = connection.execute(
                        "SELECT body FROM texts WHERE row = ?", (row,)
                    ).get
                text = bodies[row][start:end] or _lead(connection, row)
                claimed.append(
                    Pending(
                        content_hash,
                        text_hash,
                        title,
                        tuple(json.loads(headings)),
                        text,
                        language,
                    )
                )
        return claimed

    def add_vectors(self, generation: int, vectors: Iterable[tuple[str, str, Vector]]) -> None:
        """Store (content hash, text hash, unit vector) rows and end their leases."""
        fresh = list(vectors)
        if fresh:
            with self._db.write() as connection:
                _add(connection, generation, fresh)

    def means(self, generation: int) -> dict[str, Vector]:
        """The language means that the generation's vectors were centred by."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(
                connection, "SELECT language, mean FROM means WHERE generation = ?", (generation,)
            )
        return {language: np.frombuffer(mean, "<f4") for language, mean in found}

    def all_vectors(self, generation: int) -> list[tuple[str, str, str | None, Vector]]:
        """(content hash, text hash, language, vector) of each passage of the generation."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(connection, _ALL_VECTORS, (generation,))
        return [(*ahead, np.frombuffer(vector, "<f4")) for *ahead, vector in found]

    def recentre(
        self,
        generation: int,
        means: Mapping[str, Vector],
        vectors: Iterable[tuple[str, str, Vector]],
    ) -> None:
        """Replace the vectors and set the means they were centred by, both or neither."""
        fresh = list(vectors)
        with self._db.write() as connection:
            if fresh:
                _add(connection, generation, fresh)
            connection.execute("DELETE FROM means WHERE generation = ?", (generation,))
            connection.executemany(
                "INSERT INTO means(generation, language, mean) VALUES (?,?,?)",
                [
                    (generation, language, mean.astype("<f4").tobytes())
                    for language, mean in means.items()
                ],
            )

    def fail(self, generation: int, content_hash: str, reason: str, *, retry_in: float) -> None:
        """Record that a passage could not be embedded, and when to try again."""
        with self._db.write() as connection:
            connection.execute(_FAIL, (generation, content_hash, self._clock() + retry_in, reason))

    def workers(self, generation: int) -> list[str]:
        """The workers that hold a lease, sorted."""
        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT DISTINCT worker FROM jobs WHERE generation = ? AND worker IS NOT NULL"
                " ORDER BY worker",
                (generation,),
            )
        return [worker for (worker,) in found]

    def release(self, generation: int, worker: str) -> None:
        """End all leases of a worker."""
        with self._db.write() as connection:
            connection.execute(
                "DELETE FROM jobs WHERE generation = ? AND worker = ? AND reason IS NULL",
                (generation, worker),
            )
            connection.execute(
                "UPDATE jobs SET worker = NULL, leased_until = NULL"
                " WHERE generation = ? AND worker = ?",
                (generation, worker),
            )

    def progress(self, generation: int) -> Progress:
        """How many distinct passages are ready, pending and failed."""
        with self._db.read() as connection:
            total = connection.execute(
                "SELECT count(DISTINCT c.content_hash) FROM chunks AS c"
                " JOIN documents AS d ON d.row = c.document WHERE d.listed"
            ).get
            missing, failed = connection.execute(
                "SELECT count(DISTINCT c.content_hash), count(DISTINCT j.content_hash)"
                + _WITHOUT_VECTOR.replace(
                    "WHERE",
                    "LEFT JOIN jobs AS j ON j.generation = :generation"
                    " AND j.content_hash = c.content_hash AND j.reason IS NOT NULL WHERE",
                    1,
                ),
                {"generation": generation},
            ).fetchone() or (0, 0)
        return Progress(total - missing, missing - failed, failed)

    def failures(self, generation: int) -> dict[str, str]:
        """Reason by document id, for documents with a passage that failed."""
        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT d.id, min(j.reason) FROM jobs AS j"
                " JOIN chunks AS c ON c.content_hash = j.content_hash"
                " JOIN documents AS d ON d.row = c.document"
                " WHERE j.generation = ? AND j.reason IS NOT NULL AND d.listed"
                " AND NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.generation = j.generation"
                " AND v.content_hash = j.content_hash)"
                " GROUP BY d.id ORDER BY d.id",
                (generation,),
            )
        return dict(found)

    def unembedded(self, generation: int) -> dict[str, int]:
        """Number of passages without a vector by document id, where there are any."""
        with self._db.read() as connection:
            found = rows(
                connection,
                f"SELECT d.id, count(DISTINCT c.content_hash) {_WITHOUT_VECTOR}"
                " GROUP BY d.id ORDER BY d.id",
                {"generation": generation},
            )
        return dict(found)

    def sweep(self) -> int:
        """Delete vectors that serve no chunk any more; the number deleted."""
        with self._db.write() as connection:
            connection.execute(_UNUSED)
            return connection.changes()


def _add(
    connection: apsw.Connection, generation: int, fresh: Sequence[tuple[str, str, Vector]]
) -> None:
    import numpy as np

    space = _demand(connection, generation).space
    try:
        matrix = np.stack([vector for _, _, vector in fresh])
    except ValueError:
        # Rows of different lengths do not stack; the check names what was expected.
        matrix = np.empty((0, 0), np.float32)
    check_vectors(matrix, count=len(fresh), dimensions=space.dimensions)
    connection.executemany(
        "INSERT OR REPLACE INTO vectors(generation, content_hash, text_hash, vector)"
        " VALUES (?,?,?,?)",
        [
            (generation, content_hash, text_hash, vector.astype("<f4").tobytes())
            for content_hash, text_hash, vector in fresh
        ],
    )
    connection.executemany(
        "DELETE FROM jobs WHERE generation = ? AND content_hash = ?",
        [(generation, content_hash) for content_hash, _, _ in fresh],
    )


def _generations(connection: apsw.Connection) -> list[Generation]:
    return [
        Generation(number, Space(**json.loads(space)), GenerationState(state))
        for number, space, state in connection.execute(
            "SELECT number, space, state FROM generations ORDER BY number"
        )
    ]


def _lead(connection: apsw.Connection, row: int) -> str:
    """What an empty passage stands for: what the document says of itself."""
    description, summary, arguments = rows(
        connection, "SELECT description, summary, arguments FROM documents WHERE row = ?", (row,)
    )[0]
    return lead_text(description, summary, json.loads(arguments))


def _demand(connection: apsw.Connection, number: int) -> Generation:
    for generation in _generations(connection):
        if generation.number == number:
            return generation
    raise StoreError(f"there is no generation {number}; `twolane status` lists them")
