"""Putting a backup back in the place of a database."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw

from twolane.model.errors import NoDatabase, NotADatabase, StoreBusy, StoreError
from twolane.stores.sqlite.copying import (
    LOGS,
    arriving,
    beside,
    copy_live,
    copy_resting,
    kept_name,
)
from twolane.stores.sqlite.database import APPLICATION_ID, Database, rows, translated
from twolane.stores.sqlite.maintenance import require_sound
from twolane.stores.sqlite.migrations import TOKENS
from twolane.text.plural import counted


def restore(source: Path, target: Path, *, force: bool = False) -> Path | None:
    """Put the backup in the target's place; the path that the old file is kept under.

    The backup is read with the log beside it, if there is one, and verified first;
    the change happens at once or not at all, and a database that another process has open is left
    alone. So is one that holds what the backup lacks, and another program's, unless `force` says
    so. Tokens are no part of a backup: those of the target stay.
    """
    if not source.is_file():
        raise StoreError(f"cannot read {source}: there is no such file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with arriving(target) as partial:
        _fetch(source, partial)
        _require_sound(partial, source)
        if not force and target.exists():
            _require_expendable(partial, target, source)
        _keep_tokens(target, partial)
        return _set_aside(target)


def keep_copy(path: Path, ending: str) -> Path:
    """Copy a database as it is, damage and all, to a free name beside it."""
    kept = kept_name(path, ending)
    with translated(path), arriving(kept) as partial:
        copy_live(path, partial)
    return kept


def _fetch(source: Path, copy: Path) -> None:
    """Copy all of the backup; opening it itself might change it, and it must stay what it is."""
    try:
        with translated(source):
            copy_resting(source, copy)
    except OSError as error:
        raise StoreError(f"cannot read {source}: {error.strerror}") from error
    except StoreError as error:
        if not isinstance(error.__cause__, apsw.CantOpenError | apsw.ReadOnlyError):
            raise
        raise StoreError(
            f"{source} has a log beside it ({source.name}-wal) that cannot be read there; "
            "copy both into a folder where you may write, and restore that copy"
        ) from error


def _require_sound(copy: Path, source: Path) -> None:
    """Raise an error that names the source unless its copy is sound, and can be read by us."""
    try:
        database = Database.open(copy, create=False)
        try:
            require_sound(database, source)
        finally:
            database.close()
    except NoDatabase as error:
        raise NotADatabase(f"{source} is empty; choose another backup") from error
    except StoreError as error:
        raise type(error)(str(error).replace(str(copy), str(source))) from error


def _keep_tokens(target: Path, partial: Path) -> None:
    """Give the copy the tokens of the database that it replaces, instead of its own.

    Otherwise a token that was revoked since would open the server again.
    """
    try:
        there = closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE))
        with there as connection:
            tokens = rows(connection, "SELECT * FROM tokens")
    except (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError, apsw.SQLError):
        # It is not there, cannot be read, or is of a version that kept its tokens elsewhere.
        return
    copy = closing(apsw.Connection(str(partial), flags=apsw.SQLITE_OPEN_READWRITE))
    with copy as connection, connection:
        connection.execute(TOKENS)
        connection.execute("DELETE FROM tokens")
        for token in tokens:
            places = ",".join("?" * len(token))
            connection.execute(f"INSERT INTO tokens VALUES ({places})", token)


def _require_expendable(copy: Path, target: Path, source: Path) -> None:
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
    lost = len(there - (_contents(copy) or set()))
    if lost:
        said = counted(lost, "document is", "documents are")
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
    kept = kept_name(target, "before-restore")
    # A hard link keeps the database in its place until the new one takes it.
    # A log is left only where the file is too damaged to take it in; it may hold what is missing.
    for ending in ("", *LOGS):
        if beside(target, ending).exists() and not beside(kept, ending).exists():
            os.link(beside(target, ending), beside(kept, ending))
    for ending in (*LOGS, "-shm"):
        beside(target, ending).unlink(missing_ok=True)
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
