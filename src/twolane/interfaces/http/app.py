"""The server as an ASGI application: from a request to a call, and from a reply to a response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twolane import __version__
from twolane.errors import TwolaneError
from twolane.interfaces import http_wire
from twolane.interfaces.http import documents, health, searching
from twolane.interfaces.http.admission import Admission
from twolane.interfaces.http.endpoints import LOCAL, Call, Caller, Endpoint, Reply
from twolane.interfaces.http.guard import HEADERS, Guard
from twolane.interfaces.http.messages import (
    Gone,
    Receive,
    Request,
    Response,
    Send,
    json_bytes,
    read_json,
)
from twolane.interfaces.http.pages import Page, pages
from twolane.interfaces.http.problems import (
    INTERNAL,
    NOT_FOUND,
    NOT_PERMITTED,
    WRONG_METHOD,
    Refused,
    refusal,
)
from twolane.library import Library
from twolane.model import digest

log = logging.getLogger("twolane.http")

ENDPOINTS: tuple[Endpoint, ...] = (
    *searching.ENDPOINTS,
    *documents.ENDPOINTS,
    *health.ENDPOINTS,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the server takes on: threads, waiting requests, seconds and bytes per request."""

    threads: int = 4
    queue: int = 32
    seconds: float = 30.0
    body_bytes: int = 10_000_000


class Application:
    """Answers requests over one library."""

    def __init__(self, library: Library, guard: Guard, limits: Limits) -> None:
        self._library = library
        self._guard = guard
        self._limits = limits
        self._pages = pages()
        self._table = _by_path(ENDPOINTS)
        self._admission = Admission(
            threads=limits.threads, queue=limits.queue, seconds=limits.seconds
        )

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        request = Request.of(scope)
        try:
            response = await self._answered(request, receive)
        except Gone:
            return
        except Refused as refused:
            response = self._refused(request, refused)
        except TwolaneError as error:
            response = self._refused(request, refusal(error))
        # Whatever a request brings to light, the next one must be answered.
        except Exception:
            log.exception("request %s failed", request.id)
            failed = Refused(INTERNAL, "the server's log has more under the request id")
            response = self._refused(request, failed)
        await response.send(request, send)

    def close(self) -> None:
        """Let the work that has begun end."""
        self._admission.close()

    async def _answered(self, request: Request, receive: Receive) -> Response:
        self._guard.check(request.method, request.path, request.headers)
        if request.path in self._pages:
            return self._page(request, self._pages[request.path])
        endpoint, path = self._found(request)
        caller = LOCAL
        if endpoint.capability is not None and endpoint.capability not in caller.capabilities:
            raise Refused(NOT_PERMITTED, f"this needs the capability {endpoint.capability}")
        call = Call(
            self._library,
            caller,
            endpoint.read(path, request.parameters()),
            await self._body(endpoint, request, receive),
            request.headers,
        )
        if endpoint.light:
            reply = await asyncio.to_thread(_worked, endpoint, call, request)
        else:
            reply = await self._queued(endpoint, call, request, receive)
        return self._made(request, reply)

    async def _queued(
        self, endpoint: Endpoint, call: Call, request: Request, receive: Receive
    ) -> Reply:
        """Work in its turn, unless the client leaves before."""
        left = asyncio.ensure_future(_left(receive))
        try:
            return await self._admission.run(lambda: _worked(endpoint, call, request), left)
        finally:
            left.cancel()

    def _found(self, request: Request) -> tuple[Endpoint, dict[str, str]]:
        methods, path = _looked_up(self._table, request.path)
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            allowed = ", ".join(sorted({*methods, "HEAD"} if "GET" in methods else methods))
            raise Refused(WRONG_METHOD, f"it takes {allowed}", {"Allow": allowed})
        return methods[method], path

    async def _body(self, endpoint: Endpoint, request: Request, receive: Receive) -> Any:
        if endpoint.takes is None:
            return None
        limits = self._limits
        return await read_json(request, receive, most=limits.body_bytes, seconds=limits.seconds)

    def _page(self, request: Request, page: Page) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise Refused(WRONG_METHOD, "it takes GET, HEAD", {"Allow": "GET, HEAD"})
        etag = f'"{page.etag}"'
        headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": etag}
        if _seen(request, etag):
            return Response(304, headers=headers)
        return Response(200, page.content, {**headers, "Content-Type": page.media})

    def _made(self, request: Request, reply: Reply) -> Response:
        shared = self._guard.shared(request.headers.get("origin"))
        headers = {
            **HEADERS,
            "Cache-Control": "private, no-cache" if reply.etag else "no-store",
            **({"ETag": reply.etag} if reply.etag else {}),
            **shared,
            **reply.headers,
        }
        if reply.body is None:
            return Response(reply.status, headers=headers)
        content = reply.body.encode() if isinstance(reply.body, str) else json_bytes(reply.body)
        return Response(reply.status, content, {**headers, "Content-Type": reply.media})

    def _refused(self, request: Request, refused: Refused) -> Response:
        headers = {
            **HEADERS,
            "Cache-Control": "no-store",
            "Content-Type": "application/problem+json",
            **self._guard.shared(request.headers.get("origin")),
            **refused.headers,
        }
        body = json_bytes(http_wire.problem_json(refused, request.id))
        return Response(refused.problem.status, body, headers)


Table = Mapping[str, Mapping[str, Endpoint]]


def _by_path(endpoints: tuple[Endpoint, ...]) -> Table:
    table: dict[str, dict[str, Endpoint]] = {}
    for one in endpoints:
        table.setdefault(one.path, {})[one.method] = one
    return table


def _looked_up(table: Table, path: str) -> tuple[Mapping[str, Endpoint], dict[str, str]]:
    """The methods of an address, and the parameter that the rest of it is."""
    if path in table and "{" not in path:
        return table[path], {}
    for pattern, methods in table.items():
        stem, _, name = pattern.partition("{")
        if name and path.startswith(stem) and len(path) > len(stem):
            return methods, {name.rstrip("}"): path[len(stem) :]}
    raise Refused(NOT_FOUND, "there is nothing at this address")


def _worked(endpoint: Endpoint, call: Call, request: Request) -> Reply:
    """The reply, or only that the client has it already."""
    etag = None
    if endpoint.state is not None:
        etag = _weak(endpoint.state(call), call.caller, request)
        if _seen(request, etag):
            return Reply(None, 304, etag)
    reply = endpoint.answer(call)
    if reply.etag is None:
        return Reply(
            reply.body,
            reply.status,
            etag if reply.keep else None,
            media=reply.media,
            headers=reply.headers,
        )
    return Reply(None, 304, reply.etag) if _seen(request, reply.etag) else reply


def _weak(state: str, caller: Caller, request: Request) -> str:
    """A name for an answer that may differ in its timings and in nothing else."""
    may = ",".join(sorted(caller.capabilities))
    parts = (__version__, state, caller.owner or "", may, request.path, request.query.decode())
    return f'W/"{digest(chr(10).join(parts))}"'


def _seen(request: Request, etag: str) -> bool:
    """Whether the client said that it has this; comparison is weak, as reading wants it."""
    if request.method not in ("GET", "HEAD"):
        return False
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    return "*" in known or etag.removeprefix("W/") in [one.removeprefix("W/") for one in known]


async def _left(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
