"""The server: connections, transactions, who they are for, and errors at the edge."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import lru_cache
from itertools import count
from random import random
from typing import Any, TypeVar

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from twolane.model import deadlines
from twolane.model.errors import BadSetting, StoreBusy, StoreError, TooSlow
from twolane.model.scope import Scope
from twolane.stores.postgres.migrating import SCHEMA, applied, known, prepare
from twolane.stores.sql.session import Values

log = logging.getLogger("twolane")

# What is told on, to all who listen in this database.
CHANNEL = "twolane_work"

# So often it is looked whether listening should end, and so long a lost server is left alone.
_LOOK_SECONDS = 1.0
_PAUSE_SECONDS = 5.0


Connection = psycopg.Connection[tuple[Any, ...]]
_T = TypeVar("_T")

# A search asks for its lanes at once; many more than this and a server of many users runs out.
MOST_CONNECTIONS = 10
# How long a statement may take for which nobody set a deadline: it is stuck, or was forgotten.
_READ_SECONDS = 60.0
_WRITE_SECONDS = 300.0
# Two that write the same at once: one of them begins again, a little later.
_PAUSE = 0.04
# What is taken may be taken for good, so this is tried no more often.
_TRIES = 5

# Whose rows a transaction may see: everybody's, or one owner's.
EVERYBODY = "*"

# One message to the server begins a transaction and says all that holds for it.
_BEGIN = (
    "BEGIN ISOLATION LEVEL {level}; SET LOCAL statement_timeout = {timeout};"
    " SET LOCAL lock_timeout = {patience}; SET LOCAL twolane.who = {who}; {then}"
)
# A number that is another one whenever somebody has committed a change.
_REVISION = "SELECT sum(revision)::bigint FROM counters"
_READING = "REPEATABLE READ READ ONLY"
# What is read stays as it is until the end, so that nobody's change is lost unnoticed.
_CAREFUL = "REPEATABLE READ"
_SHARING = "READ COMMITTED"


class _Texts(StrDumper):
    """Texts without what PostgreSQL cannot keep: the sign zero, and halves of signs."""

    def dump(self, obj: str) -> Any:
        if "\0" in obj:
            obj = obj.replace("\0", "\ufffd")
        try:
            return super().dump(obj)
        except UnicodeEncodeError:
            return super().dump(obj.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


class Session:
    """One transaction on a connection, as `twolane.stores.sql.session` describes it."""

    def __init__(
        self, connection: Connection, revision: int | None = None, who: str = EVERYBODY
    ) -> None:
        self.connection = connection
        # All that is read belongs to one state, and many ask which one it is.
        self._revision = revision
        # Whose rows the next statement may see, and whose the server knows of.
        self.who = self._told = who
        # What it was told that others ask for again.
        self._known: dict[tuple[object, ...], list[Any]] = {}

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """All rows of a statement."""
        self._tell()
        return self._rows(statement, values)

    def known(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The same, asked once where nothing can change.

        Without values it is about what belongs to no owner.
        """
        if self._revision is None:
            return self.rows(statement, values)
        key = (statement, self.who, *values) if values else (statement,)
        if key not in self._known:
            # What belongs to nobody is seen by everybody.
            ask = self.rows if values else self._rows
            self._known[key] = ask(statement, values)
        return self._known[key]

    def _rows(self, statement: str, values: Values) -> list[Any]:
        # As the server keeps them: a vector as text takes many times as long, on both sides.
        return self.connection.execute(_spelled(statement), values or None, binary=True).fetchall()

    def run(self, statement: str, values: Values = ()) -> int:
        """Run a statement that gives no rows; how many it changed."""
        self._tell()
        return self.connection.execute(_spelled(statement), values or None).rowcount

    def run_all(self, statement: str, values: Sequence[Values]) -> None:
        """Run a statement for each of the values, in one go."""
        if values:
            with self.connection.cursor() as cursor:
                cursor.executemany(_spelled(statement), values)

    def row_for_each(self, statement: str, values: Sequence[Values]) -> list[Any]:
        """The same for a statement that gives one row for each of the values."""
        found = []
        with self.connection.cursor() as cursor:
            cursor.executemany(_spelled(statement), values, returning=True)
            for _ in values:
                found += cursor.fetchall()
                cursor.nextset()
        return found

    def revision(self) -> int:
        """The number of the state that is read; a change of documents makes it another one."""
        return int(self.rows(_REVISION)[0][0]) if self._revision is None else self._revision

    def _tell(self) -> None:
        """Let the server know whose rows the next statement may see, if that is not the last's."""
        if self.who != self._told:
            self.connection.execute(b"SELECT set_config('twolane.who', %s, true)", (self.who,))
            self._told = self.who

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Let what is asked inside end in any case: every later question needs it as well."""
        self._set_timeout(_READ_SECONDS)
        with deadlines.unhurried():
            yield
        left = deadlines.left()
        if left is not None:
            self._set_timeout(left)

    def _set_timeout(self, seconds: float) -> None:
        self.run(f"SET LOCAL statement_timeout = {_milliseconds(seconds)}")


# A value's place by name; two colons are a cast.
_NAMED = re.compile(r"(?<![:\w]):([a-z_]+)")


@lru_cache(maxsize=512)
def _spelled(statement: str) -> bytes:
    """A statement with its values' places as the driver spells them."""
    return _NAMED.sub(r"%(\1)s", statement.replace("?", "%s")).encode()


def _milliseconds(seconds: float) -> int:
    # Zero would mean that there is no limit.
    return max(1, round(seconds * 1000))


class Database:
    """One schema of one database, shared by the threads of this process.

    Every transaction says whose rows it is about, so that the server can keep to it.
    """

    def __init__(
        self,
        url: str,
        place: str,
        *,
        create: bool,
        busy_seconds: float,
        connections: int = MOST_CONNECTIONS,
        read_only: bool = False,
    ) -> None:
        """`read_only` is for a copy of the database, whose tables are never brought up to date."""
        self.place = place
        self._url = url
        self._listeners: list[Listener] = []
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._snapshots = threading.local()
        self._active: set[Connection] = set()
        self._closed = False
        with translated(place):
            with _connected(url) as connection:
                self.extensions = prepare(connection, place, create=create, read_only=read_only)
            self._pool = ConnectionPool[Connection](
                url,
                min_size=1,
                max_size=connections,
                timeout=max(busy_seconds, 0.1),
                configure=self._configure,
                kwargs=_MANNERS,
                num_workers=1,
                open=True,
            )

    def _configure(self, connection: Connection) -> None:
        from pgvector.psycopg import register_vector

        _set_path(connection)
        ((server,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
        if server == connection.info.backend_pid:
            # A pooler between us and the server would not know what is prepared.
            connection.prepare_threshold = _OFTEN
        register_vector(connection)
        connection.adapters.register_dumper(str, _Texts)

    @contextmanager
    def reading(self, scope: Scope | None = None) -> Iterator[Session]:
        """A session with one snapshot, for the scope's owner or for everybody.

        TooSlow when the time of the question is over.
        """
        deadlines.check()
        left = deadlines.left()
        seconds = _READ_SECONDS if left is None else min(left, _READ_SECONDS)
        who = EVERYBODY if scope is None or scope.owner is None else owned(scope.owner)
        snapshot: _Snapshot | None = getattr(self._snapshots, "open", None)
        with translated(self.place):
            if snapshot is not None and not snapshot.is_used:
                with snapshot.session(who, seconds) as session:
                    yield session
                return
            with self._begun(_READING, seconds, who, _REVISION) as (connection, revision):
                try:
                    yield Session(connection, revision, who)
                finally:
                    _end(connection, "ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that this thread reads inside be one transaction, which begins when it reads.

        It is for a few questions in a row: whoever waits for others inside keeps a connection,
        unless they `pause` before.
        """
        if getattr(self._snapshots, "open", None) is not None:
            yield
            return
        self._snapshots.open = snapshot = _Snapshot(self._begun)
        try:
            yield
        finally:
            self._snapshots.open = None
            snapshot.end()

    def pause(self) -> None:
        """End the transaction of this thread's snapshot; the next question begins another one."""
        snapshot: _Snapshot | None = getattr(self._snapshots, "open", None)
        if snapshot is not None and not snapshot.is_used:
            snapshot.end()

    def writing(self, work: Callable[[Session], _T], *, sharing: bool = False) -> _T:
        """What the work gives, done in one transaction as a whole or not at all.

        It is done again where another transaction came in between, as long as others may be
        waited for.
        With `sharing` every statement sees what others have committed: for work that is handed out.
        """
        level = _SHARING if sharing else _CAREFUL
        until = time.monotonic() + self._busy_seconds
        for attempt in count():
            try:
                with translated(self.place):
                    return self._written(work, level)
            except StoreBusy as error:
                if not _is_worth_repeating(error, attempt) or time.monotonic() > until:
                    raise
                # Not in step with whoever else begins again.
                time.sleep(_PAUSE * random() * min(attempt + 1, 10))  # noqa: S311
        raise AssertionError("a loop that returns or raises")

    @contextmanager
    def outside_transaction(self) -> Iterator[Session]:
        """A session without a transaction, for CREATE INDEX CONCURRENTLY and its like."""
        with translated(self.place), self._connection() as connection:
            connection.execute("SET statement_timeout = 0")
            connection.execute(_who(connection, EVERYBODY))
            try:
                yield Session(connection)
            finally:
                with suppress(psycopg.Error):
                    connection.execute("RESET statement_timeout; RESET twolane.who")

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` soon after somebody commits documents, until this is closed."""
        with self._lock:
            if not self._closed:
                self._listeners.append(Listener(self._url, wake))

    def close(self) -> None:
        """Close every connection, breaking off what is being read; twice is harmless."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            active, listeners = list(self._active), list(self._listeners)
        for listener in listeners:
            listener.stop()
        for connection in active:
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=2)
        self._pool.close(timeout=5)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        if self._closed:
            raise StoreError("the library is closed; open it again to use it")
        with self._pool.connection() as connection:
            with self._lock:
                self._active.add(connection)
            try:
                yield connection
            finally:
                with self._lock:
                    self._active.discard(connection)

    @contextmanager
    def _begun(
        self, level: str, seconds: float, who: str, then: str = "SELECT 0"
    ) -> Iterator[tuple[Connection, int]]:
        """A connection in a transaction, and the number that its first statement gave."""
        with ExitStack() as stack:
            connection = stack.enter_context(self._connection())
            try:
                number = self._begin(connection, level, seconds, who, then)
            except psycopg.OperationalError:
                if not connection.broken:
                    raise
                # The server was started again: others that are broken are let go with this one.
                stack.close()
                self._pool.check()
                connection = stack.enter_context(self._connection())
                number = self._begin(connection, level, seconds, who, then)
            yield connection, number

    def _begin(
        self, connection: Connection, level: str, seconds: float, who: str, then: str
    ) -> int:
        """Begin a transaction; the number that its first statement gives."""
        begin = _BEGIN.format(
            level=level,
            timeout=_milliseconds(seconds),
            patience=_milliseconds(self._busy_seconds),
            who=sql.Literal(who).as_string(connection),
            then=then,
        )
        cursor = connection.execute(begin.encode())
        while cursor.nextset():
            continue
        ((number,),) = cursor.fetchall()
        return int(number)

    def _written(self, work: Callable[[Session], _T], level: str) -> _T:
        with self._begun(level, _WRITE_SECONDS, EVERYBODY) as (connection, _):
            try:
                done = work(Session(connection))
                connection.execute("COMMIT")
            except BaseException:
                _end(connection, "ROLLBACK")
                raise
            return done


class _Snapshot:
    """One transaction for what a thread reads, one session after the other."""

    def __init__(
        self, begin: Callable[..., AbstractContextManager[tuple[Connection, int]]]
    ) -> None:
        self._begin = begin
        self._stack = ExitStack()
        self._session: Session | None = None
        self._seconds = 0.0
        self.is_used = False

    @contextmanager
    def session(self, who: str, seconds: float) -> Iterator[Session]:
        """The session, as one of the transaction's owner and with so much time for a statement."""
        self.is_used = True
        try:
            yield self._begun(who, seconds)
        except BaseException:
            # After an error the server answers nothing more in this transaction.
            self.end()
            raise
        finally:
            self.is_used = False

    def _begun(self, who: str, seconds: float) -> Session:
        if self._session is None:
            begun = self._begin(_READING, seconds, who, _REVISION)
            connection, revision = self._stack.enter_context(begun)
            self._stack.callback(_end, connection, "ROLLBACK")
            self._session = Session(connection, revision, who)
            self._seconds = seconds
        self._session.who = who
        if not self._seconds / 2 <= seconds <= self._seconds * 2:
            self._session.run(f"SET LOCAL statement_timeout = {_milliseconds(seconds)}")
            self._seconds = seconds
        return self._session

    def end(self) -> None:
        """End the transaction; the next session begins another one."""
        self._session = None
        self._stack.close()


_MANNERS: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}

# A statement that a connection was asked so often is prepared, and planned once where a plan for
# any values costs no more: planning takes a fifth of the server's time for a search.
_OFTEN = 5


def owned(owner: str) -> str:
    """How a transaction names an owner; nobody can call themselves everybody."""
    return f"={owner}"


def look(url: str, place: str) -> tuple[int, int, str]:
    """The version of the tables, the one that we know, and what answers; nothing is changed."""
    with translated(place), _connected(url) as connection:
        ((server,),) = connection.execute("SHOW server_version").fetchall()
        extensions = connection.execute(
            "SELECT extname || ' ' || extversion FROM pg_extension"
            " WHERE extname IN ('vector', 'pg_trgm') ORDER BY extname DESC"
        ).fetchall()
        told = ", ".join((f"PostgreSQL {server}", *(name for (name,) in extensions)))
        return applied(connection, place), known()[-1].number, told


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    """A connection of its own, before there is a pool."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # What the driver says of an address may hold a part of its password.
        raise BadSetting(
            "the address of the database cannot be read; write it as "
            "postgresql://user@host/name, with % and the code for each special sign"
        ) from None
    with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
        _set_path(connection)
        connection.execute(_who(connection, EVERYBODY))
        yield connection


def _who(connection: Connection, who: str) -> bytes:
    return f"SET twolane.who = {sql.Literal(who).as_string(connection)}".encode()


def _set_path(connection: Connection) -> None:
    # Extensions are where the database's owner wanted them; our tables are in a schema of ours.
    where = "SELECT DISTINCT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n"
    found = connection.execute(f"{where} ON n.oid = e.extnamespace").fetchall()
    others = [name for (name,) in found if name not in (SCHEMA, "pg_catalog")]
    path = sql.SQL(", ").join(map(sql.Identifier, dict.fromkeys((SCHEMA, "public", *others))))
    connection.execute(sql.SQL("SET search_path TO {}").format(path))
    # Notices tell what was there already.
    connection.execute("SET client_min_messages = warning")


def _end(connection: Connection, statement: str) -> None:
    # A connection that is broken has no transaction any more.
    with suppress(psycopg.Error):
        connection.execute(statement.encode())


# Somebody else was quicker; the same work may succeed now.
_OVERTAKEN = (errors.SerializationFailure, errors.DeadlockDetected)
_TAKEN = (errors.UniqueViolation, errors.ForeignKeyViolation)


def _is_worth_repeating(error: StoreBusy, attempt: int) -> bool:
    cause = error.__cause__
    return isinstance(cause, _OVERTAKEN) or (isinstance(cause, _TAKEN) and attempt < _TRIES)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn the driver's errors into ours, cause kept."""
    try:
        yield
    except errors.QueryCanceled as error:
        if deadlines.is_over():
            raise TooSlow(deadlines.reason()) from error
        raise TooSlow(f"{place}: {_said(error)}") from error
    except (*_OVERTAKEN, *_TAKEN, errors.LockNotAvailable) as error:
        raise StoreBusy(
            f"{place} is being changed by others; try again ({_said(error)})"
        ) from error
    except (errors.TooManyConnections, PoolTimeout) as error:
        raise StoreBusy(f"{place} has no connection left; try again later") from error
    except PoolClosed as error:
        raise StoreError("the library is closed; open it again to use it") from error
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{place}: {_said(error)}; let the owner of the database run `twolane db upgrade`"
        ) from error
    except psycopg.OperationalError as error:
        raise StoreError(f"cannot reach {place}: {_said(error)}") from error
    except psycopg.Error as error:
        raise StoreError(f"{place}: {_said(error)}") from error


def _said(error: psycopg.Error) -> str:
    """The first line of what the server said, without a statement that may hold a text."""
    told = error.diag.message_primary or str(error)
    return told.strip().partition("\n")[0]


class Listener:
    """A thread that calls `wake` soon after somebody commits documents, in any process.

    While the server cannot be heard nobody is woken; whoever works looks by themselves, too.
    """

    def __init__(self, url: str, wake: Callable[[], None]) -> None:
        self._url = url
        self._wake = wake
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="twolane-listener")
        self._thread.start()

    def stop(self) -> None:
        """End soon; whoever calls does not wait for it."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    # Something may have come while nobody listened.
                    self._wake()
                    self._hear(connection)
            except psycopg.Error as error:
                log.debug("nothing is heard of new work for now: %s", error)
                self._stopping.wait(_PAUSE_SECONDS)

    def _hear(self, connection: psycopg.Connection[Sequence[object]]) -> None:
        while not self._stopping.is_set():
            for _ in connection.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                self._wake()
