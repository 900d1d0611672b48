"""What a measurement brings back: goals, tables and every raw row."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Room:
    """Where a measurement works: a folder to share with the others, and whether to be quick.

    `collections` is a folder of BEIR folders, for what needs real texts.
    """

    folder: Path
    quick: bool
    collections: Path | None = None

    def size(self, whole: int, quick: int) -> int:
        """How much to do: `whole` in a full run, `quick` in a quick one."""
        return quick if self.quick else whole


@dataclass(frozen=True, slots=True)
class Goal:
    """Something to reach, and what was measured by the clock.

    `on_cpu` is the same figure by processor time, which other work on the machine disturbs less;
    it explains, and the clock decides.
    """

    what: str
    measured: float
    unit: str
    on_cpu: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the measured value is within the bounds."""
        over = self.at_most is not None and self.measured > self.at_most
        under = self.at_least is not None and self.measured < self.at_least
        return not over and not under


@dataclass(frozen=True, slots=True)
class Table:
    """A part of the summary, ready to be shown."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | float]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The whole of a measurement."""

    goals: Sequence[Goal]
    tables: Sequence[Table]
    rows: Sequence[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taken:
    """How long something took, by the clock and on the processor."""

    seconds: float
    cpu: float


def timed(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T, Taken]:
    """The work's result and how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(*args, **kwargs)
    return result, Taken(time.perf_counter() - wall, time.process_time() - cpu)


def median(values: Iterable[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
