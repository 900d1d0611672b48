"""The store for many users: one schema of a PostgreSQL database, with pgvector.

Documents, their words (our own stems as lexemes), their letters, their vectors and the work that
is left; every row names its owner.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from twolane.ports import Stores
from twolane.stores.postgres.conditions import Demands
from twolane.stores.postgres.database import MOST_CONNECTIONS, Database
from twolane.stores.postgres.documents import counted, document_store
from twolane.stores.postgres.lexical import PostgresLexical
from twolane.stores.postgres.maintenance import PostgresMaintenance
from twolane.stores.postgres.outbox import ENGINE
from twolane.stores.postgres.queue import embedding_queue
from twolane.stores.postgres.replica import Replica
from twolane.stores.postgres.vectors import PostgresVectors
from twolane.stores.sql.outbox import SqlOutbox
from twolane.stores.sql.tokens import SqlTokens


def open_stores(
    url: str,
    *,
    place: str | None = None,
    create: bool = True,
    busy_seconds: float = 10.0,
    connections: int = MOST_CONNECTIONS,
    replica: tuple[str, str] | None = None,
    clock: Callable[[], float] = time.time,
) -> Stores:
    """All ports over the database, whose tables are made unless told not to.

    `place` is how the database is called in messages: an address may hold a password.
    `busy_seconds` is how long a call waits for a connection, or for somebody who is writing.
    `connections` is how many of them are held at the most.
    `replica` is the address of a read-only copy that searches ask, and how that one is called.
    """
    database = Database(
        url, place or url, create=create, busy_seconds=busy_seconds, connections=connections
    )
    counts, demands = counted(), Demands()
    copy = None
    if replica is not None:
        address, name = replica
        copy = Replica(
            database,
            name,
            lambda: Database(
                address,
                name,
                create=False,
                # Whoever searches is better served by the primary than by waiting.
                busy_seconds=min(busy_seconds, 1.0),
                connections=connections,
                read_only=True,
            ),
        )
    stores = Stores(
        document_store(database, counts, demands),
        PostgresLexical(database, counts, demands),
        PostgresVectors(database, counts, demands, clock),
        embedding_queue(database, clock),
        PostgresMaintenance(database, copy),
        SqlTokens(database),
        outbox=SqlOutbox(database, ENGINE, clock),
        snapshot=database.snapshot,
        pause=database.pause,
    )
    if copy is None:
        return stores
    searched = replace(
        stores,
        documents=document_store(database, counts, demands, copy),
        lexical=PostgresLexical(copy, counts, demands),
        vectors=PostgresVectors(copy, counts, demands, clock),
        snapshot=copy.snapshot,
        pause=copy.pause,
    )
    return replace(stores, replica=searched)
