"""How often one caller may ask: a bucket each, that fills at a steady rate."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from twolane.interfaces.http.problems import TOO_MANY, HttpProblem

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
