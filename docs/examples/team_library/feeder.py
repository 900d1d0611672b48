"""Tells Twolane what changed in the application's tables: empties the outbox, batch by batch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.rows import dict_row

from twolane import Draft, Kind, Library, NoSuchDocument, TwolaneError

log = logging.getLogger(__name__)

# So many changes are told at once.
_BATCH = 500

# Only one feeder works at a time, or one could save a row as it was after another saved it anew.
_ALONE = "SELECT pg_try_advisory_xact_lock(7202611)"

_TAKE = """
DELETE FROM search_outbox WHERE id IN (SELECT id FROM search_outbox ORDER BY id LIMIT %s)
RETURNING kind, item_id"""

# What the items are now, with their tags.
_ITEMS = {
    kind: f"""
SELECT i.*, ARRAY(SELECT t.name FROM {kind}_tags AS it JOIN tags AS t ON t.id = it.tag_id
                  WHERE it.item_id = i.id ORDER BY t.name) AS tags
FROM {kind}s AS i WHERE i.id = ANY(%s)"""
    for kind in ("bookmark", "note", "prompt")
}

_PROBLEM = """
INSERT INTO search_problems VALUES (%s, %s, %s)
ON CONFLICT (kind, item_id) DO UPDATE SET reason = excluded.reason"""


def document_id(kind: str, item: int) -> str:
    """The name under which Twolane keeps an item."""
    return f"{kind}-{item}"


def item_of(document: str) -> tuple[str, int]:
    """The item of a document: its kind and its id."""
    kind, _, number = document.partition("-")
    return kind, int(number)


def draft_of(kind: str, row: dict[str, Any]) -> Draft:
    """An item as Twolane keeps it; one that is deleted is kept, and cannot be found."""
    return Draft(
        document_id(kind, row["id"]),
        Kind(kind),
        title=row["title"],
        description=row["description"],
        body=row["content"],
        url=row.get("url"),
        arguments=tuple(row.get("arguments", ())),
        tags=tuple(row["tags"]),
        collection=f"{kind}s",
        owner=str(row["user_id"]),
        created=row["created_at"],
        updated=row["updated_at"],
        archived=row["archived_at"] is not None,
        searchable=row["deleted_at"] is None,
    )


def feed(connection: psycopg.Connection[Any], library: Library) -> int:
    """Tell one batch of changes; how many there were.

    A change leaves the outbox when it was told: a feeder that dies tells it again, which is
    harmless.
    """
    with connection.transaction():
        ((alone,),) = connection.execute(_ALONE).fetchall()
        if not alone:
            return 0
        taken = connection.execute(_TAKE, (_BATCH,)).fetchall()
        changed: dict[str, set[int]] = {}
        for kind, item in taken:
            changed.setdefault(kind, set()).add(item)
        for kind, items in changed.items():
            _tell(connection, library, kind, sorted(items))
    return len(taken)


def _tell(
    connection: psycopg.Connection[Any], library: Library, kind: str, items: Sequence[int]
) -> None:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_ITEMS[kind], (items,)).fetchall()
    for gone in set(items) - {row["id"] for row in rows}:
        with suppress(NoSuchDocument):
            library.delete(document_id(kind, gone))
            library.purge(document_id(kind, gone))
    drafts = [draft_of(kind, row) for row in rows]
    try:
        library.save_all(drafts)
    except TwolaneError:
        # One that is refused must not keep the others out.
        for row, reason in zip(rows, _one_by_one(library, drafts), strict=True):
            if reason:
                connection.execute(_PROBLEM, (kind, row["id"], reason))


def _one_by_one(library: Library, drafts: Sequence[Draft]) -> Iterator[str | None]:
    for draft in drafts:
        try:
            library.save(draft)
        except TwolaneError as error:
            yield str(error)
        else:
            yield None


def keep_feeding(url: str, library: Library, stopping: threading.Event) -> None:
    """Feed what is there, then wait to be told of more; until `stopping` is set."""
    while not stopping.is_set():
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("LISTEN search_outbox")
                while not stopping.is_set():
                    while feed(connection, library):
                        continue
                    for _ in connection.notifies(timeout=1.0, stop_after=1):
                        pass
        except (psycopg.Error, TwolaneError) as error:
            log.warning("nothing is told to the search for now, changes wait: %s", error)
            stopping.wait(1.0)
