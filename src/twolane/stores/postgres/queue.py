"""The work that is left, in PostgreSQL: which passages lack a vector, who is at it, what failed."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Any, NamedTuple

from twolane.ingest.chunking import lead_text
from twolane.model.scope import EVERYBODY, Scope
from twolane.model.space import Failure, Pending, Progress
from twolane.ports.queue import LONGEST_LEASE_SECONDS, LONGEST_RETRY_SECONDS
from twolane.stores.postgres.database import (
    SHARING,
    Connection,
    Database,
    revision_of,
    rows,
    run,
    unhurried,
)
from twolane.stores.postgres.vectors import demand_generation

# Passages of listed documents without a vector.
_WITHOUT_VECTOR = """
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.document = c.document AND v.generation = %(generation)s AND v.position = c.position)"""

# Only those of one owner, or those of everybody.
_OWNED = " AND (%(owner)s::text IS NULL OR d.owner = %(owner)s)"

# Somebody works on it, or it is not due yet; what a clock that runs ahead wrote binds nobody.
_BOUND = f"""
(coalesce(j.leased_until > %(now)s AND j.leased_until <= %(now)s + {LONGEST_LEASE_SECONDS}, false)
 OR coalesce(j.retry_at > %(now)s AND (j.retry_at = 'Infinity'
             OR j.retry_at <= %(now)s + {LONGEST_RETRY_SECONDS}), false))"""

# Those of them that nobody works on and that are due, first document first.
# What another worker is just taking is passed over, not waited for.
_FREE = f"""
SELECT c.content_hash, d.id, c.position, d.title, c.headings, c.language, c.start, c."end",
       d.row, c.forms
{_WITHOUT_VECTOR} AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.generation = %(generation)s AND j.content_hash = c.content_hash AND {_BOUND})
  AND c.content_hash <> ALL(%(taken)s) {{which}} {{whose}}
ORDER BY d.id, c.position LIMIT %(limit)s FOR UPDATE OF c SKIP LOCKED"""

_AMONG = "AND d.id = ANY(%(ids)s)"
_OF_ONE = "AND d.owner IS NOT DISTINCT FROM %(whose)s::text"

# Whose passages wait.
_OWNERS = f"SELECT DISTINCT d.owner {_WITHOUT_VECTOR} ORDER BY d.owner"

# So long it is believed who waits; where it takes long to tell, so many times as long.
_BELIEVED = 2.0
_TIMES = 20

# Take passages that are still free: another worker may have taken one since we looked.
_LEASE = f"""
INSERT INTO jobs AS j (generation, content_hash, worker, leased_until)
SELECT %(generation)s, hash, %(worker)s, %(until)s FROM unnest(%(hashes)s::text[]) AS hash
ON CONFLICT (generation, content_hash) DO UPDATE SET
    worker = excluded.worker, leased_until = excluded.leased_until
WHERE NOT {_BOUND}
RETURNING content_hash, tries"""

_TEXTS = """
SELECT x.row, x.body, d.description, d.summary, d.arguments
FROM texts AS x JOIN documents AS d ON d.row = x.row WHERE x.row = ANY(%s)"""

_FAIL = """
INSERT INTO jobs AS j (generation, content_hash, tries, retry_at, reason) VALUES (%s, %s, 1, %s, %s)
ON CONFLICT (generation, content_hash) DO UPDATE SET
    tries = j.tries + 1, retry_at = excluded.retry_at, reason = excluded.reason,
    worker = NULL, leased_until = NULL"""

# Jobs whose passage stands in a listed document.
_JOBS = f"""
FROM jobs AS j WHERE j.generation = %(generation)s AND EXISTS (
    SELECT 1 FROM chunks AS c JOIN documents AS d ON d.row = c.document
    WHERE c.content_hash = j.content_hash AND d.listed{_OWNED})"""

# No passage with this content has a vector.
_UNSERVED = """NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = j.generation AND v.content_hash = j.content_hash)"""

_FAILED = f"""
SELECT count(*), count(*) FILTER (WHERE j.retry_at = 'Infinity') {_JOBS}
AND j.reason IS NOT NULL AND {_UNSERVED}"""

_DUE = f"""
SELECT min(greatest(
    CASE WHEN j.leased_until <= %(now)s + {LONGEST_LEASE_SECONDS} THEN j.leased_until ELSE 0 END,
    CASE WHEN j.retry_at <= %(now)s + {LONGEST_RETRY_SECONDS} THEN j.retry_at ELSE 0 END)) {_JOBS}
AND coalesce(j.retry_at, 0) < 'Infinity'"""

# The first passage of each document that failed and has no vector.
_FAILURES = f"""
SELECT DISTINCT ON (d.id) d.id, j.reason, j.tries, j.retry_at
FROM jobs AS j
JOIN chunks AS c ON c.content_hash = j.content_hash
JOIN documents AS d ON d.row = c.document
WHERE j.generation = %(generation)s AND j.reason IS NOT NULL AND d.listed{_OWNED} {{which}}
  AND {_UNSERVED}
ORDER BY d.id, c.position"""

# Distinct passages of listed documents, and how many of them have a vector.
_COUNTS = f"""
SELECT count(DISTINCT c.content_hash), count(DISTINCT v.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v
    ON v.document = c.document AND v.generation = %(generation)s AND v.position = c.position
WHERE d.listed{_OWNED}"""

_LANGUAGES = f"""
SELECT c.language, count(DISTINCT c.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND c.language IS NOT NULL{_OWNED} GROUP BY 1"""

_WORKERS = """
SELECT DISTINCT worker FROM jobs WHERE generation = %(generation)s AND worker IS NOT NULL
ORDER BY worker"""

_WAITING = f"""
SELECT d.id, count(DISTINCT c.content_hash) {_WITHOUT_VECTOR}{_OWNED} {{which}}
GROUP BY d.id ORDER BY d.id"""

# When the last passage of each document got its vector, if all of them have one.
_EMBEDDED = f"""
SELECT d.id, extract(epoch FROM max(v.embedded_at))::double precision
FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v
    ON v.document = c.document AND v.generation = %(generation)s AND v.position = c.position
WHERE d.listed{_OWNED} {{which}} GROUP BY d.id HAVING count(*) = count(v.row) ORDER BY d.id"""

_RATE = "SELECT rate, revision FROM generations WHERE number = %(generation)s"

# As many counts as a few owners ask for by turns.
_KEPT = 64


class _Counts(NamedTuple):
    """Distinct passages, how many of them have a vector, and how many each language has."""

    passages: int
    ready: int
    languages: dict[str, int]


class PostgresQueue:
    """The EmbeddingQueue port."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[int, str | None], tuple[object, _Counts]] = OrderedDict()
        self._owners: dict[int, tuple[float, list[str | None]]] = {}
        self._turns = count()

    def claim(
        self,
        generation: int,
        *,
        worker: str,
        limit: int,
        seconds: float,
        ids: Collection[str] | None = None,
    ) -> list[Pending]:
        """Up to `limit` passages without a vector, leased to `worker` for `seconds`.

        Where several owners wait, each gets a share, so that nobody waits for the end of another's
        long import.
        """
        now = self._clock()
        which = "" if ids is None else _AMONG

        def take(connection: Connection) -> list[Pending]:
            demand_generation(connection, generation)
            claimed: list[tuple[Any, int]] = []
            taken: list[str] = []
            asked: dict[str, Any] = {
                "generation": generation,
                "now": now,
                "ids": None if ids is None else list(ids),
                "taken": taken,
            }
            owners = [] if ids is not None else self._waiting(connection, generation)
            share = math.ceil(limit / len(owners)) if owners else limit
            for owner in owners if len(owners) > 1 else []:
                asked |= {"whose": owner, "limit": min(share, limit - len(claimed))}
                claim_some(connection, asked, claimed, _OF_ONE)
            while len(claimed) < limit and claim_some(
                connection, asked | {"limit": limit - len(claimed)}, claimed, ""
            ):
                pass
            return _pending(connection, claimed)

        def claim_some(
            connection: Connection, asked: dict[str, Any], claimed: list[Any], whose: str
        ) -> bool:
            """Add what is free to what is claimed; whether there was anything to look at."""
            if asked["limit"] <= 0:
                return False
            statement = _FREE.format(which=which, whose=whose)
            # Equal passages are one; of those the first counts.
            found = {row[0]: row for row in reversed(rows(connection, statement, asked))}
            if not found:
                return False
            lease = {"worker": worker, "until": now + seconds, "hashes": list(found)}
            tries = dict(rows(connection, _LEASE, {**asked, **lease}))
            asked["taken"] += found
            claimed += [
                (row, tries[content])
                for content, row in reversed(found.items())
                if content in tries
            ]
            return True

        return self._db.write(take, SHARING)

    def _waiting(self, connection: Connection, generation: int) -> list[str | None]:
        """Whose passages wait, another one first each time; looked up every few seconds."""
        until, owners = self._owners.get(generation, (0.0, []))
        started = time.monotonic()
        if started >= until:
            found = rows(connection, _OWNERS, {"generation": generation})
            owners = [owner for (owner,) in found]
            ended = time.monotonic()
            believed = ended + max(_BELIEVED, _TIMES * (ended - started))
            self._owners[generation] = believed, owners
        turn = next(self._turns) % len(owners) if owners else 0
        return [*owners[turn:], *owners[:turn]]

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded, and when to try again; None: never."""
        due = math.inf if retry_in is None else self._clock() + retry_in

        def note(connection: Connection) -> None:
            demand_generation(connection, generation)
            run(connection, _FAIL, (generation, content_hash, due, reason))

        self._db.write(note, SHARING)

    def complete(
        self, generation: int, content_hashes: Sequence[str], *, rate: float | None = None
    ) -> None:
        """The passages have their vectors: end their leases and forget that they failed."""

        def end(connection: Connection) -> None:
            demand_generation(connection, generation)
            run(
                connection,
                "DELETE FROM jobs WHERE generation = %s AND content_hash = ANY(%s)",
                (generation, list(content_hashes)),
            )
            if rate is not None:
                run(
                    connection,
                    "UPDATE generations SET rate = %s WHERE number = %s",
                    (rate, generation),
                )

        self._db.write(end, SHARING)

    def release(self, generation: int, worker: str | None = None) -> None:
        """End all leases of a worker; without one, make all that failed due."""

        def let_go(connection: Connection) -> None:
            if worker is None:
                run(
                    connection,
                    "UPDATE jobs SET tries = 0, retry_at = %s"
                    " WHERE generation = %s AND reason IS NOT NULL",
                    (self._clock(), generation),
                )
                return
            run(
                connection,
                "DELETE FROM jobs WHERE generation = %s AND worker = %s AND reason IS NULL",
                (generation, worker),
            )
            run(
                connection,
                "UPDATE jobs SET worker = NULL, leased_until = NULL"
                " WHERE generation = %s AND worker = %s",
                (generation, worker),
            )

        self._db.write(let_go, SHARING)

    def progress(
        self, generation: int, scope: Scope = EVERYBODY, *, detail: bool = False
    ) -> Progress:
        """How far the generation is; counted anew only after changes."""
        asked: dict[str, object] = {"generation": generation, "owner": scope.owner}
        everybody = {"generation": generation, "owner": None, "now": self._clock()}
        with self._db.read() as connection:
            counts = self._counted(connection, generation, scope.owner)
            ((failed, abandoned),) = rows(connection, _FAILED, asked)
            ((soonest,),) = rows(connection, _DUE, everybody)
            workers = tuple(worker for (worker,) in rows(connection, _WORKERS, asked))
            ((rate, _),) = rows(connection, _RATE, asked) or ((None, 0),)
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

    def _counted(self, connection: Connection, generation: int, owner: str | None) -> _Counts:
        asked = {"generation": generation, "owner": owner}
        revision = (revision_of(connection), *rows(connection, _RATE, asked))
        key = generation, owner
        with self._lock:
            kept = self._counts.get(key)
        if kept is not None and kept[0] == revision:
            return kept[1]
        with unhurried(connection):
            ((passages, ready),) = rows(connection, _COUNTS, asked)
            languages = dict(rows(connection, _LANGUAGES, asked))
        counts = _Counts(passages, ready, languages)
        with self._lock:
            self._counts[key] = revision, counts
            self._counts.move_to_end(key)
            while len(self._counts) > _KEPT:
                self._counts.popitem(last=False)
        return counts


def _details(
    connection: Connection, asked: dict[str, object], documents: Sequence[str]
) -> tuple[list[Any], list[Any], list[Any]]:
    """What waits, what failed and when the rest was embedded; of these documents, if any."""
    which = _AMONG if documents else ""
    values = {**asked, "ids": list(documents)}
    return (
        rows(connection, _WAITING.format(which=which), values),
        rows(connection, _FAILURES.format(which=which), values),
        rows(connection, _EMBEDDED.format(which=which), values),
    )


def _pending(connection: Connection, claimed: Sequence[tuple[Any, int]]) -> list[Pending]:
    texts = {
        row: rest for row, *rest in rows(connection, _TEXTS, ([row[8] for row, _ in claimed],))
    }
    found = []
    for (content, id, position, title, headings, language, start, end, row, keys), tries in claimed:
        body, *lead = texts[row]
        found.append(
            Pending(
                content,
                id,
                position,
                title,
                tuple(headings),
                body[start:end] or lead_text(*lead),
                language,
                tries,
                tuple(keys),
            )
        )
    return found
