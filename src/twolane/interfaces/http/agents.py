"""`/mcp`: the tools for agents, behind the same checks as everything else.

Each request stands for itself: nothing is kept between two of them, so that a token that was
revoked opens nothing more, and an agent that connects is told what is in the library now.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from twolane.interfaces.http.auth import Auth
from twolane.interfaces.http.problems import NOT_FOUND, HttpProblem
from twolane.model.errors import StoreBusy
from twolane.model.scope import Capability, Scope

if TYPE_CHECKING:
    from twolane.library import Library

T = TypeVar("T")

# An agent reads; whatever its token may do elsewhere, it cannot write here.
_READS = frozenset({Capability.SEARCH, Capability.SEMANTIC})

# The calls that are answered with what is in the library.
_GREETINGS = ("initialize", "server/discover")

Work = Callable[[Callable[[], Any]], Awaitable[Any]]


class Agents:
    """Answers the protocol's messages over one library.

    `read` gives the body of a request; `work` runs a call in its turn.
    Both raise HttpProblem, for a body that cannot be taken and when there is no room.
    """

    def __init__(
        self,
        library: Library,
        auth: Auth,
        read: Callable[[Request], Awaitable[bytes]],
        work: Work,
    ) -> None:
        self._library = library
        self._auth = auth
        self._read = read
        self._work = work

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one message, as ASGI has it."""
        request = Request(scope, receive)
        request.state.endpoint = "mcp"
        caller = await self._auth.admit(request, Capability.SEARCH)
        request.state.caller = caller.name
        body = await self._read(request)
        if find_spec("mcp") is None:
            told = "agents need one more package on the server: pip install 'twolane[mcp]'"
            raise HttpProblem(NOT_FOUND, told)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from twolane.interfaces.mcp.server import instructions, make_server

        reader = Scope(owner=caller.owner, capabilities=caller.capabilities & _READS)
        greeting = ""
        if _method(body) in _GREETINGS:
            greeting = await self._work(lambda: instructions(self._library, reader))
        server = make_server(self._library, reader, aside=self._aside, greeting=greeting)
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, _again(body, receive), send)

    async def _aside(self, call: Callable[[], T]) -> T:
        """Run a tool in its turn; an agent reads why there is none, and can try again."""
        try:
            done: T = await self._work(call)
        except HttpProblem as problem:
            raise StoreBusy(f"{problem.problem.title}: {problem.detail}") from problem
        return done


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, as if it came only now."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


def _method(body: bytes) -> str | None:
    """What a message asks for; None for what is no message, which is the protocol's to refuse."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    method = message.get("method") if isinstance(message, dict) else None
    return method if isinstance(method, str) else None
