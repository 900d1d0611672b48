"""The settings as one value, and the one loader.

A value comes from, in rising order: the default, the TOML file (`[search]` and `limit = 10`),
the environment (`TWOLANE_SEARCH_LIMIT`), the arguments of the call (`search.limit`).
What can be set is declared in `groups`; this room alone reads the environment.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.model.errors import BadSetting
from twolane.settings import groups
from twolane.settings.values import (
    PATHS,
    RENAMED,
    Address,
    coerced,
    is_known_server,
    read_toml,
    setting,
)

PREFIX = "TWOLANE_"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, init=False)
class Settings:
    """What can be set, in groups; frozen once it is made."""

    db: Path | Address | None = setting(
        None,
        "The database: a file, or the address of a PostgreSQL database "
        "(`postgresql://user@host/name`). Unset: `twolane.db` in the user's data directory.",
        is_known_server,
        shown=True,
    )
    cache: Path | None = setting(
        None, "Folder for what can be made again. Unset: the user's cache directory.", shown=True
    )
    search: groups.Search = groups.Search()
    results: groups.Results = groups.Results()
    index: groups.Index = groups.Index()
    embedding: groups.Embedding = groups.Embedding()
    fetch: groups.Fetch = groups.Fetch()
    postgres: groups.Postgres = groups.Postgres()
    qdrant: groups.Qdrant = groups.Qdrant()
    server: groups.Server = groups.Server()
    ranking: groups.Ranking = groups.Ranking()
    rerank: groups.Rerank = groups.Rerank()
    expand: groups.Expand = groups.Expand()
    summaries: groups.Summaries = groups.Summaries()
    feedback: groups.Feedback = groups.Feedback()
    stages: groups.Stages = groups.Stages()
    experiment: groups.Experiment = groups.Experiment()

    def __init__(self, **given: Any) -> None:
        """The defaults, save for what is given: `Settings(search={"limit": 10})`."""
        whole = {name: one for name, one in given.items() if isinstance(one, _GROUPS.get(name, ()))}
        others = {name: one for name, one in given.items() if name not in whole}
        values = _read(others, "argument", _warn_caller)
        for part in fields(Settings):
            made = values.get(part.name, whole.get(part.name, part.default))
            if part.name in _GROUPS:
                names = {field.name: f"{part.name}.{field.name}" for field in fields(made)}
                made = replace(made, **{k: values[v] for k, v in names.items() if v in values})
            object.__setattr__(self, part.name, made)

    def changed(self, **given: Any) -> Settings:
        """The settings with other values: `changed(search={"limit": 10})`."""
        return Settings(**{**self.flat(), **_read(given, "argument", _warn_caller)})

    def flat(self) -> dict[str, Any]:
        """Every value by the full name of its setting: `search.limit`."""
        parts = {name: name.partition(".") for name in DECLARED}
        return {
            name: getattr(getattr(self, group), own) if own else getattr(self, group)
            for name, (group, _, own) in parts.items()
        }

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The value of a setting by its old name, for one release."""
            if not OLD_NAMES.get(name):
                raise AttributeError(f"there is no setting or group {name!r}")
            warnings.warn(_renamed(name, "argument"), DeprecationWarning, stacklevel=2)
            return self.flat()[OLD_NAMES[name]]

    @staticmethod
    def load(
        arguments: Mapping[str, Any] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> Loaded:
        """The settings from file, environment and arguments, with the origin of each value.

        An argument that is None was not given.
        """
        environ = os.environ if environment is None else environment
        chosen = file or (
            Path(environ["TWOLANE_CONFIG"]) if environ.get("TWOLANE_CONFIG") else None
        )
        if chosen is not None and not chosen.is_file():
            raise BadSetting(f"there is no settings file {chosen}")
        source = chosen or config_file()
        values: dict[str, Any] = {}
        origins = dict.fromkeys(DECLARED, "default")
        layers = (
            *_usual_editor(environ),
            (str(source), read_toml(source)),
            ("environment", _from_environment(environ)),
            ("argument", {k: v for k, v in (arguments or {}).items() if v is not None}),
        )
        for origin, layer in layers:
            read = _read(layer, origin, log.warning)
            values |= read
            origins |= dict.fromkeys(read, origin)
        return Loaded(Settings(**values), origins, source)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each value came from, and the file that was or would be read."""

    settings: Settings
    origins: Mapping[str, str]
    file: Path


_GROUPS: dict[str, Any] = {
    field.name: type(field.default) for field in fields(Settings) if is_dataclass(field.default)
}

# Every setting by its full name, as it is declared.
DECLARED: dict[str, Field[Any]] = {
    f"{part.name}.{one.name}" if part.name in _GROUPS else one.name: one
    for part in fields(Settings)
    for one in (fields(_GROUPS[part.name]) if part.name in _GROUPS else (part,))
}
# Names without a group → full names; None for what is no setting any more.
OLD_NAMES: Mapping[str, str | None] = {
    # Groups that came later have some of the same names, which meant the earlier ones.
    name.partition(".")[2]: name
    for name in reversed(DECLARED)
    if "." in name
} | RENAMED
# What follows `TWOLANE_`, in small letters → full names.
_VARIABLES = {name.replace(".", "_"): name for name in DECLARED}


def _read(given: Mapping[str, Any], origin: str, warn: Callable[[str], None]) -> dict[str, Any]:
    """The values by the full names of their settings; an old name gives way to the new one."""
    flat: dict[str, Any] = {}
    for name, value in given.items():
        table = isinstance(value, Mapping)
        flat |= {f"{name}.{own}": one for own, one in value.items()} if table else {name: value}
    found = {}
    for name in sorted(flat, key=DECLARED.__contains__):
        if name not in DECLARED and name not in OLD_NAMES:
            raise BadSetting(_unknown(name, origin))
        full = name if name in DECLARED else OLD_NAMES[name]
        if full != name:
            warn(_renamed(name, origin))
        if full is not None:
            found[full] = coerced(full, DECLARED[full], flat[name], origin)
    return found


def _unknown(name: str, origin: str) -> str:
    """What is wrong with a name that is none, and which one is nearest."""
    known = {**OLD_NAMES, **_VARIABLES, **{one: one for one in DECLARED}}
    near = next((known[match] for match in get_close_matches(name, known, 1)), None)
    hint = f" did you mean {_spelled(near, origin)}?" if near else ""
    return f"unknown setting {name!r} ({origin});{hint} `twolane settings --all` lists all of them"


def _renamed(name: str, origin: str) -> str:
    full = OLD_NAMES[name]
    if full is None:
        return f"{_spelled(name, origin)} is no longer a setting and has no effect"
    now = f"{_spelled(name, origin)} is now {_spelled(full, origin)}"
    return f"{now}; the old name works in this release only"


def _spelled(name: str, origin: str) -> str:
    """The name as it is written where it comes from."""
    variable = PREFIX + name.replace(".", "_").upper()
    return variable if origin == "environment" else name


def _warn_caller(text: str) -> None:
    """Warn whoever called the method of the settings that reads its arguments."""
    warnings.warn(text, DeprecationWarning, stacklevel=4)


def database_place(settings: Settings) -> Path | Address:
    """The database that these settings name: a file, or the address of a server's."""
    return settings.db or _default_database()


def beside_database(settings: Settings, ending: str) -> Path:
    """A file that belongs to the database: beside its file, or where its file would be."""
    place = database_place(settings)
    return (place if isinstance(place, Path) else _default_database()).with_suffix(ending)


def _default_database() -> Path:
    return _user_path("data") / "twolane.db"


def model_path(settings: Settings) -> Path:
    """The file of the user's own weights of the ranking model; it may not exist."""
    return settings.ranking.model_file or _user_path("data") / "model.json"


def cache_path(settings: Settings) -> Path:
    """The folder for what can be made again."""
    return settings.cache or _user_path("cache")


def config_file() -> Path:
    """Where the settings file is looked for when none is named."""
    return _user_path("config") / "twolane.toml"


def _user_path(kind: str) -> Path:
    import platformdirs

    found: Path = getattr(platformdirs, f"user_{kind}_path")("twolane", appauthor=False)
    return found


def _usual_editor(environ: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """The editor that the user has for everything, below whatever was set for us."""
    variable = next((one for one in ("VISUAL", "EDITOR") if environ.get(one)), None)
    return [(variable, {"results.editor": environ[variable]})] if variable else []


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    given = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != "TWOLANE_CONFIG"
    }
    values = {_VARIABLES.get(name, name): value for name, value in given.items()}
    # A path that is set to nothing is none: shells cannot always unset what they have set.
    return {
        name: value
        for name, value in values.items()
        if value or name not in DECLARED or str(DECLARED[name].type) not in PATHS
    }
