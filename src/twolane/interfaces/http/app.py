"""The server as an ASGI application: from a request to a job, and from an answer to a response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from twolane.interfaces.http import health, routes
from twolane.interfaces.http.admission import Admission
from twolane.interfaces.http.agents import Agents
from twolane.interfaces.http.auth import Auth
from twolane.interfaces.http.dispatch import Answered, Job, Workers, answered, failed, known
from twolane.interfaces.http.endpoints import Caller, Endpoint
from twolane.interfaces.http.metrics import Metrics
from twolane.interfaces.http.middleware import Envelope, Guarded
from twolane.interfaces.http.pages import Page, pages
from twolane.interfaces.http.parameters import read_body, read_parameters
from twolane.interfaces.http.problems import (
    NOT_FOUND,
    TOO_LARGE,
    TOO_SLOW_REQUEST,
    WRONG_METHOD,
    WRONG_TYPE,
    HttpProblem,
)
from twolane.interfaces.wire.shape import encode
from twolane.library import Library
from twolane.settings import Settings

log = logging.getLogger("twolane.http")

T = TypeVar("T")

# An agent asks and never sends documents. Its messages are read where all others wait.
_MOST_MESSAGE_BYTES = 64 * 1024

_LIGHT_THREADS = 8


class _Rest(Convertor[str]):
    """All the rest of an address, whatever is in it: ids hold slashes, and may hold anything."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", _Rest())


class Application:
    """Answers requests over one library; `workers` answer the heavy ones if there are any.

    `agents_only` leaves out the page and the API: what remains is for agents, and for whoever
    looks after the server.
    """

    def __init__(
        self,
        library: Library,
        auth: Auth,
        settings: Settings,
        workers: Workers | None = None,
        *,
        agents_only: bool = False,
    ) -> None:
        self._library = library
        self._auth = auth
        self._server = settings.server
        self._workers = workers
        self._threads = ThreadPoolExecutor(self._server.threads, "twolane-request")
        # Whoever looks whether the server lives is not to wait for those who look at the index.
        self._light = ThreadPoolExecutor(_LIGHT_THREADS, "twolane-light")
        self._own = self._room(self._server.threads)
        self._others = self._room(self._server.processes) if workers else self._own
        rooms = {self._own, self._others}
        self._metrics = Metrics(
            {
                "twolane_queue_depth": lambda: sum(room.waiting for room in rooms),
                "twolane_passages_pending": health.Waiting(library),
                "twolane_outbox_changes": partial(health.outbox, library, 0),
                "twolane_outbox_seconds": partial(health.outbox, library, 1),
                "twolane_requests_working": lambda: sum(room.working for room in rooms),
            }
        )
        problems: Mapping[Any, Any] = {
            HttpProblem: _problem,
            HTTPException: _not_routed,
            ClientDisconnect: _left,
        }
        self._app = Starlette(
            routes=self._routes(agents_only=agents_only),
            exception_handlers=problems,
            middleware=[
                Middleware(
                    Envelope, auth=auth, metrics=self._metrics, log_queries=self._server.log_queries
                ),
                Middleware(ExceptionMiddleware, handlers={**problems, Exception: _failed}),
                Middleware(Guarded, auth=auth),
            ],
        )
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        await self._app(scope, receive, send)

    def close(self) -> None:
        """End the searches that are being worked on, and let other work that has begun end."""
        self._library.stop_answering()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._light.shutdown(wait=False, cancel_futures=True)
        if self._workers:
            self._workers.close()

    def _routes(self, *, agents_only: bool) -> list[Route]:
        agents = Agents(self._library, self._auth, self._message, self._in_turn)
        made = [Route("/mcp", agents, methods=["POST"])]
        by_path: dict[str, dict[str, Endpoint]] = {}
        for one in routes.UPKEEP if agents_only else routes.ENDPOINTS:
            by_path.setdefault(one.path, {})[one.method] = one
        for path, endpoints in by_path.items():
            handler = self._handler(endpoints)
            addresses = routes.addresses(path.replace("}", ":rest}"))
            made += [Route(address, handler, methods=[*endpoints]) for address in addresses]
        for path, page in ({} if agents_only else pages()).items():
            made.append(Route(path, self._page_handler(page)))
        return made

    def _handler(self, endpoints: Mapping[str, Endpoint]) -> Callable[[Request], Any]:
        """What answers an address, by method."""

        async def handle(request: Request) -> Response:
            endpoint = endpoints["GET" if request.method == "HEAD" else request.method]
            request.state.endpoint = endpoint.name
            caller = await self._auth.admit(request, endpoint.capability)
            request.state.caller = caller.name
            job = await self._job(request, endpoint, caller)
            done = await self._worked(endpoint, job, request)
            if isinstance(done, HttpProblem):
                raise done
            if done.measured:
                self._metrics.search(done.measured.lanes, done.measured.degraded)
            kept = {"ETag": done.etag, "Cache-Control": "private, no-cache"} if done.etag else {}
            media = endpoint.media if done.content is not None else None
            headers = {**kept, **done.headers}
            return Response(done.content or b"", done.status, headers, media)

        return handle

    def _page_handler(self, page: Page) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            request.state.endpoint = "page"
            self._auth.count(request)
            packed = page.packed if "gzip" in listed(request, "accept-encoding") else None
            etag = f'"{page.etag}-gzip"' if packed else f'"{page.etag}"'
            headers = {"Cache-Control": "no-cache", "ETag": etag, "Vary": "Accept-Encoding"}
            if packed:
                headers["Content-Encoding"] = "gzip"
            if known(etag, listed(request, "if-none-match")):
                return Response(b"", 304, headers)
            return Response(packed or page.content, 200, headers, page.media)

        return handle

    async def _job(self, request: Request, endpoint: Endpoint, caller: Caller) -> Job:
        query = request.scope["query_string"]
        given = read_parameters(endpoint.parameters, request.path_params, query)
        inputs: dict[str, Any] = {"given": given} if given.__struct_fields__ else {}
        if endpoint.body is not None:
            inputs["body"] = read_body(endpoint.body, await self._body(request))
        return Job(
            endpoint=endpoint.name,
            request_id=request.state.id,
            caller=caller,
            inputs=inputs,
            address=f"{request.scope['path']}?{query.decode('latin-1')}",
            seen=listed(request, "if-none-match"),
            if_match=request.headers.get("if-match"),
            key=request.headers.get("idempotency-key"),
        )

    async def _body(self, request: Request, most: int | None = None) -> bytes:
        """A request's body, said to be JSON; HttpProblem if it is not, too large or too slow."""
        most = min(most or self._server.max_body_bytes, self._server.max_body_bytes)
        seconds = self._server.request_seconds
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise HttpProblem(WRONG_TYPE, f"the Content-Type is {media[:80]!r}")
        too_large = HttpProblem(TOO_LARGE, f"a body may have {most} bytes")
        announced = request.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > most:
            raise too_large
        parts = bytearray()
        try:
            async with asyncio.timeout(seconds):
                async for part in request.stream():
                    parts += part
                    if len(parts) > most:
                        raise too_large
        except TimeoutError as error:
            told = f"the body was not there after {seconds:g} s"
            raise HttpProblem(TOO_SLOW_REQUEST, told) from error
        return bytes(parts)

    async def _message(self, request: Request) -> bytes:
        """The body of an agent's request; there is no use in reading it without room for it."""
        self._own.check()
        return await self._body(request, _MOST_MESSAGE_BYTES)

    async def _in_turn(self, call: Callable[[], T]) -> T:
        return await self._own.run(lambda: self._threads.submit(call))

    async def _worked(
        self, endpoint: Endpoint, job: Job, request: Request
    ) -> Answered | HttpProblem:
        """Work in its turn, unless the client leaves before."""
        if endpoint.light:
            light = self._light.submit(answered, job, endpoint, self._library, self._metrics)
            return await asyncio.wrap_future(light)
        workers = self._workers if endpoint.heavy else None

        def submit() -> Future[Answered | HttpProblem]:
            if workers is not None:
                return workers.submit(job)
            return self._threads.submit(answered, job, endpoint, self._library, self._metrics)

        left = asyncio.ensure_future(_gone(request.receive))
        room = self._others if workers is not None else self._own
        try:
            return await room.run(submit, left, to_the_end=endpoint.writes)
        finally:
            left.cancel()

    def _room(self, working: int) -> Admission:
        server = self._server
        return Admission(working=working, queue=server.queue, seconds=server.request_seconds)


def listed(request: Request, header: str) -> tuple[str, ...]:
    """The parts of a header that is a list."""
    parts = (one.strip() for one in ",".join(request.headers.getlist(header)).split(","))
    return tuple(part for part in parts if part)


async def _gone(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


# ---------------------------------------------------------------------------------- what fails


async def _problem(request: Request, problem: HttpProblem) -> Response:
    body = encode(problem.shape(request.state.id))
    headers = dict(problem.headers)
    return Response(body, problem.problem.status, headers, "application/problem+json")


async def _not_routed(request: Request, error: HTTPException) -> Response:
    """An address or a method that there is not."""
    if error.status_code != WRONG_METHOD.status:
        return await _problem(request, HttpProblem(NOT_FOUND, "there is nothing at this address"))
    allowed = ", ".join(sorted((error.headers or {})["Allow"].split(", ")))
    return await _problem(
        request, HttpProblem(WRONG_METHOD, f"it takes {allowed}", {"Allow": allowed})
    )


async def _left(request: Request, error: ClientDisconnect) -> Response:  # noqa: ARG001
    """Nobody reads this; the log and the counters know the status."""
    return Response(status_code=499)


async def _failed(request: Request, error: Exception) -> Response:
    """Whatever a request brings to light, the next one must be answered."""
    log.error("request %s failed", request.state.id, exc_info=error)
    return await _problem(request, failed())
