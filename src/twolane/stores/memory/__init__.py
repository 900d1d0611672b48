"""The store in plain Python: what every other store must agree with.

It keeps everything in this process and forgets it when the process ends.
Simple comes before fast: each call looks at every document.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from twolane.ports import Stores
from twolane.stores.memory.documents import MemoryDocuments
from twolane.stores.memory.lexical import MemoryLexical
from twolane.stores.memory.queue import MemoryQueue
from twolane.stores.memory.state import MemoryMaintenance, State
from twolane.stores.memory.tokens import MemoryTokens
from twolane.stores.memory.vectors import MemoryVectors


def memory_stores(*, clock: Callable[[], float] = time.time) -> Stores:
    """All ports over one state, which is empty; `clock` tells the time in seconds."""
    state = State(clock)
    return Stores(
        MemoryDocuments(state),
        MemoryLexical(state),
        MemoryVectors(state),
        MemoryQueue(state),
        MemoryMaintenance(),
        MemoryTokens(state),
    )
