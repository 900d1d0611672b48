"""How long a question may take: a moment that holds for all work that is done for it.

Whoever asks sets a deadline, and whatever works for the answer, however deep, looks at it:
no caller in between has to hand it on.
It holds for one thread; work that is given to another one gets its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from twolane.model.errors import TooSlow

# Showing what was found takes milliseconds; the rest is for a machine that has much to do.
_TO_SHOW = 2.0


class Deadline:
    """A moment after which work stops; also before, once `stop` is set."""

    __slots__ = ("_at", "_stop", "seconds")

    def __init__(self, seconds: float, stop: threading.Event | None = None) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds
        self._stop = stop

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() >= self._at or (self._stop is not None and self._stop.is_set())

    @property
    def left(self) -> float:
        """How many seconds are left; 0 once it is over."""
        return 0.0 if self.is_over else self._at - time.monotonic()

    def extended(self, seconds: float) -> Deadline:
        """The same with at least so many seconds from now; what is stopped stays so."""
        longer = Deadline(self.seconds, self._stop)
        longer._at = max(self._at, time.monotonic() + seconds)
        return longer

    @property
    def reason(self) -> str:
        """Why work stopped, for whoever reads the answer."""
        if self._stop is not None and self._stop.is_set():
            return "the library is closing"
        return f"it took longer than {self.seconds:g} s (`search.query_seconds`)"


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Let the deadline hold for what is done inside; of two the outer one, as it came first."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def time_to_show() -> Iterator[None]:
    """Give what is done inside a little time in any case, so that what was found can be shown."""
    deadline = _current.get()
    token = _current.set(deadline.extended(_TO_SHOW) if deadline else None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def unhurried() -> Iterator[None]:
    """Let what is done inside end in any case: every later question needs it as well."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def is_over() -> bool:
    """Whether the time of what is being done is over; never where nobody set a deadline."""
    deadline = _current.get()
    return deadline is not None and deadline.is_over


def left() -> float | None:
    """How many seconds are left, for work that is done elsewhere; None without a deadline."""
    deadline = _current.get()
    return None if deadline is None else max(0.0, deadline.left)


def check() -> None:
    """Raise TooSlow if the time is over; for loops that may be long."""
    if is_over():
        raise TooSlow(reason())


def reason() -> str:
    """Why the work that is being done stopped, once it is over."""
    deadline = _current.get()
    return deadline.reason if deadline else "it took too long"
