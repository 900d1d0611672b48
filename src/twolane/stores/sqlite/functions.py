"""What SQL cannot say by itself, as functions of every connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from twolane.globs import matches_any
from twolane.language import holds_literally


def register(connection: apsw.Connection) -> None:
    """Give the connection our functions."""
    functions: tuple[tuple[str, Callable[..., Any], int], ...] = (
        ("path_matches", _path_matches, 2),
        ("holds_literally", _holds_literally, -1),
    )
    for name, function, arguments in functions:
        connection.create_scalar_function(
            name, function, arguments, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
        )


def _path_matches(path: str | None, patterns: str) -> bool:
    return path is not None and matches_any(path, tuple(patterns.split("\n")))


def _holds_literally(literal: str, *texts: str | None) -> bool:
    return any(holds_literally(text, literal) for text in texts if text)
