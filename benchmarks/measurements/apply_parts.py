"""Where the time of writing goes: statements of a run of its own, added up by what they write.

Every statement of the writing connection is timed by processor time, so the parts add up to the
whole; what is left is Python, which makes the values.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import apsw

from outcome import Table
from twolane.model import Batch, Collection, Prepared
from twolane.stores.sqlite import SqliteStore
from twolane.stores.sqlite.database import Database

# A statement belongs to the first of these that it holds.
_PARTS = (
    ("name_trigrams", "letters: of names"),
    ("text_trigrams", "letters: of texts"),
    ("unsettled", "letters: what is unsettled"),
    ("property_values", "properties that filters compare"),
    ("gathered", "texts and, by triggers, words"),
    ("INTO chunks", "chunks"),
    ("INTO documents", "documents and their indexes"),
    ("tags", "tags"),
)
_COMMITTING = "committing"
_OTHER = "looking up, ledger, revision"
_PYTHON = "Python, making values"


def parts(
    path: Path, notes: Sequence[Sequence[Prepared]], bare_cpu: float
) -> tuple[Table, list[dict[str, Any]]]:
    """The parts of `apply` and of `settle`, per note and against the bare table."""
    database = _Watched.open(path, create=True)
    if not isinstance(database, _Watched):
        raise TypeError(f"expected a watched database, not {type(database)}")
    store = SqliteStore(database)
    store.add_collection(Collection("notes"))

    def write() -> None:
        for batch in notes:
            store.apply(Batch("notes", batch))

    found = {"apply": database.over(write), "settle": database.over(store.settle)}
    store.close()
    path.unlink()
    count = sum(map(len, notes))
    rows = [
        {"run": "parts", "verb": verb, "part": part, "cpu": cpu}
        for verb, spent in found.items()
        for part, cpu in spent.most_common()
    ]
    table = Table(
        "What is written, by CPU time of one run",
        ("verb", "part", "ms per note", "against bare"),
        [
            (
                str(row["verb"]),
                str(row["part"]),
                round(float(row["cpu"]) / count * 1000, 4),
                round(float(row["cpu"]) / bare_cpu, 2),
            )
            for row in rows
        ],
    )
    return table, rows


class _Watched(Database):
    """A database that adds up how long the statements of its writer take."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._spent: Counter[str] = Counter()

    def over(self, work: Callable[[], None]) -> Counter[str]:
        """The time of the work's statements by part, and of the rest of it."""
        self._spent = Counter()
        start = time.process_time()
        work()
        whole = time.process_time() - start
        self._spent[_PYTHON] = whole - self._spent.total()
        return self._spent

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """The writing connection, watched; committing counts as a part."""
        with super().write() as connection:
            yield cast("apsw.Connection", _Connection(connection, self._spent))
            start = time.process_time()
        self._spent[_COMMITTING] += time.process_time() - start


class _Connection:
    """A connection that times what it runs."""

    def __init__(self, connection: apsw.Connection, spent: Counter[str]) -> None:
        self._connection = connection
        self._spent = spent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        return self._timed(self._connection.execute, statement, *values)

    def executemany(self, statement: str, values: Any) -> Any:
        return self._timed(self._connection.executemany, statement, values)

    def _timed(self, run: Callable[..., Any], statement: str, *values: Any) -> Any:
        start = time.process_time()
        found = run(statement, *values)
        part = next((part for sign, part in _PARTS if sign in statement), _OTHER)
        self._spent[part] += time.process_time() - start
        return found
