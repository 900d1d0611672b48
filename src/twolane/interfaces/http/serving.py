"""Running the server: the address, the library behind it, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from twolane.errors import BadInput
from twolane.library import Library
from twolane.settings import Settings

if TYPE_CHECKING:
    from uvicorn import Server

log = logging.getLogger("twolane.http")

# How long requests that have begun may take when the server is told to stop.
_DRAIN_SECONDS = 10

# A head that is too large is told so by us, as a problem like any other, up to this many bytes.
_MOST_READ = 512 * 1024

# Connections that the system keeps for us while we are busy.
_BACKLOG = 512


def serve(
    settings: Settings,
    *,
    watch: bool = False,
    agents_only: bool = False,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the library that the settings name until the process is told to stop.

    `watch` follows its folders as they change.
    `agents_only` serves `/mcp` without the page and the API, and writes nothing.
    `started` is told the address once requests are taken.
    """
    if find_spec("uvicorn") is None:
        raise BadInput("the server needs one more package; run: pip install 'twolane[serve]'")
    import uvicorn

    from twolane.interfaces.http.app import Application
    from twolane.interfaces.http.entrance import Entrance
    from twolane.interfaces.http.following import followed
    from twolane.interfaces.http.workers import Workers

    entrance = Entrance(settings)
    listening = _bound(settings.host, settings.port)
    with (
        listening,
        _opened(settings, create=not agents_only) as library,
        followed(library, wanted=watch),
    ):
        if not agents_only:
            library.start_worker()
        many = settings.processes and not agents_only
        workers = Workers(settings, settings.processes) if many else None
        application = Application(library, entrance, settings, workers, agents_only=agents_only)
        server = _quiet(uvicorn.Server)(
            uvicorn.Config(
                application,
                http=_spoken(),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_DRAIN_SECONDS,
                h11_max_incomplete_event_size=_MOST_READ,
            )
        )
        if workers is None:
            # Whoever asks first should not wait for the model.
            threading.Thread(target=_warm, args=(library,), daemon=True).start()
        started(_address(listening))
        try:
            server.run([listening])
        finally:
            application.close()


def _opened(settings: Settings, *, create: bool) -> Library:
    library = Library.open(settings=settings, create=create)
    if settings.gate is not None:
        from twolane.interfaces.gates import guard_by_settings

        guard_by_settings(library)
    return library


def _spoken() -> type[asyncio.Protocol]:
    """HTTP/1.1 as it is spoken here: also what is no request at all is answered with a problem."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from twolane.interfaces.http.guard import HEADERS
    from twolane.interfaces.http.messages import json_bytes
    from twolane.interfaces.http.problems import BAD_REQUEST, Refused
    from twolane.interfaces.http_wire import problem_json

    class Spoken(H11Protocol):
        def send_400_response(self, msg: str) -> None:
            id = secrets.token_hex(8)
            body = json_bytes(problem_json(Refused(BAD_REQUEST, msg), id))
            headers = {
                **HEADERS,
                "Cache-Control": "no-store",
                "Connection": "close",
                "Content-Length": str(len(body)),
                "Content-Type": "application/problem+json",
                "X-Request-Id": id,
            }
            head = h11.Response(
                status_code=400, headers=list(headers.items()), reason="Bad Request"
            )
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
            self.transport.close()

    return Spoken


def _quiet(server: type[Server]) -> type[Server]:
    """The server, ending in good order: it would otherwise end itself by the signal it got."""

    class Quiet(server):  # type: ignore[valid-type, misc]
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
            try:
                yield
            finally:
                for one, handler in before.items():
                    signal.signal(one, handler)

    return Quiet


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _warm(library: Library) -> None:
    try:
        library.search("twolane", limit=1)
    # A server that cannot be warmed still answers, and says what is wrong when it is asked.
    except Exception:
        log.exception("the first search failed")


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; an address in use is an error before anything else happens."""
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # Only where the protocol is named, asyncio sends without delay; the second part of an answer
    # would otherwise wait forty milliseconds for the client to say that it has the first.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((name, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise BadInput(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
