"""Mending a SQLite file: what is derived is made again, what a person wrote is never deleted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import apsw

from twolane.model.document import FIELDS
from twolane.model.problem import Problem, ProblemCode
from twolane.stores.sql.generations import mend
from twolane.stores.sqlite.database import Session, rows
from twolane.stores.sqlite.migrations import FILL_TERM_VECTORS
from twolane.stores.sqlite.parts import (
    fill,
    lost_rows,
    make,
    mend_values,
    missing,
    parts,
    unsound_values,
)
from twolane.stores.sqlite.recovering import (
    listed,
    make_readable,
    recover_collections,
    recover_documents,
    recover_passages,
    recover_tagging,
    recover_tags,
    recover_texts,
)
from twolane.stores.sqlite.seals import broken_seals, seal_everything, unsealed
from twolane.stores.sqlite.trigrams import stray_trigrams
from twolane.text.plural import counted

Step = Callable[[apsw.Connection], str | None]


def bad_vectors(connection: apsw.Connection) -> list[int]:
    """Rows of vectors that are too short, too long, not finite or not of unit length."""
    import numpy as np

    lengths: dict[int, int] = {}
    for number, space in connection.execute("SELECT number, space FROM generations"):
        lengths[number] = 4 * int(_read(space).get("dimensions", 0))
    bad = []
    for row, generation, held in connection.execute("SELECT row, generation, vector FROM vectors"):
        blob = held if isinstance(held, bytes) else b""
        vector = np.frombuffer(blob, "<f4") if len(blob) % 4 == 0 else np.zeros(0, "<f4")
        sound = len(blob) == lengths.get(generation) and bool(np.isfinite(vector).all())
        # Centred vectors are shorter than one, so only their direction must be there.
        if not sound or not vector.any():
            bad.append(row)
    return bad


def repair(connection: apsw.Connection) -> list[Problem]:
    """Mend what can be mended inside the open transaction; what was done, one line each."""
    done = [said for step in _STEPS if (said := step(connection)) is not None]
    if done:
        connection.execute("UPDATE counters SET revision = revision + 1")
        # A reader that holds part of this in memory has to look at all of it again.
        connection.execute("UPDATE documents SET revision = (SELECT revision FROM counters)")
    return [Problem("database", ProblemCode.DAMAGED, said) for said in done]


def _missing(connection: apsw.Connection) -> str | None:
    """Make tables again, empty; other parts follow later, by `_parts`, and are told here."""
    # The index of words may be torn, and must not stop the texts from being mended.
    for name in _OF_WORDS:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    lost = missing(connection, "table", "virtual", "view")
    for name in sorted({_index_of(shadow) for shadow in missing(connection, "shadow")} - {*lost}):
        drop_index(connection, name)
        lost.append(name)
    for name in lost:
        make(connection, name)
    for name in lost_rows(connection):
        connection.execute(f"DELETE FROM {name}")
        fill(connection, name)
        lost.append(name)
    lost += (name for name in missing(connection, "index", "trigger") if name not in _OF_WORDS)
    said = f"made again: {', '.join(sorted(lost))}" if lost else None
    if "tokens" in lost:
        # Nobody knows whether there were any, so nobody is let in without one.
        connection.execute(_REMEMBER_TOKENS)
        said = f"{said}; tokens are gone: make new ones with `twolane token add NAME`"
    return said


_REMEMBER_TOKENS = """
INSERT INTO tokens(id, name, capabilities, created, sha256, revoked)
VALUES ('lost', 'lost', '', unixepoch(), '', true)"""

_OF_WORDS = ("texts_inserted", "texts_deleted", "texts_leaving", "texts_returning")


def _index_of(shadow: str) -> str:
    return shadow.rpartition("_")[0]


def drop_index(connection: apsw.Connection, name: str) -> None:
    """Drop a full-text index, also one that cannot be opened any more."""
    try:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    except (apsw.CorruptError, apsw.SQLError):
        _cut_out(connection, name)


def _cut_out(connection: apsw.Connection, name: str) -> None:
    """Take an index out of the schema, since it cannot even be asked to leave."""
    shadows = [one for one, kind in parts().kinds.items() if kind == "shadow"]
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
    for shadow in shadows:
        if _index_of(shadow) == name:
            connection.execute(f"DROP TABLE IF EXISTS {shadow}")


def _parts(connection: apsw.Connection) -> None:
    for name in missing(connection, "index", "trigger"):
        make(connection, name)


def _values(connection: apsw.Connection) -> str | None:
    """Make values again what their columns can hold, as near as that goes."""
    found = list(unsound_values(connection))
    for table, column, _ in found:
        mend_values(connection, table, column)
    count = sum(rows for _, _, rows in found)
    return f"{counted(count, 'value')} that could not be read made readable" if count else None


def _seals(connection: apsw.Connection) -> str | None:
    """Take a damaged document for what it is now, have it analysed again, and read if it is a file.

    What was saved cannot be had back from here, so it is told by name.
    """
    broken = broken_seals(connection)
    for row, _, _ in broken:
        make_readable(connection, row)
    saved = [id for _, id, filed in broken if not filed]
    files = len(broken) - len(saved)
    said = []
    if saved:
        said.append(
            f"{counted(len(saved), 'document is', 'documents are')} not what was saved, and kept as"
            f" found: {listed(saved)} (look through what is left, or restore a backup)"
        )
    if files:
        changed = counted(files, "document is", "documents are")
        said.append(f"{changed} not what was read: `twolane index` reads the files again")
    return "; ".join(said) or None


def _sealed(connection: apsw.Connection) -> str | None:
    """Seal everything as it is now."""
    count = unsealed(connection)
    seal_everything(connection)
    return f"{counted(count, 'document')} sealed again" if count else None


def _orphans(connection: apsw.Connection) -> str | None:
    """Delete what is derived from rows that are gone: it can be made again, or serves nobody."""
    count = 0
    for table, column, parent, key in _DERIVED:
        connection.execute(
            f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {key} FROM {parent})"
        )
        count += connection.changes()
    return f"{counted(count, 'derived row')} that belonged to nothing deleted" if count else None


# What is made from documents, files and generations, and refers to them.
_DERIVED = (
    # One that holds nothing: all others have got their document back.
    ("texts", "row", "documents", "row"),
    ("chunks", "document", "documents", "row"),
    ("sketches", "document", "documents", "row"),
    ("term_vectors", "document", "documents", "row"),
    ("seals", "document", "documents", "row"),
    ("ledger", "collection", "collections", "row"),
    ("means", "generation", "generations", "number"),
    ("vectors", "generation", "generations", "number"),
    ("sentences", "generation", "generations", "number"),
    ("jobs", "generation", "generations", "number"),
)


def _visibility(connection: apsw.Connection) -> str | None:
    connection.execute(
        "UPDATE texts SET listed = (SELECT listed FROM documents WHERE documents.row = texts.row)"
        " WHERE listed IS NOT (SELECT listed FROM documents WHERE documents.row = texts.row)"
    )
    count = connection.changes()
    return f"{counted(count, 'text')} listed as documents say" if count else None


def _tag_streams(connection: apsw.Connection) -> str | None:
    connection.execute(
        "UPDATE texts SET tags = (SELECT stems FROM tag_streams WHERE row = texts.row)"
        " WHERE tags IS NOT (SELECT stems FROM tag_streams WHERE row = texts.row)"
    )
    count = connection.changes()
    return f"the tags of {counted(count, 'text')} written again" if count else None


def _words(connection: apsw.Connection) -> str | None:
    """Fill the full-text index anew if it does not hold exactly what it should."""
    if not words_disagree(connection):
        return None
    columns = ", ".join(FIELDS)
    streams = ", ".join("stems" if name == "body" else name for name in FIELDS)
    for name in ("vocabulary", "words"):
        drop_index(connection, name)
    for name in ("words", "vocabulary"):
        make(connection, name)
    connection.execute(
        f"INSERT INTO words(rowid, {columns}) SELECT row, {streams} FROM texts WHERE listed"
    )
    return "the full-text index was filled again"


def _term_vectors(connection: apsw.Connection) -> str | None:
    """Make term vectors again that are wrong or missing."""
    count = wrong_term_vectors(connection)
    if not count:
        return None
    connection.execute("DELETE FROM term_vectors")
    connection.execute(FILL_TERM_VECTORS)
    return f"the terms of {counted(count, 'document')} were written again"


def _trigrams(connection: apsw.Connection) -> str | None:
    """Empty the trigrams that are wrong; settling makes them again."""
    stray = stray_trigrams(connection)
    for name in stray:
        drop_index(connection, name)
        make(connection, name)
    if not stray:
        return None
    connection.execute(
        "INSERT INTO unsettled SELECT row FROM texts WHERE listed ON CONFLICT DO NOTHING"
    )
    return f"to be filled again: {', '.join(stray)}"


def _totals(connection: apsw.Connection) -> str | None:
    kept, counted = totals(connection)
    if kept == counted:
        return None
    connection.execute("DELETE FROM totals")
    marks = ", ".join("?" * len(counted))
    connection.execute(
        f"INSERT INTO totals(documents, {', '.join(FIELDS)}) VALUES ({marks})", counted
    )
    return "the totals were counted again"


def _generations(connection: apsw.Connection) -> str | None:
    return "; ".join(mend(Session(connection))) or None


def _vectors(connection: apsw.Connection) -> str | None:
    bad = bad_vectors(connection)
    for row in bad:
        connection.execute("DELETE FROM vectors WHERE row = ?", (row,))
    return f"{len(bad)} bad vectors deleted; `twolane embed` makes them again" if bad else None


# The order matters: what later steps read is mended by earlier ones.
_STEPS: tuple[Step, ...] = (
    _missing,
    _values,
    _seals,
    recover_collections,
    recover_documents,
    recover_tags,
    recover_tagging,
    recover_texts,
    recover_passages,
    _orphans,
    _visibility,
    _tag_streams,
    _parts,
    _generations,
    _vectors,
    _words,
    _term_vectors,
    _trigrams,
    _totals,
    _sealed,
)


def words_disagree(connection: apsw.Connection) -> bool:
    """Whether the full-text index holds other documents or other words than it should."""
    listed = {row for (row,) in connection.execute("SELECT row FROM texts WHERE listed")}
    try:
        held = {row for (row,) in connection.execute("SELECT id FROM words_docsize")}
        return listed != held or _held_words(connection) != _streamed_words(connection)
    except (apsw.CorruptError, apsw.SQLError):
        # The index cannot even be read.
        return True


def wrong_term_vectors(connection: apsw.Connection) -> int:
    """How many documents have a term vector that their text does not give, or lack one."""
    found = rows(
        connection,
        "SELECT count(*) FROM texts AS x LEFT JOIN term_vectors AS t ON t.document = x.row"
        " WHERE t.terms IS NOT term_vector(x.stems)",
    )
    return int(found[0][0])


def _held_words(connection: apsw.Connection) -> str:
    """A digest of how many documents hold each term, as the index has it."""
    found = hashlib.blake2b(digest_size=16)
    for term, count in connection.execute("SELECT term, doc FROM vocabulary ORDER BY term"):
        found.update(f"{term} {count}\n".encode())
    return found.hexdigest()


def _streamed_words(connection: apsw.Connection) -> str:
    """The same from the stored streams."""
    counts: dict[str, int] = {}
    streams = " || ".join("stems" if name == "body" else name for name in FIELDS)
    for (text,) in connection.execute(f"SELECT {streams} FROM texts WHERE listed"):
        for term in set(text.split()):
            counts[term] = counts.get(term, 0) + 1
    found = hashlib.blake2b(digest_size=16)
    for term in sorted(counts, key=lambda one: one.encode()):
        found.update(f"{term} {counts[term]}\n".encode())
    return found.hexdigest()


def totals(connection: apsw.Connection) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The field lengths as they are kept, and as they add up."""
    sums = ", ".join(f"coalesce(sum(l.{name}), 0)" for name in FIELDS)
    counted = connection.execute(
        f"SELECT count(*), {sums} FROM lengths AS l JOIN texts AS x ON x.row = l.row WHERE x.listed"
    ).fetchone()
    kept = connection.execute(f"SELECT documents, {', '.join(FIELDS)} FROM totals").fetchone()
    return tuple(kept or ()), tuple(counted or ())


def _read(space: str) -> dict[str, Any]:
    try:
        read = json.loads(space)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
