"""What a setting is made of: its declaration, its checks, and values read from text."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import Field, dataclass, field
from pathlib import Path
from typing import Any

from twolane.model.errors import BadSetting

Check = Callable[[Any], str | None]

# The type of a setting as it is declared → what a value of it is called.
KINDS = {
    "Path | None": "a path",
    "str": "a text",
    "Secret": "a text",
    "tuple[str, ...]": "a list of texts",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that is used but never shown: printed, logged or stored, it says only that it is."""

    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return "(set)" if self.text else ""


def setting(default: Any, meaning: str, check: Check | None = None, *, shown: bool = False) -> Any:
    """A field with all that the loader, `twolane settings` and the reference know of it.

    What is `shown` is listed without `--all`.
    """
    return field(default=default, metadata={"meaning": meaning, "check": check, "shown": shown})


def between(least: float, most: float = math.inf) -> Check:
    """A check that a number is neither smaller nor larger."""
    asked = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
    return lambda value: None if least <= value <= most else f"must be {asked}"


def one_of(*names: str) -> Check:
    """A check that a text is one of these."""
    return lambda value: None if value in names else f"must be one of {', '.join(names)}"


def coerced(name: str, declared: Field[Any], value: Any, origin: str) -> Any:
    """The value as the setting's type; raises BadSetting if it is none or fails its check."""
    kind = str(declared.type)
    said = f"setting {name!r} ({origin}): {'this' if kind == 'Secret' else repr(value)}"
    try:
        converted = _converted(kind, value)
    except (KeyError, TypeError, ValueError) as error:
        raise BadSetting(f"{said} is not {KINDS[kind]}") from error
    check = declared.metadata["check"]
    wrong = check(converted) if check else None
    if wrong:
        raise BadSetting(f"{said} {wrong}")
    return converted


def _converted(kind: str, value: Any) -> Any:
    match kind:
        case "Path | None":
            return None if value is None else Path(value).expanduser()
        case "tuple[str, ...]":
            parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
            return tuple(_converted("str", part) for part in parts if part)
        case "bool":
            return value if isinstance(value, bool) else _TRUTH[str(value).lower()]
        case "int" | "float" if not isinstance(value, bool):
            number = int(value) if kind == "int" else float(value)
            # Not a number is equal to nothing, and half of a whole number is none.
            if number == (value if isinstance(value, int | float) else number):
                return number
        case "Secret" if not isinstance(value, Secret):
            return Secret(_converted("str", value))
        case "str" if not isinstance(value, str):
            pass
        case "str" | "Secret":
            return value
    raise ValueError(value)


def read_toml(source: Path) -> dict[str, Any]:
    """The values in a TOML file; none if there is no file."""
    try:
        return tomllib.loads(source.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting(f"cannot read {source}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{source} is not valid TOML: {error}") from error
