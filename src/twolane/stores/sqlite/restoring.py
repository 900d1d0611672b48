"""Putting a backup back in the place of a database."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import apsw

from twolane.errors import NotADatabase, StoreBusy, StoreError
from twolane.stores.sqlite.database import Database, translated
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


def restore(source: Path, target: Path) -> Path | None:
    """Put the backup in the target's place; the path that the old file is kept under.

    The backup is verified first, the change happens at once or not at all,
    and a database that another process has open is left alone.
    """
    verify(source)
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
