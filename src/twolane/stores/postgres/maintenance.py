"""Keeping the tables in order: checks, mending, and indexes that are built beside other work."""

from __future__ import annotations

import json
import logging

from twolane.model.document import FIELDS
from twolane.model.errors import BadInput
from twolane.model.problem import Problem, ProblemCode
from twolane.model.space import Space
from twolane.stores.postgres.changing import relist, stems_of
from twolane.stores.postgres.database import Connection, Database, rows, run
from twolane.stores.postgres.document_rows import STREAMS
from twolane.stores.postgres.lexemes import vector
from twolane.stores.postgres.nearest import EXACTLY, index_name, kind_of
from twolane.stores.postgres.vectors import held_generations

log = logging.getLogger("twolane")

# So many documents are compared with the index of words at a time.
_AT_A_TIME = 500

# Each statement returns what must not exist; the text says what it means.
_INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "document without text",
        "SELECT id FROM documents WHERE row NOT IN (SELECT row FROM texts)",
    ),
    (
        "document whose words or letters cannot be found",
        "SELECT id FROM documents WHERE listed AND (row NOT IN (SELECT document FROM words)"
        " OR row NOT IN (SELECT document FROM letters))",
    ),
    (
        "words or letters of a document that must not be found",
        "SELECT id FROM documents WHERE NOT listed AND (row IN (SELECT document FROM words)"
        " OR row IN (SELECT document FROM letters))",
    ),
    (
        "vector of a passage that is not there",
        "SELECT 'vector ' || v.row FROM vectors AS v WHERE NOT EXISTS (SELECT 1 FROM chunks AS c"
        " WHERE c.document = v.document AND c.position = v.position"
        " AND c.content_hash = v.content_hash)",
    ),
    (
        "row whose owner is not that of its document",
        "SELECT d.id FROM documents AS d JOIN vectors AS v ON v.document = d.row"
        " WHERE v.owner IS DISTINCT FROM d.owner UNION "
        "SELECT d.id FROM documents AS d JOIN chunks AS c ON c.document = d.row"
        " WHERE c.owner IS DISTINCT FROM d.owner UNION "
        "SELECT d.id FROM documents AS d JOIN texts AS x ON x.row = d.row"
        " WHERE x.owner IS DISTINCT FROM d.owner",
    ),
    (
        "vector that is not one of its space",
        "SELECT 'vector ' || row FROM vectors"
        " WHERE vector_dims(embedding) <> dimensions OR vector_norm(embedding) = 0",
    ),
    (
        "more than one serving generation",
        "SELECT 'generations' FROM generations WHERE state = 'serving'"
        " GROUP BY state HAVING count(*) > 1",
    ),
)

# The field lengths as they are kept, and as they add up.
_KEPT_TOTALS = (
    f"SELECT sum(documents)::bigint, {', '.join(f'sum({one})::bigint' for one in FIELDS)}"
    " FROM counters"
)
_COUNTED_TOTALS = (
    "SELECT count(*), "
    + ", ".join(f"coalesce(sum(x.lengths[{at}]), 0)" for at in range(1, len(FIELDS) + 1))
    + " FROM texts AS x JOIN documents AS d ON d.row = x.row WHERE d.listed"
)

_LISTED = f"""
SELECT d.row, d.owner, {STREAMS} FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.listed AND d.row > %s ORDER BY d.row LIMIT %s"""

_OTHER_WORDS = """
SELECT w.document FROM unnest(%s::bigint[], %s::text[]) AS held(document, words)
JOIN words AS w ON w.document = held.document WHERE w.words <> held.words::tsvector"""

_BUILD = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON vectors
USING hnsw ((embedding::{kind}({dimensions})) {kind}_ip_ops) WHERE generation = {generation}"""

_TRIGRAMS = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS letters_of_{column} ON letters
USING gin ({column} gin_trgm_ops)"""

# An index whose making was broken off serves nobody, and is in the way of a new one.
_BROKEN = """
SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'twolane' AND NOT i.indisvalid"""

# Tables of which the planner knows too little to choose its ways: much was written just now.
_MUCH_CHANGED = """
SELECT relname FROM pg_stat_user_tables
WHERE schemaname = 'twolane' AND n_mod_since_analyze > 500 + 0.2 * n_live_tup"""

_NEAR_INDEXES = """
SELECT indexname FROM pg_indexes
WHERE schemaname = 'twolane' AND indexname LIKE 'vectors\\_near\\_%'"""

# Whoever builds indexes does it alone: "idx" as a number.
_BUILDING = 0x696478


class PostgresMaintenance:
    """The Maintenance port."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.location = database.place

    def check(self) -> list[Problem]:
        """Everything that is wrong with the tables; empty when they are sound."""
        with self._db.read() as connection:
            found = [
                (str(name), meaning)
                for meaning, statement in _INVARIANTS
                for (name,) in rows(connection, statement)
            ]
            found += [
                (f"document {row}", "the index of words does not hold its words")
                for row in _other_words(connection)
            ]
            kept, counted = _totals(connection)
            if kept != counted:
                found.append(("totals", f"kept {kept}, but the texts add up to {counted}"))
            found += [
                (f"generation {number}", "its fingerprint is not that of its space")
                for number in _strangers(connection)
            ]
        return [Problem(name, ProblemCode.DAMAGED, reason) for name, reason in found]

    def repair(self) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        done = self._db.write(_repair)
        return [Problem("database", ProblemCode.DAMAGED, said) for said in done]

    def settle(self) -> None:
        """Build the indexes that pay by now, and drop those of generations that are gone."""
        with self._db.outside_transaction() as connection:
            ((alone,),) = rows(connection, "SELECT pg_try_advisory_lock(%s)", (_BUILDING,))
            if not alone:
                return
            try:
                for (name,) in rows(connection, _BROKEN):
                    run(connection, f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
                for (name,) in rows(connection, _MUCH_CHANGED):
                    run(connection, f"ANALYZE {name}")
                self._settle_vectors(connection)
                if "pg_trgm" in self._db.extensions:
                    for column in ("names", "texts"):
                        run(connection, _TRIGRAMS.format(column=column))
            finally:
                rows(connection, "SELECT pg_advisory_unlock(%s)", (_BUILDING,))

    def backup(self, target: str) -> None:
        """Refuse: what a server keeps is copied by the server's own programs."""
        raise BadInput(
            f"{self.location} is kept by a PostgreSQL server, so it is not copied to {target}; "
            "use pg_dump, and pg_restore to bring it back"
        )

    def close(self) -> None:
        """Close all connections; calling it twice is harmless."""
        self._db.close()

    def _settle_vectors(self, connection: Connection) -> None:
        held = {index_name(one.number): one for one in held_generations(connection)}
        there = {name for (name,) in rows(connection, _NEAR_INDEXES)}
        for gone in there - held.keys():
            run(connection, f"DROP INDEX CONCURRENTLY IF EXISTS {gone}")
        count = "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE generation = %s LIMIT %s) AS v"
        for name, one in held.items():
            kind = kind_of(one.space.dimensions)
            if name in there or kind is None:
                continue
            if rows(connection, count, (one.number, EXACTLY + 1))[0][0] > EXACTLY:
                run(
                    connection,
                    _BUILD.format(
                        name=name,
                        kind=kind,
                        dimensions=one.space.dimensions,
                        generation=one.number,
                    ),
                )


def _repair(connection: Connection) -> list[str]:
    """Make again what is derived; what a person wrote is never deleted."""
    done = []
    strays = run(
        connection,
        "DELETE FROM vectors AS v WHERE vector_dims(embedding) <> dimensions"
        " OR vector_norm(embedding) = 0 OR NOT EXISTS (SELECT 1 FROM chunks AS c"
        " WHERE c.document = v.document AND c.position = v.position"
        " AND c.content_hash = v.content_hash AND c.owner IS NOT DISTINCT FROM v.owner)",
    )
    if strays:
        done.append(f"{strays} bad vectors deleted; `twolane embed` makes them again")
    wrong = [
        row
        for (row,) in rows(
            connection,
            "SELECT row FROM documents WHERE listed <> (row IN (SELECT document FROM words))"
            " OR listed <> (row IN (SELECT document FROM letters))",
        )
    ]
    wrong += _other_words(connection)
    if wrong:
        relist(connection, wrong)
        done.append(f"the words and letters of {len(set(wrong))} documents were written again")
    for number in _strangers(connection):
        run(connection, "DELETE FROM generations WHERE number = %s", (number,))
        done.append(f"generation {number} dropped: its space is not known")
    serving = rows(
        connection,
        "SELECT g.number FROM generations AS g WHERE g.state = 'serving' ORDER BY"
        " (SELECT count(*) FROM vectors AS v WHERE v.generation = g.number), g.number",
    )
    # Of several that serve, the one that knows most is kept.
    for (spare,) in serving[:-1]:
        run(connection, "UPDATE generations SET state = 'retired' WHERE number = %s", (spare,))
        done.append(f"generation {spare} retired: another one serves")
    kept, counted = _totals(connection)
    if kept != counted:
        pairs = zip(("documents", *FIELDS), counted, kept, strict=True)
        change = ", ".join(f"{name} = {name} + {new - old}" for name, new, old in pairs)
        run(connection, f"UPDATE counters SET {change} WHERE stripe = 1")
        done.append("the totals were counted again")
    if done:
        run(connection, "UPDATE counters SET revision = revision + 1 WHERE stripe = 1")
    return done


def _other_words(connection: Connection) -> list[int]:
    """Rows of documents for which the index of words holds other words than it should."""
    found: list[int] = []
    last = 0
    while some := rows(connection, _LISTED, (last, _AT_A_TIME)):
        last = some[-1][0]
        numbers = [row[0] for row in some]
        vectors = [vector(stems_of(row[2:]), row[1]) for row in some]
        found += [row for (row,) in rows(connection, _OTHER_WORDS, (numbers, vectors))]
    return found


def _totals(connection: Connection) -> tuple[tuple[int, ...], tuple[int, ...]]:
    (kept,), (counted,) = rows(connection, _KEPT_TOTALS), rows(connection, _COUNTED_TOTALS)
    return tuple(map(int, kept)), tuple(map(int, counted))


def _strangers(connection: Connection) -> list[int]:
    """Generations whose fingerprint is not that of their space: nobody knows what they hold."""
    held = rows(connection, "SELECT number, fingerprint, space FROM generations")
    return [number for number, fingerprint, space in held if not _belongs(fingerprint, space)]


def _belongs(fingerprint: str, space: str) -> bool:
    try:
        return Space(**json.loads(space)).fingerprint == fingerprint
    except (TypeError, ValueError):
        return False
