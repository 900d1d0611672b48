"""The options that say which documents count: one for each filter, shared by commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import typer

from twolane.interfaces.cli.completion import held_names
from twolane.interfaces.cli.options import typed
from twolane.query.filter_names import FILTERS

R = TypeVar("R")

# Values by the names of filters, as the library reads them.
Chosen = Mapping[str, object]


def filtered(command: Callable[..., R]) -> Callable[..., R]:
    """The command with an option for each filter; it gets their values as `filters`."""

    @functools.wraps(command)
    def run(**given: Any) -> R:
        values: dict[str, object] = {
            name: [typed(one) for one in _listed(given.pop(name))]
            for name in FILTERS
            if name != "archived"
        }
        too, only = given.pop("archived"), given.pop("only_archived")
        values["archived"] = "only" if only else "any" if too else None
        return command(filters=values, **given)

    own = inspect.signature(command, eval_str=True).parameters
    parameters = [one for name, one in own.items() if name != "filters"]
    # Filters stand before the options that every command has.
    place = next(at for at, one in enumerate(parameters) if one.name == "as_json")
    parameters[place:place] = _options()
    signature = inspect.Signature(parameters)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _options() -> list[inspect.Parameter]:
    options = [
        _parameter(name, list[str] | None, None, filter.metavar, filter.meaning)
        for name, filter in FILTERS.items()
        if name != "archived"
    ]
    options.append(_parameter("archived", bool, False, None, "Archived ones, too."))
    options.append(_parameter("only_archived", bool, False, None, "Archived ones alone."))
    return options


def _parameter(
    name: str, kind: Any, default: object, metavar: str | None, meaning: str
) -> inspect.Parameter:
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=metavar,
        help=meaning,
        autocompletion=held_names(name),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )


def _listed(values: Sequence[str] | None) -> Sequence[str]:
    return values or ()
