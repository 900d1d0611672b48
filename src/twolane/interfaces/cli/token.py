"""`twolane token`: who may ask the server, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import TIMES, AsJson, Db, Quiet, Verbose
from twolane.interfaces.wire import tokens as wire
from twolane.model.scope import Capability

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.tokens import Token

token = typer.Typer(
    name="token",
    help="Make, list and revoke the tokens of the server.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def add(
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
        typer.Option(metavar="TIME", help="When it ends; UTC. Otherwise never.", formats=TIMES),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a token and show it once."""
    wanted = may or [Capability.SEARCH, Capability.SEMANTIC]
    end = None if expires is None else expires.replace(tzinfo=UTC)
    with _opened(db, quiet=quiet, verbose=verbose, create=True) as library:
        made, secret = library.add_token(name, owner=owner, capabilities=wanted, expires=end)
    if as_json:
        output.say_json(wire.new_token(made, secret))
        return
    output.say(secret)
    if not quiet:
        output.note("this is the only time that it is shown; send it as: Authorization: Bearer …")


def list_tokens(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """List the tokens, without their secrets."""
    with _opened(db, quiet=quiet, verbose=verbose) as library:
        held = library.tokens()
    if as_json:
        output.say_json(wire.token_list(held))
        return
    for one in held:
        owner = one.owner or "all documents"
        may = ", ".join(sorted(one.capabilities))
        output.say((one.id, output.DIM), f"  {one.name}  {owner}  {may}  {_times(one)}")
    if not held and not quiet:
        output.note("no tokens")


def revoke(
    reference: Annotated[str, typer.Argument(metavar="ID|NAME", help="The token.")],
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Revoke a token; a running server refuses it from the next request on."""
    with _opened(db, quiet=quiet, verbose=verbose) as library:
        gone = library.revoke_token(reference)
    if as_json:
        output.say_json(wire.token_list([gone]))
    elif not quiet:
        output.note(f"revoked {gone.name} ({gone.id})")


token.command("add")(guarded(add))
token.command("list")(guarded(list_tokens))
token.command("revoke")(guarded(revoke))


@contextmanager
def _opened(
    db: str | None, *, quiet: bool, verbose: bool, create: bool = False
) -> Iterator[Library]:
    """The library, with the tokens of an earlier version's file."""
    from twolane.interfaces.token_files import take_over

    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    with open_library(settings, create=create) as library:
        take_over(library, settings)
        yield library


def _times(token: Token) -> str:
    said = [f"made {token.created:%Y-%m-%d}"]
    said.append(f"used {token.used:%Y-%m-%d %H:%M}" if token.used else "never used")
    if token.expires is not None:
        over = token.is_over(datetime.now(UTC))
        said.append(f"{'expired' if over else 'expires'} {token.expires:%Y-%m-%d %H:%M}")
    return ", ".join(said)
