"""Where the server keeps what is its own: beside the database, unless a setting says otherwise."""

from __future__ import annotations

from pathlib import Path

from twolane.settings import Settings, database_path


def tokens_path(settings: Settings) -> Path:
    """The file of the server's tokens."""
    return settings.tokens or database_path(settings).with_suffix(".tokens.json")


def judgments_path(settings: Settings) -> Path:
    """The golden set that the server adds judgments to."""
    return settings.judgments or database_path(settings).with_suffix(".golden.json")
