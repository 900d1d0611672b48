"""The server as an ASGI application: from a request to a job, and from an answer to a response."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from twolane.interfaces import http_wire, log_wire
from twolane.interfaces.http import agents, health, table
from twolane.interfaces.http.admission import Admission
from twolane.interfaces.http.answering import Answered, Job, answered, known
from twolane.interfaces.http.bodies import check
from twolane.interfaces.http.endpoints import Caller, Endpoint
from twolane.interfaces.http.entrance import Entrance
from twolane.interfaces.http.guard import HEADERS
from twolane.interfaces.http.messages import (
    Gone,
    Receive,
    Request,
    Response,
    Send,
    json_bytes,
    read_body,
    read_json,
)
from twolane.interfaces.http.metrics import Metrics
from twolane.interfaces.http.pages import Page, pages
from twolane.interfaces.http.problems import INTERNAL, LARGE_HEAD, WRONG_METHOD, Refused
from twolane.interfaces.http.workers import Workers
from twolane.library import Library
from twolane.settings import Settings

log = logging.getLogger("twolane.http")

T = TypeVar("T")


@dataclass(slots=True)
class _Exchange:
    """What becomes known of a request on its way, for the log and the counters."""

    endpoint: str = "other"
    caller: str = "unknown"


class Application:
    """Answers requests over one library; `workers` answer the heavy ones if there are any.

    `agents_only` leaves out the page and the API: what remains is for agents, and for whoever
    looks after the server.
    """

    def __init__(
        self,
        library: Library,
        entrance: Entrance,
        settings: Settings,
        workers: Workers | None = None,
        *,
        agents_only: bool = False,
    ) -> None:
        self._library = library
        self._entrance = entrance
        self._settings = settings
        self._workers = workers
        self._pages = {} if agents_only else pages()
        self._table = table.by_path(table.UPKEEP if agents_only else table.ENDPOINTS)
        self._agents = agents.Agents(library, self._in_turn)
        self._threads = ThreadPoolExecutor(settings.threads, "twolane-request")
        self._own = self._room(settings.threads)
        self._others = self._room(settings.processes) if workers else self._own
        self._metrics = Metrics()
        rooms = {self._own, self._others}
        self._metrics.gauge("twolane_queue_depth", lambda: sum(one.waiting for one in rooms))
        self._metrics.gauge("twolane_passages_pending", health.Waiting(library))
        self._metrics.gauge("twolane_requests_working", lambda: sum(one.working for one in rooms))

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        started = time.perf_counter()
        request = Request.of(scope)
        exchange = _Exchange()
        try:
            response = await self._answered(scope, request, receive, exchange)
        except Gone:
            self._tell(request, exchange, 499, time.perf_counter() - started)
            return
        except Refused as refused:
            response = self._refused(request, refused)
        # Whatever a request brings to light, the next one must be answered.
        except Exception:
            log.exception("request %s failed", request.id)
            failed = Refused(INTERNAL, "the server's log has more under the request id")
            response = self._refused(request, failed)
        await response.send(request, send)
        self._tell(request, exchange, response.status, time.perf_counter() - started)

    def close(self) -> None:
        """Let the work that has begun end."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._workers:
            self._workers.close()

    async def _answered(
        self, scope: Mapping[str, Any], request: Request, receive: Receive, exchange: _Exchange
    ) -> Response:
        if request.head_bytes > _MOST_HEAD_BYTES:
            raise Refused(LARGE_HEAD, f"together they have {request.head_bytes} bytes")
        if (preflight := self._entrance.preflight(request)) is not None:
            return Response(204, headers={**HEADERS, **preflight})
        self._entrance.guard(request)
        if request.path in self._pages:
            exchange.endpoint = "page"
            self._entrance.count(request)
            return self._page(request, self._pages[request.path])
        if request.path == agents.PATH:
            return await self._agent(scope, request, receive, exchange)
        endpoint, path = self._found(request)
        exchange.endpoint = endpoint.name
        caller = self._entrance.admit(request, endpoint)
        exchange.caller = caller.name
        job = await self._job(request, receive, endpoint, caller, path)
        done = await self._worked(endpoint, job, receive)
        if isinstance(done, Refused):
            raise done
        if done.measured:
            self._metrics.search(done.measured.lanes, done.measured.degraded)
        return self._response(request, done)

    async def _agent(
        self, scope: Mapping[str, Any], request: Request, receive: Receive, exchange: _Exchange
    ) -> Response:
        exchange.endpoint = agents.ENDPOINT.name
        if request.method != agents.ENDPOINT.method:
            raise Refused(WRONG_METHOD, "it takes POST", {"Allow": "POST"})
        caller = self._entrance.admit(request, agents.ENDPOINT)
        exchange.caller = caller.name
        self._own.check()
        body = await read_body(
            request,
            receive,
            most=self._settings.max_body_bytes,
            seconds=self._settings.request_seconds,
        )
        response = await self._agents.answer(scope, receive, caller, body)
        headers = {
            **HEADERS,
            "Cache-Control": "no-store",
            **self._entrance.shared(request),
            **response.headers,
        }
        return Response(response.status, response.body, headers)

    async def _in_turn(self, call: Callable[[], T]) -> T:
        return await self._own.run(lambda: self._threads.submit(call))

    async def _job(
        self,
        request: Request,
        receive: Receive,
        endpoint: Endpoint,
        caller: Caller,
        path: Mapping[str, str],
    ) -> Job:
        given = endpoint.read(path, request.parameters())
        body = None
        if endpoint.takes is not None:
            settings = self._settings
            body = await read_json(
                request, receive, most=settings.max_body_bytes, seconds=settings.request_seconds
            )
            check(body, endpoint.takes)
        return Job(
            endpoint=endpoint.name,
            request_id=request.id,
            caller=caller,
            given=given,
            body=body,
            address=f"{request.path}?{request.query.decode('latin-1')}",
            seen=request.listed("if-none-match"),
            if_match=request.headers.get("if-match"),
        )

    async def _worked(self, endpoint: Endpoint, job: Job, receive: Receive) -> Answered | Refused:
        """Work in its turn, unless the client leaves before."""
        if endpoint.light:
            return await asyncio.to_thread(answered, job, endpoint, self._library, self._metrics)
        heavy = endpoint.heavy and self._workers is not None
        room = self._others if heavy else self._own

        def submit() -> Future[Answered | Refused]:
            if endpoint.heavy and self._workers is not None:
                return self._workers.submit(job)
            return self._threads.submit(answered, job, endpoint, self._library, self._metrics)

        left = asyncio.ensure_future(_left(receive))
        try:
            return await room.run(submit, left)
        finally:
            left.cancel()

    def _found(self, request: Request) -> tuple[Endpoint, dict[str, str]]:
        methods, path = table.looked_up(self._table, request.path)
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            allowed = ", ".join(sorted({*methods, "HEAD"} if "GET" in methods else methods))
            raise Refused(WRONG_METHOD, f"it takes {allowed}", {"Allow": allowed})
        return methods[method], path

    def _page(self, request: Request, page: Page) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise Refused(WRONG_METHOD, "it takes GET, HEAD", {"Allow": "GET, HEAD"})
        packed = page.packed if "gzip" in request.listed("accept-encoding") else None
        etag = f'"{page.etag}-gzip"' if packed else f'"{page.etag}"'
        headers = {
            **HEADERS,
            "Cache-Control": "no-cache",
            "ETag": etag,
            "Vary": "Accept-Encoding",
            **({"Content-Encoding": "gzip"} if packed else {}),
        }
        if known(etag, request.listed("if-none-match")):
            return Response(304, headers=headers)
        return Response(200, packed or page.content, {**headers, "Content-Type": page.media})

    def _response(self, request: Request, done: Answered) -> Response:
        headers = {
            **HEADERS,
            "Cache-Control": "private, no-cache" if done.etag else "no-store",
            **({"ETag": done.etag} if done.etag else {}),
            **self._entrance.shared(request),
            **done.headers,
        }
        if done.content is None:
            return Response(done.status, headers=headers)
        return Response(done.status, done.content, {**headers, "Content-Type": done.media})

    def _refused(self, request: Request, refused: Refused) -> Response:
        headers = {
            **HEADERS,
            "Cache-Control": "no-store",
            "Content-Type": "application/problem+json",
            **self._entrance.shared(request),
            **refused.headers,
        }
        body = json_bytes(http_wire.problem_json(refused, request.id))
        return Response(refused.problem.status, body, headers)

    def _tell(self, request: Request, exchange: _Exchange, status: int, seconds: float) -> None:
        method = request.method if request.method in _METHODS else "other"
        self._metrics.request(exchange.endpoint, method, status, seconds)
        wanted = self._settings.log_queries
        told = log_wire.request_json(
            id=request.id,
            method=method,
            endpoint=exchange.endpoint,
            status=status,
            seconds=seconds,
            caller=exchange.caller,
            path=request.path if wanted else None,
            query=request.query.decode("latin-1") if wanted else None,
        )
        log.info("request", extra={"told": told})

    def _room(self, working: int) -> Admission:
        settings = self._settings
        return Admission(working=working, queue=settings.queue, seconds=settings.request_seconds)


_MOST_HEAD_BYTES = 32768

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


async def _left(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
