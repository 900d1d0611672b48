"""Other threads and processes: waiting for what they do, and leaving none of them behind."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# Nobody waits so long unless something is broken.
PATIENCE = 120.0


def eventually(holds: Callable[[], object]) -> None:
    """Wait until it holds; fail if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


@contextmanager
def beside(words: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that runs beside the test and is gone afterwards, however the test ends."""
    with subprocess.Popen(words, **how) as process:
        try:
            yield process
        finally:
            process.kill()
