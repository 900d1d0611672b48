"""Servers of peers: started on loopback for one measurement, and ended by their process."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

_PATIENCE = 60.0


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def program(name: str) -> Path:
    """The program of a package from npm, which PEER_NPM is the folder of: its largest file."""
    found = [path for path in Path(os.environ["PEER_NPM"]).rglob(name) if path.is_file()]
    largest = max(found, key=lambda path: path.stat().st_size)
    largest.chmod(0o755)
    return largest


class Server:
    """A server that answers JSON over HTTP."""

    def __init__(self, command: list[Any], port: int, ready: str, folder: Path) -> None:
        self._port = port
        self._local = threading.local()
        log = (folder / "server.log").open("ab")
        self._process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, stdout=log, stderr=log
        )
        until = time.monotonic() + _PATIENCE
        while not self._answers(ready):
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(f"{command[0]} does not answer")
            time.sleep(0.02)

    @property
    def id(self) -> int:
        """The number of its process."""
        return self._process.pid

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request; raises for one that is refused."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
            self._local.connection = connection
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self._local.connection = None
            raise
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500]!r}")
        return json.loads(content) if content[:1] in b"{[" else None

    def _answers(self, path: str) -> bool:
        try:
            self.ask("GET", path)
        except OSError:
            return False
        return True

    def end(self) -> None:
        """Ask the process to end, and wait for it."""
        self._process.terminate()
        self._process.wait(30)
