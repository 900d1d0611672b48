"""How PostgreSQL hands out the passages that lack a vector, to workers on many machines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from twolane.ingest.chunking import lead_text
from twolane.model.space import Pending
from twolane.stores.postgres.database import Database
from twolane.stores.postgres.documents import OWNERS
from twolane.stores.postgres.vectors import generations_of
from twolane.stores.sql.queue import AMONG, BOUND, Engine, SqlQueue, Wanted, without_vector
from twolane.stores.sql.session import Session

_VECTOR = "v.document = c.document AND v.generation = :generation AND v.position = c.position"

# Passages that nobody works on and that are due, first document first.
# What another worker is just taking is passed over, not waited for.
_FREE = f"""
SELECT c.content_hash, d.id, c.position, d.title, c.headings, c.language, c.start, c."end",
       d.row, c.forms
{without_vector(_VECTOR)} AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.generation = :generation AND j.content_hash = c.content_hash AND {BOUND})
  AND c.content_hash <> ALL(:taken) {{which}} {{whose}}
ORDER BY d.id, c.position LIMIT :limit FOR UPDATE OF c SKIP LOCKED"""

_OF_ONE = "AND d.owner IS NOT DISTINCT FROM CAST(:whose AS text)"

# Whose passages wait.
_OWNERS = f"SELECT DISTINCT d.owner {without_vector(_VECTOR)} ORDER BY d.owner"

# So long it is believed who waits; where it takes long to tell, so many times as long.
_BELIEVED = 2.0
_TIMES = 20

# Take passages that are still free: another worker may have taken one since we looked.
_LEASE = f"""
INSERT INTO jobs AS j (generation, content_hash, worker, leased_until)
SELECT :generation, hash, :worker, :until FROM unnest(CAST(:hashes AS text[])) AS hash
ON CONFLICT (generation, content_hash) DO UPDATE SET
    worker = excluded.worker, leased_until = excluded.leased_until
WHERE NOT {BOUND}
RETURNING content_hash, tries"""

_TEXTS = """
SELECT x.row, x.body, d.description, d.summary, d.arguments
FROM texts AS x JOIN documents AS d ON d.row = x.row WHERE x.row = ANY(?)"""


def embedding_queue(database: Database, clock: Callable[[], float]) -> SqlQueue:
    """The EmbeddingQueue port over a database."""
    generations = generations_of(database)

    def revision(session: Session, generation: int) -> object:
        filled = [one.revision for one in generations.held(session) if one.number == generation]
        return session.revision(), filled

    at = "extract(epoch FROM v.embedded_at)::double precision"
    engine = Engine(_VECTOR, at, "greatest", _Claims().claim, revision, database.listen)
    return SqlQueue(database, engine, generations, clock, OWNERS)


class _Claims:
    """Hands out passages, to each owner a share."""

    def __init__(self) -> None:
        self._owners: dict[int, tuple[float, list[str | None]]] = {}
        self._turns = count()

    def claim(self, session: Session, wanted: Wanted) -> list[Pending]:
        """Up to so many passages.

        Where several owners wait, each gets a share, so that nobody waits for the end of another's
        long import.
        """
        claim = _Claim(session, wanted)
        owners = [] if wanted.ids is not None else self._waiting(session, wanted.generation)
        if len(owners) > 1:
            share = math.ceil(wanted.limit / len(owners))
            for owner in owners:
                claim.take(share, _OF_ONE, owner)
        while claim.take(wanted.limit):
            continue
        return _pending(session, claim.taken)

    def _waiting(self, session: Session, generation: int) -> list[str | None]:
        """Whose passages wait, another one first each time; looked up every few seconds."""
        until, owners = self._owners.get(generation, (0.0, []))
        started = time.monotonic()
        if started >= until:
            owners = [owner for (owner,) in session.rows(_OWNERS, {"generation": generation})]
            ended = time.monotonic()
            believed = ended + max(_BELIEVED, _TIMES * (ended - started))
            self._owners[generation] = believed, owners
        turn = next(self._turns) % len(owners) if owners else 0
        return [*owners[turn:], *owners[:turn]]


class _Claim:
    """One worker's claim, as far as it got: rows of _FREE with how often each was tried."""

    def __init__(self, session: Session, wanted: Wanted) -> None:
        self._session = session
        self._wanted = wanted
        self._seen: list[str] = []
        self.taken: list[tuple[Any, int]] = []

    def take(self, limit: int, whose: str = "", owner: str | None = None) -> bool:
        """Take up to so many more that are free; whether there was anything to look at."""
        wanted = self._wanted
        limit = min(limit, wanted.limit - len(self.taken))
        if limit <= 0:
            return False
        asked = {
            "generation": wanted.generation,
            "now": wanted.now,
            "never": math.inf,
            "taken": self._seen,
            "ids": wanted.ids,
            "whose": owner,
            "limit": limit,
        }
        free = _FREE.format(which="" if wanted.ids is None else AMONG, whose=whose)
        # Equal passages are one; of those the first counts.
        found = {row[0]: row for row in reversed(self._session.rows(free, asked))}
        if not found:
            return False
        lease = {"worker": wanted.worker, "until": wanted.until, "hashes": list(found)}
        tries = dict(self._session.rows(_LEASE, {**asked, **lease}))
        self._seen += found
        self.taken += [
            (row, tries[content]) for content, row in reversed(found.items()) if content in tries
        ]
        return True


def _pending(session: Session, claimed: Sequence[tuple[Any, int]]) -> list[Pending]:
    texts = {row: rest for row, *rest in session.rows(_TEXTS, ([row[8] for row, _ in claimed],))}
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
