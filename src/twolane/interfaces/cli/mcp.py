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
    from twolane.interfaces.mcp.serving import require_extra, serve_http, serve_streams

    require_extra()
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings) as library:
        if not http:
            serve_streams(library)
            return

        def started(address: str) -> None:
            if not quiet:
                output.note(f"serving MCP on {address}")

        serve_http(library, host=host, port=port, started=started)
