"""`twolane settings`: what is set, to what, and by whom."""

from __future__ import annotations

from typing import Any

import twolane.interfaces.cli.output as output
from twolane.interfaces import wire
from twolane.interfaces.cli.opening import load_settings, settings_file
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.settings import Settings, cache_path, database_path, meanings


def settings(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """Show every setting, its origin and its meaning."""
    loaded = load_settings(db, quiet=quiet, verbose=verbose)
    rows = [
        (name, _value(loaded.settings, name), loaded.origins[name], meaning)
        for name, meaning in meanings().items()
    ]
    file = settings_file(loaded)
    if as_json:
        listed = [wire.setting_json(*row) for row in rows]
        output.say_json(wire.settings_json(str(file), listed))
        return
    for name, value, origin, meaning in rows:
        output.say((name, output.TITLE), f" = {_shown(value)}", (f"  ({origin})", output.DIM))
        output.say(meaning, indent=4)
    if not quiet:
        output.say()
        output.say(
            f"Set them in {file} (TWOLANE_CONFIG names another file), "
            "or in the environment: TWOLANE_LIMIT=10."
        )


def _value(values: Settings, name: str) -> Any:
    """The value in effect: a place that is not set is where it is by default."""
    if name == "db":
        return database_path(values)
    if name == "cache":
        return cache_path(values)
    return getattr(values, name)


def _shown(value: Any) -> str:
    """The value as a file of settings or the environment would spell it."""
    if value is None:
        return "(unset)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "(empty)"
    return f"{value:g}" if isinstance(value, float) else str(value)
