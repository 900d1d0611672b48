"""The store for many users: one schema of a PostgreSQL database, with pgvector.

Documents, their words (our own stems as lexemes), their letters, their vectors and the work that
is left; every row names its owner.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from twolane.ports import Stores
from twolane.stores.postgres.counting import Counted
from twolane.stores.postgres.database import Database
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.documents import PostgresDocuments
from twolane.stores.postgres.lexical import PostgresLexical
from twolane.stores.postgres.maintenance import PostgresMaintenance
from twolane.stores.postgres.queue import PostgresQueue
from twolane.stores.postgres.tokens import PostgresTokens
from twolane.stores.postgres.vectors import PostgresVectors


def open_stores(
    url: str,
    *,
    place: str | None = None,
    create: bool = True,
    busy_seconds: float = 10.0,
    clock: Callable[[], float] = time.time,
) -> Stores:
    """All ports over the database, whose tables are made unless told not to.

    `place` is how the database is called in messages: an address may hold a password.
    `busy_seconds` is how long a call waits for a connection, or for somebody who is writing.
    """
    database = Database(url, place or url, create=create, busy_seconds=busy_seconds)
    counted, demands = Counted(), Demands()
    return Stores(
        PostgresDocuments(database, counted, demands),
        PostgresLexical(database, counted, demands),
        PostgresVectors(database, demands, clock),
        PostgresQueue(database, clock),
        PostgresMaintenance(database),
        PostgresTokens(database),
    )
