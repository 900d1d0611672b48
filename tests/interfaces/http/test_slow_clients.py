"""Slow, greedy and ambiguous clients: each is refused in time, and everybody else is answered."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.http.conftest import Server, serving, serving_notes

HEAD = b"POST /api/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
MCP = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

# The longest that anybody else may wait while somebody makes trouble. Alone it takes milliseconds;
# the machine that tests may be busy.
PATIENCE = 5.0


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with little patience and few connections."""
    with serving_notes(
        tmp_path_factory.mktemp("strict") / "notes",
        TWOLANE_SERVER_HEAD_SECONDS="1",
        TWOLANE_SERVER_REQUEST_SECONDS="3",
        TWOLANE_SERVER_CONNECTIONS="20",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server as usual, whose documents may be changed."""
    with serving_notes(tmp_path_factory.mktemp("patient") / "notes") as running:
        yield running


def connected(server: Server) -> socket.socket:
    """A connection of our own."""
    place = urlsplit(server.address)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=20)


def heard(connection: socket.socket) -> bytes:
    """All that the server says until it closes."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            said += part
    return said


def slowest(server: Server, during: threading.Thread) -> float:
    """The longest that others waited for an answer while the thread ran."""
    longest = 0.0
    during.start()
    while during.is_alive():
        began = time.perf_counter()
        assert server.client.get("/healthz").status_code == 200
        longest = max(longest, time.perf_counter() - began)
        time.sleep(0.01)
    during.join()
    return longest


def test_a_head_has_a_deadline(strict: Server) -> None:
    """A head that comes byte by byte is refused when its time is over, however lively it is."""
    with connected(strict) as connection:
        began = time.perf_counter()
        with contextlib.suppress(OSError):
            for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)
                if time.perf_counter() - began > 3:
                    break
        said = heard(connection)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["type"] == "/problems/slow-request"
    assert time.perf_counter() - began < 6


def test_the_second_head_has_one_too(strict: Server) -> None:
    """A connection that was answered once cannot be held with half of the next request."""
    with connected(strict) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert b"HTTP/1.1 408 " in heard(connection)


def test_a_connection_without_a_word_is_closed(strict: Server) -> None:
    """Who connects and says nothing is let go without an answer."""
    with connected(strict) as connection:
        assert heard(connection) == b""


def test_a_body_after_its_answer_is_not_waited_for(strict: Server) -> None:
    """A body that nobody reads cannot keep a connection open for ever."""
    with connected(strict) as connection:
        head = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head)
        began = time.perf_counter()
        with contextlib.suppress(OSError):
            while time.perf_counter() - began < 8:
                connection.sendall(b"1\r\na\r\n")
                time.sleep(0.1)
        assert time.perf_counter() - began < 8


def test_slow_heads_starve_nobody(strict: Server) -> None:
    """Many connections that never finish their heads make room for one that asks at once."""
    with contextlib.ExitStack() as opened:
        for _ in range(60):
            connection = opened.enter_context(connected(strict))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        with httpx.Client(base_url=strict.address, timeout=5) as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/api/search?q=tea").status_code == 200


def test_eleven_hundred_slow_heads_starve_nobody(twolane: Cli, vault: Path) -> None:
    """By default, too: as many as a process may have open are not waited for."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("this machine does not let a test open so many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    try:
        twolane("index", vault)
        with serving(twolane, vault) as server, contextlib.ExitStack() as opened:
            for _ in range(1100):
                connection = opened.enter_context(connected(server))
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
            began = time.perf_counter()
            assert httpx.get(f"{server.address}/healthz", timeout=5).status_code == 200
            assert time.perf_counter() - began < PATIENCE
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_who_does_not_read_is_let_go(strict: Server) -> None:
    """Answers that are not fetched are thrown away after a while, with their connection."""
    asked = b"GET /js/results.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert strict.client.get("/js/results.js").status_code == 200
    with connected(strict) as connection:
        connection.settimeout(2)
        with contextlib.suppress(TimeoutError, ConnectionError):
            connection.sendall(asked * 1000)
        time.sleep(5)
        assert heard(connection).count(b"HTTP/1.1 200") < 1000


def test_tiny_chunks_hold_nobody_up(server: Server) -> None:
    """A body in a million chunks of a byte is refused soon, and others are answered meanwhile."""
    said = []

    def pour() -> None:
        with connected(server) as connection:
            connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
            with contextlib.suppress(OSError):
                for _ in range(100):
                    connection.sendall(b"1\r\na\r\n" * 10_000)
            said.append(heard(connection))

    assert slowest(server, threading.Thread(target=pour)) < PATIENCE
    assert said[0].startswith(b"HTTP/1.1 413 ") or said[0] == b""


def test_small_chunks_are_welcome(server: Server) -> None:
    """Who streams a document in pieces of a few words is served like everybody else."""
    body = json.dumps({"id": "pieces", "text": "word " * 40_000}).encode()
    pieces = (body[at : at + 100] for at in range(0, len(body), 100))
    headers = {"Content-Type": "application/json"}
    made = server.client.post("/api/documents", content=pieces, headers=headers)
    assert made.status_code == 201
    assert server.client.delete("/api/documents/pieces").status_code in (200, 204)


@pytest.mark.parametrize("head", [HEAD, MCP], ids=["documents", "mcp"])
@pytest.mark.parametrize(
    "body",
    [
        b'{"properties":{"a":[' + b",".join([b"[" * 900 + b"]" * 900] * 5000) + b"]}}",
        b'{"properties":{"a":[' + b",".join([b"[]"] * 3_000_000) + b"]}}",
        b'{"properties":{"a":' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}}",
        b"[" * 5_000_000,
    ],
    ids=["many deep", "many flat", "deep", "no end"],
)
def test_nested_json_holds_nobody_up(server: Server, head: bytes, body: bytes) -> None:
    """Lists in lists, as many as fit, are refused, and others are answered meanwhile."""
    said = []

    def pour() -> None:
        with connected(server) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(head + f"Content-Length: {len(body)}\r\n".encode())
                connection.sendall(b"Connection: close\r\n\r\n" + body)
            said.append(heard(connection))

    assert slowest(server, threading.Thread(target=pour)) < PATIENCE
    assert said[0] == b"" or said[0].startswith(b"HTTP/1.1 4"), said[0][:300]


def test_texts_may_hold_brackets(server: Server) -> None:
    """Only lists and objects are counted, not what stands in a text."""
    text = '[[link]] {x} \\ " ' * 100_000
    made = server.client.put("/api/documents/brackets", json={"text": text})
    assert made.status_code == 201
    assert server.client.delete("/api/documents/brackets").status_code in (200, 204)


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"transfer-encoding: CHUNKED\r\ncontent-length: 0\r\n",
    ],
)
def test_two_lengths_are_refused(server: Server, headers: bytes) -> None:
    """Content-Length beside Transfer-Encoding is refused, and nothing after it is read."""
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(server) as connection:
        connection.sendall(HEAD + headers + b"\r\n0\r\n\r\n" + smuggled)
        said = heard(connection)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"not both" in said
    assert said.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "host",
    [
        "user@localhost",
        "evil.example@localhost",
        "localhost\\@evil.example",
        "localhost\\evil.example",
        "localhost/evil.example",
        "localhost?evil",
        "localhost#evil",
        "localhost:80:80",
        "localhost:port",
        "[localhost]",
        "localhost evil",
    ],
)
def test_a_host_is_a_name_and_a_port(client: httpx.Client, host: str) -> None:
    """What one program takes for our name and another for somebody else's is refused."""
    assert client.get("/healthz", headers={"Host": host}).status_code in (400, 421)


def test_no_path_is_told(twolane: Cli, vault: Path) -> None:
    """Who is told that the index cannot be used is not told where it lies."""
    twolane("index", vault)
    with serving(twolane, vault) as server:
        twolane.db.rename(twolane.db.with_name("elsewhere.db"))
        for path in ("/api/search?q=tea", "/readyz", "/api/status"):
            said = server.client.get(path)
            assert said.status_code == 503
            assert str(twolane.home) not in said.text
            assert "deleted or moved" in said.json()["detail"]
    assert any(str(twolane.db) in line for line in server.said), "the log tells it"
