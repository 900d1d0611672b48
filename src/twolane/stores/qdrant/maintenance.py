"""Upkeep of a database and of the cluster that follows it."""

from __future__ import annotations

import time

from twolane.model.errors import EngineUnavailable
from twolane.model.problem import Problem, ProblemCode
from twolane.ports.maintenance import Maintenance
from twolane.ports.outbox import Lag
from twolane.stores.qdrant.follower import Follower
from twolane.text.plural import counted

# How long a command waits at its end for the cluster to follow.
_SETTLE_SECONDS, _CLOSE_SECONDS = 600.0, 5.0
# The lag is looked up at most so often, however many searches there are.
_LOOK_SECONDS = 1.0


class QdrantMaintenance:
    """The Maintenance port; `behind` is the database's."""

    def __init__(self, behind: Maintenance, follower: Follower, lag_seconds: float) -> None:
        self.location = behind.location
        self.follower = follower
        self._behind = behind
        self._lag_seconds = lag_seconds
        self._lag: tuple[float, Lag] = (0.0, Lag())
        self._closed = False

    def degraded(self) -> str | None:
        """That the cluster is too far behind, or what the database does without."""
        now = time.monotonic()
        if now >= self._lag[0]:
            self._lag = now + _LOOK_SECONDS, self.follower.lag()
        lag = self._lag[1]
        if lag.seconds > self._lag_seconds:
            why = f" ({self.follower.trouble})" if self.follower.trouble else ""
            return f"Qdrant is {lag.seconds:.0f} s behind, {lag.changes} changes wait{why}"
        return self._behind.degraded()

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database, and what the cluster holds otherwise."""
        found = self._behind.check()
        try:
            different = self.follower.differences()
        except EngineUnavailable as error:
            return [*found, Problem("Qdrant", ProblemCode.DAMAGED, str(error))]
        reason = "Qdrant does not hold it as the database does"
        return [*found, *(Problem(id, ProblemCode.DAMAGED, reason) for id in different)]

    def repair(self) -> list[Problem]:
        """Mend the database, then what the cluster holds otherwise; what was done."""
        done = self._behind.repair()
        mended = self.follower.mend()
        if mended:
            said = (
                f"{counted(len(mended), 'document was', 'documents were')} brought to Qdrant again"
            )
            done = [*done, Problem("Qdrant", ProblemCode.DAMAGED, said)]
        return done

    def settle(self) -> None:
        """Do what writing left for later, and let the cluster follow."""
        self._behind.settle()
        self.follower.drain(_SETTLE_SECONDS)

    def backup(self, target: str) -> None:
        """Write a copy of the database; what the cluster holds is made from that."""
        self._behind.backup(target)

    def close(self) -> None:
        """Let the cluster follow for a moment, then release both; twice is harmless."""
        if not self._closed:
            self._closed = True
            if self.follower.trouble is None:
                self.follower.drain(_CLOSE_SECONDS)
            self.follower.close()
        self._behind.close()
