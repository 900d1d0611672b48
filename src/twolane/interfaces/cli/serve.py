"""`twolane serve` and `twolane mcp`: the library over HTTP, with a web page, and for agents."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import PlainCall, open_library


def serve(
    call: PlainCall,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="The address to listen on.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="The port; 0 takes a free one.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=64,
            help="How many processes answer searches.",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow the folders that were indexed as they change.")
    ] = False,
) -> None:
    """Serve the web page and the HTTP API until Ctrl-C."""
    others = {"server.host": host, "server.port": port, "server.processes": processes}
    settings = call.load(others).settings
    from twolane.interfaces.http.log import log_json
    from twolane.interfaces.http.serving import serve as run

    if not sys.stderr.isatty():
        log_json(logging.WARNING if call.quiet else logging.DEBUG if call.verbose else logging.INFO)

    def started(address: str) -> None:
        said = f"serving on {address} until interrupted"
        if sys.stderr.isatty():
            output.note(said)
        else:
            logging.getLogger("twolane.http").info(said)

    run(settings, watch=watch, started=started)


def mcp(
    call: PlainCall,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP, not standard input and output.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on, with --http.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="The port, with --http."),
    ] = 8766,
) -> None:
    """Run an MCP server, so that agents can search."""
    from twolane.interfaces.mcp.serving import require_extra, serve_streams

    require_extra()
    others = {"server.host": host, "server.port": port} if http else {}
    settings = call.load(others).settings
    if not http:
        with open_library(settings) as library:
            serve_streams(library)
        return
    from twolane.interfaces.http.serving import serve

    def started(address: str) -> None:
        if not call.quiet:
            output.note(f"serving MCP on {address}/mcp")

    serve(settings, agents_only=True, started=started)
