"""`twolane mcp`: the library for agents."""

from __future__ import annotations

from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import Db, Quiet, Verbose


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Listen for streamable HTTP instead of one client.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on, with --http.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="The port, with --http."),
    ] = 8766,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Let an agent search: an MCP server over standard input and output, or HTTP."""
    from twolane.interfaces.mcp.serving import require_extra, serve_streams

    require_extra()
    others = {"server.host": host, "server.port": port} if http else {}
    settings = load_settings(db, quiet=quiet, verbose=verbose, others=others).settings
    if not http:
        with open_library(settings) as library:
            serve_streams(library)
        return
    from twolane.interfaces.http.serving import serve

    def started(address: str) -> None:
        if not quiet:
            output.note(f"serving MCP on {address}/mcp")

    serve(settings, agents_only=True, started=started)
