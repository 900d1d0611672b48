"""Looking after a store that is not there for long."""

from __future__ import annotations

from twolane.model.errors import StoreError
from twolane.model.problem import Problem


class MemoryMaintenance:
    """The `Maintenance` port: there is nothing that could be damaged."""

    location = ":memory:"

    def degraded(self) -> str | None:
        """Nothing: it needs nothing that could be missing."""
        return None

    def check(self) -> list[Problem]:
        """Nothing: there is no file that could be damaged."""
        return []

    def repair(self) -> list[Problem]:
        """Nothing: there is nothing to mend."""
        return []

    def settle(self) -> None:
        """Nothing: nothing was left for later."""

    def backup(self, target: str) -> None:
        """Refuse, because there is no file to copy."""
        raise StoreError(
            f"the memory store has no file to copy to {target}; "
            "keep the documents in a SQLite database to back them up"
        )

    def close(self) -> None:
        """Nothing to release; calling it twice is harmless."""
