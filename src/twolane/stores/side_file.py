"""A small SQLite file beside the database, for what can be done without.

A file that cannot be read or written is passed over with a warning: no search fails because of it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

T = TypeVar("T")

_log = logging.getLogger("twolane")

# A process that writes holds the file for less than a millisecond.
_BUSY_MS = 100


class SideFile:
    """One file, shared by threads and processes; it is made when there is something to keep."""

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._warned = False

    def read(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; none if there is no file or it cannot be read."""
        if self._connection is None and not self._path.exists():
            return []
        return self._done(lambda connection: list(connection.execute(statement, values))) or []

    def write(self, work: Callable[[apsw.Connection], int | None]) -> int:
        """What the work counts, all of it done or nothing; 0 if the file cannot be written."""
        counted: list[int | None] = []

        def transaction(connection: apsw.Connection) -> None:
            with connection:
                counted.append(work(connection))

        self._done(transaction)
        return counted[0] or 0 if counted else 0

    def close(self) -> None:
        """Let go of the file; calling it twice is harmless."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _done(self, work: Callable[[apsw.Connection], T]) -> T | None:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                return work(self._connection)
            except (apsw.Error, OSError) as error:
                if not self._warned:
                    self._warned = True
                    _log.warning("%s cannot be used, so nothing is kept: %s", self._path, error)
                return None

    def _open(self) -> apsw.Connection:
        # What somebody searched for is nobody else's business.
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(_BUSY_MS)
            connection.execute("PRAGMA journal_mode = WAL")
            # A power cut may take what was written last; nothing depends on it.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(self._schema)
        except BaseException:
            connection.close()
            raise
        return connection
