"""What every request goes through, whatever it asks: two plain layers of ASGI."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twolane.interfaces.http.auth import HEADERS, Auth
from twolane.interfaces.http.metrics import Metrics
from twolane.interfaces.http.problems import LARGE_HEAD, HttpProblem

log = logging.getLogger("twolane.http")

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MOST_HEAD_BYTES = 32768


class Envelope:
    """Gives a request its id and an answer the headers that all have; logs and counts both.

    On its way a request notes in its state what becomes known of it: `endpoint` and `caller`.
    """

    def __init__(self, app: ASGIApp, auth: Auth, metrics: Metrics, *, log_queries: bool) -> None:
        self._app = app
        self._auth = auth
        self._metrics = metrics
        self._log_queries = log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        started = time.perf_counter()
        request = Request(scope)
        given = request.headers.get("x-request-id", "")
        state = request.state
        # The client's own id is used if it is a decent one.
        state.id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        state.endpoint, state.caller, state.status = "other", "unknown", 500

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                state.status = message["status"]
                headers = MutableHeaders(scope=message)
                every = {**HEADERS, "Cache-Control": "no-store", **self._auth.shared(request)}
                for name, value in every.items():
                    headers.setdefault(name, value)
                headers["X-Request-Id"] = state.id
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            self._tell(request, time.perf_counter() - started)

    def _tell(self, request: Request, seconds: float) -> None:
        state = request.state
        method = request.method if request.method in _METHODS else "other"
        self._metrics.request(state.endpoint, method, state.status, seconds)
        told = {
            "request_id": state.id,
            "method": method,
            "endpoint": state.endpoint,
            "status": state.status,
            "ms": round(seconds * 1000, 3),
            "caller": state.caller,
        }
        if self._log_queries:
            query = request.scope["query_string"].decode("latin-1")
            told |= {"path": request.scope["path"], "query": query}
        log.info("request", extra={"told": told})


class Guarded:
    """Turns away what may not even be looked at, and answers browsers that ask beforehand."""

    def __init__(self, app: ASGIApp, auth: Auth) -> None:
        self._app = app
        self._auth = auth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request pass, or raise HttpProblem."""
        request = Request(scope)
        bytes = sum(len(name) + len(value) for name, value in scope["headers"])
        bytes += len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])
        if bytes > _MOST_HEAD_BYTES:
            raise HttpProblem(LARGE_HEAD, f"together they have {bytes} bytes")
        preflight = self._auth.preflight(request)
        if preflight is not None:
            await Response(status_code=204, headers=preflight)(scope, receive, send)
            return
        self._auth.guard(request)
        await self._app(scope, receive, send)
