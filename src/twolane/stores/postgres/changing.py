"""Changes to documents, collections and what is remembered, inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from twolane.model.document import FIELDS, Amendment, Batch, Collection, Stems
from twolane.model.errors import BadInput, Conflict, StoreError
from twolane.ports.documents import (
    Change,
    KeepBoilerplate,
    KeepReceipt,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.stores.postgres.database import Connection, rows, run, run_all
from twolane.stores.postgres.document_rows import COLUMNS, STREAMS, document_of, dumped
from twolane.stores.postgres.writing import list_documents, write, write_tags
from twolane.text.tokens import stream

# A row of counters that no other writer holds; any of them where all are held.
_FREE_STRIPE = """
SELECT stripe FROM counters ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED"""
_ANY_STRIPE = "SELECT stripe FROM counters ORDER BY random() LIMIT 1 FOR UPDATE"

# How long the fields of these documents are, of those that can be found.
_LENGTHS = (
    "SELECT count(*), "
    + ", ".join(f"coalesce(sum(x.lengths[{at}]), 0)" for at in range(1, len(FIELDS) + 1))
    + " FROM texts AS x JOIN documents AS d ON d.row = x.row"
    " WHERE d.listed AND x.row = ANY(%s)"
)

# Add to the counters what this transaction changed.
_COUNT = (
    "UPDATE counters SET revision = revision + 1, documents = documents + %s, "
    + ", ".join(f"{name} = {name} + %s" for name in FIELDS)
    + " WHERE stripe = %s"
)

_PUT_COLLECTION = """
INSERT INTO collections(name, root, kind, include, exclude, description)
VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET root = excluded.root,
    kind = excluded.kind, include = excluded.include, exclude = excluded.exclude,
    description = excluded.description"""

# A look at a document changes nothing that vectors or versions depend on.
_TOUCH = """
UPDATE documents SET used = greatest(coalesce(used, %(used)s), %(used)s), uses = uses + 1
WHERE id = ANY(%(ids)s)"""

_AMEND = """
UPDATE documents SET archived = coalesce(%s::boolean, archived),
    deleted = coalesce(%s::boolean, deleted),
    version = version + 1, revision = nextval('revisions')
WHERE id = ANY(%s)"""

# The tags of a document as stems, and how many there are (the third of the fields).
_RETAG = "UPDATE texts SET tags = %s, lengths[3] = %s WHERE row = %s"

# A note that moved goes on as what it was.
_MOVE = """
UPDATE documents AS new SET used = coalesce(new.used, old.used), uses = new.uses + old.uses,
    owner = coalesce(new.owner, old.owner), archived = new.archived OR old.archived,
    revision = nextval('revisions')
FROM documents AS old
WHERE new.id = %s AND old.id = %s AND old.collection = %s AND new.collection = %s
RETURNING new.row, old.row"""

# Every row that tells of a document has the document's owner; vectors follow their passages.
_OWN = """
UPDATE {table} AS t SET owner = d.owner FROM documents AS d
WHERE d.row = t.{key} AND d.row = ANY(%s) AND t.owner IS DISTINCT FROM d.owner"""
_OWNED_TABLES = {
    "texts": "row",
    "tags": "document",
    "property_values": "document",
    "sketches": "document",
    "chunks": "document",
}

# A file's document is named after its collection.
_RENAME_IDS = """
UPDATE documents SET id = %(new)s || substr(id, length(%(old)s) + 1),
    revision = nextval('revisions')
WHERE collection = %(row)s AND path IS NOT NULL AND id = %(old)s || '/' || path"""
_TAKEN = """
SELECT 1 FROM collections WHERE name = %(new)s UNION ALL
SELECT 1 FROM documents WHERE id IN (SELECT %(new)s || '/' || path FROM documents
    WHERE collection = %(row)s AND path IS NOT NULL AND id = %(old)s || '/' || path)"""

_REWORD = """
UPDATE chunks SET content_hash = %s, language = %s, forms = %s::bigint[]
WHERE document = (SELECT row FROM documents WHERE id = %s) AND position = %s AND content_hash = %s
RETURNING document"""

# The languages of a document are those of its passages.
_REFRESH = """
UPDATE documents SET revision = nextval('revisions'), languages = ARRAY(
    SELECT DISTINCT c.language FROM chunks AS c
    WHERE c.document = documents.row AND c.language IS NOT NULL ORDER BY 1)
WHERE row = ANY(%s)"""

_PUT_RECORD = """
INSERT INTO ledger(collection, path, state, code, reason, modified_ns, size)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (collection, path) DO UPDATE SET
    state = excluded.state, code = excluded.code, reason = excluded.reason,
    modified_ns = excluded.modified_ns, size = excluded.size"""

# Passages that were written take along the vectors of equal passages, wherever those stand.
_ADOPT = """
INSERT INTO vectors(generation, document, position, owner, headings, content_hash, dimensions,
                    embedding, sentences, embedded_at)
SELECT DISTINCT ON (v.generation, c.document, c.position)
       v.generation, c.document, c.position, c.owner, c.headings, c.content_hash, v.dimensions,
       v.embedding, v.sentences, v.embedded_at
FROM chunks AS c JOIN vectors AS v ON v.content_hash = c.content_hash
WHERE c.document = ANY(%(touched)s) AND NOT EXISTS (
    SELECT 1 FROM vectors AS o
    WHERE o.document = c.document AND o.generation = v.generation AND o.position = c.position
      AND o.content_hash = c.content_hash AND o.owner IS NOT DISTINCT FROM c.owner)
ORDER BY v.generation, c.document, c.position
ON CONFLICT (document, generation, position) DO UPDATE SET owner = excluded.owner,
    headings = excluded.headings, content_hash = excluded.content_hash,
    embedding = excluded.embedding, sentences = excluded.sentences,
    embedded_at = excluded.embedded_at"""

# A vector goes with its passage.
_FORGET = """
DELETE FROM vectors AS v WHERE v.document = ANY(%(touched)s) AND NOT EXISTS (
    SELECT 1 FROM chunks AS c
    WHERE c.document = v.document AND c.position = v.position
      AND c.content_hash = v.content_hash)"""

_FORGET_FORMS = """
DELETE FROM forms WHERE key NOT IN (SELECT unnest(forms) FROM chunks WHERE forms <> '{}')"""


class Changing:
    """One transaction's changes, and what has to be tidied up at its end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # First of all, so that whoever waits for it holds nothing that others wait for.
        free = rows(connection, _FREE_STRIPE) or rows(connection, _ANY_STRIPE)
        self._stripe = free[0][0]
        self._counts = [0] * (len(FIELDS) + 1)
        # Rows of documents whose text, passages or visibility changed.
        self._touched: set[int] = set()
        self._secret = False

    def make(self, changes: Iterable[Change]) -> None:
        """Make the changes in their order."""
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
        self._finish()

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

    def _touch(self, touched: Iterable[int]) -> None:
        """Note what these documents count before they change."""
        fresh = sorted(set(touched) - self._touched)
        if fresh:
            self._count(fresh, -1)
            self._touched.update(fresh)

    def _count(self, documents: Sequence[int], sign: int) -> None:
        (found,) = rows(self._connection, _LENGTHS, (list(documents),))
        self._counts = [
            held + sign * int(one) for held, one in zip(self._counts, found, strict=True)
        ]

    def _finish(self) -> None:
        connection, touched = self._connection, {"touched": sorted(self._touched)}
        if self._touched:
            self._count(touched["touched"], 1)
            run(connection, _ADOPT, touched)
            run(connection, _FORGET, touched)
        if self._secret and run(connection, _FORGET_FORMS):
            run(connection, "UPDATE learned SET times = times + 1")
        run(connection, _COUNT, (*self._counts, self._stripe))

    # ----------------------------------------------------------------------------- documents

    def _apply(self, batch: Batch) -> None:
        connection = self._connection
        demand_versions(connection, batch.expected)
        collection = _collection_row(connection, batch.collection)
        if collection is None:
            raise BadInput(
                f"there is no collection {batch.collection!r}; add it before its documents"
            )
        _refuse_strays(batch)
        gone = [*batch.deletes, *batch.purges]
        written = [one.document.id for one in batch.upserts]
        moved = [*batch.moves, *batch.moves.values()]
        if gone or written or moved:
            # Whoever came too late learns it here, before there is much to do again.
            known = "SELECT row FROM documents WHERE id = ANY(%s) ORDER BY id FOR UPDATE"
            self._touch(row for (row,) in rows(connection, known, ([*gone, *written, *moved],)))
        if gone:
            run(
                connection,
                "DELETE FROM documents WHERE id = ANY(%s) AND collection = %s",
                (gone, collection),
            )
        # New documents count nothing before.
        self._touched.update(write(connection, batch.upserts, collection))
        self._move(batch.moves, collection)
        self._secret |= bool(batch.purges) or any(one.document.encrypted for one in batch.upserts)
        _keep_ledger(connection, batch, collection)

    def _move(self, moves: Mapping[str, str], collection: int) -> None:
        """Let documents go on as those that they were before their files moved."""
        connection, followed = self._connection, []
        for new, old in moves.items():
            for row, gone in rows(connection, _MOVE, (new, old, collection, collection)):
                run(connection, "DELETE FROM documents WHERE row = %s", (gone,))
                followed.append(row)
        if followed:
            for table, key in _OWNED_TABLES.items():
                run(connection, _OWN.format(table=table, key=key), (followed,))
            relist(connection, followed)

    def _amend(self, amendments: dict[str, Amendment]) -> None:
        """Change documents, each once; text, stems and vectors stay as they are."""
        if not amendments:
            return
        connection = self._connection
        demand_versions(connection, {one.id: one.version for one in amendments.values()})
        changed = [
            id for id, one in amendments.items() if one.deleted is not None or one.tags is not None
        ]
        found = rows(connection, "SELECT row, id FROM documents WHERE id = ANY(%s)", (changed,))
        self._touch(row for row, _ in found)
        for (archived, deleted, used, counts), ids in _alike(amendments.values()).items():
            if counts:
                run(connection, _AMEND, (archived, deleted, ids))
            if used is not None:
                run(connection, _TOUCH, {"used": used.timestamp(), "ids": ids})
        for row, id in found:
            tags = amendments[id].tags
            if tags is not None:
                self._retag(row, tags)
        relist(connection, [row for row, _ in found])

    def _retag(self, row: int, tags: tuple[str, ...]) -> None:
        connection = self._connection
        ((owner,),) = rows(connection, "SELECT owner FROM documents WHERE row = %s", (row,))
        write_tags(connection, row, owner, tags)
        stems = "".join(stream(tag) for tag in tags)
        run(connection, _RETAG, (stems, stems.count(" ") // 2, row))

    # --------------------------------------------------------------------------- collections

    def _put_collection(self, collection: Collection) -> None:
        run(
            self._connection,
            _PUT_COLLECTION,
            (
                collection.name,
                collection.root,
                str(collection.kind),
                list(collection.include),
                list(collection.exclude),
                collection.description,
            ),
        )

    def _rename_collection(self, name: str, new: str) -> None:
        row = self._demand_collection(name)
        names = {"new": new, "old": name, "row": row}
        if rows(self._connection, _TAKEN, names):
            raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
        run(self._connection, _RENAME_IDS, names)
        run(self._connection, "UPDATE collections SET name = %s WHERE row = %s", (new, row))

    def _remove_collection(self, name: str) -> None:
        row = self._demand_collection(name)
        connection = self._connection
        held = rows(connection, "SELECT row FROM documents WHERE collection = %s", (row,))
        self._touch(one for (one,) in held)
        run(connection, "DELETE FROM documents WHERE collection = %s", (row,))
        run(connection, "DELETE FROM collections WHERE row = %s", (row,))
        self._secret = True

    def _demand_collection(self, name: str) -> int:
        row = _collection_row(self._connection, name)
        if row is None:
            raise StoreError(f"there is no collection {name!r}")
        return row

    # ------------------------------------------------------------------- receipts, boilerplate

    def _keep_receipt(self, change: KeepReceipt) -> None:
        connection, receipt = self._connection, change.receipt
        once, saved = receipt.once, dumped([astuple(one) for one in receipt.saved])
        run(connection, "DELETE FROM receipts WHERE at < %s", (change.since.timestamp(),))
        used = "SELECT 1 FROM receipts WHERE owner = %s AND key = %s"
        if rows(connection, used, (receipt.owner, once.key)):
            raise StoreError(f"the key {once.key!r} was used before")
        run(
            connection,
            "INSERT INTO receipts(owner, key, asked, saved, at) VALUES (%s, %s, %s, %s, %s)",
            (receipt.owner, once.key, once.asked, saved, receipt.at.timestamp()),
        )

    def _keep_boilerplate(self, change: KeepBoilerplate) -> None:
        connection, boilerplate = self._connection, change.boilerplate
        run(connection, "DELETE FROM forms")
        run_all(
            connection,
            "INSERT INTO forms(key) VALUES (%s)",
            [(key,) for key in sorted(boilerplate.keys)],
        )
        run(
            connection,
            "UPDATE learned SET documents = %s, times = times + 1",
            (boilerplate.documents,),
        )
        named = "SELECT row FROM documents WHERE id = ANY(%s)"
        ids = list({one.id for one in change.rewordings})
        self._touch(row for (row,) in rows(connection, named, (ids,)))
        changed: set[int] = set()
        for one in change.rewordings:
            now = one.after
            values = now.content_hash, now.language, list(now.boilerplate)
            found = rows(connection, _REWORD, (*values, one.id, now.position, one.before))
            changed.update(row for (row,) in found)
        if changed:
            run(connection, _REFRESH, (sorted(changed),))


def demand_versions(connection: Connection, expected: Mapping[str, int]) -> None:
    """Raise Conflict unless each document has its version; 0 is one that is not there."""
    if not expected:
        return
    statement = "SELECT id, version FROM documents WHERE id = ANY(%s)"
    held = dict(rows(connection, statement, (list(expected),)))
    for id, version in expected.items():
        if held.get(id, 0) != version:
            raise Conflict(id, version, held.get(id, 0))


def relist(connection: Connection, documents: Sequence[int]) -> None:
    """Put documents into the indexes of words and letters as they are now, or take them out."""
    if not documents:
        return
    found = rows(
        connection,
        f"SELECT {COLUMNS}, d.row, {STREAMS} FROM documents AS d"
        " JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row"
        " WHERE d.row = ANY(%s)",
        (list(documents),),
    )
    list_documents(connection, [(row[28], document_of(row), stems_of(row[29:])) for row in found])


def stems_of(streams: Sequence[str]) -> Stems:
    """The stems that a row of STREAMS spells."""
    return Stems(*streams)


def _collection_row(connection: Connection, name: str) -> int | None:
    found = rows(connection, "SELECT row FROM collections WHERE name = %s", (name,))
    return int(found[0][0]) if found else None


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
            raise BadInput(
                f"{prepared.document.id!r} belongs to the collection "
                f"{prepared.document.collection!r}, not {batch.collection!r}; "
                "put it into a batch of its own collection"
            )


def _keep_ledger(connection: Connection, batch: Batch, collection: int) -> None:
    replaced = [p.document.path for p in batch.upserts if p.document.path is not None]
    gone = [*replaced, *batch.forgotten]
    if gone:
        run(
            connection,
            "DELETE FROM ledger WHERE collection = %s AND path = ANY(%s)",
            (collection, gone),
        )
    records: list[tuple[Any, ...]] = [
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
    ]
    run_all(connection, _PUT_RECORD, records)
