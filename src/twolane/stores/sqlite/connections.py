"""A connection and its one user: who may close it, and when."""

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
