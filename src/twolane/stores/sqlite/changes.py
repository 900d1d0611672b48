"""Changes that leave texts alone, and what a writer must see, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from twolane.errors import StoreError
from twolane.model import Amendment
from twolane.ports import Stored
from twolane.scopes import Scope
from twolane.stores.sqlite.conditions import narrower_than_usual
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import COLUMNS, document_of, dumped
from twolane.stores.sqlite.expressions import Condition
from twolane.stores.sqlite.versions import (
    demand_versions,
    empty_log,
    next_revision,
    wipe,
)
from twolane.stores.sqlite.writing import write_tags

_STORED = f"""
SELECT {COLUMNS}, d.recipe
FROM documents AS d
JOIN collections AS c ON c.row = d.collection
JOIN texts AS x ON x.row = d.row
WHERE d.id IN (SELECT value FROM json_each(?))"""

# A look at a document changes nothing that vectors or versions depend on.
_TOUCH = """
UPDATE documents SET used = max(coalesce(used, :used), :used), uses = uses + 1
WHERE id IN (SELECT value FROM json_each(:ids))"""

_AMEND = """
UPDATE documents SET
    archived = coalesce(?, archived), deleted = coalesce(?, deleted),
    version = version + 1, revision = ?
WHERE id IN (SELECT value FROM json_each(?))"""

# The row leaves the full-text index before its tags change and returns with all of them,
# so that each document is put into the index once, however many tags it has.
_LEAVE = "UPDATE texts SET listed = 0 WHERE row IN (SELECT value FROM json_each(?))"
_RETURN = """
UPDATE texts SET listed = (SELECT d.listed FROM documents AS d WHERE d.row = texts.row)
WHERE row IN (SELECT value FROM json_each(?))"""
_UNTAG = "DELETE FROM document_tags WHERE document IN (SELECT value FROM json_each(?))"

# A file's document is named after its collection.
_RENAME_IDS = """
UPDATE documents SET id = :new || substr(id, length(:old) + 1)
WHERE collection = :row AND path IS NOT NULL AND id = :old || '/' || path"""


class SqliteChanges:
    """The part of the Documents port that changes what is there already."""

    _db: Database

    def amend(self, amendments: Sequence[Amendment]) -> None:
        """Make all the changes, or none; text, stems and vectors stay as they are."""
        if not amendments:
            return
        with self._db.write() as connection:
            demand_versions(connection, {one.id: one.version for one in amendments})
            revision = next_revision(connection)
            for (archived, deleted, used, counts), ids in _alike(amendments).items():
                if counts:
                    connection.execute(_AMEND, (archived, deleted, revision, dumped(ids)))
                if used is not None:
                    values = {"used": used.timestamp(), "ids": dumped(ids)}
                    connection.execute(_TOUCH, values)
            _retag(connection, {one.id: one.tags for one in amendments if one.tags is not None})

    def stored(self, ids: Sequence[str]) -> dict[str, Stored]:
        """The documents with these ids, hidden or not."""
        with self._db.read() as connection:
            found = rows(connection, _STORED, (dumped(list(ids)),))
        return {row[0]: Stored(document_of(row), row[-1]) for row in found}

    def inventory(self, scope: Scope, *, deleted: bool) -> list[str]:
        """Ids of what the scope names, hidden documents too: those deleted, or the others."""
        condition, values = _anything_in(scope)
        with self._db.read() as connection:
            found = rows(
                connection,
                f"SELECT d.id FROM documents AS d WHERE d.deleted = ? AND {condition}"
                " ORDER BY d.id",
                (deleted, *values),
            )
        return [id for (id,) in found]

    def rename_collection(self, name: str, new: str) -> None:
        """Give a collection another name, and its files' documents ids that begin with it."""
        with self._db.write() as connection:
            row = _collection_row(connection, name)
            taken = rows(
                connection,
                "SELECT 1 FROM collections WHERE name = :new UNION ALL"
                " SELECT 1 FROM documents WHERE id IN (SELECT :new || '/' || path FROM documents"
                " WHERE collection = :row AND path IS NOT NULL AND id = :old || '/' || path)",
                {"new": new, "old": name, "row": row},
            )
            if taken:
                raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
            next_revision(connection)
            connection.execute(_RENAME_IDS, {"new": new, "old": name, "row": row})
            connection.execute("UPDATE collections SET name = ? WHERE row = ?", (new, row))

    def remove_collection(self, name: str) -> int:
        """Delete a collection with its documents and its ledger."""
        with self._db.write() as connection:
            row = _collection_row(connection, name)
            revision = next_revision(connection)
            connection.execute(
                "INSERT INTO tombstones(document, revision)"
                " SELECT row, ? FROM documents WHERE collection = ?",
                (revision, row),
            )
            connection.execute(
                "DELETE FROM texts WHERE row IN (SELECT row FROM documents WHERE collection = ?)",
                (row,),
            )
            connection.execute("DELETE FROM documents WHERE collection = ?", (row,))
            gone = connection.changes()
            connection.execute("DELETE FROM ledger WHERE collection = ?", (row,))
            connection.execute("DELETE FROM collections WHERE row = ?", (row,))
            if gone:
                wipe(connection)
        if gone:
            with self._db.outside_transaction() as connection:
                empty_log(connection)
        return gone


def _alike(
    amendments: Sequence[Amendment],
) -> dict[tuple[bool | None, bool | None, datetime | None, bool], list[str]]:
    """The documents by what changes, so that a thousand take one statement."""
    alike: dict[tuple[bool | None, bool | None, datetime | None, bool], list[str]] = {}
    for one in amendments:
        alike.setdefault((one.archived, one.deleted, one.used, one.counts), []).append(one.id)
    return alike


def _retag(connection: apsw.Connection, tags: dict[str, tuple[str, ...]]) -> None:
    if not tags:
        return
    found = rows(
        connection,
        "SELECT row, id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
        (dumped(list(tags)),),
    )
    changed = dumped([row for row, _ in found])
    connection.execute(_LEAVE, (changed,))
    connection.execute(_UNTAG, (changed,))
    write_tags(connection, [(row, tags[id]) for row, id in found])
    connection.execute(_RETURN, (changed,))


def _anything_in(scope: Scope) -> Condition:
    """The scope's condition without that a document must not be hidden."""
    narrower = narrower_than_usual(scope) or ("1", [])
    return narrower if scope.archived else (f"({narrower[0]}) AND NOT d.archived", narrower[1])


def _collection_row(connection: apsw.Connection, name: str) -> int:
    row = connection.execute("SELECT row FROM collections WHERE name = ?", (name,)).get
    if row is None:
        raise StoreError(f"there is no collection {name!r}")
    return int(row)
