"""The default store: one SQLite file.

Documents, their words (FTS5 over stem streams, kept in step by triggers), their vectors
(little-endian float32) and the work that is left, in one transaction each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from twolane.ports import Stores
from twolane.stores.sql.outbox import SqlOutbox
from twolane.stores.sql.tokens import SqlTokens
from twolane.stores.sqlite.conditions import ScopedRows
from twolane.stores.sqlite.counting import counted
from twolane.stores.sqlite.database import BUSY_SECONDS, NORMAL, Database
from twolane.stores.sqlite.documents import document_store
from twolane.stores.sqlite.lexical import SqliteLexical
from twolane.stores.sqlite.maintenance import SqliteMaintenance
from twolane.stores.sqlite.outbox import ENGINE
from twolane.stores.sqlite.queue import embedding_queue
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
    counts, scoped = counted(), ScopedRows()
    settling = Settling(database, text_trigrams=text_trigrams)
    return Stores(
        document_store(database, counts, scoped, settling),
        SqliteLexical(database, counts, scoped),
        SqliteVectors(database, scoped, clock),
        embedding_queue(database, clock),
        SqliteMaintenance(database, settling),
        SqlTokens(database),
        outbox=SqlOutbox(database, ENGINE, clock),
    )
