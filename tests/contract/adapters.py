"""The stores that the contract suite runs against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.builders import COLLECTION, Clock
from twolane.model import Collection
from twolane.ports import Store
from twolane.stores.memory import MemoryStore
from twolane.stores.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class Adapter:
    """A store under test: how to open the one that lives in a folder.

    A durable store holds the same documents when its folder is opened again,
    and `restore` opens a backup.
    """

    name: str
    open: Callable[[Path, Clock], Store]
    restore: Callable[[Path, Clock], Store] | None = None

    @contextmanager
    def fresh(self, clock: Clock | None = None) -> Iterator[Store]:
        """A new store that holds one empty collection and is gone afterwards."""
        with TemporaryDirectory() as folder:
            store = self.open(Path(folder), clock or Clock())
            try:
                store.add_collection(Collection(COLLECTION))
                yield store
            finally:
                store.close()


def _memory(folder: Path, clock: Clock) -> Store:
    return MemoryStore(clock=clock)


def _sqlite(folder: Path, clock: Clock) -> Store:
    return _sqlite_file(folder / "store.db", clock)


def _sqlite_file(file: Path, clock: Clock) -> Store:
    return SqliteStore.open(file, clock=clock)


MEMORY = Adapter("memory", _memory)
ADAPTERS = (MEMORY, Adapter("sqlite", _sqlite, restore=_sqlite_file))
