"""The file: opening it, its schema and migrations, connections, and errors at the edge."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from struct import error as StructError  # noqa: N812 - it is a class.
from textwrap import shorten
from typing import Any, TypeVar
from weakref import WeakSet

import apsw

from twolane.model import deadlines
from twolane.model.errors import (
    DatabaseGone,
    NewerSchema,
    NoDatabase,
    NotADatabase,
    StoreBusy,
    StoreError,
    TooSlow,
)
from twolane.model.scope import Scope
from twolane.stores.sql.document_rows import dumped
from twolane.stores.sql.session import Values
from twolane.stores.sqlite.connections import CLOSED, Checkpoints, Owned
from twolane.stores.sqlite.copying import arriving, copy_live, sync_name
from twolane.stores.sqlite.functions import register
from twolane.stores.sqlite.migrations import MIGRATIONS
from twolane.stores.sqlite.parts import SCHEMA_FILE, is_damaged, is_newest

log = logging.getLogger("twolane")

_T = TypeVar("_T")

APPLICATION_ID = 0x54574C4E  # "TWLN": marks the file as ours.
SCHEMA = 6

# With a write-ahead log this keeps the file whole, whatever happens; a power cut may take the last
# commits. With FULL every commit waits for the disk.
NORMAL = "NORMAL"

# Another process may be committing a batch; longer than this means it is stuck.
BUSY_SECONDS = 10.0

# How long closing waits for what other threads have begun; they keep their connections after that.
CLOSING_SECONDS = 5.0
# After so many steps of SQLite's machine, some tens of microseconds, it looks at the time.
_STEPS = 2000
# What one search reads fits into so much memory, so that the next one finds most of it there; into
# SQLite's own 2 MB it does not.
_CACHE_KB = 8000


class Database:
    """One SQLite file, shared by the threads of this process.

    Each thread reads through a connection of its own, so that searches do not wait for each other
    or for the writer; all writing goes through one connection, one transaction at a time.
    Once another file has taken its place, or none, nothing is read or written any more:
    connections that are open would go on with the old file, and new ones begin with the new one.
    """

    def __init__(
        self,
        path: Path,
        writer: apsw.Connection,
        busy_seconds: float = BUSY_SECONDS,
        synchronous: str = NORMAL,
    ) -> None:
        self.path = path
        # The working directory may change.
        self._place = str(path.absolute())
        self._identity = _identity(self._place)
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._opening = threading.Lock()
        # A thread that ends takes its connection with it.
        self._readers: WeakSet[Owned] = WeakSet()
        self._closed = False
        self._leaves_traces = False
        self._checkpoints = Checkpoints(
            lambda: _connect(Path(self._place), busy_seconds, synchronous)
        )
        self._checkpoints.follow(writer)
        self._writer = Owned(writer, lambda: self._checkpoints.close(CLOSING_SECONDS))

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool,
        schema: int = SCHEMA,
        migrations: Mapping[int, str] = MIGRATIONS,
        busy_seconds: float = BUSY_SECONDS,
        synchronous: str = NORMAL,
    ) -> Database:
        """Open the file, creating it (mode 0600) or migrating it where needed.

        `synchronous` is `full` if what was committed must survive a power cut.
        """
        if not path.exists():
            if not create:
                raise NoDatabase(str(path))
            _create_file(path)
        with translated(path):
            writer = _connect(path, busy_seconds, synchronous)
            try:
                _prepare(writer, path, create=create, schema=schema, migrations=migrations)
            except BaseException:
                writer.close()
                raise
        return cls(path, writer, busy_seconds, synchronous)

    @classmethod
    def open_as_is(cls, path: Path) -> Database:
        """Open a file of ours to read it, without a change to its schema or its log."""
        with translated(path):
            return cls(path, _connect(path, BUSY_SECONDS))

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """This thread's reading connection; TooSlow when the time of the question is over."""
        deadlines.check()
        self._require_in_place()
        with (
            translated(self.path),
            self._reader().used() as connection,
            _suspicious(connection),
        ):
            yield connection

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """The writing connection inside a transaction that commits as a whole or not at all."""
        with translated(self.path), self._writer.used() as connection:
            self._require_in_place()
            self._checkpoints.make_room()
            connection.execute("BEGIN IMMEDIATE")
            self._leaves_traces = False
            try:
                with _suspicious(connection):
                    yield connection
                # A transaction may take a while.
                self._require_in_place()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if self._leaves_traces:
                self._empty_log(connection)

    @contextmanager
    def reading(self, _: Scope | None = None) -> Iterator[Session]:
        """A session that sees one state; who asks makes no difference to a file."""
        with self.read() as connection, connection:
            yield Session(connection)

    def writing(self, work: Callable[[Session], _T], *, sharing: bool = False) -> _T:  # noqa: ARG002
        """What the work gives, done in one transaction as a whole or not at all."""
        with self.write() as connection:
            return work(Session(connection))

    def leave_no_trace(self) -> None:
        """Empty the log, which holds old pages, once the open transaction is committed."""
        self._leaves_traces = True

    @contextmanager
    def outside_transaction(self) -> Iterator[apsw.Connection]:
        """The writing connection without a transaction, for VACUUM and its like.

        A file that was deleted can still be copied through it.
        """
        with translated(self.path), self._writer.used() as connection:
            # Only one can put the log into the file at a time.
            self._checkpoints.wait()
            yield connection

    def close(self) -> None:
        """Close every connection; calling it twice is harmless.

        What is being read is broken off, what is being written may end.
        A thread that takes longer than closing may keeps its connection, and closes it itself.
        """
        with self._opening:
            if self._closed:
                return
            self._closed = True
            readers = list(self._readers)
        deadline = time.monotonic() + CLOSING_SECONDS
        for reader in readers:
            reader.stop()
        for connection in (*readers, self._writer):
            connection.close(deadline - time.monotonic())

    def _require_in_place(self) -> None:
        """Raise DatabaseGone unless the file that is open is the one that the path names."""
        found = _identity(self._place)
        if found != self._identity:
            raise DatabaseGone(str(self.path), replaced=found is not None)

    def _empty_log(self, connection: apsw.Connection) -> None:
        """Put what was committed into the file and empty the log.

        Readers may keep the log open; then the next one to close the file does it.
        What was written is committed by now, so nothing that happens here undoes it.
        """
        self._checkpoints.wait()
        try:
            rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.Error as error:
            log.info("the log is emptied later: %s", error)

    def _reader(self) -> Owned:
        reader: Owned | None = getattr(self._local, "reader", None)
        if reader is None:
            with self._opening:
                if self._closed:
                    raise StoreError(CLOSED)
                connection = _connect(Path(self._place), self._busy_seconds)
                connection.execute(f"PRAGMA query_only = ON; PRAGMA cache_size = -{_CACHE_KB}")
                # What ends a transaction takes fewer steps, so that none stays open.
                connection.set_progress_handler(deadlines.is_over, _STEPS)
                reader = self._local.reader = Owned(connection)
                self._readers.add(reader)
        return reader


class Session:
    """One transaction on a connection, as `twolane.stores.sql.session` describes it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """All rows of a statement."""
        return self.connection.execute(_spelled(statement), _bound(values)).fetchall()

    def known(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The same; asking again costs next to nothing."""
        return self.rows(statement, values)

    def stream(self, statement: str, values: Values = ()) -> Iterator[Any]:
        """The same, read one by one."""
        return self.connection.execute(_spelled(statement), _bound(values))

    def run(self, statement: str, values: Values = ()) -> int:
        """Run a statement that gives no rows; how many it changed."""
        self.connection.execute(_spelled(statement), _bound(values))
        return self.connection.changes()

    def run_all(self, statement: str, values: Sequence[Values]) -> None:
        """Run a statement for each of the values, in one go."""
        self.connection.executemany(_spelled(statement), map(_bound, values))

    def revision(self) -> int:
        """The number of the state that is read; a change of documents makes it another one."""
        return int(self.rows("SELECT revision FROM counters")[0][0])

    def unhurried(self) -> AbstractContextManager[None]:
        """Let what is asked inside end in any case: every later question needs it as well."""
        return deadlines.unhurried()


# A place for a list, which SQLite takes as JSON.
_ANY = re.compile(r"= ANY\((\?|:[a-z_]+)\)")
_NONE = re.compile(r"<> ALL\((\?|:[a-z_]+)\)")


@lru_cache(maxsize=512)
def _spelled(statement: str) -> str:
    """A statement as SQLite spells it."""
    statement = _ANY.sub(r"IN (SELECT value FROM json_each(\1))", statement)
    return _NONE.sub(r"NOT IN (SELECT value FROM json_each(\1))", statement)


def _bound(values: Values) -> Any:
    """The values with JSON in the place of lists."""
    if isinstance(values, Mapping):
        return {name: _bound_value(value) for name, value in values.items()}
    return tuple([_bound_value(value) for value in values])


def _bound_value(value: object) -> Any:
    return dumped(value) if type(value) is list else value


def _identity(place: str) -> tuple[int, int] | None:
    """What tells a file from every other one; None if it is not there."""
    try:
        # Asked before every read, and a Path takes several times as long.
        found = os.stat(place)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def rows(connection: apsw.Connection, statement: str, values: Any = ()) -> list[Any]:
    """All rows of a statement; what they hold is known to the statement, not to the checker."""
    return connection.execute(statement, values).fetchall()


@contextmanager
def _suspicious(connection: apsw.Connection) -> Iterator[None]:
    """Take a surprise for damage where the file is damaged: a row that is gone, bytes for a text.

    Otherwise it is a mistake of ours, and stays one.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, StructError) as error:
        if not isinstance(error, UnicodeError) and is_damaged(connection):
            raise apsw.CorruptError("it holds values that it cannot hold") from error
        raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours, cause kept."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(
            f"{path} is in use by another process; wait for it to finish and try again", str(path)
        ) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise NotADatabase(
            f"{path} is not a Twolane database or is damaged ({_line(error)}); "
            "mend it with: twolane doctor --fix, restore a backup, "
            "or choose another file with --db and index again",
            str(path),
        ) from error
    except UnicodeDecodeError as error:
        # The driver reads texts as UTF-8, which all of ours are when they are written.
        raise NotADatabase(
            f"{path} is damaged (a text in it is no UTF-8); "
            "mend it with: twolane doctor --fix, or restore a backup",
            str(path),
        ) from error
    except apsw.InterruptError as error:
        raise TooSlow(deadlines.reason()) from error
    except apsw.Error as error:
        raise StoreError(f"{path}: {_line(error)}", str(path)) from error


def _line(error: Exception) -> str:
    """What the driver says, in one line; it may quote a whole statement."""
    return shorten(str(error), 200, placeholder=" …")


def _create_file(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Notes are private: nobody else on the machine may read the index.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        # A power cut must not take the name of what is in the file.
        sync_name(path.parent)
    except OSError as error:
        raise StoreError(
            f"cannot create {path}: {error.strerror}; choose another file with --db"
        ) from error


def _connect(path: Path, busy_seconds: float, synchronous: str = NORMAL) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    connection.execute(
        f"PRAGMA foreign_keys = OFF; PRAGMA synchronous = {synchronous}; PRAGMA temp_store = MEMORY"
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
    if version < schema and schema == SCHEMA and is_newest(connection):
        # The number alone is damaged.
        connection.execute(f"PRAGMA user_version = {schema}")
    elif version not in (schema, *migrations):
        raise NotADatabase(
            f"{path} is damaged: it has schema {version}, which no Twolane ever wrote; "
            "restore a backup, or choose another file with --db and index again",
            str(path),
        )
    elif version < schema:
        _migrate(connection, path, version, schema, migrations)
    # A copy has no log. With one, searches need not wait for the writer, and a database that is
    # open can be told from one that is not. Who has it open already has seen to that.
    with suppress(apsw.BusyError, apsw.ReadOnlyError):
        connection.execute("PRAGMA journal_mode = WAL")


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
            connection.execute(SCHEMA_FILE.read_text("utf-8"))
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
    with arriving(kept) as partial:
        copy_live(path, partial)
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
