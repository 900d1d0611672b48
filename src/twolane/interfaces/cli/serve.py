"""`twolane serve`: the library over HTTP, with a web page."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import Db, Quiet, Verbose


def serve(
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
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Serve the web page and the HTTP API until Ctrl-C."""
    others = {"server.host": host, "server.port": port, "server.processes": processes}
    settings = load_settings(db, quiet=quiet, verbose=verbose, others=others).settings
    from twolane.interfaces.http.log import log_json
    from twolane.interfaces.http.serving import serve as run

    if not sys.stderr.isatty():
        log_json(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)

    def started(address: str) -> None:
        said = f"serving on {address} until interrupted"
        if sys.stderr.isatty():
            output.note(said)
        else:
            logging.getLogger("twolane.http").info(said)

    run(settings, watch=watch, started=started)
