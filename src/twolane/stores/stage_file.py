"""What optional stages keep, in a small SQLite file of its own beside the database.

All of it can be deleted: counts begin anew, and models are asked again.
"""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path

import apsw

from twolane.model.values import dataclass
from twolane.ports.stages import StageRecord
from twolane.stores.side_file import SideFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS stages (
    stage TEXT PRIMARY KEY, model TEXT NOT NULL, calls INTEGER NOT NULL,
    failures INTEGER NOT NULL, skipped INTEGER NOT NULL, cached INTEGER NOT NULL,
    seconds REAL NOT NULL, tokens INTEGER NOT NULL, in_a_row INTEGER NOT NULL,
    paused_until REAL NOT NULL, last_failure TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, at REAL NOT NULL, bytes INTEGER NOT NULL, answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
_COLUMNS = ", ".join(field.name for field in fields(StageRecord))

_REASON_LETTERS = 300


@dataclass(frozen=True, slots=True)
class StageFileLimits:
    """How many failures in a row make a pause of how long, and how much is kept for how long."""

    failures: int = 3
    pause_seconds: float = 60.0
    bytes: int = 20_000_000
    seconds: float = 30 * 86_400.0


class StageFile:
    """One file, shared by threads and processes."""

    def __init__(self, path: Path, limits: StageFileLimits | None = None) -> None:
        """Opening costs nothing: the file is made when there is something to keep."""
        self._file = SideFile(path, _SCHEMA)
        self._limits = limits or StageFileLimits()

    def record(self, stage: str) -> StageRecord:
        """How a stage did so far."""
        found = self._file.read(f"SELECT {_COLUMNS} FROM stages WHERE stage = ?", (stage,))
        return StageRecord(*found[0]) if found else StageRecord(stage)

    def records(self) -> list[StageRecord]:
        """How every stage did that ever ran, by name."""
        found = self._file.read(f"SELECT {_COLUMNS} FROM stages ORDER BY stage")
        return [StageRecord(*row) for row in found]

    def succeeded(self, stage: str, model: str, seconds: float, tokens: int = 0) -> None:
        """Count an answer; failures in a row begin anew."""
        changes = (
            "model = ?, calls = calls + 1, seconds = seconds + ?, tokens = tokens + ?,"
            " in_a_row = 0, paused_until = 0"
        )
        self._count(stage, changes, (model, seconds, tokens))

    def failed(self, stage: str, model: str, reason: str, seconds: float) -> None:
        """Count a failure; with enough of them in a row the stage pauses."""
        changes = (
            "model = ?, calls = calls + 1, failures = failures + 1, seconds = seconds + ?,"
            " in_a_row = in_a_row + 1, last_failure = ?,"
            " paused_until = iif(in_a_row + 1 >= ?, ?, 0)"
        )
        until = time.time() + self._limits.pause_seconds
        told = reason[:_REASON_LETTERS]
        self._count(stage, changes, (model, seconds, told, self._limits.failures, until))

    def skipped(self, stage: str) -> None:
        """Count that a stage was not asked because it paused or was busy."""
        self._count(stage, "skipped = skipped + 1")

    def answer(self, stage: str, key: str) -> str | None:
        """What was answered to this key, counted as cached, unless it is too old."""
        since = time.time() - self._limits.seconds
        found = self._file.read("SELECT answer FROM answers WHERE key = ? AND at > ?", (key, since))
        if not found:
            return None
        self._count(stage, "cached = cached + 1")
        return str(found[0][0])

    def keep(self, key: str, answer: str) -> None:
        """Keep an answer; the oldest go when there are too many."""
        now = time.time()
        size = len(key) + len(answer.encode("utf-8", "replace"))

        def write(connection: apsw.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                (key, now, size, answer.encode("utf-8", "replace").decode()),
            )
            connection.execute("DELETE FROM answers WHERE at <= ?", (now - self._limits.seconds,))
            connection.execute(
                "DELETE FROM answers WHERE key IN (SELECT key FROM (SELECT key, sum(bytes)"
                " OVER (ORDER BY at DESC, key) AS above FROM answers) WHERE above > ?)",
                (self._limits.bytes,),
            )

        self._file.write(write)

    def kept(self) -> tuple[int, int]:
        """How many answers are kept, and how many bytes they have."""
        found = self._file.read("SELECT count(*), coalesce(sum(bytes), 0) FROM answers")
        return (int(found[0][0]), int(found[0][1])) if found else (0, 0)

    def close(self) -> None:
        """Let go of the file; calling it twice is harmless."""
        self._file.close()

    def _count(self, stage: str, changes: str, values: tuple[object, ...] = ()) -> None:
        def write(connection: apsw.Connection) -> None:
            connection.execute(
                f"INSERT OR IGNORE INTO stages ({_COLUMNS})"
                " VALUES (?, '', 0, 0, 0, 0, 0, 0, 0, 0, '')",
                (stage,),
            )
            connection.execute(f"UPDATE stages SET {changes} WHERE stage = ?", (*values, stage))

        self._file.write(write)
