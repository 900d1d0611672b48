"""The work that is left, in SQLite: which passages lack a vector, who is at it, what failed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection

import apsw

from twolane.chunking import lead_text
from twolane.model import Failure, Pending, Progress
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.form_keys import unpacked
from twolane.stores.sqlite.versions import demand_generation

# Distinct passages of listed documents without a vector, first document first.
_WITHOUT_VECTOR = """
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = :generation AND v.content_hash = c.content_hash)"""

# Those of them that nobody works on and that are due.
_FREE = f"""
SELECT content_hash, text_hash, title, headings, language, start, "end", row, forms,
       (SELECT tries FROM jobs AS j
        WHERE j.generation = :generation AND j.content_hash = free.content_hash)
FROM (
    SELECT c.content_hash, c.text_hash, d.title, c.headings, c.language, c.start, c."end",
           d.row, d.id, c.position, c.forms,
           row_number() OVER (PARTITION BY c.content_hash ORDER BY d.id, c.position) AS place
{_WITHOUT_VECTOR} AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.generation = :generation AND j.content_hash = c.content_hash
      AND (j.leased_until > :now OR j.retry_at > :now)) {{which}}) AS free
WHERE place = 1 ORDER BY id, position LIMIT :limit"""

_LEASE = """
INSERT INTO jobs(generation, content_hash, worker, leased_until) VALUES (?,?,?,?)
ON CONFLICT(generation, content_hash) DO UPDATE SET
    worker = excluded.worker, leased_until = excluded.leased_until"""

_AMONG = "AND d.id IN (SELECT value FROM json_each(:ids))"

_FAIL = """
INSERT INTO jobs(generation, content_hash, tries, retry_at, reason) VALUES (?,?,1,?,?)
ON CONFLICT(generation, content_hash) DO UPDATE SET
    tries = tries + 1, retry_at = excluded.retry_at, reason = excluded.reason,
    worker = NULL, leased_until = NULL"""

# The first passage of each document that failed and has no vector.
_FAILURES = """
SELECT id, reason, tries, retry_at FROM (
    SELECT d.id, j.reason, j.tries, j.retry_at,
           row_number() OVER (PARTITION BY d.id ORDER BY c.position) AS place
    FROM jobs AS j
    JOIN chunks AS c ON c.content_hash = j.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE j.generation = :generation AND j.reason IS NOT NULL AND d.listed AND NOT EXISTS (
        SELECT 1 FROM vectors AS v
        WHERE v.generation = j.generation AND v.content_hash = j.content_hash))
WHERE place = 1 ORDER BY id"""

_PROGRESS = """
SELECT count(DISTINCT c.content_hash), count(DISTINCT j.content_hash),
       count(DISTINCT CASE WHEN j.retry_at = 9e999 THEN j.content_hash END)
""" + _WITHOUT_VECTOR.replace(
    "WHERE",
    "LEFT JOIN jobs AS j ON j.generation = :generation"
    " AND j.content_hash = c.content_hash AND j.reason IS NOT NULL WHERE",
    1,
)


class SqliteWork:
    """The part of the Vectors port that hands out work."""

    _db: Database
    _clock: Callable[[], float]

    def claim(
        self,
        generation: int,
        *,
        worker: str,
        limit: int,
        seconds: float,
        ids: Collection[str] | None = None,
    ) -> list[Pending]:
        """Up to `limit` passages without a vector, leased to `worker` for `seconds`."""
        now = self._clock()
        among = None if ids is None else json.dumps(sorted(ids))
        with self._db.write() as connection:
            demand_generation(connection, generation)
            found = rows(
                connection,
                _FREE.format(which="" if among is None else _AMONG),
                {"generation": generation, "now": now, "limit": limit, "ids": among},
            )
            connection.executemany(
                _LEASE, [(generation, row[0], worker, now + seconds) for row in found]
            )
            bodies: dict[int, str] = {}
            claimed = []
            for content, text, title, headings, language, start, end, row, forms, tries in found:
                if row not in bodies:
                    bodies[row] = connection.execute(
                        "SELECT body FROM texts WHERE row = ?", (row,)
                    ).get
                claimed.append(
                    Pending(
                        content,
                        text,
                        title,
                        tuple(json.loads(headings)),
                        bodies[row][start:end] or _lead(connection, row),
                        language,
                        tries or 0,
                        unpacked(forms),
                    )
                )
        return claimed

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded, and when to try again; None: never."""
        due = math.inf if retry_in is None else self._clock() + retry_in
        with self._db.write() as connection:
            demand_generation(connection, generation)
            connection.execute(_FAIL, (generation, content_hash, due, reason))

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

    def retry(self, generation: int) -> int:
        """Make every passage that failed due now, as if never tried; how many there were."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE jobs SET tries = 0, retry_at = ?"
                " WHERE generation = ? AND reason IS NOT NULL",
                (self._clock(), generation),
            )
            return connection.changes()

    def due(self, generation: int) -> float | None:
        """Seconds until a lease ends or a failed passage is due; None if nobody waits for any."""
        now = self._clock()
        with self._db.read() as connection:
            soonest = connection.execute(
                "SELECT min(max(coalesce(leased_until, 0), coalesce(retry_at, 0))) FROM jobs"
                " WHERE generation = ? AND coalesce(retry_at, 0) < 9e999"
                " AND content_hash IN (SELECT c.content_hash FROM chunks AS c"
                " JOIN documents AS d ON d.row = c.document WHERE d.listed)",
                (generation,),
            ).get
        return None if soonest is None else max(0.0, soonest - now)

    def progress(self, generation: int) -> Progress:
        """How many distinct passages are ready, pending and failed."""
        with self._db.read() as connection:
            total = connection.execute(
                "SELECT count(DISTINCT c.content_hash) FROM chunks AS c"
                " JOIN documents AS d ON d.row = c.document WHERE d.listed"
            ).get
            missing, failed, abandoned = connection.execute(
                _PROGRESS, {"generation": generation}
            ).fetchone() or (0, 0, 0)
        return Progress(total - missing, missing - failed, failed, abandoned)

    def failures(self, generation: int) -> dict[str, Failure]:
        """The failure of the first passage that failed, by document id."""
        with self._db.read() as connection:
            found = rows(connection, _FAILURES, {"generation": generation})
        return {
            id: Failure(reason, tries, None if retry_at == math.inf else retry_at)
            for id, reason, tries, retry_at in found
        }

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


def _lead(connection: apsw.Connection, row: int) -> str:
    """What an empty passage stands for: what the document says of itself."""
    description, summary, arguments = rows(
        connection, "SELECT description, summary, arguments FROM documents WHERE row = ?", (row,)
    )[0]
    return lead_text(description, summary, json.loads(arguments))
