"""Hostile headers, bodies and paths: refused politely, and the server lives on."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.interfaces.http.conftest import Server


def raw(server: Server, request: bytes, *, more: bytes = b"") -> bytes:
    """What the server says to these bytes, up to 64 kB."""
    place = urlsplit(server.address)
    with socket.create_connection(
        (place.hostname or "", place.port or 0), timeout=10
    ) as connection:
        connection.sendall(request)
        if more:
            connection.sendall(more)
        said = b""
        while len(said) < 65536:
            try:
                part = connection.recv(65536)
            except (TimeoutError, ConnectionResetError):
                break
            if not part:
                break
            said += part
            if b"\r\n\r\n" in said and b"connection: close" not in said.lower():
                break
        return said


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/web/../http/app.py",
        "//etc/passwd",
        "/index.html/..",
        "/\\..\\..\\windows",
        "/api/documents/..%2f..%2fetc%2fpasswd",
        "/api/documents/%00",
        "/api/documents/%ff%fe",
        "/api/documents/" + "a" * 5000,
        "/api/" + "x/" * 2000,
        "/{id}",
        "/api/documents/{id}",
        "/app.py",
        "/__init__.py",
    ],
)
def test_paths_lead_nowhere(server: Server, path: str) -> None:
    """No path leaves the page's own files; every strange one is a problem of the caller."""
    said = raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
    assert said.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")), said[:200]
    assert b"root:" not in said


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
)
def test_bytes_that_are_no_request(server: Server, request_bytes: bytes) -> None:
    """The server says that it is the caller's fault, and goes on."""
    said = raw(server, request_bytes)
    assert said == b"" or said.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), said[:200]
    assert server.client.get("/healthz").status_code == 200


def test_what_is_no_request_gets_a_problem(server: Server) -> None:
    """Also below HTTP the answer is a problem with a request id and the usual headers."""
    said = raw(server, b"GARBAGE\r\n\r\n")
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    told = head.lower()
    for header in (b"content-type: application/problem+json", b"x-content-type-options: nosniff"):
        assert header in told
    problem = json.loads(body)
    assert problem["type"] == "/problems/bad-request"
    assert f"x-request-id: {problem['request_id']}".encode() in told


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "BREW"])
def test_methods(client: httpx.Client, method: str) -> None:
    """A method that nothing takes is told so, and counted under no name of its own."""
    answer = client.request(method, "/api/search?q=a")
    assert answer.status_code == 405
    assert "BREW" not in client.get("/metrics").text


@pytest.mark.parametrize(
    "headers",
    [
        {"If-None-Match": '"' + "x" * 5000 + '"'},
        {"If-None-Match": ",,,\t,"},
        {"Accept": "\x7f"},
        {"Cookie": "a=" + "b" * 4000},
        {"Range": "bytes=0-99999999999"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-Host": "evil.example"},
        {"Expect": "100-continue"},
        {"Accept-Encoding": "gzip;q=bad"},
        {"X-Request-Id": "\x1b[31m"},
    ],
)
def test_headers_do_no_harm(client: httpx.Client, headers: dict[str, str]) -> None:
    """Strange headers are ignored."""
    assert client.get("/api/tags", headers=headers).status_code == 200


def test_a_hostile_note_cannot_script(server: Server) -> None:
    """Titles and snippets are escaped; `<mark>` is their only tag."""
    import re

    hostile = "# <img src=x onerror=alert(1)>\n\n<script>alert('boo')</script> xylophone & \"q\"\n"
    (server.vault / "hostile.md").write_text(hostile, "utf-8")
    server.cli("index", server.vault)
    try:
        found = server.client.get("/api/search?q=xylophone+alert").json()["results"][0]
        for html in (found["title_html"], found["snippet"]):
            assert set(re.findall(r"<[^>]*>", html)) <= {"<mark>", "</mark>"}
            assert "<img" not in html and "<script" not in html
    finally:
        (server.vault / "hostile.md").unlink()
        server.cli("index", server.vault)
