"""Conditions as values: a piece of SQL with what it binds, and ways to put pieces together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Condition = tuple[str, list[Any]]

EVERYTHING: Condition = ("true", [])
NOTHING: Condition = ("false", [])


def joined(parts: Sequence[Condition], word: str) -> Condition:
    """The conditions between `AND` or `OR`."""
    sql = f" {word} ".join(f"({part})" for part, _ in parts)
    return sql, [value for _, values in parts for value in values]


def negated(condition: Condition) -> Condition:
    """That the condition does not hold, which it also does not where it cannot be told."""
    return f"({condition[0]}) IS NOT TRUE", condition[1]


def holding(text: str) -> str:
    """The pattern of LIKE for texts that hold this one, whatever signs it has."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
