"""`twolane serve`: the library over HTTP, with a web page."""

from __future__ import annotations

from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import Db, Quiet, Verbose


def serve(
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8765,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Serve the web page and the HTTP API until Ctrl-C."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    from twolane.interfaces.http.serving import serve as run

    def started(address: str) -> None:
        if not quiet:
            output.note(f"serving on {address}")

    run(settings, host=host, port=port, started=started)
