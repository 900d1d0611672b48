"""What a setting is made of: its declaration, its checks, values read from text, and old names."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import Field, field
from pathlib import Path, PurePath
from typing import Any

from twolane.model.errors import BadSetting
from twolane.model.values import dataclass

Check = Callable[[Any], str | None]

# The type of a setting as it is declared → what a value of it is called.
KINDS = {
    "Path | None": "a path",
    "Path | Address | None": "a path or an address",
    "Address | None": "an address such as postgresql://user@host/name",
    "str": "a text",
    "Secret": "a text",
    "tuple[str, ...]": "a list of texts",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}

# Those of them that name a place on disk, or may.
PATHS = ("Path | None", "Path | Address | None")

# What is never the name of a file: a scheme, and two slashes behind it.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Whoever makes a path of an address loses a slash of it. One letter is a drive.
_LOST_SLASH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(.*)", re.DOTALL)
# The servers that a library can be kept in.
SERVERS = ("postgresql", "postgres")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that is used but never shown: printed, logged or stored, it says only that it is."""

    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return "(set)" if self.text else ""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server's database is; printed, logged or shown, it does not tell its password."""

    url: str = field(repr=False)

    @property
    def scheme(self) -> str:
        """What comes before `://`, in small letters."""
        return self.url.partition("://")[0].lower()

    def __str__(self) -> str:
        # Whatever signs a password has, it ends before the last of these.
        url = re.sub(r"^([^:]+://[^:@/?]*):.*@", r"\1:***@", self.url, flags=re.DOTALL)
        # It may also stand among the options.
        return re.sub(r"(?<=[?&]password=)[^&]*", "***", url)


def setting(default: Any, meaning: str, check: Check | None = None, *, shown: bool = False) -> Any:
    """A field with all that the loader, `twolane settings` and the reference know of it.

    What is `shown` is listed without `--all`.
    """
    return field(default=default, metadata={"meaning": meaning, "check": check, "shown": shown})


def between(least: float, most: float = math.inf) -> Check:
    """A check that a number is neither smaller nor larger."""
    allowed = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
    return lambda value: None if least <= value <= most else f"must be {allowed}"


def one_of(*names: str) -> Check:
    """A check that a text is one of these."""
    return lambda value: None if value in names else f"must be one of {', '.join(names)}"


def coerced(name: str, declared: Field[Any], value: Any, origin: str) -> Any:
    """The value as the setting's type; raises BadSetting if it is none or fails its check."""
    kind = str(declared.type)
    # An address may hold a password, and one that is refused is shown to whoever gave it.
    hidden = kind == "Secret" or (kind in _PLACES and _SCHEME.match(str(value)))
    said = f"setting {name!r} ({origin}): {'this' if hidden else repr(value)}"
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
        case "Path | Address | None":
            return value if isinstance(value, Address) else _place(value)
        case "Address | None":
            found = value if isinstance(value, Address | None) else _place(value)
            if isinstance(found, Path):
                raise TypeError("a path")
            return found
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


_PLACES = ("Path | Address | None", "Address | None")


def is_known_server(place: Path | Address | None) -> str | None:
    """A check that an address is one of a server that a library can be kept in."""
    if not isinstance(place, Address) or place.scheme in SERVERS:
        return None
    return (
        f"is an address that begins with {place.scheme}://, which no store here speaks; "
        "name a file, or a database as postgresql://user@host/name"
    )


def _place(value: Any) -> Path | Address | None:
    """A file, or the address of a server: what has a scheme is never the name of a file."""
    if value is None:
        return None
    if isinstance(value, str) and _SCHEME.match(value):
        return Address(value)
    if isinstance(value, PurePath) and (lost := _LOST_SLASH.match(value.as_posix())):
        return Address(f"{lost[1]}://{lost[2]}")
    return Path(value).expanduser()


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


# None: nobody had a reason to change it, so that it is a constant now.
RENAMED: dict[str, str | None] = {
    "model_url": "embedding.url",
    "model_key": "embedding.key",
    "model_dimensions": "embedding.dimensions",
    "model_tokens": "embedding.max_tokens",
    "model_encoding": "embedding.encoding",
    "model_input_type": "embedding.input_type",
    "model_batch": "embedding.request_texts",
    "model_seconds": "embedding.request_seconds",
    "model_tries": "embedding.request_tries",
    "model_threads": "embedding.threads",
    "embed_tries": "embedding.passage_tries",
    "save_embed_seconds": "embedding.save_seconds",
    "threads": "server.threads",
    "request_seconds": "server.request_seconds",
    "embed_batch_tokens": None,
    "retry_most_seconds": None,
    "half_life_days": None,
    "half_uses": None,
    "relevance_file": "ranking.model_file",
    "counterparts": "ranking.parallel_documents",
    "forms": "ranking.boilerplate",
    "abstention": None,
    "brevity": None,
    "confidence": None,
    "coverage_power": None,
    "exact_weight": None,
    "identity_weight": None,
    "keyword_dense_weight": None,
    "kind_floor": None,
    "recency_weight": None,
    "sentence_weight": None,
    "tag_weight": None,
    "translation_weight": None,
    "usage_weight": None,
    "use_weight": None,
    "phrasing_weight": None,
}
