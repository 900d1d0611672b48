"""`twolane token`: who may ask the server, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import token_wire
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.opening import load_settings
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.scopes import Capability

if TYPE_CHECKING:
    from pathlib import Path

    from twolane.interfaces.http.tokens import Tokens

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
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a token and show it once."""
    wanted = may or [Capability.SEARCH, Capability.SEMANTIC]
    made, secret = _tokens(db, quiet=quiet, verbose=verbose).add(
        name, owner=owner, capabilities=wanted
    )
    if as_json:
        output.say_json(token_wire.new_token_json(made, secret))
        return
    output.say(secret)
    if not quiet:
        output.note("this is the only time that it is shown; send it as: Authorization: Bearer …")


def list_tokens(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """List the tokens, without their secrets."""
    held = _tokens(db, quiet=quiet, verbose=verbose).all()
    if as_json:
        output.say_json(token_wire.tokens_json(held))
        return
    for one in held:
        owner = one.owner or "all documents"
        may = ", ".join(sorted(one.capabilities))
        output.say((one.id, output.DIM), f"  {one.name}  {owner}  {may}  {one.created}")
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
    gone = _tokens(db, quiet=quiet, verbose=verbose).revoke(reference)
    if as_json:
        output.say_json(token_wire.tokens_json([gone]))
    elif not quiet:
        output.note(f"revoked {gone.name} ({gone.id})")


token.command("add")(guarded(add))
token.command("list")(guarded(list_tokens))
token.command("revoke")(guarded(revoke))


def _tokens(db: Path | None, *, quiet: bool, verbose: bool) -> Tokens:
    from twolane.interfaces.http.places import tokens_path
    from twolane.interfaces.http.tokens import Tokens

    return Tokens(tokens_path(load_settings(db, quiet=quiet, verbose=verbose).settings))
