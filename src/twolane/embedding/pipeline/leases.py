"""Who is at work, what of their work nobody will finish, and when a failure is tried again."""

from __future__ import annotations

import os
import platform
import random
import threading
from collections.abc import Sequence

from twolane.ports.queue import EmbeddingQueue
from twolane.settings import Settings

# The longest wait before another try: an embedder that comes back is noticed within the hour.
LONGEST_WAIT_SECONDS = 3600.0


def worker_name() -> str:
    """A name that tells others on this machine which process is at work."""
    return f"{platform.node()}:{os.getpid()}:{threading.get_ident()}"


def release_the_dead(queue: EmbeddingQueue, generation: int, workers: Sequence[str]) -> None:
    """End the leases of workers of this machine that are gone: nobody will finish their work."""
    for worker in workers:
        host, _, rest = worker.partition(":")
        pid = rest.partition(":")[0]
        if host == platform.node() and pid.isdecimal() and not _is_alive(int(pid)):
            queue.release(generation, worker)


def retry_in(tries: int, settings: Settings) -> float | None:
    """Seconds until a passage that failed `tries` times is tried again; None: it is given up.

    The wait doubles each time, and is spread so that many failures do not come back at once.
    """
    if tries >= settings.embedding.passage_tries:
        return None
    wait = settings.embedding.retry_seconds * 2.0 ** (tries - 1)
    return spread(min(wait, LONGEST_WAIT_SECONDS))


def spread(seconds: float) -> float:
    """The time, longer or shorter by up to a quarter at random."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311 - not a secret


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It belongs to another user, or the system does not tell: better to believe that it works.
        return True
    return True
