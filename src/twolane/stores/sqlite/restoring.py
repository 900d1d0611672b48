"""Putting a backup back in the place of a database."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import apsw

from twolane.errors import NotADatabase, StoreBusy, StoreError
from twolane.stores.sqlite.database import APPLICATION_ID, Database, rows, translated
from twolane.stores.sqlite.upkeep import SqliteUpkeep


class _Opened(SqliteUpkeep):
    def __init__(self, database: Database) -> None:
        self._db = database
        self.location = str(database.path)


def verify(path: Path) -> None:
    """Raise an error unless the file is a sound database of ours that this version can read."""
    # A copy is opened, because opening may migrate and a backup must stay what it is.
    with tempfile.TemporaryDirectory(prefix="twolane-verify-") as folder:
        copy = Path(folder) / "copy.db"
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error
        try:
            opened = _Opened(Database.open(copy, create=False))
            try:
                problems = opened.check()
            finally:
                opened.close()
        except StoreError as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from error
    if problems:
        raise NotADatabase(
            f"{path} is damaged ({problems[0].path}: {problems[0].reason}); choose another backup"
        )


def restore(source: Path, target: Path, *, force: bool = False) -> Path | None:
    """Put the backup in the target's place; the path that the old file is kept under.

    The backup is verified first, the change happens at once or not at all,
    and a database that another process has open is left alone.
    So is one that holds what the backup lacks, and another program's, unless `force` says so.
    """
    verify(source)
    if not force and target.exists():
        _require_expendable(source, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".partial", dir=target.parent)
    os.close(handle)
    partial = Path(name)
    try:
        shutil.copyfile(source, partial)
        partial.chmod(0o600)
        kept = _set_aside(target)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return kept


def _require_expendable(source: Path, target: Path) -> None:
    """Raise StoreError if something would be gone that only the target holds."""
    try:
        there = _contents(target)
    except (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError):
        # What is damaged is what a backup is for.
        return
    if there is None:
        raise StoreError(
            f"{target} belongs to another program; nothing was replaced "
            "(name another database with --db, or replace it with --force)"
        )
    lost = len(there - (_contents(source) or set()))
    if lost:
        said = "1 document is" if lost == 1 else f"{lost:,} documents are"
        raise StoreError(
            f"{said} newer in {target} than in {source}, or not there at all; nothing was "
            "replaced (--force replaces the database all the same, and keeps it beside the new one)"
        )


def _contents(path: Path) -> set[tuple[str, str, int]] | None:
    """Id, content and version of each document that is not deleted; None: it is not ours."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        if not rows(connection, "SELECT 1 FROM sqlite_schema LIMIT 1"):
            return set()
        if connection.pragma("application_id") != APPLICATION_ID:
            return None
        return set(
            rows(connection, "SELECT id, content_hash, version FROM documents WHERE NOT deleted")
        )
    except apsw.SQLError as error:
        # Ours, but parts of it are gone, or it is of another version.
        raise apsw.CorruptError(str(error)) from error
    finally:
        connection.close()


def _set_aside(target: Path) -> Path | None:
    """Move the old file out of the way under a new name, once nobody else has it open."""
    if not target.exists():
        return None
    _require_alone(target)
    kept = target.with_name(f"{target.name}.before-restore")
    number = 2
    while kept.exists():
        kept = target.with_name(f"{target.name}.before-restore-{number}")
        number += 1
    # A hard link keeps the database in its place until the new one takes it.
    os.link(target, kept)
    for ending in ("-wal", "-shm"):
        target.with_name(target.name + ending).unlink(missing_ok=True)
    return kept


def _require_alone(target: Path) -> None:
    """Raise StoreBusy while another process has the database open.

    Only a connection that is alone may leave the write-ahead log, which also empties it.
    """
    with translated(target):
        try:
            connection = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
        except apsw.CantOpenError:
            return
        try:
            mode = connection.pragma("journal_mode", "delete")
        except (apsw.NotADBError, apsw.CorruptError):
            # What is damaged is what a backup is for.
            return
        except (apsw.BusyError, apsw.LockedError):
            mode = "wal"
        finally:
            connection.close()
    if mode == "wal":
        raise StoreBusy(
            f"{target} is open in another process; end it (serve, watch, index) and try again"
        )
