"""How commands end while an embedder is still at work: with their answer, and in good order."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.interfaces.conftest import Cli, _at, write

DIMENSIONS = 8


@contextmanager
def embedding_server(seconds: float) -> Iterator[str]:
    """A server of vectors on loopback that takes its time; its address."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            ended.wait(seconds)
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            vector = [1.0] + [0.0] * (DIMENSIONS - 1)
            data = [{"index": n, "embedding": vector} for n, _ in enumerate(texts)]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": data, "model": asked["model"]}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client that left is what this is about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A library that takes a moment to load its vectors, and to find those that are missing."""
    folder = tmp_path_factory.mktemp("large")
    cli = _at(folder / "home")
    chosen = random.Random(1)
    words = [f"word{n}" for n in range(3000)]
    notes = {
        f"{n}.md": f"# Note {n}\n\n{' '.join(chosen.choices(words, k=120))}\n" for n in range(3000)
    }
    cli("index", write(folder / "notes", notes))
    return cli


@pytest.mark.parametrize("seconds", [0.04, 0.07, 0.1, 0.15, 0.2])
def test_a_search_that_did_not_wait_ends_well(large: Cli, seconds: float) -> None:
    """The words answered; that the lane of meaning still reads the file is nobody's trouble."""
    said = large.json("search", "word7 word9", TWOLANE_SEARCH_EMBED_SECONDS=str(seconds))
    assert said["results"]


@pytest.mark.parametrize("seconds", [0.002, 0.005, 0.01, 0.015, 0.02])
def test_a_save_that_did_not_wait_ends_well(large: Cli, seconds: float) -> None:
    """The text is saved; that its vectors are still being made is nobody's trouble."""
    for number in range(2):
        place = f"https://saved.example/{seconds}/{number}"
        said = large.json("save", place, TWOLANE_EMBEDDING_SAVE_SECONDS=str(seconds))
        assert said["documents"][0]["created"]


@pytest.mark.parametrize("seconds", [0.1, 0.25, 60.0])
def test_a_slow_embedder_keeps_nobody(twolane: Cli, seconds: float) -> None:
    """A save and a search against a server that hangs answer, exit with 0, and soon."""
    with embedding_server(seconds) as address:
        slow = twolane.where(
            TWOLANE_EMBEDDING_EMBEDDER="openai",
            TWOLANE_EMBEDDING_MODEL="slow",
            TWOLANE_EMBEDDING_URL=address,
            TWOLANE_EMBEDDING_DIMENSIONS=str(DIMENSIONS),
            TWOLANE_SEARCH_EMBED_SECONDS="0.2",
        )
        began = time.monotonic()
        saved = slow("save", "-", "--id", "tea", stdin=b"Steep green tea at eighty degrees.")
        assert saved.stdout == "tea  saved\n"
        found = slow.json("search", "green tea")
        assert [result["id"] for result in found["results"]] == ["tea"]
        assert time.monotonic() - began < 20
