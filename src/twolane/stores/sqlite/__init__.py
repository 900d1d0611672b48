"""The default store: one SQLite file.

Documents, their words (FTS5 over stem streams, kept in step by triggers), their vectors
(little-endian float32) and the work that is left, in one transaction each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.stores.sqlite.changes import SqliteChanges
from twolane.stores.sqlite.database import BUSY_SECONDS, Database
from twolane.stores.sqlite.documents import SqliteDocuments
from twolane.stores.sqlite.forms import SqliteForms
from twolane.stores.sqlite.listing import SqliteLists
from twolane.stores.sqlite.retrieval import Counted
from twolane.stores.sqlite.scoped import ScopedRows
from twolane.stores.sqlite.substrings import SqliteSubstrings
from twolane.stores.sqlite.trigrams import SqliteSettling
from twolane.stores.sqlite.upkeep import SqliteUpkeep
from twolane.stores.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from twolane.stores.sqlite.matrix import VectorCache


class SqliteStore(
    SqliteDocuments,
    SqliteChanges,
    SqliteForms,
    SqliteLists,
    SqliteSubstrings,
    SqliteVectors,
    SqliteSettling,
    SqliteUpkeep,
):
    """All ports over one file."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        *,
        text_trigrams: bool = True,
    ) -> None:
        self._db = database
        self._clock = clock
        self._cached: dict[int, VectorCache] = {}
        self._counted_uncovered: dict[int, tuple[str, int]] = {}
        self._counted = Counted()
        self._scoped = ScopedRows()
        self._text_trigrams = text_trigrams
        self._settled = 0
        self.location = str(database.path)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.time,
        text_trigrams: bool = True,
    ) -> SqliteStore:
        """Open the file, or create it unless told not to.

        `busy_seconds` is how long a call waits for another process that is writing.
        Without `text_trigrams` the letters of texts are found through their words, if at all.
        """
        database = Database.open(path, create=create, busy_seconds=busy_seconds)
        return cls(database, clock, text_trigrams=text_trigrams)
