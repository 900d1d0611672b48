"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from twolane import __version__
from twolane.interfaces.cli.changing import archive, delete, purge, touch, unarchive, undelete
from twolane.interfaces.cli.collection import collection
from twolane.interfaces.cli.completion import completion
from twolane.interfaces.cli.copies import backup, restore
from twolane.interfaces.cli.embed import embed
from twolane.interfaces.cli.eval import evaluation
from twolane.interfaces.cli.exporting import export
from twolane.interfaces.cli.generation import generation
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.importing import importing
from twolane.interfaces.cli.index import index
from twolane.interfaces.cli.mcp import mcp
from twolane.interfaces.cli.reading import get, outline
from twolane.interfaces.cli.save import save
from twolane.interfaces.cli.search import search
from twolane.interfaces.cli.serve import serve
from twolane.interfaces.cli.settings import settings
from twolane.interfaces.cli.similar import similar
from twolane.interfaces.cli.status import doctor, status
from twolane.interfaces.cli.tag import tag
from twolane.interfaces.cli.token import token
from twolane.interfaces.cli.ui import ui
from twolane.interfaces.cli.watch import watch
from twolane.interfaces.cli.why import why

app = typer.Typer(
    name="twolane",
    help="Search your notes by words and by meaning.",
    epilog="Begin with: twolane index FOLDER",
    no_args_is_help=True,
    # Help in plain text is quicker, fits any width and reads well in a pipe.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _command in (
    index,
    search,
    ui,
    why,
    similar,
    get,
    outline,
    embed,
    watch,
    status,
    doctor,
    backup,
    restore,
    settings,
    serve,
    save,
    mcp,
    delete,
    undelete,
    purge,
    archive,
    unarchive,
    touch,
    export,
    completion,
):
    app.command()(guarded(_command))
app.add_typer(importing)
app.add_typer(collection)
app.add_typer(tag)
app.add_typer(generation)
app.add_typer(token)
app.add_typer(evaluation)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"twolane {__version__}")
        raise typer.Exit


@app.callback()
def _twolane(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Search your notes by words and by meaning."""
