"""No minute has more requests or tokens than allowed."""

from __future__ import annotations

from twolane.embedding.embedders.openai import RateLimiter


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def made(requests: int, tokens: int, sizes: list[int]) -> list[float]:
    """When requests of these sizes are made, in seconds after the first."""
    time = Time()
    limiter = RateLimiter(requests, tokens, clock=time.clock, sleep=time.sleep)
    found = []
    for size in sizes:
        limiter.acquire(size, patient=True)
        found.append(time.now - 100)
    return found


def test_requests_a_minute() -> None:
    """The fourth of three a minute waits until the first is a minute old."""
    assert made(3, 0, [1, 1, 1, 1, 1]) == [0, 0, 0, 60, 60]


def test_tokens_a_minute() -> None:
    """A request waits until there is room for all of its tokens."""
    assert made(0, 100, [60, 40, 50, 60]) == [0, 0, 60, 120]


def test_no_limit_never_waits() -> None:
    """0 is no limit."""
    assert made(0, 0, [10**9] * 5) == [0] * 5


def test_what_is_larger_than_a_minute_waits_for_an_empty_one() -> None:
    """It is made in the end, alone."""
    assert made(0, 100, [10, 500, 10]) == [0, 60, 120]


def test_a_search_is_counted_and_does_not_wait() -> None:
    """Whoever searches takes room from the passages behind them."""
    time = Time()
    limiter = RateLimiter(1, 0, clock=time.clock, sleep=time.sleep)
    limiter.acquire(1, patient=False)
    limiter.acquire(1, patient=False)
    assert time.now == 100
    limiter.acquire(1, patient=True)
    assert time.now == 160
