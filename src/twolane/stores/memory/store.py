"""The memory store: all ports over one state."""

from __future__ import annotations

import time
from collections.abc import Callable

from twolane.errors import StoreError
from twolane.model import Problem
from twolane.stores.memory.changes import MemoryChanges
from twolane.stores.memory.documents import MemoryDocuments
from twolane.stores.memory.forms import MemoryForms
from twolane.stores.memory.listing import MemoryLists
from twolane.stores.memory.retrieval import MemoryRetrieval
from twolane.stores.memory.state import State
from twolane.stores.memory.substrings import MemorySubstrings
from twolane.stores.memory.vectors import MemoryVectors


class MemoryStore(
    MemoryDocuments,
    MemoryChanges,
    MemoryForms,
    MemoryLists,
    MemoryRetrieval,
    MemorySubstrings,
    MemoryVectors,
):
    """A `twolane.ports.Store` that lives and dies with this process.

    It is safe to call from several threads and answers the same question the same way.
    `clock` tells the time in seconds, for leases and retries.
    """

    location = ":memory:"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        # Every port's part keeps the same state, so setting it once serves all of them.
        super().__init__(State(clock))

    def check(self) -> list[Problem]:
        """Nothing: there is no file that could be damaged."""
        return []

    def repair(self) -> list[Problem]:
        """Nothing: there is nothing to mend."""
        return []

    def settle(self, *, beyond: int = 0) -> None:
        """Nothing: nothing was left for later."""

    def backup(self, target: str) -> None:
        """Refuse, because there is no file to copy."""
        raise StoreError(
            f"the memory store has no file to copy to {target}; "
            "keep the documents in a SQLite database to back them up"
        )

    def close(self) -> None:
        """Nothing to release; calling it twice is harmless."""
