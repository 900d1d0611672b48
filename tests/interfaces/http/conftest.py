"""A real server on loopback over a small vault, and a client to ask it."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.interfaces.conftest import NOTES, Cli, _at, write
from tests.waiting import PATIENCE


@dataclass
class Server:
    """`twolane serve` in a process of its own."""

    address: str
    process: subprocess.Popen[str]
    cli: Cli
    vault: Path
    said: list[str] = field(default_factory=list)
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.address, timeout=PATIENCE)

    def stop(self) -> int:
        """Tell the server to stop and wait until it has; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


Serve = Callable[..., Server]


@contextmanager
def serving(cli: Cli, vault: Path, *words: str, **environment: str) -> Iterator[Server]:
    """A server on a free port, until the block ends."""
    with cli.beside("serve", "--port", "0", *words, **environment) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"serving on (http://\S+)", line):
                break
        else:
            raise AssertionError(said)
        server = Server(found[1], process, cli, vault, [*said.splitlines()])
        # The log is read to its end: a pipe that is full would stop the server.
        reader = threading.Thread(target=server.said.extend, args=(process.stderr,), daemon=True)
        reader.start()
        try:
            yield server
        finally:
            server.client.close()
            if process.poll() is None:
                server.stop()
            reader.join(PATIENCE)


@contextmanager
def serving_notes(
    vault: Path, notes: Mapping[str, str | bytes] = NOTES, **environment: str
) -> Iterator[Server]:
    """A server over a new folder of notes, with a home of its own beside it."""
    cli = _at(vault.parent / "home")
    cli("index", write(vault, notes))
    with serving(cli, vault, **environment) as running:
        yield running


def token(server: Server, name: str, *may: str, owner: str | None = None) -> dict[str, str]:
    """The header of a new token."""
    options = [word for one in may for word in ("--may", one)]
    options += ["--owner", owner] if owner else []
    said = server.cli("token", "add", name, *options, "--quiet").stdout.strip()
    return {"Authorization": f"Bearer {said}"}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the small vault; for tests that change nothing."""
    with serving_notes(tmp_path_factory.mktemp("served") / "Мои notes") as running:
        yield running


@pytest.fixture
def client(server: Server) -> httpx.Client:
    """A client of that server."""
    return server.client
