"""Keeping the SQLite file itself in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw

from twolane.model.errors import BadInput, NotADatabase, StoreError
from twolane.model.problem import Problem, ProblemCode
from twolane.stores.sql.generations import strangers
from twolane.stores.sqlite.copying import arriving
from twolane.stores.sqlite.database import Database, Session
from twolane.stores.sqlite.parts import lost_rows, missing, unsound_values
from twolane.stores.sqlite.recovering import LOST_PASSAGES
from twolane.stores.sqlite.repairing import (
    bad_vectors,
    repair,
    totals,
    words_disagree,
    wrong_term_vectors,
)
from twolane.stores.sqlite.seals import broken_seals, unsealed
from twolane.stores.sqlite.trigrams import Settling, stray_trigrams
from twolane.text.plural import counted

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
    ("document that lacks passages", LOST_PASSAGES),
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

    def degraded(self) -> str | None:
        """Nothing: a file needs nothing that could be missing."""
        return None

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
        # What comes first makes sense of what comes later, or no sense of it at all.
        for look in _FIRST_LOOKS:
            problems = list(_seen(look, connection))
            if problems:
                return problems
        looks: tuple[Look, ...] = (*(partial(_violations, *one) for one in _INVARIANTS), *_LOOKS)
        return [problem for look in looks for problem in _seen(look, connection)]


Look = Callable[[apsw.Connection], Iterable[tuple[str, str]]]


def _seen(look: Look, connection: apsw.Connection) -> Iterator[Problem]:
    """What a look finds; that it cannot be taken is a finding, too."""
    try:
        found = list(look(connection))
    except (*_UNREADABLE, NotADatabase) as error:
        found = [("file", f"it cannot be read to its end ({error})")]
    for name, reason in found:
        yield Problem(name, ProblemCode.DAMAGED, reason)


_UNREADABLE = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError)


def _violations(
    meaning: str, statement: str, connection: apsw.Connection
) -> Iterator[tuple[str, str]]:
    for (name,) in connection.execute(statement):
        yield str(name), meaning


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


def _damage(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for (text,) in connection.execute("PRAGMA integrity_check(20)"):
        if text != "ok":
            yield "file", str(text)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield str(table), f"row {row} refers to a missing {parent}"


def _missing_tables(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for name in missing(connection, "table", "virtual", "shadow", "view"):
        yield name, "missing from the schema"


def _unsound(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for table, column, count in unsound_values(connection):
        yield table, f"{counted(count, 'row holds', 'rows hold')} what {column} cannot be"


def _lost_rows(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for name in lost_rows(connection):
        yield name, "its row is missing"


def _missing_helpers(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for name in missing(connection, "index", "trigger"):
        yield name, "missing from the schema"


def _broken_seals(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for _, id, _ in broken_seals(connection):
        yield id, "its text is not what was saved: it does not match its hash"
    if count := unsealed(connection):
        yield "seals", f"{counted(count, 'document has', 'documents have')} no hash"


def _wrong_words(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    if words_disagree(connection):
        yield "words", "the full-text index does not hold the words of the documents"


def _wrong_terms(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    if count := wrong_term_vectors(connection):
        yield (
            "term_vectors",
            f"the terms of {counted(count, 'document')} are not those of their texts",
        )


def _wrong_letters(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for name in stray_trigrams(connection):
        yield name, "it does not hold the letters of the documents"


def _wrong_totals(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    kept, counted = totals(connection)
    if kept != counted:
        yield "totals", f"kept {kept}, but the texts add up to {counted}"


def _wrong_spaces(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for number in strangers(Session(connection)):
        yield f"generation {number}", "its fingerprint is not that of its space"


def _wrong_vectors(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for row in bad_vectors(connection):
        yield f"vector {row}", "it is not a vector of its space"


# What must be well before anything else can be told.
_FIRST_LOOKS: tuple[Look, ...] = (_missing_tables, _damage, _unsound, _lost_rows)

# What one statement cannot tell.
_LOOKS: tuple[Look, ...] = (
    _missing_helpers,
    _broken_seals,
    _wrong_words,
    _wrong_terms,
    _wrong_letters,
    _wrong_totals,
    _wrong_spaces,
    _wrong_vectors,
)
