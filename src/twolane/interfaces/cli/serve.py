"""`twolane serve`, `twolane mcp` and `twolane token`: the library over HTTP and for agents."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import TIMES, Call, PlainCall, open_library
from twolane.interfaces.wire import server as wire
from twolane.model.scope import Capability

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.tokens import Token


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
    from twolane.interfaces.http.dispatch import log_json
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
    from twolane.interfaces.mcp.server import require_extra, serve_streams

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


def add(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.")],
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER", help="Only this owner's documents; otherwise all.", show_default=False
        ),
    ] = None,
    may: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAPABILITY",
            help=f"What it may do: {', '.join(Capability)}. Otherwise the first two.",
        ),
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(metavar="TIME", help="When it expires (UTC). Default: never.", formats=TIMES),
    ] = None,
) -> None:
    """Create a token and show it once."""
    wanted = may or [Capability.SEARCH, Capability.SEMANTIC]
    end = None if expires is None else expires.replace(tzinfo=UTC)
    with _opened(call, create=True) as library:
        made, secret = library.add_token(name, owner=owner, capabilities=wanted, expires=end)
    if call.as_json:
        output.say_json(wire.new_token(made, secret))
        return
    output.say(secret)
    if not call.quiet:
        output.note("this is the only time that it is shown; send it as: Authorization: Bearer …")


def list_tokens(call: Call) -> None:
    """List the tokens, without their secrets."""
    with _opened(call) as library:
        tokens = library.tokens()
    if call.as_json:
        output.say_json(wire.token_list(tokens))
        return
    for known in tokens:
        owner = known.owner or "all documents"
        may = ", ".join(sorted(known.capabilities))
        output.say((known.id, output.DIM), f"  {known.name}  {owner}  {may}  {_times(known)}")
    if not tokens and not call.quiet:
        output.note("no tokens")


def revoke(
    call: Call, reference: Annotated[str, typer.Argument(metavar="ID|NAME", help="The token.")]
) -> None:
    """Revoke a token, at once."""
    with _opened(call) as library:
        gone = library.revoke_token(reference)
    if call.as_json:
        output.say_json(wire.token_list([gone]))
    elif not call.quiet:
        output.note(f"revoked {gone.name} ({gone.id})")


@contextmanager
def _opened(call: Call, *, create: bool = False) -> Iterator[Library]:
    """The library, with the tokens of an earlier version's file."""
    from twolane.interfaces.token_files import take_over

    with call.library(create=create) as library:
        take_over(library, library.settings)
        yield library


def _times(token: Token) -> str:
    said = [f"made {token.created:%Y-%m-%d}"]
    said.append(f"used {token.used:%Y-%m-%d %H:%M}" if token.used else "never used")
    if token.expires is not None:
        over = token.is_over(datetime.now(UTC))
        said.append(f"{'expired' if over else 'expires'} {token.expires:%Y-%m-%d %H:%M}")
    return ", ".join(said)


token = group(
    "token",
    "Create, list and revoke access tokens of the server.",
    {"add": add, "list": list_tokens, "revoke": revoke},
)
