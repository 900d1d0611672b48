"""Asking a model for something that a search can do without: in time, counted, and not for ever.

A model that is slow or broken costs a search at most the stage's time; after some failures in a
row it is left alone for a while, and `twolane status` tells so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from twolane.embedding.spaces import Background
from twolane.model import deadlines
from twolane.model.errors import EmbedderError, StageError
from twolane.model.values import dataclass
from twolane.ports.stages import StageStore

T = TypeVar("T")

# So many searches may wait for a stage at a time.
_THREADS = 8

# So much of the time that a search has left a stage may take: without it the search must answer.
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class StageLimits:
    """How long a stage may take, by which setting, and how often it may fail in a row."""

    seconds: float
    setting: str
    failures: int = 3


class Stage:
    """One optional stage of one library; safe to share between threads."""

    def __init__(self, name: str, model: str, store: StageStore, limits: StageLimits) -> None:
        self.name = name
        self.model = model
        self.store = store
        self._limits = limits
        self._threads = Background(_THREADS, f"twolane-{name}")
        self._overdue: set[Future[Any]] = set()

    def ask(self, call: Callable[[], T], tokens: Callable[[T], int] = lambda answer: 0) -> T:
        """What the call returns, if that is in time.

        Raises StageError with the reason if it is not, if the call fails, or if the stage pauses.
        """
        self._require_awake()
        started = time.perf_counter()
        seconds, setting = self._limits.seconds, self._limits.setting
        left = deadlines.left()
        if left is not None and left * _SHARE < seconds:
            seconds, setting = left * _SHARE, "search.query_seconds"
        if not seconds:
            raise StageError("the search had no time left for it")
        future = self._threads.submit(call)
        try:
            answer = future.result(timeout=seconds)
        except TimeoutError:
            self._overdue.add(future)
            late = f"it took longer than {seconds:.3g} s (`{setting}`)"
            raise self._failed(late, started) from None
        except (StageError, EmbedderError) as error:
            raise self._failed(str(error), started) from error
        # A model is foreign code: whatever it raises, the search must answer.
        except Exception as error:
            raise self._failed(f"{type(error).__name__}: {error}", started) from error
        self.store.succeeded(self.name, self.model, time.perf_counter() - started, tokens(answer))
        return answer

    @property
    def is_paused(self) -> bool:
        """Whether it is left alone after too many failures in a row."""
        record = self.store.record(self.name)
        return record.in_a_row >= self._limits.failures and record.paused_until > time.time()

    def close(self) -> None:
        """Let the threads end once they have nothing to do."""
        self._threads.close()

    def _require_awake(self) -> None:
        # What failed last may repeat somebody else's query, and is not for whoever asks now.
        record = self.store.record(self.name)
        wait = record.paused_until - time.time()
        self._overdue = {future for future in self._overdue if not future.done()}
        if record.in_a_row >= self._limits.failures and wait > 0:
            self.store.skipped(self.name)
            raise StageError(
                f"it pauses for {wait:.0f} s more after {record.in_a_row} failures in a row; "
                "`twolane status` tells the last"
            )
        if len(self._overdue) >= _THREADS:
            self.store.skipped(self.name)
            raise StageError("it is still busy with earlier searches")

    def _failed(self, reason: str, started: float) -> StageError:
        self.store.failed(self.name, self.model, reason, time.perf_counter() - started)
        return StageError(reason)
