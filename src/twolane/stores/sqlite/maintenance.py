"""Keeping the SQLite file itself in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from twolane.model.errors import BadInput, NotADatabase, StoreError
from twolane.model.problem import Problem, ProblemCode
from twolane.stores.sqlite.copying import arriving
from twolane.stores.sqlite.database import Database
from twolane.stores.sqlite.repairing import (
    bad_vectors,
    missing_parts,
    repair,
    totals,
    words_disagree,
    wrong_fingerprints,
)
from twolane.stores.sqlite.trigrams import Settling, stray_trigrams

# Each statement returns what must not exist; the text says what it means.
_INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "document without text",
        "SELECT id FROM documents WHERE row NOT IN (SELECT row FROM texts)",
    ),
    (
        "text that the full-text index should hold",
        "SELECT d.id FROM documents AS d WHERE d.listed"
        " AND d.row NOT IN (SELECT id FROM words_docsize)",
    ),
    (
        "full-text row of a document that must not be found",
        "SELECT 'row ' || id FROM words_docsize"
        " WHERE id NOT IN (SELECT row FROM documents WHERE listed)",
    ),
    (
        "document whose text and visibility disagree",
        "SELECT d.id FROM documents AS d JOIN texts AS x ON x.row = d.row"
        " WHERE d.listed IS NOT x.listed",
    ),
    (
        "document whose tags and searchable tags disagree",
        "SELECT d.id FROM documents AS d JOIN texts AS x ON x.row = d.row"
        " WHERE x.tags IS NOT (SELECT stems FROM tag_streams WHERE row = d.row)",
    ),
    (
        "more than one serving generation",
        "SELECT 'generations' FROM generations WHERE state = 'serving'"
        " GROUP BY state HAVING count(*) > 1",
    ),
)


class SqliteMaintenance:
    """The Maintenance port."""

    def __init__(self, database: Database, settling: Settling) -> None:
        self._db = database
        self._settling = settling
        self.location = str(database.path)

    def check(self) -> list[Problem]:
        """Everything that is wrong with the file; empty when it is sound."""
        return _problems(self._db)

    def repair(self) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        with self._db.outside_transaction() as connection:
            # An index over whole columns is made again by this, whatever befell it.
            connection.execute("REINDEX")
        with self._db.write() as connection:
            return repair(connection)

    def settle(self) -> None:
        """Make all trigrams that are missing, and put together what was written piece by piece."""
        self._settling.settle()

    def backup(self, target: str) -> None:
        """Write a consistent copy of the live file to `target`: whole and verified, or none."""
        path = Path(target)
        _require_free(path)
        with arriving(path) as partial:
            with self._db.outside_transaction() as connection, _told_of(path):
                connection.execute("VACUUM INTO ?", (str(partial),))
            # What was just written needs no migration, and a copy needs no log.
            copy = Database.open_as_is(partial)
            try:
                require_sound(copy, path)
            finally:
                copy.close()
            _require_free(path)

    def close(self) -> None:
        """Release the file; calling it twice is harmless."""
        self._db.close()


def require_sound(database: Database, name: Path) -> None:
    """Raise NotADatabase, by this name, if anything is wrong with a copy."""
    problems = _problems(database)
    if problems:
        raise NotADatabase(
            f"{name} is damaged ({problems[0].path}: {problems[0].reason}); choose another backup"
        )


def _problems(database: Database) -> list[Problem]:
    with database.read() as connection:
        problems = _damage(connection)
        if problems:
            return problems
        for meaning, statement in _INVARIANTS:
            problems += [
                Problem(str(name), ProblemCode.DAMAGED, meaning)
                for (name,) in connection.execute(statement)
            ]
        problems += _contradictions(connection)
    return problems


def _require_free(path: Path) -> None:
    if path.exists():
        raise BadInput(f"{path} exists; choose another name for the backup")


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Name the copy, not the database, where there is no room for it."""
    try:
        yield
    except (apsw.FullError, apsw.IOError) as error:
        raise StoreError(
            f"cannot write {path} ({error}); nothing was kept of it: is there room for a copy?"
        ) from error


def _damage(connection: apsw.Connection) -> list[Problem]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    problems = [Problem("file", ProblemCode.DAMAGED, str(text)) for text in found if text != "ok"]
    problems += [
        Problem(str(table), ProblemCode.DAMAGED, f"row {row} refers to a missing {parent}")
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]
    return problems


def _contradictions(connection: apsw.Connection) -> list[Problem]:
    """What one statement cannot tell: parts, words, totals, spaces and vectors."""
    found = [(name, "missing from the schema") for name in missing_parts(connection)]
    if words_disagree(connection):
        found.append(("words", "the full-text index does not hold the words of the documents"))
    found += [
        (name, "it does not hold the letters of the documents")
        for name in stray_trigrams(connection)
    ]
    kept, counted = totals(connection)
    if kept != counted:
        found.append(("totals", f"kept {kept}, but the texts add up to {counted}"))
    found += [
        (f"generation {number}", "its fingerprint is not that of its space")
        for number in wrong_fingerprints(connection)
    ]
    found += [
        (f"vector {row}", "it is not a vector of its space") for row in bad_vectors(connection)
    ]
    return [Problem(name, ProblemCode.DAMAGED, reason) for name, reason in found]
