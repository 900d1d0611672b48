"""Connections: who may close one and when, and what puts the log of commits into the file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import apsw

from twolane.model.errors import StoreError

CLOSED = "the store is closed"


class Owned:
    """A connection that one thread uses at a time, and that is never closed under its user.

    Whoever closes it waits for that user within a bound; a user who takes longer closes it.
    `end` is called before it is closed, when nobody uses it any more.
    """

    def __init__(self, connection: apsw.Connection, end: Callable[[], None] = lambda: None) -> None:
        self._connection = connection
        self._end = end
        self._lock = threading.RLock()
        self._closing = threading.Event()

    @contextmanager
    def used(self) -> Iterator[apsw.Connection]:
        """The connection, for this thread alone; StoreError if it is closed."""
        with self._lock:
            if self._closing.is_set():
                raise StoreError(CLOSED)
            try:
                yield self._connection
            except apsw.InterruptError as error:
                if not self._closing.is_set():
                    raise
                raise StoreError(CLOSED) from error
            finally:
                if self._closing.is_set():
                    self._close()

    def stop(self) -> None:
        """Let nobody use it any more, and break off what is read through it."""
        self._closing.set()
        with suppress(apsw.ConnectionClosedError):
            self._connection.interrupt()

    def close(self, seconds: float) -> bool:
        """Close it when its user is done; whether that was within the time.

        If not, it is left to that user, who closes it.
        """
        self._closing.set()
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            return False
        try:
            self._close()
        finally:
            self._lock.release()
        return True

    def _close(self) -> None:
        self._end()
        self._connection.close()


# Whenever the log has grown by so many pages, 8 MB, what it holds is put into the file.
_STEP = 1024

# The log begins anew only once all of it is in the file, and a writer that never rests never lets
# it come to that. So at this many pages, 64 MB, the next writer waits for it.
_MOST = 8192


class Checkpoints:
    """Follows the commits of one connection, and puts them into the file through another.

    What was committed is safe in the log, so nothing is lost if the process ends meanwhile.
    """

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._thread: threading.Thread | None = None
        self._pages = 0
        self._reached = 0

    def follow(self, writer: apsw.Connection) -> None:
        """Take over from SQLite, which makes a commit wait after every 1,000 pages."""
        writer.set_wal_hook(self._committed)

    def make_room(self) -> None:
        """Wait, before a transaction begins, if the log has grown as long as it may."""
        if self._pages >= _MOST:
            self.wait()

    def wait(self) -> None:
        """Return when nothing is being put into the file."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self, seconds: float) -> None:
        """Finish, and let the file go; what takes longer than this goes on by itself."""
        if self._thread is not None:
            self._thread.join(seconds)
            if self._thread.is_alive():
                return
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _committed(self, _writer: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        # The log may have begun anew.
        self._reached = min(self._reached, pages)
        if pages >= _MOST:
            # One that runs already would leave out what has just been committed.
            self.wait()
        elif pages - self._reached < _STEP or (self._thread and self._thread.is_alive()):
            return apsw.SQLITE_OK
        self.wait()
        self._reached = pages
        self._thread = threading.Thread(target=self._put, name="twolane-checkpoint")
        self._thread.start()
        return apsw.SQLITE_OK

    def _put(self) -> None:
        # Another process may be doing the same, or the disk be full.
        # Then the log keeps everything, as it would without us, and the next commit tries again.
        with suppress(apsw.Error):
            if self._connection is None:
                self._connection = self._connect()
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
