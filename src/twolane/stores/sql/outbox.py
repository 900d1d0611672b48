"""Changes that another engine has yet to hear of, recorded by triggers of the database itself.

So whichever program changes a document records it, in the same transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from twolane.model.values import dataclass
from twolane.ports.outbox import Lag, Streams, Turn
from twolane.stores.sql.session import Database, Session

_TAKE = "SELECT seq, id FROM outbox ORDER BY seq LIMIT ?"

# One row is the lease of the worker, the counter of turns and the name of the database.
_TURN = """
UPDATE outbox_turns SET number = {next}, worker = :worker, until = :until
WHERE worker = :worker OR until < :now RETURNING number"""
_NUMBER = "UPDATE outbox_turns SET number = {next} RETURNING number"
# Numbers go with the time, so that a database that was restored from a backup does not give those
# out again that the other engine has seen.
_NEXT = "CASE WHEN number < :time THEN :time ELSE number + 1 END"

# Numbers are given in order, so that the ends tell about how many there are.
_LAG = """
SELECT (SELECT max(seq) FROM outbox) - seq + 1, at FROM outbox ORDER BY seq LIMIT 1"""


@dataclass(frozen=True, slots=True)
class Engine:
    """What one engine writes in its own way.

    `there` gives a row if the outbox is there; `streams` gives id, languages and streams by ids.
    """

    make: tuple[str, ...]
    unmake: tuple[str, ...]
    there: str
    streams: str
    languages: Callable[[Any], Sequence[str]]


class SqlOutbox:
    """The Outbox port."""

    def __init__(
        self, database: Database, engine: Engine, clock: Callable[[], float] = time.time
    ) -> None:
        self._db = database
        self._engine = engine
        self._clock = clock

    def is_on(self) -> bool:
        """Whether changes are recorded."""
        with self._db.reading() as session:
            return bool(session.rows(self._engine.there))

    def identity(self) -> str:
        """A name that no other database has; empty while changes are not recorded."""
        if not self.is_on():
            return ""
        with self._db.reading() as session:
            return str(session.rows("SELECT identity FROM outbox_turns")[0][0])

    def switch(self, *, on: bool) -> None:
        """Begin to record changes, or stop and forget those that wait."""
        if on == self.is_on():
            return

        def change(session: Session) -> None:
            for statement in self._engine.make if on else self._engine.unmake:
                session.run(statement)

        self._db.writing(change)

    def take(self, worker: str, *, limit: int, lease: float) -> Turn | None:
        """The oldest changes; None if there are none, or another worker is at work."""
        # First the changes, then the number, then (by the caller) the documents: so whoever has
        # the larger number has read everything that the smaller one was to tell.
        with self._db.reading() as session:
            found = session.rows(_TAKE, (limit,))
        if not found:
            return None
        now = self._clock()
        asked = {"worker": worker, "now": now, "until": now + lease, "time": _microseconds()}
        statement = _TURN.format(next=_NEXT)
        drawn = self._db.writing(lambda session: session.rows(statement, asked), sharing=True)
        if not drawn:
            return None
        ids = dict.fromkeys(id for _, id in found if id)
        return Turn(int(drawn[0][0]), tuple(seq for seq, _ in found), tuple(ids))

    def number(self) -> int:
        """A number as in a turn, for whoever writes documents that did not change."""
        asked = {"time": _microseconds()}
        statement = _NUMBER.format(next=_NEXT)
        drawn = self._db.writing(lambda session: session.rows(statement, asked), sharing=True)
        return int(drawn[0][0])

    def done(self, turn: Turn) -> None:
        """Forget the changes of a turn."""
        gone = (list(turn.entries),)
        self._db.writing(
            lambda session: session.run("DELETE FROM outbox WHERE seq = ANY(?)", gone),
            sharing=True,
        )

    def release(self, worker: str) -> None:
        """Let others take turns at once."""
        statement = "UPDATE outbox_turns SET until = 0 WHERE worker = ?"
        self._db.writing(lambda session: session.run(statement, (worker,)), sharing=True)

    def again(self, ids: Sequence[str]) -> None:
        """Record these documents as changed."""
        rows = [(id,) for id in ids]
        self._db.writing(
            lambda session: session.run_all("INSERT INTO outbox(id) VALUES (?)", rows),
            sharing=True,
        )

    def lag(self) -> Lag:
        """How far behind the other engine is."""
        with self._db.reading() as session:
            found = session.rows(_LAG)
        return Lag(int(found[0][0]), max(0.0, time.time() - found[0][1])) if found else Lag()

    def streams(self, ids: Sequence[str]) -> Mapping[str, Streams]:
        """The words of these documents, by id; hidden ones are left out."""
        with self._db.reading() as session:
            found = session.rows(self._engine.streams, (list(ids),))
        return {
            id: Streams(tuple(self._engine.languages(languages)), tuple(fields))
            for id, languages, *fields in found
        }


def _microseconds() -> int:
    return time.time_ns() // 1000
