"""`twolane token`: who may ask the server, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.cli.options import TIMES
from twolane.interfaces.wire import tokens as wire
from twolane.model.scope import Capability

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.tokens import Token


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
