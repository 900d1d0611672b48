"""Where the time of writing goes: statements of a run of its own, added up by what they write.

Every statement of the writing connection is timed by the clock and by the processor time of its
thread.
What is left of the writing thread is Python and waiting; other threads make values and put the
log into the file meanwhile, and are rows of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import apsw

from outcome import Table
from twolane.model.document import Batch, Collection, Prepared
from twolane.ports.documents import PutCollection
from twolane.stores.sqlite import stores_over
from twolane.stores.sqlite.database import Database

# A statement belongs to the first of these that it holds.
_PARTS = (
    ("name_trigrams", "letters: of names"),
    ("text_trigrams", "letters: of texts"),
    ("unsettled", "letters: what is unsettled"),
    ("property_values", "properties that filters compare"),
    ("INTO texts", "texts and, by triggers, words"),
    ("INTO chunks", "chunks"),
    ("INTO documents", "documents and their indexes"),
    ("tags", "tags"),
)
_COMMITTING = "committing, with the words written out"
_OTHER = "looking up, sketches, ledger, revision"
_PYTHON = "the rest: Python, and waiting for room in the log"
_MEANWHILE = "other threads meanwhile: values, the log put into the file"


@dataclass(slots=True)
class _Spent:
    """Seconds by the clock and of the processor."""

    clock: float = 0.0
    cpu: float = 0.0

    @classmethod
    def now(cls) -> _Spent:
        """What the clock and the processor show for this thread."""
        return cls(time.perf_counter(), time.thread_time())


@dataclass(slots=True)
class _Watch:
    """Adds up how long each part takes."""

    parts: dict[str, _Spent] = field(default_factory=dict)

    @contextmanager
    def over(self, part: str) -> Iterator[None]:
        """Count what happens inside for the part."""
        start = _Spent.now()
        yield
        self.add(part, start)

    def add(self, part: str, start: _Spent) -> None:
        """Count what happened since the start for the part."""
        spent, end = self.parts.setdefault(part, _Spent()), _Spent.now()
        spent.clock += end.clock - start.clock
        spent.cpu += end.cpu - start.cpu


def parts(
    path: Path, notes: Sequence[Sequence[Prepared]], bare: float
) -> tuple[Table, list[dict[str, Any]]]:
    """The parts of `apply` and of `settle`, per note and against the bare table's seconds."""
    database = _Watched.open(path, create=True)
    if not isinstance(database, _Watched):
        raise TypeError(f"expected a watched database, not {type(database)}")
    store = stores_over(database)
    store.documents.apply(PutCollection(Collection("notes")))

    def write() -> None:
        for batch in notes:
            store.documents.apply(Batch("notes", batch))

    found = {"apply": database.over(write), "settle": database.over(store.maintenance.settle)}
    store.maintenance.close()
    path.unlink()
    count = sum(map(len, notes))
    rows = [
        {"run": "parts", "verb": verb, "part": part, "seconds": spent.clock, "cpu": spent.cpu}
        for verb, watched in found.items()
        for part, spent in watched.items()
    ]
    table = Table(
        "What is written, in one run",
        ("verb", "part", "ms per note", "CPU ms per note", "against bare"),
        [
            (
                str(row["verb"]),
                str(row["part"]),
                round(float(row["seconds"]) / count * 1000, 4),
                round(float(row["cpu"]) / count * 1000, 4),
                round(float(row["seconds"]) / bare, 2),
            )
            for row in rows
        ],
    )
    return table, rows


class _Watched(Database):
    """A database that adds up how long the statements of its writer take."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._watch = _Watch()

    def over(self, work: Callable[[], None]) -> dict[str, _Spent]:
        """The time of the work's statements by part, longest first, and of the rest of it."""
        self._watch = _Watch()
        everything = -time.process_time()
        whole = _Watch()
        with whole.over("all"):
            work()
        everything += time.process_time()
        parts = self._watch.parts
        longest = dict(sorted(parts.items(), key=lambda part: -part[1].clock))
        longest[_PYTHON] = _Spent(
            whole.parts["all"].clock - sum(part.clock for part in parts.values()),
            whole.parts["all"].cpu - sum(part.cpu for part in parts.values()),
        )
        # They take no time by the clock: the writing thread is at work all along.
        longest[_MEANWHILE] = _Spent(0.0, everything - whole.parts["all"].cpu)
        return longest

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """The writing connection, watched; committing counts as a part."""
        with super().write() as connection:
            yield cast("apsw.Connection", _Connection(connection, self._watch))
            start = _Spent.now()
        self._watch.add(_COMMITTING, start)


class _Connection:
    """A connection that times what it runs."""

    def __init__(self, connection: apsw.Connection, watch: _Watch) -> None:
        object.__setattr__(self, "_connection", connection)
        object.__setattr__(self, "_watch", watch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._connection, name, value)

    def execute(self, statement: str, *values: Any) -> Any:
        with self._watch.over(_part(statement)):
            return self._connection.execute(statement, *values)

    def executemany(self, statement: str, values: Any) -> Any:
        with self._watch.over(_part(statement)):
            return self._connection.executemany(statement, values)


def _part(statement: str) -> str:
    return next((part for sign, part in _PARTS if sign in statement), _OTHER)
