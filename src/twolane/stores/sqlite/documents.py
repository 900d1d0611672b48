"""Documents, chunks, tags and the ledger in SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from twolane.errors import StoreError
from twolane.language import fold
from twolane.model import (
    Batch,
    Chunk,
    Collection,
    Document,
    FileRecord,
    FileState,
    Kind,
    ProblemCode,
)
from twolane.ports import Facets, Known, Stats
from twolane.scopes import Scope
from twolane.stores.sqlite.conditions import in_scope
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import (
    COLUMNS,
    document_of,
    dumped,
    dumped_texts,
    loaded,
    stamp_of,
)
from twolane.stores.sqlite.form_keys import unpacked
from twolane.stores.sqlite.versions import (
    demand_versions,
    empty_log,
    hold_text,
    next_revision,
    wipe,
)
from twolane.stores.sqlite.writing import write

_FROM = """
FROM documents AS d
JOIN collections AS c ON c.row = d.collection
JOIN texts AS x ON x.row = d.row"""


class SqliteDocuments:
    """The Documents port."""

    _db: Database

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT name, root, kind, include, exclude, description"
                " FROM collections ORDER BY name",
            )
        return [
            Collection(
                name,
                root,
                Kind(kind),
                tuple(json.loads(include)),
                tuple(json.loads(exclude)),
                description,
            )
            for name, root, kind, include, exclude, description in found
        ]

    def add_collection(self, collection: Collection) -> None:
        """Create the collection, or replace its description if the name exists."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO collections(name, root, kind, include, exclude, description)"
                " VALUES (?,?,?,?,?,?) ON CONFLICT(name) DO UPDATE SET root = excluded.root,"
                " kind = excluded.kind, include = excluded.include, exclude = excluded.exclude,"
                " description = excluded.description",
                (
                    collection.name,
                    collection.root,
                    str(collection.kind),
                    dumped(collection.include),
                    dumped(collection.exclude),
                    collection.description,
                ),
            )

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds: documents, and skipped or failed files."""
        with self._db.read() as connection:
            found = {
                path: Known(None, stamp_of(modified, size), None)
                for path, modified, size in connection.execute(
                    "SELECT path, modified_ns, size FROM ledger WHERE collection ="
                    " (SELECT row FROM collections WHERE name = ?)",
                    (collection,),
                )
            }
            for path, id, modified, size, content_hash, recipe in connection.execute(
                "SELECT path, id, modified_ns, size, content_hash, recipe FROM documents"
                " WHERE path IS NOT NULL AND NOT deleted AND collection ="
                " (SELECT row FROM collections WHERE name = ?)",
                (collection,),
            ):
                found[path] = Known(id, stamp_of(modified, size), content_hash, recipe)
        return found

    def apply(self, *batches: Batch) -> None:
        """Make all changes of all batches, or none."""
        with self._db.write() as connection:
            for batch in batches:
                demand_versions(connection, batch.expected)
            revision = next_revision(connection)
            secret = hold_text(connection, [id for one in batches for id in _secrets(one)])
            for batch in batches:
                _apply(connection, batch, revision)
            if secret:
                wipe(connection)
        if secret:
            with self._db.outside_transaction() as connection:
                empty_log(connection)

    def document(self, id: str, scope: Scope) -> Document | None:
        """The document, or None if there is none in scope."""
        condition, values = in_scope(scope)
        with self._db.read() as connection:
            row = connection.execute(
                f"SELECT {COLUMNS} {_FROM} WHERE d.id = ? AND {condition}", (id, *values)
            ).fetchone()
        return document_of(row) if row else None

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids that are not hidden."""
        with self._db.read() as connection:
            found = rows(
                connection,
                f"SELECT {COLUMNS} {_FROM} WHERE d.listed AND d.id IN"
                " (SELECT value FROM json_each(?))",
                (dumped_texts(ids),),
            )
        return {row[0]: document_of(row) for row in found}

    def chunks(self, id: str) -> list[Chunk]:
        """A document's chunks in order."""
        return self.chunks_of([id]).get(id, [])

    def chunks_of(self, ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """The chunks of several documents, each in order."""
        with self._db.read() as connection:
            found = rows(
                connection,
                'SELECT d.id, c.position, c.start, c."end", c.first_line, c.last_line, c.headings,'
                " c.language, c.tokens, c.content_hash, c.text_hash, c.lender, c.forms"
                " FROM documents AS d JOIN chunks AS c ON c.document = d.row"
                " WHERE d.listed AND d.id IN (SELECT value FROM json_each(?))"
                " ORDER BY c.document, c.position",
                (dumped_texts(ids),),
            )
        chunks: dict[str, list[Chunk]] = {}
        for row in found:
            chunks.setdefault(row[0], []).append(_chunk(row))
        return chunks

    def resolve(self, reference: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope whose id, path, URL or title is the reference."""
        condition, values = in_scope(scope)
        with self._db.read() as connection:
            for column, value in (
                ("id", reference),
                ("path", reference),
                ("url", reference),
                ("title_key", fold(reference)),
            ):
                found = rows(
                    connection,
                    f"SELECT d.id FROM documents AS d WHERE d.{column} = ? AND {condition}"
                    " ORDER BY d.id",
                    (value, *values),
                )
                if found:
                    return [id for (id,) in found]
        return []

    def aliased(self, name: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope that have the name among their aliases."""
        condition, values = in_scope(scope)
        with self._db.read() as connection:
            # Few documents have any; this look through all of them is a last resort.
            held = rows(
                connection,
                "SELECT d.id, d.aliases FROM documents AS d"
                f" WHERE d.aliases <> '[]' AND {condition}",
                values,
            )
        key = fold(name)
        return sorted(id for id, aliases in held if key in map(fold, loaded(aliases)))

    def recent(self, scope: Scope, *, limit: int) -> list[str]:
        """Ids of the documents in scope, most recently updated first, ties by id."""
        condition, values = in_scope(scope)
        with self._db.read() as connection:
            found = rows(
                connection,
                f"SELECT d.id FROM documents AS d WHERE {condition}"
                " ORDER BY d.updated DESC NULLS LAST, d.id LIMIT ?",
                (*values, limit),
            )
        return [id for (id,) in found]

    def ledger(self, collection: str) -> list[FileRecord]:
        """What became of each file of the collection, by path."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT row FROM collections WHERE name = ?", (collection,)
            ).get
            records = {
                path: FileRecord(path, FileState.INDEXED, stamp_of(modified, size))
                for path, modified, size in connection.execute(
                    "SELECT path, modified_ns, size FROM documents"
                    " WHERE collection = ? AND listed AND path IS NOT NULL",
                    (row,),
                )
            }
            for path, state, code, reason, modified, size in connection.execute(
                "SELECT path, state, code, reason, modified_ns, size FROM ledger"
                " WHERE collection = ?",
                (row,),
            ):
                records[path] = FileRecord(
                    path,
                    FileState(state),
                    stamp_of(modified, size),
                    reason,
                    ProblemCode(code) if code else None,
                )
        return [records[path] for path in sorted(records)]

    def stats(self, scope: Scope) -> Stats:
        """Counts over the documents in scope."""
        condition, values = in_scope(scope)
        with self._db.read() as connection:
            documents = connection.execute(
                f"SELECT count(*) FROM documents AS d WHERE {condition}", values
            ).get
            chunks = connection.execute(
                "SELECT count(*) FROM chunks WHERE document IN"
                f" (SELECT d.row FROM documents AS d WHERE {condition})",
                values,
            ).get
            spoken = rows(
                connection,
                f"SELECT d.languages, count(*) FROM documents AS d WHERE {condition} GROUP BY 1",
                values,
            )
            size = connection.pragma("page_count") * connection.pragma("page_size")
        return Stats(documents, chunks, _by_language(spoken), size)

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""
        condition, values = in_scope(scope)
        held = f"FROM documents AS d WHERE {condition} GROUP BY 1 ORDER BY 1"
        with self._db.read() as connection:
            kinds = rows(connection, f"SELECT d.kind, count(*) {held}", values)
            spoken = rows(connection, f"SELECT d.languages, count(*) {held}", values)
            collections = rows(
                connection,
                "SELECT (SELECT name FROM collections WHERE row = d.collection), count(*) " + held,
                values,
            )
            tags = rows(
                connection,
                "SELECT min(t.name), count(DISTINCT dt.document) FROM document_tags AS dt"
                " JOIN tags AS t ON t.row = dt.tag"
                f" WHERE dt.document IN (SELECT d.row FROM documents AS d WHERE {condition})"
                " GROUP BY t.key ORDER BY 1",
                values,
            )
        return Facets(dict(kinds), dict(collections), dict(tags), _by_language(spoken))


def _by_language(spoken: Iterable[Any]) -> dict[str, int]:
    languages: dict[str, int] = {}
    for names, count in spoken:
        for name in names.split():
            languages[name] = languages.get(name, 0) + count
    return dict(sorted(languages.items()))


def _apply(connection: apsw.Connection, batch: Batch, revision: int) -> None:
    collection = connection.execute(
        "SELECT row FROM collections WHERE name = ?", (batch.collection,)
    ).get
    if collection is None:
        raise StoreError(f"there is no collection {batch.collection!r}; add it first")
    _refuse_strays(batch)
    for id in (*batch.deletes, *batch.purges):
        _delete(connection, id, collection, revision)
    write(connection, batch.upserts, collection, revision)
    _keep_ledger(connection, batch, collection)


def _secrets(batch: Batch) -> list[str]:
    """Ids of documents of which nothing may be left."""
    encrypted = [one.document.id for one in batch.upserts if one.document.encrypted]
    return [*encrypted, *batch.purges]


def _chunk(row: Any) -> Chunk:
    """The chunk of a row that begins with the id of its document."""
    _, position, start, end, first, last, headings, language, tokens, content, text, *rest = row
    lender, forms = rest
    path, held = tuple(loaded(headings)), unpacked(forms)
    return Chunk(
        position, start, end, first, last, path, language, tokens, content, text, lender, held
    )


def _refuse_strays(batch: Batch) -> None:
    for prepared in batch.upserts:
        if prepared.document.collection != batch.collection:
            raise StoreError(
                f"{prepared.document.id!r} belongs to {prepared.document.collection!r}, "
                f"but the batch is for {batch.collection!r}; apply one batch per collection"
            )


def _delete(connection: apsw.Connection, id: str, collection: int, revision: int) -> None:
    row = connection.execute(
        "SELECT row FROM documents WHERE id = ? AND collection = ?", (id, collection)
    ).get
    if row is None:
        return
    connection.execute("DELETE FROM texts WHERE row = ?", (row,))
    connection.execute("DELETE FROM documents WHERE row = ?", (row,))
    connection.execute("INSERT INTO tombstones(document, revision) VALUES (?,?)", (row, revision))


def _keep_ledger(connection: apsw.Connection, batch: Batch, collection: int) -> None:
    replaced = [p.document.path for p in batch.upserts if p.document.path is not None]
    # Most files give a document without a remark, so that mostly there is nothing to delete.
    if rows(connection, "SELECT 1 FROM ledger WHERE collection = ? LIMIT 1", (collection,)):
        connection.executemany(
            "DELETE FROM ledger WHERE collection = ? AND path = ?",
            [(collection, path) for path in (*replaced, *batch.forgotten)],
        )
    connection.executemany(
        "INSERT OR REPLACE INTO ledger(collection, path, state, code, reason, modified_ns, size)"
        " VALUES (?,?,?,?,?,?,?)",
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
