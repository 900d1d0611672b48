"""Named changes of the settings: what an ablation switches, one thing at a time, and why.

They are data: `variations.toml` beside this module, or a file of the user's own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from twolane import BadInput, Mode, Settings
from twolane.evaluation.files import read_text

VARIATIONS_FILE = Path(__file__).with_name("variations.toml")
_KEYS = {"reason", "changes", "follows", "extends", "mode", "optional"}


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings by what they change, under their full names, and the reason for trying it.

    `follows` names the preset that it is compared with; None for one that begins a comparison.
    One that is `optional` is measured only if it is asked for by name: it takes long, or means
    nothing to most settings.
    """

    name: str
    reason: str
    changes: Mapping[str, Any]
    follows: str | None = "default"
    mode: Mode = Mode.HYBRID
    optional: bool = False

    def applied(self, settings: Settings) -> Settings:
        """The settings with these changes, and no others."""
        return settings.changed(**self.changes)

    def differs(self, settings: Settings) -> bool:
        """Whether anything is other than it already is."""
        return self.mode != Mode.HYBRID or self.applied(settings) != settings


DEFAULT = Preset("default", "The settings as they are.", MappingProxyType({}), follows=None)


def load_presets(path: Path = VARIATIONS_FILE) -> list[Preset]:
    """The presets of a TOML file, in its order: a table for each, with `reason` and `changes`.

    `extends` names a preset above whose changes it has, too, and with which it is compared;
    `follows` names another one to be compared with, or none at all.
    """
    try:
        tables = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not valid TOML ({error}); correct it") from error
    known = {DEFAULT.name: DEFAULT}
    for name, table in tables.items():
        try:
            known[name] = _preset(name, table, known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{path}: the preset {name!r} cannot be read ({error})") from error
    return [one for name, one in known.items() if name in tables]


def selected(
    settings: Settings, only: Sequence[str] = (), presets: Sequence[Preset] | None = None
) -> list[Preset]:
    """The presets to measure, in order, each after the one that it is compared with.

    Those that change something about the settings, or that others follow, and are not optional;
    with `only`, those whose names match one of its patterns (`k-*`), and what they follow.
    """
    offered = [DEFAULT, *(load_presets() if presets is None else presets)]
    for pattern in only:
        if not any(fnmatchcase(preset.name, pattern) for preset in offered):
            names = ", ".join(preset.name for preset in offered)
            raise BadInput(f"no variation is called {pattern!r}; there are {names}")
    wanted: set[str] = set()
    for preset in offered:
        named = any(fnmatchcase(preset.name, pattern) for pattern in only)
        usual = not only and not preset.optional and preset is not DEFAULT
        if (named or usual) and (preset.follows != DEFAULT.name or preset.differs(settings)):
            wanted |= {preset.name, preset.follows or preset.name}
    if not wanted:
        raise BadInput(f"{', '.join(only)} is what the settings already say; nothing to compare")
    return [preset for preset in offered if preset.name in wanted]


def _preset(name: str, table: Mapping[str, Any], known: Mapping[str, Preset]) -> Preset:
    if unknown := set(table) - _KEYS:
        raise ValueError(f"unknown {', '.join(sorted(unknown))}")
    base = known[table["extends"]] if "extends" in table else DEFAULT
    follows = table.get("follows", base.name)
    if follows:
        # It must stand above, so that it has been measured when this one is compared.
        follows = known[follows].name
    # The settings' own loader checks names and values, and says what is wrong with them.
    given = {**base.changes, **table.get("changes", {})}
    loaded = Settings.load(given, environment={})
    changes = {
        one: value
        for one, value in loaded.settings.flat().items()
        if loaded.origins[one] == "argument"
    }
    return Preset(
        name,
        str(table["reason"]),
        MappingProxyType(changes),
        follows or None,
        Mode(table.get("mode", base.mode)),
        bool(table.get("optional", False)),
    )
