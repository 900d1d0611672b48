"""A hostile place to run in: no settings of ours, no home, no network."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest

import tests.qdrant_server as qdrant_server
from tests.postgres_server import Server, running

# What a shell runs in the background ignores Ctrl-C, and hands that on to every program that it
# starts; a program that a test interrupts would then run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of our own; it starts when the first test asks for it."""
    with running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """The address of a new database with the tables of an empty library."""
    with postgres.database() as url:
        yield url


@pytest.fixture(scope="session")
def qdrant() -> Iterator[qdrant_server.Node]:
    """A Qdrant node of our own; it starts when the first test asks for it."""
    with qdrant_server.running() as (node,):
        yield node


@pytest.fixture(autouse=True)
def _nobody_is_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our environment variables are gone and the home directory is an empty one."""
    for name in list(os.environ):
        if name.startswith(("TWOLANE_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only loopback can be reached; anything else is an error."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "local"
        if host not in ("127.0.0.1", "::1", "localhost", "local"):
            raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
