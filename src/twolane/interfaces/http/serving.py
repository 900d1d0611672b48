"""Running the server: the address, the library behind it, and an orderly end."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable
from importlib.util import find_spec

from twolane.errors import BadInput
from twolane.library import Library
from twolane.settings import Settings

log = logging.getLogger("twolane.http")

# How long requests that have begun may take when the server is told to stop.
_DRAIN_SECONDS = 10


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the library that the settings name until the process is told to stop.

    `started` is told the address once requests are answered.
    """
    _require_extra()
    _require_loopback(host)
    import uvicorn

    from twolane.interfaces.http.app import Application, Limits
    from twolane.interfaces.http.guard import Guard

    listening = _bound(host, port)
    with listening, Library.open(settings=settings, create=True) as library:
        library.start_worker()
        application = Application(library, Guard.of(host), Limits())
        config = uvicorn.Config(
            application,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
        server = uvicorn.Server(config)
        started(_address(listening))
        try:
            server.run([listening])
        finally:
            application.close()


def _require_extra() -> None:
    if find_spec("uvicorn") is None:
        raise BadInput("the server needs one more package; run: pip install 'twolane[serve]'")


def _require_loopback(host: str) -> None:
    if not is_loopback(host):
        raise BadInput(
            f"{host} can be reached from other machines; serve on 127.0.0.1, ::1 or localhost"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; an address in use is an error before anything else happens."""
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((name, port))
        listening.listen(256)
    except OSError as error:
        listening.close()
        raise BadInput(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
