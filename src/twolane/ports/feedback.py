"""The port of the feedback log: which result was opened for which query, if somebody wishes so.

Nothing here has a part in ranking, and nothing here ever raises.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A result that was opened: its document's id, for which query, when, in seconds since 1970."""

    query: str
    id: str
    at: float


class FeedbackLog(Protocol):
    """Keeps what was opened, each owner's apart; the empty owner is the local user."""

    def add(self, owner: str, query: str, id: str) -> None:
        """Note that a result was opened; what is too old goes."""

    def opened(self, owner: str) -> list[Opened]:
        """What the owner opened, the oldest first."""

    def forget(self, owner: str | None = None, ids: Collection[str] | None = None) -> int:
        """Forget what an owner opened, or everybody; of these documents, if they are given.

        How many notes that were.
        """

    def close(self) -> None:
        """Let go of the file; calling it twice is harmless."""
