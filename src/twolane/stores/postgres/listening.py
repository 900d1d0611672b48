"""Word of work that others leave: a connection of its own that hears what the server tells."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

import psycopg

log = logging.getLogger("twolane")

# What is told on, to all who listen in this database.
CHANNEL = "twolane_work"

# So often it is looked whether listening should end, and so long a lost server is left alone.
_LOOK_SECONDS = 1.0
_PAUSE_SECONDS = 5.0


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
