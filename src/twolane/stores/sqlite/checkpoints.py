"""Putting the log into the file beside the writer, so that a commit need not wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import apsw

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
