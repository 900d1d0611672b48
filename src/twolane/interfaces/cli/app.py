"""All commands under one name, each loaded when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twolane import __version__
from twolane.interfaces.cli.guard import QueryCommand, guarded

# The commands by what they are for, as help shows them, each with the module that has it;
# after a colon stands the name that it has there, where that is another.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Search": {
        "search": "search",
        "ui": "ui",
        "similar": "why",
        "why": "why",
        "get": "reading",
        "outline": "reading",
    },
    "Library": {
        "save": "exchanging",
        "import": "exchanging:importing",
        "export": "exchanging",
        "fetch": "exchanging",
        "collection": "collection",
        "tag": "changing",
        "archive": "changing",
        "unarchive": "changing",
        "touch": "changing",
        "delete": "changing",
        "undelete": "changing",
        "purge": "changing",
    },
    "Index": {
        "index": "index",
        "watch": "index",
        "embed": "embed",
        "generation": "embed",
        "status": "status",
    },
    "Serve": {"serve": "serve", "mcp": "serve", "token": "serve"},
    "Maintain": {
        "doctor": "status",
        "db": "database:database",
        "backup": "database",
        "restore": "database",
        "settings": "status",
        "completion": "completion",
    },
    "Evaluate": {"eval": "eval:evaluation"},
}
_MODULES = {name: place for commands in SECTIONS.values() for name, place in commands.items()}

# In a query a dash may begin a word.
_QUERIES = ("search", "ui", "why")


class _Sectioned(TyperGroup):
    """All commands, in help under what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's signature
        """Write the commands, section by section."""
        width = max(map(len, self.commands), default=0)
        room = formatter.width - 6 - width
        for title, names in SECTIONS.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(room))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def app_for(name: str | None = None) -> typer.Typer:
    """The command of this name alone, which starts sooner; all commands if there is none."""
    app = typer.Typer(
        name="twolane",
        cls=_Sectioned,
        help="Search your notes by words and by meaning.",
        epilog="Begin with: twolane index FOLDER",
        no_args_is_help=True,
        # Help in plain text is quicker, fits any width and reads well in a pipe.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_twolane)
    for command in [name] if name in _MODULES else _MODULES:
        module, _, own_name = _MODULES[command].partition(":")
        loaded = getattr(import_module(f"twolane.interfaces.cli.{module}"), own_name or command)
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded)
        else:
            kind = QueryCommand if command in _QUERIES else None
            app.command(command, cls=kind)(guarded(loaded))
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"twolane {__version__}")
        raise typer.Exit


def _twolane(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Search your notes by words and by meaning."""
