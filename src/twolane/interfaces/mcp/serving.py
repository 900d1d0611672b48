"""Running the server over the standard streams; over HTTP it is part of the HTTP server."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.library import Library


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
