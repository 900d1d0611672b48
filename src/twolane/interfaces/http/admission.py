"""Back-pressure: so much work at a time, so much waiting, and a quick no to the rest.

The core is synchronous, so each request is worked on by a thread; the event loop only counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from twolane.interfaces.http.messages import Gone
from twolane.interfaces.http.problems import OVERLOADED, TOO_SLOW, Refused

T = TypeVar("T")


class Admission:
    """A bounded room for requests: some are worked on, some wait, more are turned away.

    A slot is free again when its work has really ended, also if nobody waited for it.
    """

    def __init__(self, *, threads: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="twolane-request")
        self._room = threads + queue
        self._threads = threads
        self._seconds = seconds
        self._inside = 0

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return max(0, self._inside - self._threads)

    @property
    def working(self) -> int:
        """How many requests are being worked on."""
        return min(self._inside, self._threads)

    async def run(self, work: Callable[[], T], left: asyncio.Future[None] | None = None) -> T:
        """What the work gives; Refused if there is no room or it takes too long.

        When `left` is done, nobody waits any more: work that has not begun never does.
        """
        if self._inside >= self._room:
            raise Refused(OVERLOADED, "too many requests wait already", {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        self._inside += 1
        job: Future[T] = self._pool.submit(work)
        job.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        done: asyncio.Future[T] = asyncio.wrap_future(job)
        waited_for: set[asyncio.Future[None] | asyncio.Future[T]] = {done}
        if left is not None:
            waited_for.add(left)
        await asyncio.wait(waited_for, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            return done.result()
        # This stops work that has not begun; what has begun ends by itself, unheard.
        job.cancel()
        done.cancel()
        if left is not None and left.done():
            raise Gone
        seconds = f"{self._seconds:g}"
        raise Refused(TOO_SLOW, f"there was no answer in {seconds} s", {"Retry-After": "2"})

    def close(self) -> None:
        """Let work that has begun end, and drop the rest."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _leave(self) -> None:
        self._inside -= 1
