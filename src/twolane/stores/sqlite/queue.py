"""How SQLite hands out the passages that lack a vector."""

from __future__ import annotations

import math
from collections.abc import Callable

from twolane.model.space import Pending
from twolane.stores.sql.document_rows import loaded
from twolane.stores.sql.queue import AMONG, BOUND, Engine, SqlQueue, Wanted, without_vector
from twolane.stores.sql.session import Session
from twolane.stores.sqlite.database import Database
from twolane.stores.sqlite.document_rows import unpacked
from twolane.stores.sqlite.vectors import generations_of

# Equal passages share a vector.
_VECTOR = "v.generation = :generation AND v.content_hash = c.content_hash"

# Distinct passages that nobody works on and that are due, first document first.
_FREE = f"""
SELECT content_hash, id, position, title, headings, language, start, "end", row, forms,
       (SELECT tries FROM jobs AS j
        WHERE j.generation = :generation AND j.content_hash = free.content_hash)
FROM (
    SELECT c.content_hash, d.title, c.headings, c.language, c.start, c."end",
           d.row, d.id, c.position, c.forms,
           row_number() OVER (PARTITION BY c.content_hash ORDER BY d.id, c.position) AS place
    {without_vector(_VECTOR)} AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.generation = :generation AND j.content_hash = c.content_hash AND {BOUND})
    {{which}}) AS free
WHERE place = 1 ORDER BY id, position LIMIT :limit"""

_LEASE = """
INSERT INTO jobs(generation, content_hash, worker, leased_until) VALUES (?,?,?,?)
ON CONFLICT(generation, content_hash) DO UPDATE SET
    worker = excluded.worker, leased_until = excluded.leased_until"""

_TEXT = """
SELECT x.body, d.description, d.summary, d.arguments
FROM texts AS x JOIN documents AS d ON d.row = x.row WHERE x.row = ?"""

# Documents have a revision, vectors a row number that only grows, and generations come and go.
_REVISION = """
SELECT (SELECT revision FROM counters),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0),
       (SELECT group_concat(number) FROM generations)"""


def embedding_queue(database: Database, clock: Callable[[], float]) -> SqlQueue:
    """The EmbeddingQueue port over a file."""
    engine = Engine(_VECTOR, "v.at", "max", _claim, lambda session, _: session.rows(_REVISION))
    return SqlQueue(database, engine, generations_of(database), clock)


def _claim(session: Session, wanted: Wanted) -> list[Pending]:
    asked: dict[str, object] = {
        "generation": wanted.generation,
        "now": wanted.now,
        "never": math.inf,
        "limit": wanted.limit,
    }
    # A search needs nothing of it.
    from twolane.ingest.chunking import lead_text

    which = ""
    if wanted.ids is not None:
        which, asked["ids"] = AMONG, wanted.ids
    free = session.rows(_FREE.format(which=which), asked)
    session.run_all(
        _LEASE, [(wanted.generation, row[0], wanted.worker, wanted.until) for row in free]
    )
    texts = {row: session.rows(_TEXT, (row,))[0] for row in {each[8] for each in free}}
    claimed = []
    for content, id, position, title, headings, language, start, end, row, keys, tries in free:
        body, description, summary, arguments = texts[row]
        claimed.append(
            Pending(
                content,
                id,
                position,
                title,
                tuple(loaded(headings)),
                body[start:end] or lead_text(description, summary, loaded(arguments)),
                language,
                tries or 0,
                unpacked(keys),
            )
        )
    return claimed
