"""How fast a server may be asked: so many requests and so many tokens in any minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

_MINUTE = 60.0


class RateLimiter:
    """Makes callers wait until their request fits into the last minute; safe to share.

    0 is no limit. What is larger than a whole minute's share waits for an empty minute.
    """

    def __init__(
        self,
        requests: int = 0,
        tokens: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        # When the requests of the last minute were made, and the tokens of each.
        self._made: deque[tuple[float, int]] = deque()

    def acquire(self, tokens: int, *, patient: bool) -> None:
        """Wait until a request of so many tokens may be made, and count it.

        Whoever is not patient is waiting for a search: they are counted, and do not wait.
        """
        if not self._requests and not self._tokens:
            return
        while True:
            with self._lock:
                now = self._clock()
                wait = self._wait(tokens, now) if patient else 0.0
                if wait <= 0:
                    self._made.append((now, tokens))
                    return
            self._sleep(wait)

    def _wait(self, tokens: int, now: float) -> float:
        """How long until the requests that are in the way are a minute old."""
        while self._made and now - self._made[0][0] >= _MINUTE:
            self._made.popleft()
        count, total, free = len(self._made), sum(size for _, size in self._made), now
        for at, size in self._made:
            if self._fits(count, total + tokens):
                break
            count, total, free = count - 1, total - size, at + _MINUTE
        return free - now

    def _fits(self, count: int, total: int) -> bool:
        few = not self._requests or count < self._requests
        return few and (not self._tokens or total <= self._tokens)
