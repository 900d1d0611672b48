"""The default store: one SQLite file.

Documents, their words (FTS5 over stem streams, kept in step by triggers), their vectors
(little-endian float32) and the work that is left, in one transaction each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from twolane.ports import Stores
from twolane.stores.sqlite.counting import Counted
from twolane.stores.sqlite.database import BUSY_SECONDS, NORMAL, Database
from twolane.stores.sqlite.documents import SqliteDocuments
from twolane.stores.sqlite.lexical import SqliteLexical
from twolane.stores.sqlite.maintenance import SqliteMaintenance
from twolane.stores.sqlite.queue import SqliteQueue
from twolane.stores.sqlite.scoped import ScopedRows
from twolane.stores.sqlite.tokens import SqliteTokens
from twolane.stores.sqlite.trigrams import Settling
from twolane.stores.sqlite.vectors import SqliteVectors


def open_stores(
    path: Path,
    *,
    create: bool = True,
    busy_seconds: float = BUSY_SECONDS,
    clock: Callable[[], float] = time.time,
    text_trigrams: bool = True,
    synchronous: str = NORMAL,
) -> Stores:
    """All ports over the file, which is created unless told not to.

    `busy_seconds` is how long a call waits for another process that is writing.
    Without `text_trigrams` the letters of texts are found through their words, if at all.
    With `synchronous` `full`, a power cut takes nothing that was committed.
    """
    database = Database.open(
        path, create=create, busy_seconds=busy_seconds, synchronous=synchronous
    )
    return stores_over(database, clock=clock, text_trigrams=text_trigrams)


def stores_over(
    database: Database, *, clock: Callable[[], float] = time.time, text_trigrams: bool = True
) -> Stores:
    """All ports over a file that is open."""
    counted, scoped = Counted(), ScopedRows()
    settling = Settling(database, text_trigrams=text_trigrams)
    return Stores(
        SqliteDocuments(database, counted, scoped, settling),
        SqliteLexical(database, counted, scoped),
        SqliteVectors(database, scoped, clock),
        SqliteQueue(database, clock),
        SqliteMaintenance(database, settling),
        SqliteTokens(database),
    )
