"""The stores that the contract suite runs against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.builders import COLLECTION, Clock
from tests.postgres_server import Server
from twolane.model.document import Collection
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.stores.memory import memory_stores
from twolane.stores.postgres import open_stores as open_postgres
from twolane.stores.sqlite import open_stores


@dataclass(frozen=True, slots=True)
class Adapter:
    """A store under test: how to open the one that lives in a folder.

    A durable store holds the same documents when its folder is opened again,
    and `restore` opens a backup where there are any.
    `leave` is called when a folder is not needed any more.
    """

    name: str
    open: Callable[[Path, Clock], Stores]
    restore: Callable[[Path, Clock], Stores] | None = None
    durable: bool = False
    leave: Callable[[Path], None] = lambda folder: None

    @contextmanager
    def fresh(self, clock: Clock | None = None) -> Iterator[Stores]:
        """A new store that holds one empty collection and is gone afterwards."""
        with TemporaryDirectory() as folder:
            store = self.open(Path(folder), clock or Clock())
            try:
                store.documents.apply(PutCollection(Collection(COLLECTION)))
                yield store
            finally:
                store.maintenance.close()
                self.leave(Path(folder))


def _memory(folder: Path, clock: Clock) -> Stores:
    return memory_stores(clock=clock)


def _sqlite(folder: Path, clock: Clock) -> Stores:
    return _sqlite_file(folder / "store.db", clock)


def _sqlite_file(file: Path, clock: Clock) -> Stores:
    return open_stores(file, clock=clock)


# The server of this session, once a test has asked for it.
SERVERS: list[Server] = []


def _postgres(folder: Path, clock: Clock) -> Stores:
    return open_postgres(SERVERS[0].url(_database(folder)), clock=clock)


def _database(folder: Path) -> str:
    """The name of the database that belongs to a folder."""
    note = folder / "postgres"
    if not note.exists():
        note.write_text(SERVERS[0].lend(), "utf-8")
    return note.read_text("utf-8")


def _leave(folder: Path) -> None:
    SERVERS[0].give_back(_database(folder))


MEMORY = Adapter("memory", _memory)
POSTGRES = Adapter("postgres", _postgres, durable=True, leave=_leave)
ADAPTERS = (MEMORY, Adapter("sqlite", _sqlite, restore=_sqlite_file, durable=True), POSTGRES)
