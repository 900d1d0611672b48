"""`twolane settings`: what is set, to what, and by whom."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import Call, settings_file
from twolane.interfaces.wire import indexing as wire
from twolane.settings import DECLARED, cache_path, database_place


def settings(
    call: Call,
    every: Annotated[
        bool, typer.Option("--all", help="Show every setting, not only the usual ones.")
    ] = False,
) -> None:
    """Show the settings, where they come from, what they mean."""
    loaded = call.load()
    # A place that is not set is where it is by default.
    places = {"db": database_place(loaded.settings), "cache": cache_path(loaded.settings)}
    values = {**loaded.settings.flat(), **places}
    file = settings_file(loaded)
    if call.as_json:
        rows = [
            (name, values[name], loaded.origins[name], one.metadata["meaning"])
            for name, one in DECLARED.items()
        ]
        output.say_json(wire.settings_list(str(file), rows))
        return
    hidden = 0
    for name, one in DECLARED.items():
        origin = loaded.origins[name]
        if not (every or one.metadata["shown"] or origin != "default"):
            hidden += 1
            continue
        output.say(
            (name, output.TITLE), f" = {_shown(values[name])}", (f"  ({origin})", output.DIM)
        )
        output.say(one.metadata["meaning"], indent=4)
    if not call.quiet:
        output.say()
        if hidden:
            output.say(f"{hidden} more are rarely changed; --all shows them.")
        output.say(
            f"Set search.limit as limit below [search] in {file} "
            "(TWOLANE_CONFIG names another file), "
            "or in the environment: TWOLANE_SEARCH_LIMIT=10."
        )


def _shown(value: Any) -> str:
    """The value as a file of settings or the environment would spell it."""
    if value is None:
        return "(unset)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "(empty)"
    return f"{value:g}" if isinstance(value, float) else str(value)
