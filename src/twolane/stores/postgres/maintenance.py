"""Keeping the tables in order: checks, mending, and indexes that are built beside other work."""

from __future__ import annotations

import logging

from twolane.model.document import FIELDS
from twolane.model.errors import BadInput
from twolane.model.problem import Problem, ProblemCode
from twolane.stores.postgres.changing import relist, stems_of
from twolane.stores.postgres.database import Database, Session
from twolane.stores.postgres.lexemes import vector
from twolane.stores.postgres.replica import Replica
from twolane.stores.postgres.vectors import BUILT_WITH, EXACTLY, generations_of, index_name, kind_of
from twolane.stores.postgres.writing import STREAMS, path_end
from twolane.stores.sql.generations import mend, strangers
from twolane.text.plural import counted

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
WHERE d.listed AND d.row > ? ORDER BY d.row LIMIT ?"""

_OTHER_WORDS = """
SELECT w.document FROM unnest(?::bigint[], ?::text[]) AS held(document, words)
JOIN words AS w ON w.document = held.document WHERE w.words <> held.words::tsvector"""

_WITHOUT_END = f"""
SELECT row, path FROM documents WHERE path_end IS NULL AND path IS NOT NULL LIMIT {_AT_A_TIME}"""

_BUILD = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON vectors
USING hnsw ((embedding::{kind}({dimensions})) {kind}_ip_ops) WITH ({built_with})
WHERE generation = {generation}"""

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

# What a server may use while it builds an index of vectors, in kilobytes, if it allows no more.
_BUILDING_MEMORY = 512 * 1024
_GIVE_MEMORY = """
SELECT set_config('maintenance_work_mem', greatest(setting::bigint, ?)::text, false)
FROM pg_settings WHERE name = 'maintenance_work_mem'"""

# Whoever builds indexes does it alone: "idx" as a number.
_BUILDING = 0x696478


class PostgresMaintenance:
    """The Maintenance port."""

    def __init__(self, database: Database, replica: Replica | None = None) -> None:
        self._db = database
        self._replica = replica
        self.location = database.place

    def degraded(self) -> str | None:
        """Why the replica does not answer, if there is one that does not."""
        return self._replica.degraded() if self._replica else None

    def check(self) -> list[Problem]:
        """Everything that is wrong with the tables; empty when they are sound."""
        with self._db.reading() as session:
            found = [
                (str(name), meaning)
                for meaning, statement in _INVARIANTS
                for (name,) in session.rows(statement)
            ]
            found += [
                (f"document {row}", "the index of words does not hold its words")
                for row in _other_words(session)
            ]
            kept, real = _totals(session)
            if kept != real:
                found.append(("totals", f"kept {kept}, but the texts add up to {real}"))
            found += [
                (f"generation {number}", "its fingerprint is not that of its space")
                for number in strangers(session)
            ]
        return [Problem(name, ProblemCode.DAMAGED, reason) for name, reason in found]

    def repair(self) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        done = self._db.writing(_repair)
        return [Problem("database", ProblemCode.DAMAGED, said) for said in done]

    def settle(self) -> None:
        """Build the indexes that pay by now, and drop those of generations that are gone."""
        with self._db.outside_transaction() as session:
            ((alone,),) = session.rows("SELECT pg_try_advisory_lock(?)", (_BUILDING,))
            if not alone:
                return
            try:
                for (name,) in session.rows(_BROKEN):
                    session.run(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
                for (name,) in session.rows(_MUCH_CHANGED):
                    session.run(f"ANALYZE {name}")
                _settle_paths(session)
                self._settle_vectors(session)
                if "pg_trgm" in self._db.extensions:
                    for column in ("names", "texts"):
                        session.run(_TRIGRAMS.format(column=column))
            finally:
                session.rows("SELECT pg_advisory_unlock(?)", (_BUILDING,))

    def backup(self, target: str) -> None:
        """Refuse: what a server keeps is copied by the server's own programs."""
        raise BadInput(
            f"{self.location} is kept by a PostgreSQL server, so it is not copied to {target}; "
            "use pg_dump, and pg_restore to bring it back"
        )

    def close(self) -> None:
        """Close all connections; calling it twice is harmless."""
        if self._replica is not None:
            self._replica.close()
        self._db.close()

    def _settle_vectors(self, session: Session) -> None:
        held = {index_name(one.number): one for one in generations_of(self._db).held(session)}
        there = {name for (name,) in session.rows(_NEAR_INDEXES)}
        for gone in there - held.keys():
            session.run(f"DROP INDEX CONCURRENTLY IF EXISTS {gone}")
        count = "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE generation = ? LIMIT ?) AS v"
        for name, one in held.items():
            kind = kind_of(one.space.dimensions)
            if name in there or kind is None:
                continue
            if session.rows(count, (one.number, EXACTLY + 1))[0][0] > EXACTLY:
                # In what servers allow unless told otherwise it takes many times as long.
                session.rows(_GIVE_MEMORY, (_BUILDING_MEMORY,))
                session.run(
                    _BUILD.format(
                        name=name,
                        kind=kind,
                        dimensions=one.space.dimensions,
                        generation=one.number,
                        built_with=BUILT_WITH,
                    ),
                )
                session.run("RESET maintenance_work_mem")


def _settle_paths(session: Session) -> None:
    """Note how the paths end of documents that an earlier version wrote."""
    while some := session.rows(_WITHOUT_END):
        session.run_all(
            "UPDATE documents SET path_end = ? WHERE row = ?",
            [(path_end(path), row) for row, path in some],
        )


def _repair(session: Session) -> list[str]:
    """Make again what is derived; what a person wrote is never deleted."""
    done = []
    strays = session.run(
        "DELETE FROM vectors AS v WHERE vector_dims(embedding) <> dimensions"
        " OR vector_norm(embedding) = 0 OR NOT EXISTS (SELECT 1 FROM chunks AS c"
        " WHERE c.document = v.document AND c.position = v.position"
        " AND c.content_hash = v.content_hash AND c.owner IS NOT DISTINCT FROM v.owner)",
    )
    if strays:
        done.append(f"{strays} bad vectors deleted; `twolane embed` makes them again")
    wrong = [
        row
        for (row,) in session.rows(
            "SELECT row FROM documents WHERE listed <> (row IN (SELECT document FROM words))"
            " OR listed <> (row IN (SELECT document FROM letters))",
        )
    ]
    wrong += _other_words(session)
    if wrong:
        relist(session, wrong)
        done.append(
            f"the words and letters of {counted(len(set(wrong)), 'document')} were written again"
        )
    done += mend(session)
    kept, real = _totals(session)
    if kept != real:
        pairs = zip(("documents", *FIELDS), real, kept, strict=True)
        change = ", ".join(f"{name} = {name} + {new - old}" for name, new, old in pairs)
        session.run(f"UPDATE counters SET {change} WHERE stripe = 1")
        done.append("the totals were counted again")
    if done:
        session.run("UPDATE counters SET revision = revision + 1 WHERE stripe = 1")
    return done


def _other_words(session: Session) -> list[int]:
    """Rows of documents for which the index of words holds other words than it should."""
    found: list[int] = []
    last = 0
    while some := session.rows(_LISTED, (last, _AT_A_TIME)):
        last = some[-1][0]
        numbers = [row[0] for row in some]
        vectors = [vector(stems_of(row[2:]), row[1]) for row in some]
        found += [row for (row,) in session.rows(_OTHER_WORDS, (numbers, vectors))]
    return found


def _totals(session: Session) -> tuple[tuple[int, ...], tuple[int, ...]]:
    (kept,), (real,) = session.rows(_KEPT_TOTALS), session.rows(_COUNTED_TOTALS)
    return tuple(map(int, kept)), tuple(map(int, real))
