"""The work that is left: which passages lack a vector, who is at it, what failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from twolane.model.scope import EVERYBODY, Scope
from twolane.model.space import Failure, Jobs, Pending, Progress
from twolane.model.values import dataclass
from twolane.ports.queue import LONGEST_LEASE_SECONDS, LONGEST_RETRY_SECONDS
from twolane.stores.sql.counting import KEPT, Remembered
from twolane.stores.sql.generations import Generations
from twolane.stores.sql.session import Database, Session

# Somebody works on a job `j`, or it is not due yet; what a clock that runs ahead wrote binds
# nobody.
BOUND = f"""
(coalesce(j.leased_until > :now AND j.leased_until <= :now + {LONGEST_LEASE_SECONDS}, false)
 OR coalesce(j.retry_at > :now AND (j.retry_at = :never
             OR j.retry_at <= :now + {LONGEST_RETRY_SECONDS}), false))"""

# Only passages of these documents.
AMONG = "AND d.id = ANY(:ids)"

# Only those of one owner, or those of everybody.
_OWNED = " AND (CAST(:owner AS text) IS NULL OR d.owner = :owner)"

_FAIL = """
INSERT INTO jobs AS j (generation, content_hash, tries, retry_at, reason) VALUES (?, ?, 1, ?, ?)
ON CONFLICT (generation, content_hash) DO UPDATE SET
    tries = j.tries + 1, retry_at = excluded.retry_at, reason = excluded.reason,
    worker = NULL, leased_until = NULL"""

# Jobs whose passage stands in a listed document.
_JOBS = f"""
FROM jobs AS j WHERE j.generation = :generation AND EXISTS (
    SELECT 1 FROM chunks AS c JOIN documents AS d ON d.row = c.document
    WHERE c.content_hash = j.content_hash AND d.listed{_OWNED})"""

# No passage with this content has a vector.
_UNSERVED = """NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = j.generation AND v.content_hash = j.content_hash)"""

_FAILED = f"""
SELECT count(*), count(*) FILTER (WHERE j.retry_at = :never) {_JOBS}
AND j.reason IS NOT NULL AND {_UNSERVED}"""

_DUE = f"""
SELECT {{greatest}}(
    CASE WHEN j.leased_until <= :now + {LONGEST_LEASE_SECONDS} THEN j.leased_until ELSE 0 END,
    CASE WHEN j.retry_at <= :now + {LONGEST_RETRY_SECONDS} THEN j.retry_at ELSE 0 END) AS due
{_JOBS} AND coalesce(j.retry_at, 0) < :never ORDER BY due LIMIT 1"""

# The first passage of each document that failed and has no vector.
_FAILURES = f"""
SELECT id, reason, tries, retry_at FROM (
    SELECT d.id, j.reason, j.tries, j.retry_at,
           row_number() OVER (PARTITION BY d.id ORDER BY c.position) AS place
    FROM jobs AS j
    JOIN chunks AS c ON c.content_hash = j.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE j.generation = :generation AND j.reason IS NOT NULL AND d.listed{_OWNED} {{which}}
      AND {_UNSERVED}) AS failed
WHERE place = 1 ORDER BY id"""

# Distinct passages of listed documents, and how many of them have a vector.
_COUNTS = f"""
SELECT count(DISTINCT c.content_hash), count(DISTINCT v.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v ON {{vector}} WHERE d.listed{_OWNED}"""

_LANGUAGES = """
SELECT c.language, count(DISTINCT c.content_hash)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND c.language IS NOT NULL GROUP BY 1"""

_WORKERS = """
SELECT DISTINCT worker FROM jobs WHERE generation = ? AND worker IS NOT NULL ORDER BY worker"""

# The rate of a generation, and whether anything of it was claimed or failed.
_RATE = """
SELECT rate, EXISTS (SELECT 1 FROM jobs WHERE generation = :generation)
FROM generations WHERE number = :generation"""

_WAITING = f"""
SELECT d.id, count(DISTINCT c.content_hash) {{without_vector}}{_OWNED} {{which}}
GROUP BY d.id ORDER BY d.id"""

# When the last passage of each document got its vector, if all of them have one.
_EMBEDDED = f"""
SELECT d.id, max({{embedded_at}}) FROM chunks AS c JOIN documents AS d ON d.row = c.document
LEFT JOIN vectors AS v ON {{vector}} WHERE d.listed{_OWNED} {{which}}
GROUP BY d.id HAVING count(*) = count({{embedded_at}}) ORDER BY d.id"""

# A worker's leases end; what failed before is still known to have failed.
_LET_GO = """
UPDATE jobs SET worker = NULL, leased_until = NULL WHERE generation = ? AND worker = ?"""


def without_vector(vector: str) -> str:
    """Passages `c` of listed documents `d` that have no `vector`."""
    return f"""
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (SELECT 1 FROM vectors AS v WHERE {vector})"""


class Wanted(NamedTuple):
    """What a worker claims: up to `limit` passages of a generation, of these documents if any."""

    generation: int
    worker: str
    limit: int
    now: float
    until: float
    ids: list[str] | None


@dataclass(frozen=True, slots=True)
class Engine:
    """What one engine does in its own way.

    `vector` says that `v` is the vector of passage `c` in the generation, `embedded_at` when it was
    made; `revision` is another one whenever documents or vectors of a generation change.
    `listen` calls whoever asks when another process leaves work, if the engine tells of it.
    """

    vector: str
    embedded_at: str
    greatest: str
    claim: Callable[[Session, Wanted], list[Pending]]
    revision: Callable[[Session, int], object]
    listen: Callable[[Callable[[], None]], None] = lambda wake: None


class _Counts(NamedTuple):
    """Distinct passages, how many of them have a vector, and how many each language has."""

    revision: object
    passages: int
    ready: int
    languages: dict[str, int]


class SqlQueue:
    """The EmbeddingQueue port."""

    def __init__(
        self,
        database: Database,
        engine: Engine,
        generations: Generations,
        clock: Callable[[], float],
        owners: int = KEPT,
    ) -> None:
        """`owners` is of how many owners the counts are kept."""
        self._db = database
        self._engine = engine
        self._generations = generations
        self._clock = clock
        self._counts: Remembered[tuple[int, str | None], _Counts] = Remembered(owners)

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
        among = None if ids is None else sorted(ids)
        wanted = Wanted(generation, worker, limit, now, now + seconds, among)

        def take(session: Session) -> list[Pending]:
            self._generations.demand(session, generation)
            return self._engine.claim(session, wanted)

        return self._db.writing(take, sharing=True)

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded, and when to try again; None: never."""
        due = math.inf if retry_in is None else self._clock() + retry_in

        def note(session: Session) -> None:
            self._generations.demand(session, generation)
            session.run(_FAIL, (generation, content_hash, due, reason))

        self._db.writing(note, sharing=True)

    def complete(
        self, generation: int, content_hashes: Sequence[str], *, rate: float | None = None
    ) -> None:
        """The passages have their vectors: end their leases and forget that they failed."""

        def end(session: Session) -> None:
            self._generations.demand(session, generation)
            session.run(
                "DELETE FROM jobs WHERE generation = ? AND content_hash = ANY(?)",
                (generation, list(content_hashes)),
            )
            if rate is not None:
                session.run("UPDATE generations SET rate = ? WHERE number = ?", (rate, generation))

        self._db.writing(end, sharing=True)

    def release(self, generation: int, worker: str | None = None) -> None:
        """End all leases of a worker; without one, make all that failed due."""

        def let_go(session: Session) -> None:
            if worker is None:
                session.run(
                    "UPDATE jobs SET tries = 0, retry_at = ?"
                    " WHERE generation = ? AND reason IS NOT NULL",
                    (self._clock(), generation),
                )
                return
            session.run(
                "DELETE FROM jobs WHERE generation = ? AND worker = ? AND reason IS NULL",
                (generation, worker),
            )
            session.run(_LET_GO, (generation, worker))

        self._db.writing(let_go, sharing=True)

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` soon after another process leaves work, if the engine tells of it."""
        self._engine.listen(wake)

    def jobs(self, generation: int) -> Jobs:
        """What is under way and what failed."""
        now = self._clock()
        asked = {"generation": generation, "owner": None, "never": math.inf}
        with self._db.reading() as session:
            rate, any_jobs = _rate(session, generation)
            if not any_jobs:
                return Jobs(rate=rate)
            ((_, abandoned),) = session.rows(_FAILED, asked)
            due = _DUE.format(greatest=self._engine.greatest)
            soonest = session.rows(due, {**asked, "now": now})
            workers = tuple(worker for (worker,) in session.rows(_WORKERS, (generation,)))
        return Jobs(workers, max(0.0, soonest[0][0] - now) if soonest else None, abandoned, rate)

    def progress(
        self, generation: int, scope: Scope = EVERYBODY, *, detail: bool = False
    ) -> Progress:
        """How far the generation is; counted anew only after changes."""
        asked = {"generation": generation, "owner": scope.owner, "never": math.inf}
        with self._db.reading() as session:
            counts = self._counted(session, generation, scope.owner)
            failed, abandoned = 0, 0
            rate, any_jobs = _rate(session, generation)
            if any_jobs:
                ((failed, abandoned),) = session.rows(_FAILED, asked)
            waiting, failures, embedded = (
                self._details(session, generation, scope) if detail else ([], [], [])
            )
        return Progress(
            counts.ready,
            counts.passages - counts.ready - failed,
            failed,
            abandoned,
            counts.languages,
            rate,
            dict(waiting),
            {
                id: Failure(reason, tries, None if retry_at == math.inf else retry_at)
                for id, reason, tries, retry_at in failures
            },
            dict(embedded),
        )

    def _counted(self, session: Session, generation: int, owner: str | None) -> _Counts:
        revision = self._engine.revision(session, generation)
        known = self._counts.get((generation, owner))
        if known is not None and known.revision == revision:
            return known
        counts = _COUNTS.format(vector=self._engine.vector)
        with session.unhurried():
            ((passages, ready),) = session.rows(counts, {"generation": generation, "owner": owner})
            # Nobody asks which languages one owner's passages have.
            languages = dict(session.rows(_LANGUAGES)) if owner is None else {}
        return self._counts.put((generation, owner), _Counts(revision, passages, ready, languages))

    def _details(
        self, session: Session, generation: int, scope: Scope
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """What waits, what failed and when the rest was embedded; of these documents, if any."""
        values: dict[str, object] = {"generation": generation, "owner": scope.owner}
        which = ""
        if scope.documents:
            which, values["ids"] = AMONG, list(scope.documents)
        vector, at = self._engine.vector, self._engine.embedded_at
        waiting = _WAITING.format(which=which, without_vector=without_vector(vector))
        embedded = _EMBEDDED.format(which=which, vector=vector, embedded_at=at)
        return (
            session.rows(waiting, values),
            session.rows(_FAILURES.format(which=which), values),
            session.rows(embedded, values),
        )


def _rate(session: Session, generation: int) -> tuple[float | None, bool]:
    """How fast the generation was filled last, and whether anything was claimed or failed."""
    found = session.rows(_RATE, {"generation": generation})
    return found[0] if found else (None, False)
