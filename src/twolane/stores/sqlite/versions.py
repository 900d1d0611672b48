"""What a writing transaction owes to others: a revision, free rows, nothing left over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from twolane.stores.sql.document_rows import dumped, dumped_texts
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.document_rows import unpacked


def next_revision(connection: apsw.Connection) -> int:
    """The number by which readers tell that something changed."""
    return int(
        connection.execute("UPDATE counters SET revision = revision + 1 RETURNING revision").get
    )


def free_row(connection: apsw.Connection, table: str) -> int:
    """A number for a new row that no other row refers to, not even one that lost its own.

    Otherwise a new collection would take over the documents of one that was lost.
    """
    parts = [f"SELECT max(row) AS row FROM {table}"]
    parts += [f"SELECT max({column}) FROM {child}" for child, column in _REFERRING[table]]
    found = rows(connection, f"SELECT coalesce(max(row), 0) + 1 FROM ({' UNION ALL '.join(parts)})")
    return int(found[0][0])


# Every column that refers to the table; each has an index but `documents.collection`.
_REFERRING = {
    "collections": (("documents", "collection"), ("ledger", "collection")),
    "documents": (
        ("texts", "row"),
        ("document_tags", "document"),
        ("property_values", "document"),
        ("chunks", "document"),
        ("sketches", "document"),
        ("term_vectors", "document"),
    ),
    "tags": (("document_tags", "tag"),),
}


def hold_text(connection: apsw.Connection, ids: Sequence[str]) -> bool:
    """Whether any of the documents is there and not encrypted, and so has something to lose."""
    if not ids:
        return False
    found = rows(
        connection,
        "SELECT 1 FROM documents WHERE NOT encrypted"
        " AND id IN (SELECT value FROM json_each(?)) LIMIT 1",
        (dumped(ids),),
    )
    return bool(found)


def forget_vectors(connection: apsw.Connection, content_hashes: Iterable[str]) -> None:
    """Delete the vectors of those passages that no document holds any more."""
    connection.execute(_FORGET_VECTORS, (dumped_texts(sorted(content_hashes)),))


_FORGET_VECTORS = """
DELETE FROM vectors WHERE row IN (
    SELECT v.row FROM json_each(?) AS gone JOIN generations AS g
    JOIN vectors AS v ON v.generation = g.number AND v.content_hash = gone.value
    WHERE NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.content_hash = gone.value))"""


def wipe(connection: apsw.Connection) -> None:
    """Leave nothing of what the transaction took out: no vector, boilerplate, tag, word or letter.

    The full-text indexes keep the words of a row that is gone until they are put together anew.
    That is dear in a large library, so it is done only for what must not be left.
    """
    connection.execute(
        "DELETE FROM vectors WHERE NOT EXISTS"
        " (SELECT 1 FROM chunks AS c WHERE c.content_hash = vectors.content_hash)"
    )
    _forget_boilerplate(connection)
    connection.execute(
        "DELETE FROM tags WHERE NOT EXISTS"
        " (SELECT 1 FROM document_tags AS dt WHERE dt.tag = tags.row)"
    )
    for letters in ("name_trigrams", "text_trigrams"):
        connection.execute(f"DELETE FROM {letters} WHERE rowid IN ({_GONE})")
    connection.execute(f"DELETE FROM unsettled WHERE document IN ({_GONE})")
    for index in _INDEXES:
        connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")


_INDEXES = ("words", "name_trigrams", "text_trigrams")

# Documents that are gone, and whose letters would only go when trigrams are made.
_GONE = """
SELECT document FROM unsettled
WHERE NOT EXISTS (SELECT 1 FROM documents WHERE documents.row = unsettled.document)"""


def _forget_boilerplate(connection: apsw.Connection) -> None:
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
