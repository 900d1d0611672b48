"""Where the server keeps what is its own: beside the database, unless a setting says otherwise."""

from __future__ import annotations

from pathlib import Path

from twolane.model.document import digest
from twolane.settings import Settings, beside_database


def judgments_path(settings: Settings, owner: str | None) -> Path:
    """The golden set that the server adds judgments to; each owner has one of their own."""
    path = settings.server.judgments
    if path is None:
        path = beside_database(settings, ".golden.json")
        # Where a server keeps the database, nobody has made the folder for its file.
        path.parent.mkdir(parents=True, exist_ok=True)
    if owner is None:
        return path
    # A name may hold what no file's may.
    return path.with_name(f"{path.stem}.{digest(owner)[:16]}{path.suffix}")
