"""Keeping the SQLite file itself in order."""

from __future__ import annotations

from pathlib import Path

import apsw

from twolane.errors import StoreError
from twolane.model import FIELDS, Problem, ProblemCode
from twolane.stores.sqlite.database import Database

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
        "vector of the wrong length",
        "SELECT v.content_hash FROM vectors AS v JOIN generations AS g ON g.number = v.generation"
        " WHERE length(v.vector) != 4 * json_extract(g.space, '$.dimensions')",
    ),
    (
        "more than one serving generation",
        "SELECT 'generations' FROM generations WHERE state = 'serving'"
        " GROUP BY state HAVING count(*) > 1",
    ),
)


class SqliteUpkeep:
    """The Upkeep port."""

    _db: Database
    location: str

    def check(self) -> list[Problem]:
        """Everything that is wrong with the file; empty when it is sound."""
        with self._db.read() as connection:
            problems = _damage(connection)
            if problems:
                return problems
            for meaning, statement in _INVARIANTS:
                problems += [
                    Problem(str(name), ProblemCode.DAMAGED, meaning)
                    for (name,) in connection.execute(statement)
                ]
            problems += _wrong_totals(connection)
        return problems

    def backup(self, target: str) -> None:
        """Write a consistent copy of the live file to `target`."""
        if Path(target).exists():
            raise StoreError(f"{target} exists; choose another name for the backup")
        with self._db.outside_transaction() as connection:
            connection.execute("VACUUM INTO ?", (target,))
        Path(target).chmod(0o600)

    def close(self) -> None:
        """Release the file; calling it twice is harmless."""
        self._db.close()


def _damage(connection: apsw.Connection) -> list[Problem]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    problems = [Problem("file", ProblemCode.DAMAGED, str(text)) for text in found if text != "ok"]
    problems += [
        Problem(str(table), ProblemCode.DAMAGED, f"row {row} refers to a missing {parent}")
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]
    return problems


def _wrong_totals(connection: apsw.Connection) -> list[Problem]:
    sums = ", ".join(f"coalesce(sum(l.{name}), 0)" for name in FIELDS)
    counted = connection.execute(
        f"SELECT count(*), {sums} FROM lengths AS l JOIN texts AS x ON x.row = l.row WHERE x.listed"
    ).fetchone()
    kept = connection.execute(f"SELECT documents, {', '.join(FIELDS)} FROM totals").fetchone()
    if counted == kept:
        return []
    return [
        Problem("totals", ProblemCode.DAMAGED, f"kept {kept}, but the texts add up to {counted}")
    ]
