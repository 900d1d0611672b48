"""The file: opening it, its schema and migrations, connections, and errors at the edge."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

from twolane.errors import NewerSchema, NoDatabase, NotADatabase, StoreBusy, StoreError
from twolane.stores.sqlite.checkpoints import Checkpoints
from twolane.stores.sqlite.functions import register

APPLICATION_ID = 0x54574C4E  # "TWLN": marks the file as ours.
SCHEMA = 1

# Statements that take a file from one schema version to the next; schema.sql is the newest.
MIGRATIONS: Mapping[int, str] = {}

# Another process may be committing a batch; longer than this means it is stuck.
BUSY_SECONDS = 10.0


class Database:
    """One SQLite file, shared by the threads of this process.

    Each thread reads through a connection of its own, so that searches do not wait for each other
    or for the writer; all writing goes through one connection, one transaction at a time.
    """

    def __init__(
        self, path: Path, writer: apsw.Connection, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.path = path
        self._writer = writer
        self._busy_seconds = busy_seconds
        self._writing = threading.RLock()
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._closed = False
        self._checkpoints = Checkpoints(lambda: _connect(path, busy_seconds))
        self._checkpoints.follow(writer)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool,
        schema: int = SCHEMA,
        migrations: Mapping[int, str] = MIGRATIONS,
        busy_seconds: float = BUSY_SECONDS,
    ) -> Database:
        """Open the file, creating it (mode 0600) or migrating it where needed."""
        if not path.exists():
            if not create:
                raise NoDatabase(str(path))
            _create_file(path)
        with translated(path):
            writer = _connect(path, busy_seconds)
            try:
                _prepare(writer, path, create=create, schema=schema, migrations=migrations)
            except BaseException:
                writer.close()
                raise
        return cls(path, writer, busy_seconds)

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """This thread's reading connection."""
        with translated(self.path):
            yield self._reader()

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """The writing connection inside a transaction that commits as a whole or not at all."""
        with self._writing, translated(self.path):
            if self._closed:
                raise StoreError("the store is closed")
            self._checkpoints.make_room()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def outside_transaction(self) -> Iterator[apsw.Connection]:
        """The writing connection without a transaction, for VACUUM and its like."""
        with self._writing, translated(self.path):
            # Only one can put the log into the file at a time.
            self._checkpoints.wait()
            yield self._writer

    def close(self) -> None:
        """Close every connection; calling it twice is harmless."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            self._checkpoints.close()
            for connection in (*self._readers, self._writer):
                connection.close()

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with self._writing:
                if self._closed:
                    raise StoreError("the store is closed")
                connection = _connect(self.path, self._busy_seconds)
                connection.execute("PRAGMA query_only = ON")
                self._readers.append(connection)
            self._local.connection = connection
        return connection


def rows(connection: apsw.Connection, statement: str, values: Any = ()) -> list[Any]:
    """All rows of a statement; what they hold is known to the statement, not to the checker."""
    return connection.execute(statement, values).fetchall()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours, cause kept."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(
            f"{path} is in use by another process; wait for it to finish and try again"
        ) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise NotADatabase(
            f"{path} is not a Twolane database or is damaged ({error}); "
            "restore a backup, or choose another file with --db and index again"
        ) from error
    except apsw.Error as error:
        raise StoreError(f"{path}: {error}") from error


def _create_file(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Notes are private: nobody else on the machine may read the index.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"cannot create {path}: {error.strerror}; choose another file with --db"
        ) from error


def _connect(path: Path, busy_seconds: float) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute(
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY"
    )
    # What is deleted is overwritten, so that no older version of a secret lies in free pages.
    connection.execute("PRAGMA secure_delete = ON")
    register(connection)
    return connection


def _prepare(
    connection: apsw.Connection,
    path: Path,
    *,
    create: bool,
    schema: int,
    migrations: Mapping[int, str],
) -> None:
    if _is_blank(connection):
        if not create:
            raise NoDatabase(str(path))
        _build(connection)
        return
    if connection.pragma("application_id") != APPLICATION_ID:
        raise NotADatabase(
            f"{path} is an SQLite database of another program; choose another file with --db"
        )
    version = int(connection.pragma("user_version"))
    if version > schema:
        raise NewerSchema(
            f"{path} has schema {version}, this Twolane knows {schema}; upgrade Twolane"
        )
    if version < schema:
        _migrate(connection, path, version, schema, migrations)


def _is_blank(connection: apsw.Connection) -> bool:
    # A process that was killed while creating the file leaves one without tables.
    return not connection.pragma("application_id") and not rows(
        connection, "SELECT 1 FROM sqlite_schema LIMIT 1"
    )


def _build(connection: apsw.Connection) -> None:
    # 8 kB pages hold three vectors of 512 dimensions; 4 kB pages would waste half of each.
    connection.execute("PRAGMA page_size = 8192")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    with _rolled_back_on_error(connection):
        if _is_blank(connection):
            schema = files("twolane.stores.sqlite").joinpath("schema.sql").read_text("utf-8")
            connection.execute(schema)
            connection.execute(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA}"
            )
        connection.execute("COMMIT")


def _migrate(
    connection: apsw.Connection,
    path: Path,
    version: int,
    schema: int,
    migrations: Mapping[int, str],
) -> None:
    """Bring the file to `schema` step by step, keeping a copy of it as it was."""
    kept = path.with_name(f"{path.name}.schema-{version}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copyfile(path, kept)
    kept.chmod(0o600)
    connection.execute("BEGIN IMMEDIATE")
    with _rolled_back_on_error(connection):
        for step in range(int(connection.pragma("user_version")), schema):
            connection.execute(migrations[step])
        connection.execute(f"PRAGMA user_version = {schema}")
        connection.execute("COMMIT")


@contextmanager
def _rolled_back_on_error(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
