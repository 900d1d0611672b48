"""All commands under one name, each loaded when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twolane import __version__
from twolane.interfaces.cli.guard import guarded

# What each command is for, in the order in which help shows them.
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Search": ("search", "ui", "similar", "why", "get", "outline"),
    "Library": (
        "save",
        "import",
        "export",
        "collection",
        "tag",
        "archive",
        "unarchive",
        "touch",
        "delete",
        "undelete",
        "purge",
    ),
    "Index": ("index", "watch", "embed", "generation", "status"),
    "Serve": ("serve", "mcp", "token"),
    "Maintain": ("doctor", "db", "backup", "restore", "settings", "completion"),
    "Evaluate": ("eval",),
}

# The module of each command.
_COMMANDS: Mapping[str, str] = {
    "index": "index",
    "search": "search",
    "ui": "ui",
    "why": "why",
    "similar": "similar",
    "get": "reading",
    "outline": "reading",
    "embed": "embed",
    "watch": "index",
    "status": "status",
    "doctor": "status",
    "backup": "copies",
    "restore": "copies",
    "settings": "settings",
    "serve": "serve",
    "save": "save",
    "mcp": "serve",
    "delete": "changing",
    "undelete": "changing",
    "purge": "changing",
    "archive": "changing",
    "unarchive": "changing",
    "touch": "changing",
    "export": "exchanging",
    "completion": "completion",
}

# Commands that have commands of their own: where they are, and by which name.
_GROUPS: Mapping[str, tuple[str, str]] = {
    "import": ("exchanging", "importing"),
    "collection": ("collection", "collection"),
    "tag": ("tag", "tag"),
    "generation": ("embed", "generation"),
    "token": ("token", "token"),
    "db": ("database", "database"),
    "eval": ("eval", "evaluation"),
}


class _Sectioned(TyperGroup):
    """All commands, in help under what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, section by section; one that is in none comes last."""
        named = {name for names in _SECTIONS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in named)
        width = max(map(len, self.commands), default=0)
        for title, names in (*_SECTIONS.items(), ("Other", others)):
            room = formatter.width - 6 - width
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
    alone = name in _COMMANDS or name in _GROUPS
    for command, module in _COMMANDS.items():
        if command == name or not alone:
            app.command(command)(guarded(_loaded(module, command)))
    for group, (module, known_as) in _GROUPS.items():
        if group == name or not alone:
            app.add_typer(_loaded(module, known_as))
    return app


def _loaded(module: str, name: str) -> Any:
    return getattr(import_module(f"twolane.interfaces.cli.{module}"), name)


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
