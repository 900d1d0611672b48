"""A thread that embeds beside everything else: in a server, while watching, in a program."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable

from twolane.embedding.pipeline.leases import spread
from twolane.model.errors import TwolaneError
from twolane.model.values import dataclass

log = logging.getLogger("twolane")

# How often the store is asked whether anything changed; the question costs next to nothing.
_POLL_SECONDS = 1.0

# A worker that found nothing to embed leaves the store alone for so many times as long as it took
# to find that out, and no longer than this: in a large library it takes long, and everybody's
# saves wake the worker.
_TIMES = 9
_LONGEST_REST = 5.0

# The system's schedule favours everybody else, as `nice` does.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn came to.

    `due` is the number of seconds until there is more to do, None if nothing is in sight;
    `stopped` is why the worker should wait longer, if the embedder is gone.
    """

    due: float | None
    stopped: str | None = None


class Worker:
    """Takes turns until it is stopped; never keeps the process from ending.

    A turn embeds what is missing; it is over soon after `stop` is called.
    Between turns the worker waits until the store has changed or something is due.
    """

    def __init__(
        self,
        turn: Callable[[Callable[[], bool]], Turn],
        revision: Callable[[], str],
        *,
        first_wait: float,
        longest_wait: float,
    ) -> None:
        self._turn = turn
        self._revision = revision
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._stopping = threading.Event()
        self._awake = threading.Event()
        self._idle = threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, daemon=True, name="twolane-worker")

    def start(self) -> None:
        """Begin; calling it twice is harmless."""
        if not self._thread.is_alive() and not self._stopping.is_set():
            self._thread.start()

    def wake(self) -> None:
        """There is something to do, or a reason to try again at once."""
        self._idle.clear()
        self._awake.set()

    def stop(self, timeout: float | None = 5.0) -> bool:
        """End soon; whether it has ended within the time."""
        self._stopping.set()
        self._awake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until everything that can be embedded now is; whether it came to that in time."""
        return self._idle.wait(timeout)

    @property
    def is_running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    def _run(self) -> None:
        _lower_priority()
        while not self._stopping.is_set():
            self._awake.clear()
            started = time.monotonic()
            try:
                seen = self._revision()
                turn = self._turn(self._stopping.is_set)
            except TwolaneError as error:
                # A store that is busy or closed is no reason to give up for ever.
                turn = Turn(None, str(error))
                seen = ""
            except Exception:
                log.exception("the embedding worker met an error that it does not know")
                turn = Turn(None, "an unknown error")
                seen = ""
            if not self._stopping.is_set():
                self._rest(turn, seen, time.monotonic() - started)

    def _rest(self, turn: Turn, seen: str, took: float) -> None:
        if turn.due == 0:
            self._failures = 0
            return
        if turn.stopped is None and not self._awake.is_set():
            self._idle.set()
        deadline = None if turn.due is None else time.monotonic() + turn.due
        if self._stopping.wait(min(took * _TIMES, _LONGEST_REST)):
            return
        if turn.stopped is not None:
            wait = min(self._first_wait * 2.0**self._failures, self._longest_wait)
            self._failures = min(self._failures + 1, 32)
            self._awake.wait(spread(wait))
            return
        self._failures = 0
        while not self._awake.wait(_POLL_SECONDS):
            if deadline is not None and time.monotonic() >= deadline:
                break
            if self._changed(seen):
                break
        self._idle.clear()

    def _changed(self, seen: str) -> bool:
        try:
            return self._revision() != seen
        except TwolaneError:
            # Whatever is wrong shows again, with its reason, in the next turn.
            return True


def _lower_priority() -> None:
    """Let everybody else go first; only Linux can say so for one thread."""
    if sys.platform != "linux":
        return
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    except OSError as error:
        log.debug("the worker keeps its priority: %s", error)
