"""Which result was opened for which query, in a small SQLite file of its own beside the database.

It is on this machine only, and may be deleted at any time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from pathlib import Path

import apsw

from twolane.ports.feedback import Opened
from twolane.stores.side_file import SideFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS opened (
    at REAL NOT NULL, owner TEXT NOT NULL, query TEXT NOT NULL, id TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS opened_by ON opened(owner, at);
"""

# Beyond so many the oldest go; a golden set has a few hundred queries.
_MOST = 100_000


class FeedbackFile:
    """The FeedbackLog port over one file."""

    def __init__(self, path: Path, seconds: float) -> None:
        """Notes are kept for so many seconds; no file is made before there is one."""
        self._path = path
        self._file = SideFile(path, _SCHEMA)
        self._seconds = seconds

    def add(self, owner: str, query: str, id: str) -> None:
        """Note that a result was opened; what is too old goes."""
        now = time.time()

        def write(connection: apsw.Connection) -> None:
            connection.execute("INSERT INTO opened VALUES (?, ?, ?, ?)", (now, owner, query, id))
            connection.execute("DELETE FROM opened WHERE at <= ?", (now - self._seconds,))
            connection.execute(
                "DELETE FROM opened WHERE rowid <= (SELECT max(rowid) FROM opened) - ?", (_MOST,)
            )

        self._file.write(write)

    def opened(self, owner: str) -> list[Opened]:
        """What the owner opened, the oldest first."""
        since = time.time() - self._seconds
        rows = self._file.read(
            "SELECT query, id, at FROM opened WHERE owner = ? AND at > ? ORDER BY at, rowid",
            (owner, since),
        )
        return [Opened(*row) for row in rows]

    def forget(self, owner: str | None = None, ids: Collection[str] | None = None) -> int:
        """Forget what an owner opened, or everybody; of these documents, if they are given."""
        if not self._path.exists():
            return 0
        chosen = None if ids is None else json.dumps(list(ids))

        def write(connection: apsw.Connection) -> int:
            connection.execute(
                "DELETE FROM opened WHERE (?1 IS NULL OR owner = ?1)"
                " AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))",
                (owner, chosen),
            )
            return connection.changes()

        return self._file.write(write)

    def close(self) -> None:
        """Let go of the file; calling it twice is harmless."""
        self._file.close()
