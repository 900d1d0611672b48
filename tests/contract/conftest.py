"""Each test of the contract runs once for every store."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.builders import Clock, space
from tests.contract.adapters import ADAPTERS, MEMORY, NODES, POSTGRES, QDRANT, SERVERS, Adapter
from twolane.ports import Stores


@pytest.fixture(scope="session", params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """Every store; a property test opens a fresh one for each example."""
    return _ready(request)


@pytest.fixture(
    scope="session",
    params=[adapter for adapter in ADAPTERS if adapter is not MEMORY],
    ids=lambda adapter: adapter.name,
)
def other(request: pytest.FixtureRequest) -> Adapter:
    """Every store but the memory store, which is the one to agree with."""
    return _ready(request)


@pytest.fixture(
    scope="session",
    params=[adapter for adapter in ADAPTERS if adapter.durable],
    ids=lambda adapter: adapter.name,
)
def durable(request: pytest.FixtureRequest) -> Adapter:
    """Every store that outlives its process."""
    return _ready(request)


@pytest.fixture(
    scope="session",
    params=[adapter for adapter in ADAPTERS if adapter.restore],
    ids=lambda adapter: adapter.name,
)
def copied(request: pytest.FixtureRequest) -> Adapter:
    """Every store that writes backups."""
    return _ready(request)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With Qdrant, documents, work, tokens, letters and names are still the database's."""
    others = [one for one in items if "[qdrant" in one.nodeid and _THEIRS.search(one.nodeid)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [one for one in items if one not in others]


_THEIRS = re.compile(r"contract/test_(documents|outbox|queue|tokens)|[Ee]xact|named|Terms|_terms_")


def _ready(request: pytest.FixtureRequest) -> Adapter:
    """The adapter, once what it needs is running."""
    found = request.param
    assert isinstance(found, Adapter)
    if found is POSTGRES and not SERVERS:
        SERVERS.append(request.getfixturevalue("postgres"))
    if found is QDRANT and not NODES:
        NODES.append(request.getfixturevalue("qdrant"))
    return found


@pytest.fixture
def clock() -> Clock:
    """The clock that `store` goes by."""
    return Clock()


@pytest.fixture
def store(adapter: Adapter, clock: Clock) -> Iterator[Stores]:
    """A new store with one empty collection."""
    with adapter.fresh(clock) as opened:
        yield opened


@pytest.fixture
def generation(store: Stores) -> int:
    """The number of a serving generation."""
    return store.vectors.open_generation(space()).number
