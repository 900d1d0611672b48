"""`/mcp` with a real client over HTTP, with and without tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.interfaces.conftest import Cli, _at, write
from tests.interfaces.http.conftest import Server, serving
from tests.interfaces.mcp.test_mcp import NOTES, Session, refused, search_outline_get, told
from tests.waiting import PATIENCE

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream"}


def over_http(address: str, session: Session, *, token: str = "", mode: str = "auto") -> None:
    """Talk to a server over HTTP, as an agent with this token does."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(address, http_client=http), mode=mode) as client,
        ):
            await session(client)

    anyio.run(run)


def indexed(folder: Path) -> Cli:
    """A command line whose library holds the notes."""
    cli = _at(folder / "home")
    cli("index", write(folder / "notes", NOTES))
    cli("collection", "describe", "notes", "What I grow, bake and drink.")
    return cli


def made(cli: Cli, name: str, *options: str) -> str:
    """A new token."""
    return cli("token", "add", name, *options, "--quiet").stdout.strip()


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`twolane serve` without tokens."""
    folder = tmp_path_factory.mktemp("open")
    with serving(indexed(folder), folder / "notes") as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`twolane serve` with a token."""
    folder = tmp_path_factory.mktemp("guarded")
    cli = indexed(folder)
    made(cli, "first")
    with serving(cli, folder / "notes") as running:
        yield running


@contextmanager
def agents_only(cli: Cli, *options: str) -> Iterator[str]:
    """`twolane mcp --http` on a free port; gives its address."""
    with cli.beside("mcp", "--http", "--port", "0", *options) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "/mcp" in line, line
        yield re.findall(r"http://\S+", line)[0]
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_without_tokens(open_server: Server, mode: str) -> None:
    """On this machine an agent searches, outlines and gets, by the new way and the old."""

    async def session(client: Client) -> None:
        assert "What I grow, bake and drink." in (client.instructions or "")
        await search_outline_get(client)
        assert "no document" in await refused(client, "get", doc="secret.md")
        found = await client.read_resource("twolane://search/quagga%20salt")
        assert "Bread" in found.contents[0].text  # type: ignore[union-attr]

    over_http(f"{open_server.address}/mcp", session, mode=mode)


def test_what_an_agent_is_told_is_current(tmp_path: Path) -> None:
    """The instructions of each connection count what is in the library then."""
    cli = indexed(tmp_path)

    async def more(client: Client) -> None:
        assert "7 notes" in (client.instructions or "")

    with agents_only(cli) as address:
        over_http(address, search_outline_get)
        write(tmp_path / "notes", {"new.md": "# New\n\nJust written.\n"})
        cli("index", tmp_path / "notes")
        over_http(address, more)
        # The page and the API are not here; whoever looks after the server finds what they need.
        place = address.removesuffix("/mcp")
        assert httpx.get(f"{place}/api/search?q=tea").status_code == 404
        assert httpx.get(f"{place}/").status_code == 404
        assert httpx.get(f"{place}/healthz").status_code == 200


def test_a_token_is_needed_once_there_is_one(guarded: Server) -> None:
    """Without a token, with a wrong one or one that may not search nothing is told."""
    address = f"{guarded.address}/mcp"
    writer = made(guarded.cli, "writer", "--may", "documents.write")
    for header, status in (
        ({}, 401),
        ({"authorization": "Bearer tl_0_0"}, 401),
        ({"authorization": f"Bearer {writer}"}, 403),
    ):
        answer = httpx.post(address, json=LIST, headers={**ACCEPT, **header})
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
    assert "www-authenticate" in httpx.post(address, json=LIST, headers=ACCEPT).headers
    over_http(address, search_outline_get, token=made(guarded.cli, "agent"))


def test_a_revoked_token_opens_nothing_more(guarded: Server) -> None:
    """A token that is revoked while an agent uses it ends its session with the next call."""
    token = made(guarded.cli, "short-lived")

    async def session(client: Client) -> None:
        assert "Bread" in await told(client, "search", query="rye")
        await anyio.to_thread.run_sync(lambda: guarded.cli("token", "revoke", "short-lived"))
        with pytest.raises(Exception, match=r"401|[Uu]nauthori[sz]ed|error") as ended:
            await told(client, "search", query="rye")
        assert "Bread" not in str(ended.value)

    over_http(f"{guarded.address}/mcp", session, token=token)


def test_tokens_say_what_an_agent_finds(guarded: Server) -> None:
    """An owner's token finds their documents alone; without `search.semantic` words must do."""
    address = f"{guarded.address}/mcp"

    async def stranger(client: Client) -> None:
        assert "over 0 notes" in (client.instructions or "")
        assert "nothing found" in await told(client, "search", query="rye")
        assert "no document" in await refused(client, "get", doc="bread.md")

    async def reader(client: Client) -> None:
        said = await told(client, "search", query="rye")
        assert "Bread" in said
        assert "warning: dense lane: " in said

    over_http(address, stranger, token=made(guarded.cli, "ann", "--owner", "ann"))
    over_http(address, reader, token=made(guarded.cli, "words", "--may", "search.use"))


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    """A server that others can reach does not start without a token, and asks for it then."""
    cli = indexed(tmp_path)
    said = cli("mcp", "--http", "--host", "0.0.0.0", "--port", "0", code=2)
    assert "there is no token yet" in said.stderr
    made(cli, "far")
    with agents_only(cli) as address:
        assert httpx.post(address, json=LIST, headers=ACCEPT).status_code == 401


def test_a_page_of_another_site_is_refused(open_server: Server) -> None:
    """A request with a foreign Host or Origin is not answered."""
    for hostile in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        answer = open_server.client.post("/mcp", json=LIST, headers={**ACCEPT, **hostile})
        assert answer.status_code in (403, 421)


@pytest.mark.parametrize(
    ("method", "body", "status"),
    [
        ("GET", b"", 405),
        ("DELETE", b"", 405),
        ("POST", b"{", 400),
        ("POST", b"[" * 5000, 400),
        ("POST", b"\xff", 400),
        ("POST", b"[]", 400),
        ("POST", json.dumps({**LIST, "method": 7}).encode(), 400),
        ("POST", b" " * 30_000_000, 413),
    ],
)
def test_bad_messages_are_refused(
    open_server: Server, method: str, body: bytes, status: int
) -> None:
    """What is no message of the protocol is refused, and the next one is answered."""
    headers = {**ACCEPT, "content-type": "application/json"}
    answer = open_server.client.request(method, "/mcp", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["x-request-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    after: Any = open_server.client.post("/mcp", json=LIST, headers=ACCEPT).json()
    assert len(after["result"]["tools"]) == 6


def test_an_overloaded_server_says_no_to_agents_too(tmp_path: Path) -> None:
    """Of many calls at once some are answered and the others refused, to be tried again."""
    cli = indexed(tmp_path)
    tight = {
        "TWOLANE_SERVER_THREADS": "1",
        "TWOLANE_SERVER_QUEUE": "1",
        "TWOLANE_SERVER_REQUESTS_PER_MINUTE": "0",
    }
    arguments = {"query": "okapis paragraph", "doc": "long.md"}
    call = {**LIST, "method": "tools/call", "params": {"name": "why", "arguments": arguments}}

    with serving(cli, tmp_path, **tight) as running:

        def ask(_: int) -> str:
            with httpx.Client(base_url=running.address, timeout=PATIENCE, headers=ACCEPT) as client:
                answer = client.post("/mcp", json=call)
            if answer.status_code == 503:
                assert answer.headers["retry-after"]
                assert answer.json()["type"] == "/problems/overloaded"
                return "refused"
            assert answer.status_code == 200
            result = answer.json()["result"]
            text = result["content"][0]["text"]
            assert "too many requests wait" in text if result.get("isError") else "Long" in text
            return "refused" if result.get("isError") else "answered"

        with ThreadPoolExecutor(16) as many:
            told = set(many.map(ask, range(48)))
        assert told == {"answered", "refused"}
        assert ask(0) == "answered"
