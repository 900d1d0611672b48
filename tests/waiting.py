"""Waiting for what other threads and processes do, as long as a busy machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable

# Nobody waits so long unless something is broken.
PATIENCE = 120.0


def eventually(holds: Callable[[], object]) -> None:
    """Wait until it holds; fail if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)
