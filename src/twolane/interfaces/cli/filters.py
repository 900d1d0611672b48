"""The options that say which documents count: one for each filter, shared by commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from twolane.interfaces.cli.completion import held_names
from twolane.interfaces.cli.guard import Command, option, with_parameters
from twolane.interfaces.cli.opening import typed
from twolane.query.filter_names import FILTERS

# Values by the names of filters, as the library reads them.
Chosen = Mapping[str, object]


def filtered(command: Command) -> Command:
    """The command with an option for each filter; it gets their values as `filters`."""

    @functools.wraps(command)
    def run(**given: Any) -> int | None:
        values: dict[str, object] = {
            name: [typed(value) for value in given.pop(name) or ()]
            for name in FILTERS
            if name != "archived"
        }
        too, only = given.pop("archived"), given.pop("only_archived")
        values["archived"] = "only" if only else "any" if too else None
        return command(filters=values, **given)

    own = inspect.signature(command, eval_str=True).parameters
    parameters = [parameter for name, parameter in own.items() if name != "filters"]
    # Filters stand before the options that every command has.
    names = [parameter.name for parameter in parameters]
    place = names.index("as_json") if "as_json" in names else len(names)
    parameters[place:place] = _options()
    return with_parameters(run, parameters)


def _options() -> list[inspect.Parameter]:
    options = [
        _option(name, list[str] | None, filter.metavar, filter.meaning)
        for name, filter in FILTERS.items()
        if name != "archived"
    ]
    options.append(_option("archived", bool, None, "Include archived documents."))
    options.append(_option("only_archived", bool, None, "Only archived documents."))
    return options


def _option(name: str, kind: Any, metavar: str | None, meaning: str) -> inspect.Parameter:
    spelling = f"--{name.replace('_', '-')}"
    complete = held_names(name)
    written = typer.Option(spelling, metavar=metavar, help=meaning, autocompletion=complete)
    return option(name, Annotated[kind, written])
