"""The work that is left, in SQLite: which passages lack a vector, who is at it, what failed."""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import apsw

from twolane.ingest.chunking import lead_text
from twolane.model import deadlines
from twolane.model.scope import EVERYBODY, Scope
from twolane.model.space import Failure, Pending, Progress
from twolane.ports.queue import LONGEST_LEASE_SECONDS, LONGEST_RETRY_SECONDS
from twolane.stores.sqlite.boilerplate_keys import unpacked
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import dumped_texts
from twolane.stores.sqlite.versions import demand_generation

# Distinct passages of listed documents without a vector, first document first.
_WITHOUT_VECTOR = """
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = :generation AND v.content_hash = c.content_hash)"""

# Only those of one owner, or those of everybody.
_OWNED = " AND (:owner IS NULL OR d.owner = :owner)"

# Those of them that nobody works on and that are due.
_FREE = f"""
SELECT content_hash, id, position, title, headings, language, start, "end", row, forms,
       (SELECT tries FROM jobs AS j
        WHERE j.generation = :generation AND j.content_hash = free.content_hash)
FROM (
    SELECT c.content_hash, d.title, c.headings, c.language, c.start, c."end",
           d.row, d.id, c.position, c.forms,
           row_number() OVER (PARTITION BY c.content_hash ORDER BY d.id, c.position) AS place
{_WITHOUT_VECTOR} AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.generation = :generation AND j.content_hash = c.content_hash
      AND (j.leased_until > :now AND j.leased_until <= :now + {LONGEST_LEASE_SECONDS}
           OR j.retry_at > :now AND (j.retry_at = 9e999
                                     OR j.retry_at <= :now + {LONGEST_RETRY_SECONDS})))
      {{which}}) AS free
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
_FAILURES = f"""
SELECT id, reason, tries, retry_at FROM (
    SELECT d.id, j.reason, j.tries, j.retry_at,
           row_number() OVER (PARTITION BY d.id ORDER BY c.position) AS place
    FROM jobs AS j
    JOIN chunks AS c ON c.content_hash = j.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE j.generation = :generation AND j.reason IS NOT NULL AND d.listed{_OWNED} {{which}}
      AND NOT EXISTS (
        SELECT 1 FROM vectors AS v
        WHERE v.generation = j.generation AND v.content_hash = j.content_hash))
WHERE place = 1 ORDER BY id"""

# Distinct passages of listed documents, and how many of them have a vector.
_COUNTS = f"""
SELECT count(DISTINCT c.content_hash), count(DISTINCT v.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v ON v.generation = :generation AND v.content_hash = c.content_hash
WHERE d.listed{_OWNED}"""

_LANGUAGES = f"""
SELECT c.language, count(DISTINCT c.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND c.language IS NOT NULL{_OWNED} GROUP BY 1"""

# Jobs whose passage stands in a listed document.
_JOBS = f"""
FROM jobs AS j WHERE j.generation = :generation AND EXISTS (
    SELECT 1 FROM chunks AS c JOIN documents AS d ON d.row = c.document
    WHERE c.content_hash = j.content_hash AND d.listed{_OWNED})"""

_FAILED = f"""
SELECT count(*), count(CASE WHEN j.retry_at = 9e999 THEN 1 END) {_JOBS}
AND j.reason IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = j.generation AND v.content_hash = j.content_hash)"""

_DUE = f"""
SELECT min(max(
    iif(j.leased_until <= :now + {LONGEST_LEASE_SECONDS}, j.leased_until, 0),
    iif(j.retry_at <= :now + {LONGEST_RETRY_SECONDS}, j.retry_at, 0))) {_JOBS}
AND coalesce(j.retry_at, 0) < 9e999"""

_WORKERS = """
SELECT DISTINCT worker FROM jobs WHERE generation = :generation AND worker IS NOT NULL
ORDER BY worker"""

_WAITING = f"""
SELECT d.id, count(DISTINCT c.content_hash) {_WITHOUT_VECTOR}{_OWNED} {{which}}
GROUP BY d.id ORDER BY d.id"""

# When the last passage of each document got its vector, if all of them have one.
_EMBEDDED = f"""
SELECT d.id, max(v.at) FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v ON v.generation = :generation AND v.content_hash = c.content_hash
WHERE d.listed{_OWNED} {{which}} GROUP BY d.id HAVING count(*) = count(v.at) ORDER BY d.id"""

# Documents have a revision, vectors a row number that only grows, and generations come and go.
_REVISION = """
SELECT (SELECT revision FROM counters)
       || ' ' || coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0)
       || ' ' || coalesce((SELECT group_concat(number) FROM generations), '')"""

# As many counts as a few owners ask for by turns.
_KEPT = 32


class _Counts(NamedTuple):
    """Distinct passages, how many of them have a vector, and how many each language has."""

    passages: int
    ready: int
    languages: dict[str, int]


class SqliteQueue:
    """The EmbeddingQueue port."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[int, str | None], tuple[str, _Counts]] = OrderedDict()

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
            for content, id, position, title, headings, language, start, end, row, *rest in found:
                keys, tries = rest
                if row not in bodies:
                    bodies[row] = connection.execute(
                        "SELECT body FROM texts WHERE row = ?", (row,)
                    ).get
                claimed.append(
                    Pending(
                        content,
                        id,
                        position,
                        title,
                        tuple(json.loads(headings)),
                        bodies[row][start:end] or _lead(connection, row),
                        language,
                        tries or 0,
                        unpacked(keys),
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

    def complete(
        self, generation: int, content_hashes: Sequence[str], *, rate: float | None = None
    ) -> None:
        """The passages have their vectors: end their leases and forget that they failed."""
        with self._db.write() as connection:
            demand_generation(connection, generation)
            connection.execute(
                "DELETE FROM jobs WHERE generation = ?"
                " AND content_hash IN (SELECT value FROM json_each(?))",
                (generation, dumped_texts(list(content_hashes))),
            )
            if rate is not None:
                connection.execute(
                    "UPDATE generations SET rate = ? WHERE number = ?", (rate, generation)
                )

    def release(self, generation: int, worker: str | None = None) -> None:
        """End all leases of a worker; without one, make all that failed due."""
        with self._db.write() as connection:
            if worker is None:
                connection.execute(
                    "UPDATE jobs SET tries = 0, retry_at = ?"
                    " WHERE generation = ? AND reason IS NOT NULL",
                    (self._clock(), generation),
                )
                return
            connection.execute(
                "DELETE FROM jobs WHERE generation = ? AND worker = ? AND reason IS NULL",
                (generation, worker),
            )
            connection.execute(
                "UPDATE jobs SET worker = NULL, leased_until = NULL"
                " WHERE generation = ? AND worker = ?",
                (generation, worker),
            )

    def progress(
        self, generation: int, scope: Scope = EVERYBODY, *, detail: bool = False
    ) -> Progress:
        """How far the generation is; counted anew only after changes."""
        asked: dict[str, object] = {"generation": generation, "owner": scope.owner}
        everybody = {"generation": generation, "owner": None, "now": self._clock()}
        with self._db.read() as connection, connection:
            counts = self._counted(connection, generation, scope.owner)
            ((failed, abandoned),) = rows(connection, _FAILED, asked)
            soonest = connection.execute(_DUE, everybody).get
            workers = tuple(worker for (worker,) in connection.execute(_WORKERS, asked))
            rate = connection.execute(
                "SELECT rate FROM generations WHERE number = ?", (generation,)
            ).get
            waiting, failures, embedded = (
                _details(connection, asked, scope.documents) if detail else ([], [], [])
            )
        return Progress(
            counts.ready,
            counts.passages - counts.ready - failed,
            failed,
            abandoned,
            counts.languages,
            None if soonest is None else max(0.0, soonest - self._clock()),
            workers,
            rate,
            dict(waiting),
            {
                id: Failure(reason, tries, None if retry_at == math.inf else retry_at)
                for id, reason, tries, retry_at in failures
            },
            dict(embedded),
        )

    def _counted(self, connection: apsw.Connection, generation: int, owner: str | None) -> _Counts:
        revision, key = str(connection.execute(_REVISION).get), (generation, owner)
        with self._lock:
            kept = self._counts.get(key)
        if kept is not None and kept[0] == revision:
            return kept[1]
        asked = {"generation": generation, "owner": owner}
        with deadlines.unhurried():
            ((passages, ready),) = rows(connection, _COUNTS, asked)
            languages = dict(rows(connection, _LANGUAGES, {"owner": owner}))
        counts = _Counts(passages, ready, languages)
        with self._lock:
            self._counts[key] = revision, counts
            self._counts.move_to_end(key)
            while len(self._counts) > _KEPT:
                self._counts.popitem(last=False)
        return counts


def _details(
    connection: apsw.Connection, asked: dict[str, object], documents: Sequence[str]
) -> tuple[list[Any], list[Any], list[Any]]:
    """What waits, what failed and when the rest was embedded; of these documents, if any."""
    which, values = ("", asked)
    if documents:
        which, values = _AMONG, {**asked, "ids": dumped_texts(documents)}
    return (
        rows(connection, _WAITING.format(which=which), values),
        rows(connection, _FAILURES.format(which=which), values),
        rows(connection, _EMBEDDED.format(which=which), values),
    )


def _lead(connection: apsw.Connection, row: int) -> str:
    """What an empty passage stands for: what the document says of itself."""
    description, summary, arguments = rows(
        connection, "SELECT description, summary, arguments FROM documents WHERE row = ?", (row,)
    )[0]
    return lead_text(description, summary, json.loads(arguments))
