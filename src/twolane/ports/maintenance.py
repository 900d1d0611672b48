"""The port of upkeep: keeping the store itself in order."""

from __future__ import annotations

from typing import Protocol

from twolane.model.problem import Problem


class Maintenance(Protocol):
    """Looks after the store as a whole."""

    location: str

    def degraded(self) -> str | None:
        """What the store has to do without at the moment, in a sentence; None if nothing."""

    def check(self) -> list[Problem]:
        """Everything that is wrong with the store; empty when it is sound."""

    def repair(self) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done, one problem each."""

    def settle(self) -> None:
        """Do what writing left for later; answers are right before it, and faster after it."""

    def backup(self, target: str) -> None:
        """Write a consistent copy of the live store to `target`."""

    def close(self) -> None:
        """Release the store; calling it twice is harmless."""
