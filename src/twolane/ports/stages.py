"""The port of what optional stages keep: counts, pauses, and answers that need not be asked again.

A stage is something that a search can do without, so nothing here ever raises.
"""

from __future__ import annotations

from typing import Protocol

from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class StageRecord:
    """How a stage did so far.

    `calls` are requests to its model, of which `failures` failed or came too late.
    `skipped` is how often it was not asked because it paused or was still busy, `cached` how often
    an earlier answer did.
    `in_a_row` are failures since the last success; until `paused_until`, in seconds since 1970,
    it is not asked.
    """

    stage: str
    model: str = ""
    calls: int = 0
    failures: int = 0
    skipped: int = 0
    cached: int = 0
    seconds: float = 0.0
    tokens: int = 0
    in_a_row: int = 0
    paused_until: float = 0.0
    last_failure: str = ""


class StageStore(Protocol):
    """Keeps what stages did and what was answered, for all processes that share a library."""

    def record(self, stage: str) -> StageRecord:
        """How a stage did so far."""

    def records(self) -> list[StageRecord]:
        """How every stage did that ever ran, by name."""

    def succeeded(self, stage: str, model: str, seconds: float, tokens: int = 0) -> None:
        """Count an answer; failures in a row begin anew."""

    def failed(self, stage: str, model: str, reason: str, seconds: float) -> None:
        """Count a failure; with enough of them in a row the stage pauses."""

    def skipped(self, stage: str) -> None:
        """Count that a stage was not asked because it paused or was busy."""

    def answer(self, stage: str, key: str) -> str | None:
        """What was answered to this key, counted as cached, unless it is too old."""

    def keep(self, key: str, answer: str) -> None:
        """Keep an answer; the oldest go when there are too many."""

    def kept(self) -> tuple[int, int]:
        """How many answers are kept, and how many bytes they have."""

    def close(self) -> None:
        """Let go of the file; calling it twice is harmless."""
