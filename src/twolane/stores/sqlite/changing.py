"""Changes to documents, collections and what is remembered, inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from datetime import datetime

import apsw

from twolane.model.document import Amendment, Batch, Collection
from twolane.model.errors import StoreError
from twolane.ports.documents import (
    Change,
    KeepBoilerplate,
    KeepReceipt,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.stores.sqlite.boilerplate_keys import packed
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.document_rows import dumped, dumped_texts
from twolane.stores.sqlite.seals import seal_rows
from twolane.stores.sqlite.versions import (
    demand_versions,
    forget_vectors,
    free_row,
    hold_text,
    next_revision,
    wipe,
)
from twolane.stores.sqlite.writing import write, write_tags

_PUT_COLLECTION = """
INSERT INTO collections(row, name, root, kind, include, exclude, description)
VALUES (?,?,?,?,?,?,?) ON CONFLICT(name) DO UPDATE SET root = excluded.root,
    kind = excluded.kind, include = excluded.include, exclude = excluded.exclude,
    description = excluded.description"""

# A look at a document changes nothing that vectors or versions depend on.
_TOUCH = """
UPDATE documents SET used = max(coalesce(used, :used), :used), uses = uses + 1
WHERE id IN (SELECT value FROM json_each(:ids))"""

_AMEND = """
UPDATE documents SET
    archived = coalesce(?, archived), deleted = coalesce(?, deleted),
    version = version + 1, revision = ?
WHERE id IN (SELECT value FROM json_each(?))"""

# A note that moved goes on as what it was.
_MOVE = """
UPDATE documents SET used = coalesce(documents.used, old.used), uses = documents.uses + old.uses,
    owner = coalesce(documents.owner, old.owner), archived = documents.archived OR old.archived
FROM documents AS old
WHERE documents.id = ? AND old.id = ? AND old.collection = documents.collection"""

_ROWS_OF = "SELECT row FROM documents WHERE id IN (SELECT value FROM json_each(?))"

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
_TAKEN = """
SELECT 1 FROM collections WHERE name = :new UNION ALL
SELECT 1 FROM documents WHERE id IN (SELECT :new || '/' || path FROM documents
    WHERE collection = :row AND path IS NOT NULL AND id = :old || '/' || path)"""

_REWORD = """
UPDATE chunks SET content_hash = ?, language = ?, forms = ?
WHERE document = (SELECT row FROM documents WHERE id = ?) AND position = ? AND content_hash = ?"""

# The languages of a document are those of its passages.
_REFRESH = """
UPDATE documents SET revision = ?, languages = coalesce(
    (SELECT group_concat(' ' || language || ' ', '' ORDER BY language) FROM
        (SELECT DISTINCT language FROM chunks
         WHERE document = documents.row AND language IS NOT NULL)), '')
WHERE id = ?"""

_INSERT_RECORD = """
INSERT OR REPLACE INTO ledger(collection, path, state, code, reason, modified_ns, size)
VALUES (?,?,?,?,?,?,?)"""


class Changing:
    """One transaction's changes, and what has to be tidied up at its end."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._revision: int | None = None
        # Passages that were replaced or deleted; the vectors of those that nobody holds go.
        self._replaced: set[str] = set()
        self._secret = False

    def make(self, changes: Iterable[Change]) -> bool:
        """Make the changes in their order; whether no trace may be left of what was there."""
        amendments: dict[str, Amendment] = {}
        for change in changes:
            if isinstance(change, Amendment):
                if change.id in amendments:
                    self._amend(amendments)
                    amendments = {}
                amendments[change.id] = change
                continue
            self._amend(amendments)
            amendments = {}
            self._one(change)
        self._amend(amendments)
        if self._secret:
            wipe(self._connection)
        else:
            forget_vectors(self._connection, self._replaced)
        return self._secret

    def _one(self, change: Change) -> None:
        match change:
            case Batch():
                self._apply(change)
            case PutCollection(collection):
                self._put_collection(collection)
            case RenameCollection(name, new):
                self._rename_collection(name, new)
            case RemoveCollection(name):
                self._remove_collection(name)
            case KeepReceipt():
                self._keep_receipt(change)
            case KeepBoilerplate():
                self._keep_boilerplate(change)

    def _note_change(self) -> int:
        """Let readers know that something changed; the number of this transaction."""
        if self._revision is None:
            self._revision = next_revision(self._connection)
        return self._revision

    # ----------------------------------------------------------------------------- documents

    def _apply(self, batch: Batch) -> None:
        connection = self._connection
        demand_versions(connection, batch.expected)
        collection = connection.execute(
            "SELECT row FROM collections WHERE name = ?", (batch.collection,)
        ).get
        if collection is None:
            raise StoreError(f"there is no collection {batch.collection!r}; add it first")
        _refuse_strays(batch)
        secrets = [one.document.id for one in batch.upserts if one.document.encrypted]
        self._secret = self._secret or hold_text(connection, [*secrets, *batch.purges])
        for id in (*batch.deletes, *batch.purges):
            self._delete(id, collection)
        self._replaced |= write(connection, batch.upserts, collection, self._note_change())
        for new, old in batch.moves.items():
            connection.execute(_MOVE, (new, old))
            self._delete(old, collection)
        if batch.moves:
            # Their owners are part of what is sealed.
            moved = (dumped_texts(list(batch.moves)),)
            seal_rows(connection, [row for (row,) in rows(connection, _ROWS_OF, moved)])
        _keep_ledger(connection, batch, collection)

    def _delete(self, id: str, collection: int) -> None:
        row = self._connection.execute(
            "SELECT row FROM documents WHERE id = ? AND collection = ?", (id, collection)
        ).get
        if row is None:
            return
        self._replaced |= {
            content
            for (content,) in self._connection.execute(
                "SELECT content_hash FROM chunks WHERE document = ?", (row,)
            )
        }
        self._connection.execute("DELETE FROM texts WHERE row = ?", (row,))
        self._connection.execute("DELETE FROM documents WHERE row = ?", (row,))
        self._connection.execute(
            "INSERT INTO tombstones(document, revision) VALUES (?,?)", (row, self._note_change())
        )

    def _amend(self, amendments: dict[str, Amendment]) -> None:
        """Change documents, each once; text, stems and vectors stay as they are."""
        if not amendments:
            return
        demand_versions(self._connection, {one.id: one.version for one in amendments.values()})
        for (archived, deleted, used, counts), ids in _alike(amendments.values()).items():
            if counts:
                self._connection.execute(
                    _AMEND, (archived, deleted, self._note_change(), dumped(ids))
                )
            if used is not None:
                values = {"used": used.timestamp(), "ids": dumped(ids)}
                self._connection.execute(_TOUCH, values)
        self._retag({id: one.tags for id, one in amendments.items() if one.tags is not None})
        # A use makes no new version, but lists are sorted by it.
        self._note_change()

    def _retag(self, tags: dict[str, tuple[str, ...]]) -> None:
        if not tags:
            return
        found = rows(
            self._connection,
            "SELECT row, id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (dumped_texts(list(tags)),),
        )
        changed = dumped([row for row, _ in found])
        self._connection.execute(_LEAVE, (changed,))
        self._connection.execute(_UNTAG, (changed,))
        write_tags(self._connection, [(row, tags[id]) for row, id in found])
        self._connection.execute(_RETURN, (changed,))

    # --------------------------------------------------------------------------- collections

    def _put_collection(self, collection: Collection) -> None:
        self._connection.execute(
            _PUT_COLLECTION,
            (
                free_row(self._connection, "collections"),
                collection.name,
                collection.root,
                str(collection.kind),
                dumped(collection.include),
                dumped(collection.exclude),
                collection.description,
            ),
        )

    def _rename_collection(self, name: str, new: str) -> None:
        row = self._collection_row(name)
        names = {"new": new, "old": name, "row": row}
        if rows(self._connection, _TAKEN, names):
            raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
        self._note_change()
        self._connection.execute(_RENAME_IDS, names)
        self._connection.execute("UPDATE collections SET name = ? WHERE row = ?", (new, row))

    def _remove_collection(self, name: str) -> None:
        row = self._collection_row(name)
        connection = self._connection
        connection.execute(
            "INSERT INTO tombstones(document, revision)"
            " SELECT row, ? FROM documents WHERE collection = ?",
            (self._note_change(), row),
        )
        connection.execute(
            "DELETE FROM texts WHERE row IN (SELECT row FROM documents WHERE collection = ?)",
            (row,),
        )
        connection.execute("DELETE FROM documents WHERE collection = ?", (row,))
        self._secret = self._secret or connection.changes() > 0
        connection.execute("DELETE FROM ledger WHERE collection = ?", (row,))
        connection.execute("DELETE FROM collections WHERE row = ?", (row,))

    def _collection_row(self, name: str) -> int:
        row = self._connection.execute("SELECT row FROM collections WHERE name = ?", (name,)).get
        if row is None:
            raise StoreError(f"there is no collection {name!r}")
        return int(row)

    # ------------------------------------------------------------------- receipts, boilerplate

    def _keep_receipt(self, change: KeepReceipt) -> None:
        receipt = change.receipt
        once, saved = receipt.once, dumped([astuple(one) for one in receipt.saved])
        self._connection.execute("DELETE FROM receipts WHERE at < ?", (change.since.timestamp(),))
        self._connection.execute(
            "INSERT INTO receipts(owner, key, asked, saved, at) VALUES (?,?,?,?,?)",
            (receipt.owner, once.key, once.asked, saved, receipt.at.timestamp()),
        )

    def _keep_boilerplate(self, change: KeepBoilerplate) -> None:
        connection, boilerplate = self._connection, change.boilerplate
        connection.execute("DELETE FROM forms")
        connection.executemany(
            "INSERT INTO forms(key) VALUES (?)", [(key,) for key in sorted(boilerplate.keys)]
        )
        connection.execute(
            "UPDATE learned SET documents = ?, times = times + 1", (boilerplate.documents,)
        )
        changed = set()
        for one in change.rewordings:
            now = one.after
            values = now.content_hash, now.language, packed(now.boilerplate)
            connection.execute(_REWORD, (*values, one.id, now.position, one.before))
            if connection.changes():
                changed.add(one.id)
                self._replaced.add(one.before)
        connection.executemany(_REFRESH, [(self._note_change(), id) for id in sorted(changed)])


def _alike(
    amendments: Iterable[Amendment],
) -> dict[tuple[bool | None, bool | None, datetime | None, bool], list[str]]:
    """The documents by what changes, so that a thousand take one statement."""
    alike: dict[tuple[bool | None, bool | None, datetime | None, bool], list[str]] = {}
    for one in amendments:
        alike.setdefault((one.archived, one.deleted, one.used, one.counts), []).append(one.id)
    return alike


def _refuse_strays(batch: Batch) -> None:
    for prepared in batch.upserts:
        if prepared.document.collection != batch.collection:
            raise StoreError(
                f"{prepared.document.id!r} belongs to {prepared.document.collection!r}, "
                f"but the batch is for {batch.collection!r}; apply one batch per collection"
            )


def _keep_ledger(connection: apsw.Connection, batch: Batch, collection: int) -> None:
    replaced = [p.document.path for p in batch.upserts if p.document.path is not None]
    gone: Sequence[str] = (*replaced, *batch.forgotten)
    # Most files give a document without a remark, so that mostly there is nothing to delete.
    if rows(connection, "SELECT 1 FROM ledger WHERE collection = ? LIMIT 1", (collection,)):
        connection.executemany(
            "DELETE FROM ledger WHERE collection = ? AND path = ?",
            [(collection, path) for path in gone],
        )
    connection.executemany(
        _INSERT_RECORD,
        [
            (
                collection,
                record.path,
                str(record.state),
                str(record.code) if record.code else None,
                record.reason,
                record.stamp.modified_ns if record.stamp else None,
                record.stamp.size if record.stamp else None,
            )
            for record in batch.records
        ],
    )
