"""The stores that the contract suite runs against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from qdrant_client import QdrantClient, models

from tests.builders import COLLECTION, Clock
from tests.postgres_server import Server
from tests.qdrant_server import Node
from twolane.model.document import Collection
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.lexical import LexicalIndex
from twolane.ports.vectors import VectorIndex
from twolane.stores.memory import memory_stores
from twolane.stores.postgres import open_stores as open_postgres
from twolane.stores.qdrant import Cluster, Follower, Shape, with_qdrant
from twolane.stores.qdrant.layout import DATABASE
from twolane.stores.qdrant.maintenance import QdrantMaintenance
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


# The node of this session, once a test has asked for it, and names whose collections are empty.
NODES: list[Node] = []
_SPARE: list[str] = []
_NUMBERS = count(1)


def _qdrant(folder: Path, clock: Clock) -> Stores:
    """A file with a node that follows it: each question waits until it has."""
    stores = _sqlite(folder, clock)
    note = folder / "qdrant"
    if not note.exists():
        note.write_text(_SPARE.pop() if _SPARE else f"t{next(_NUMBERS)}", "utf-8")
    shape = Shape(note.read_text("utf-8"))
    stores = with_qdrant(stores, Cluster([NODES[0].url], seconds=30), shape)
    follower = _follower(stores)
    assert stores.outbox is not None and stores.replica is not None
    if not stores.outbox.is_on():
        # Collections that are there already are taken over, which is much quicker.
        stores.outbox.switch(on=True)
        for name in _collections(shape.name):
            own = {DATABASE: stores.outbox.identity()}
            _client(NODES[0].url).update_collection(name, metadata=own)
        if not follower.layout.builds().of(None):
            follower.rebuild()
    return replace(
        stores,
        lexical=cast("LexicalIndex", _Following(stores.replica.lexical, follower)),
        vectors=cast("VectorIndex", _Following(stores.replica.vectors, follower)),
        replica=None,
    )


class _Following:
    """A port that is asked when the cluster has caught up."""

    def __init__(self, port: object, follower: Follower) -> None:
        self._port = port
        self._follower = follower

    def __getattr__(self, name: str) -> object:
        if name in ("candidates", "term_frequencies", "nearest", "get"):
            assert self._follower.drain(60), self._follower.trouble
        return getattr(self._port, name)


def _follower(stores: Stores) -> Follower:
    assert isinstance(stores.maintenance, QdrantMaintenance)
    return stores.maintenance.follower


@cache
def _client(url: str) -> QdrantClient:
    return QdrantClient(url=url, check_compatibility=False)


def _collections(name: str) -> list[str]:
    """The collections of a name that was lent."""
    held = _client(NODES[0].url).get_collections().collections
    return [one.name for one in held if one.name.startswith(f"{name}-")]


def _leave_qdrant(folder: Path) -> None:
    """Empty the collections of a folder, for the next one who needs some."""
    name = (folder / "qdrant").read_text("utf-8")
    client = _client(NODES[0].url)
    everything = models.FilterSelector(filter=models.Filter())
    for one in _collections(name):
        client.delete(one, everything, wait=True)
    _SPARE.append(name)


MEMORY = Adapter("memory", _memory)
QDRANT = Adapter("qdrant", _qdrant, durable=True, leave=_leave_qdrant)
POSTGRES = Adapter("postgres", _postgres, durable=True, leave=_leave)
ADAPTERS = (
    MEMORY,
    Adapter("sqlite", _sqlite, restore=_sqlite_file, durable=True),
    POSTGRES,
    QDRANT,
)
