"""A number with the word that it needs, for messages that people read."""

from __future__ import annotations


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number with its word: `1 query`, `30 queries`, `1 text is`, `2 texts are`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
