"""The keys of lines that many documents hold, as they are stored with passages."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import apsw

from twolane.stores.sqlite.database import rows


def packed(keys: Sequence[int]) -> bytes | None:
    """Keys as they are stored, eight bytes each; None if there are none."""
    return struct.pack(f"<{len(keys)}q", *keys) if keys else None


def unpacked(stored: bytes | None) -> tuple[int, ...]:
    """The keys that are stored."""
    return struct.unpack(f"<{len(stored) // 8}q", stored) if stored else ()


def forget_boilerplate(connection: apsw.Connection) -> None:
    """Delete the keys of lines that no passage holds any more."""
    held = {key for (key,) in rows(connection, "SELECT key FROM forms")}
    if not held:
        return
    for (stored,) in connection.execute("SELECT forms FROM chunks WHERE forms IS NOT NULL"):
        held.difference_update(unpacked(stored))
        if not held:
            return
    connection.executemany("DELETE FROM forms WHERE key = ?", [(key,) for key in held])
    connection.execute("UPDATE learned SET times = times + 1")
