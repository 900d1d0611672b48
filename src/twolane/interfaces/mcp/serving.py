"""Running the server: over the standard streams, or over HTTP on this machine."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from twolane.errors import BadInput

if TYPE_CHECKING:
    from twolane.library import Library

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def require_extra() -> None:
    """Raise BadInput if the packages for the protocol are not installed."""
    if find_spec("mcp") is None:
        raise BadInput("agents need one more package; run: pip install 'twolane[mcp]'")


def serve_streams(library: Library) -> None:
    """Answer one client over standard input and output until it goes."""
    import anyio
    from mcp.server.stdio import stdio_server

    from twolane.interfaces.mcp.server import make_server

    async def run() -> None:
        server = make_server(library)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def serve_http(
    library: Library,
    *,
    host: str,
    port: int,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Answer any number of clients at `/mcp` until the process is told to stop.

    Only this machine may be listened on: whoever can reach the server can read everything.
    The protocol's own guard refuses pages of other sites.
    """
    if host not in _LOOPBACK:
        raise BadInput(
            f"{host} can be reached from other machines; listen on {' or '.join(_LOOPBACK)}"
        )
    import uvicorn

    from twolane.interfaces.mcp.server import make_server

    app = make_server(library).streamable_http_app(host=host)
    config = uvicorn.Config(
        app, host=host, port=port, log_config=None, access_log=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    with listening:
        # Whoever hears the address may call at once.
        listening.listen()
        name = f"[{host}]" if ":" in host else host
        started(f"http://{name}:{listening.getsockname()[1]}/mcp")
        server.run([listening])
