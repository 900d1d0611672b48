"""What a setting is made of: its declaration, its checks, and values read from text."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import Field, dataclass, field
from pathlib import Path
from typing import Any

from twolane.errors import BadSetting


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that is used but never shown: printed, logged or stored, it says only that it is."""

    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return "(set)" if self.text else ""


def setting(default: Any, meaning: str, check: Callable[[Any], str | None] | None = None) -> Any:
    """A field with what the documentation and the checks need to know of it."""
    return field(default=default, metadata={"meaning": meaning, "check": check})


def at_least(least: float) -> Callable[[Any], str | None]:
    """A check that a number is not smaller."""
    return lambda value: None if value >= least else f"must be at least {least:g}"


def between(least: float, most: float) -> Callable[[Any], str | None]:
    """A check that a number is neither smaller nor larger."""
    return lambda value: (
        None if least <= value <= most else f"must be between {least:g} and {most:g}"
    )


def one_of(*names: str) -> Callable[[Any], str | None]:
    """A check that a text is one of these."""
    return lambda value: None if value in names else f"must be one of {', '.join(names)}"


def coerced(one: Field[Any], value: Any, origin: str) -> Any:
    """The value as the setting's type; raises BadSetting if it is none or fails its check."""
    name, shown = one.name, "this" if str(one.type) == "Secret" else repr(value)
    try:
        converted = _CONVERTERS[str(one.type)](value)
    except (KeyError, TypeError, ValueError) as error:
        raise BadSetting(
            f"setting {name!r} ({origin}): {shown} is not {_KINDS[str(one.type)]}"
        ) from error
    check = one.metadata["check"]
    wrong = check(converted) if check else None
    if wrong:
        raise BadSetting(f"setting {name!r} ({origin}): {shown} {wrong}")
    return converted


def read_toml(source: Path) -> dict[str, Any]:
    """The values in a TOML file; none if there is no file."""
    try:
        text = source.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting(f"cannot read {source}: {error.strerror}") from error
    try:
        return tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{source} is not valid TOML: {error}") from error


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError(value)
    return int(value)


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or number != number:
        raise ValueError(value)
    return number


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(_text(part) for part in value)


def _secret(value: Any) -> Secret:
    return Secret(_text(value))


def _path(value: Any) -> Path:
    return Path(value).expanduser()


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "Path | None": _path,
    "str": _text,
    "Secret": _secret,
    "tuple[str, ...]": _texts,
    "bool": _truth,
    "int": _integer,
    "float": _number,
}
_KINDS = {
    "Path | None": "a path",
    "str": "a text",
    "Secret": "a text",
    "tuple[str, ...]": "a list of texts",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}
