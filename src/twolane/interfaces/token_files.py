"""The file in which earlier versions kept tokens: taken over into the database, once."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from twolane.library import Library
from twolane.model.errors import BadInput
from twolane.model.tokens import Token, named_capabilities
from twolane.settings import Settings, beside_database

log = logging.getLogger("twolane")

# A file that was taken over is kept under this ending, and never looked at again.
TAKEN_OVER = ".taken-over"

_FORMAT = "twolane-tokens-1"
_FIELDS = ("id", "name", "owner", "capabilities", "created", "sha256")


def take_over(library: Library, settings: Settings) -> None:
    """Move the tokens of an earlier version's file into the library.

    A file that cannot be read is an error: who made it wanted nobody in without a token.
    """
    path = settings.server.tokens or beside_database(settings, ".tokens.json")
    if not path.exists():
        return
    library.take_over_tokens(_read(path))
    try:
        path.replace(path.with_name(path.name + TAKEN_OVER))
    except OSError as error:
        # Tokens are known by their ids, so a file that stays brings back none that is revoked.
        log.warning("%s was taken over, but cannot be renamed: %s", path, error.strerror)


def _read(path: Path) -> list[Token]:
    try:
        return [_token(field) for field in _fields(path.read_text("utf-8"))]
    except (ValueError, KeyError, TypeError, BadInput) as error:
        raise BadInput(
            f"{path} is not a file of tokens; repair it, or remove it and make new tokens"
        ) from error


def _fields(text: str) -> list[Mapping[str, Any]]:
    """What a file says of each token; ValueError, KeyError or TypeError if it is no such file."""
    held = json.loads(text)
    if held["format"] != _FORMAT:
        raise ValueError(held["format"])
    return [{name: token[name] for name in _FIELDS} for token in held["tokens"]]


def _token(fields: Mapping[str, Any]) -> Token:
    for name in ("id", "name", "sha256", "owner"):
        if not isinstance(fields[name], str | None) or (name != "owner" and not fields[name]):
            raise ValueError(name)
    return Token(
        **{
            **fields,
            "capabilities": named_capabilities(fields["capabilities"]),
            "created": datetime.fromisoformat(fields["created"]),
        }
    )
