"""Which requests are let in: how often one caller may ask, and who waits for a turn.

The core is synchronous, so each request is worked on by a thread or a process;
the event loop only counts.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from starlette.requests import ClientDisconnect

from twolane.interfaces.http.problems import (
    OVERLOADED,
    TOO_MANY,
    TOO_SLOW,
    UNAVAILABLE,
    HttpProblem,
)

T = TypeVar("T")


class Admission:
    """A bounded room for requests: some are worked on, some wait, more are turned away.

    A place is free again when its work has really ended, also if nobody waited for it.
    """

    def __init__(self, *, working: int, queue: int, seconds: float) -> None:
        self._most_working = working
        self._room = working + queue
        self._seconds = seconds
        self._inside = 0

    @property
    def waiting(self) -> int:
        """How many requests wait for their turn."""
        return max(0, self._inside - self._most_working)

    @property
    def working(self) -> int:
        """How many requests are being worked on."""
        return min(self._inside, self._most_working)

    def check(self) -> None:
        """Raise HttpProblem if there is no room for one more."""
        if self._inside >= self._room:
            raise HttpProblem(OVERLOADED, "too many requests wait already", {"Retry-After": "1"})

    async def run(
        self,
        submit: Callable[[], Future[T]],
        left: asyncio.Future[None] | None = None,
        *,
        to_the_end: bool = False,
    ) -> T:
        """What the submitted work gives; HttpProblem if there is no room or it takes too long.

        When `left` is done, nobody waits any more: work that has not begun never does.
        `to_the_end` is for work that changes something: once begun it is waited for, however
        long it takes, so that nobody is told no for what was done.
        """
        self.check()
        loop = asyncio.get_running_loop()
        job = submit()
        self._inside += 1
        job.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        done: asyncio.Future[T] = asyncio.wrap_future(job)
        await _first(done, left, self._seconds)
        # This stops work that has not begun; what has begun ends by itself.
        if not done.done() and to_the_end and not job.cancel():
            await _first(done, left)
        if done.done() and not done.cancelled():
            return _result(done)
        done.cancel()
        if left is not None and left.done():
            raise ClientDisconnect
        told = f"there was no answer in {self._seconds:g} s"
        raise HttpProblem(TOO_SLOW, told, {"Retry-After": "2"})

    def _leave(self) -> None:
        self._inside -= 1


async def _first(
    done: asyncio.Future[T], left: asyncio.Future[None] | None, seconds: float | None = None
) -> None:
    """Return when the work is done, the client has left, or the time is up."""
    waited_for: set[asyncio.Future[None] | asyncio.Future[T]] = {done}
    if left is not None:
        waited_for.add(left)
    await asyncio.wait(waited_for, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _result(done: asyncio.Future[T]) -> T:
    try:
        return done.result()
    except BrokenProcessPool as error:
        told = "the process that worked on the answer died; ask again"
        raise HttpProblem(UNAVAILABLE, told, {"Retry-After": "1"}) from error


# More callers than this are not remembered; the one that was quiet longest is forgotten.
_MOST_CALLERS = 10_000


class Rates:
    """Lets each caller ask `per_minute` times at once, and as often again every minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, caller: str) -> None:
        """Count a request of the caller; HttpProblem if there were too many."""
        if not self._most:
            return
        now = self._clock()
        left, at = self._buckets.pop(caller, (self._most, now))
        left = min(self._most, left + (now - at) * self._most / 60)
        allowed = left >= 1
        self._buckets[caller] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        if not allowed:
            seconds = math.ceil((1 - left) * 60 / self._most)
            detail = f"at most {self._most:g} requests a minute"
            raise HttpProblem(TOO_MANY, detail, {"Retry-After": str(max(1, seconds))})
