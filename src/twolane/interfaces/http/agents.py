"""`/mcp`: the tools for agents, behind the same entrance as everything else.

Each request stands for itself: nothing is kept between two of them, so that a token that was
revoked opens nothing more, and an agent that connects is told what is in the library now.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from twolane.errors import StoreBusy
from twolane.interfaces.http.endpoints import Caller, Endpoint, Reply
from twolane.interfaces.http.messages import Receive, Response
from twolane.interfaces.http.problems import NOT_FOUND, Refused
from twolane.scopes import Capability, Scope

if TYPE_CHECKING:
    from twolane.library import Library

T = TypeVar("T")

PATH = "/mcp"

# Who may ask, and what the log and the counters call it; the protocol has its own description.
ENDPOINT = Endpoint(
    "POST", PATH, "mcp", "Answer an agent", lambda _call: Reply(None), Capability.SEARCH
)

# An agent reads; whatever its token may do elsewhere, it cannot write here.
_READS = frozenset({Capability.SEARCH, Capability.SEMANTIC})

# The calls that are answered with what is in the library.
_GREETINGS = ("initialize", "server/discover")

Work = Callable[[Callable[[], Any]], Awaitable[Any]]


class Agents:
    """Answers the protocol's messages over one library.

    `work` runs a call in its turn; it raises Refused when there is no room for it.
    """

    def __init__(self, library: Library, work: Work) -> None:
        self._library = library
        self._work = work

    async def answer(
        self, scope: Mapping[str, Any], receive: Receive, caller: Caller, body: bytes
    ) -> Response:
        """What a message is answered with; its head came in `scope`, its body was read before."""
        if find_spec("mcp") is None:
            told = "agents need one more package on the server: pip install 'twolane[mcp]'"
            raise Refused(NOT_FOUND, told)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from twolane.interfaces.mcp.server import instructions, make_server

        reader = Scope(owner=caller.owner, capabilities=caller.capabilities & _READS)
        greeting = ""
        if _method(body) in _GREETINGS:
            greeting = await self._work(lambda: instructions(self._library, reader))
        server = make_server(self._library, reader, aside=self._aside, greeting=greeting)
        sent = _Sent()
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(dict(scope), _again(body, receive), sent)
        return sent.response()

    async def _aside(self, call: Callable[[], T]) -> T:
        """Run a tool in its turn; an agent reads why there is none, and can try again."""
        try:
            done: T = await self._work(call)
        except Refused as refused:
            raise StoreBusy(f"{refused.problem.title}: {refused.detail}") from refused
        return done


class _Sent:
    """Takes what an application sends, and makes one response of it."""

    def __init__(self) -> None:
        self._status = 500
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {
                name.decode("latin-1").title(): value.decode("latin-1")
                for name, value in message.get("headers", ())
            }
        else:
            self._body += message.get("body", b"")

    def response(self) -> Response:
        """All of it."""
        return Response(self._status, bytes(self._body), self._headers)


def _again(body: bytes, receive: Receive) -> Callable[[], Awaitable[MutableMapping[str, Any]]]:
    """A body that was read already, as if it came only now."""
    left: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> MutableMapping[str, Any]:
        return left.pop() if left else dict(await receive())

    return received


def _method(body: bytes) -> str | None:
    """What a message asks for; None for what is no message, which is the protocol's to refuse."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    method = message.get("method") if isinstance(message, dict) else None
    return method if isinstance(method, str) else None
