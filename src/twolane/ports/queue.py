"""The port of work: which passages lack a vector, who is at it, and what failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from twolane.model.scope import EVERYBODY, Scope
from twolane.model.space import Jobs, Pending, Progress

# Clocks of hosts that share a store may disagree. A lease that ends later than this, or a try that
# is due later than that, was written by a clock that runs ahead, and binds nobody.
LONGEST_LEASE_SECONDS = 7200.0
LONGEST_RETRY_SECONDS = 172_800.0


class EmbeddingQueue(Protocol):
    """Hands out passages that have no vector in a generation; a lease ends by itself."""

    def claim(
        self,
        generation: int,
        *,
        worker: str,
        limit: int,
        seconds: float,
        ids: Collection[str] | None = None,
    ) -> list[Pending]:
        """Up to `limit` passages without a vector, leased to `worker` for `seconds`.

        A passage that is leased to somebody else, or failed and not due, is left out;
        with `ids`, so are those of other documents.
        """

    def complete(
        self, generation: int, content_hashes: Sequence[str], *, rate: float | None = None
    ) -> None:
        """The passages have their vectors: end their leases and forget that they failed.

        `rate` is how many passages a second the generation is filled by, if that is known.
        """

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded, and when to try again; None: never."""

    def release(self, generation: int, worker: str | None = None) -> None:
        """End all leases of a worker; without one, make all that failed due, as if never tried."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` soon after another process leaves work, until the store is closed.

        A store that is not told of it does nothing: whoever works looks by themselves, too.
        """

    def jobs(self, generation: int) -> Jobs:
        """What is under way and what failed; this costs as much as there is of it.

        Whoever embeds asks after every save, so nothing of all the rest is counted.
        """

    def progress(
        self, generation: int, scope: Scope = EVERYBODY, *, detail: bool = False
    ) -> Progress:
        """How far the generation is; cheap for every query if nothing changed.

        Of the scope only the owner counts.
        With `detail` it says which documents wait, why passages of theirs failed, and when others
        got their vectors; only of the scope's `documents`, if it names any.
        """
