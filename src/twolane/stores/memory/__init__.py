"""The store in plain Python: what every other store must agree with.

It keeps everything in this process and forgets it when the process ends.
Simple comes before fast: each call looks at every document.
"""

from __future__ import annotations

from twolane.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
