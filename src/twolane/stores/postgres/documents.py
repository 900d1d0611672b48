"""Documents, their chunks and the ledger of files, in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from twolane.model.answer import Place, Sort
from twolane.model.document import Boilerplate, Chunk, Collection, Kind
from twolane.model.draft import Once, Receipt, Saved
from twolane.model.problem import FileRecord, FileState, ProblemCode
from twolane.model.scope import EVERYBODY, Scope
from twolane.ports.documents import WHOLE, Among, Change, Facets, Known, Part, Stats, Stored
from twolane.stores.postgres.changing import Changing
from twolane.stores.postgres.counting import Counted, count_languages
from twolane.stores.postgres.database import Connection, Database, revision_of, rows
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.document_rows import COLUMNS, LIGHT_COLUMNS, document_of, stamp_of
from twolane.stores.postgres.expressions import Condition
from twolane.text.links import path_ends_in
from twolane.text.tokens import fold

_COLLECTIONS = """
SELECT name, root, kind, include, exclude, description FROM collections
WHERE %(owner)s::text IS NULL OR row IN
    (SELECT collection FROM documents WHERE owner = %(owner)s AND NOT deleted)
ORDER BY name"""

_CHUNKS = """
SELECT d.id, c.position, c.start, c."end", c.first_line, c.last_line, c.headings,
       c.language, c.tokens, c.content_hash, c.text_hash, c.forms
FROM documents AS d JOIN chunks AS c ON c.document = d.row
WHERE d.id = ANY(%s) ORDER BY c.document, c.position"""

_KNOWN = """
SELECT path, id, modified_ns, size, content_hash, recipe, owner, NOT listed FROM documents
WHERE path IS NOT NULL AND NOT deleted
  AND collection = (SELECT row FROM collections WHERE name = %s)"""

_LEDGER = """
SELECT path, state, code, reason, modified_ns, size FROM ledger
WHERE collection = (SELECT row FROM collections WHERE name = %s)"""

_TAGS = """
SELECT min(t.name), count(DISTINCT t.document) FROM tags AS t JOIN documents AS d
ON d.row = t.document WHERE {condition} GROUP BY t.key ORDER BY 1"""

_SORTED_BY = {
    Sort.UPDATED: "d.updated",
    Sort.CREATED: "d.created",
    Sort.USED: "d.used",
    Sort.TITLE: "d.title_key",
    None: "NULL::text",
}


class PostgresDocuments:
    """The DocumentStore port."""

    def __init__(self, database: Database, counted: Counted, demands: Demands) -> None:
        self._db = database
        self._counted = counted
        self._demands = demands
        self._known_boilerplate: tuple[int, Boilerplate] | None = None

    def collections(self, scope: Scope = EVERYBODY) -> Sequence[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs."""
        with self._db.read(scope) as connection:
            found = rows(connection, _COLLECTIONS, {"owner": scope.owner})
        return [
            Collection(name, root, Kind(kind), tuple(include), tuple(exclude), description)
            for name, root, kind, include, exclude, description in found
        ]

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds: of documents that are not deleted, and of files."""
        with self._db.read() as connection:
            ledger = rows(connection, _LEDGER, (collection,))
            documents = rows(connection, _KNOWN, (collection,))
        records = {
            path: FileRecord(
                path,
                FileState(state),
                stamp_of(modified, size),
                reason,
                ProblemCode(code) if code else None,
            )
            for path, state, code, reason, modified, size in ledger
        }
        known = {path: Known(None, one.stamp, None, record=one) for path, one in records.items()}
        for path, id, modified, size, content_hash, analyzer_version, owner, hidden in documents:
            known[path] = Known(
                id,
                stamp_of(modified, size),
                content_hash,
                analyzer_version,
                owner,
                hidden,
                records.get(path),
            )
        return known

    def apply(self, *changes: Change) -> None:
        """Make all changes in their order, or none."""
        if changes:
            self._db.write(lambda connection: Changing(connection).make(changes))

    def get(
        self,
        ids: Sequence[str],
        scope: Scope | None = None,
        parts: frozenset[Part] = WHOLE,
    ) -> dict[str, Stored]:
        """The documents with these ids that are in scope, with these parts of them."""
        columns = LIGHT_COLUMNS
        tables = "documents AS d JOIN collections AS c ON c.row = d.collection"
        if Part.TEXT in parts:
            columns, tables = COLUMNS, f"{tables} JOIN texts AS x ON x.row = d.row"
        sketch = "NULL::bytea"
        if Part.SKETCH in parts:
            sketch, tables = "s.runs", f"{tables} LEFT JOIN sketches AS s ON s.document = d.row"
        with self._db.read(scope) as connection:
            condition, values = ("true", []) if scope is None else self._in(connection, scope)
            found = rows(
                connection,
                f"SELECT {columns}, d.recipe, {sketch} FROM {tables}"
                f" WHERE d.id = ANY(%s) AND {condition}",
                (list(ids), *values),
            )
            chunks: dict[str, list[Chunk]] = {}
            if Part.CHUNKS in parts:
                for row in rows(connection, _CHUNKS, ([row[0] for row in found],)):
                    chunks.setdefault(row[0], []).append(_chunk(row))
        return {
            row[0]: Stored(document_of(row), row[-2], tuple(chunks.get(row[0], ())), row[-1] or b"")
            for row in found
        }

    def list(
        self,
        scope: Scope,
        sort: Sort | None = None,
        *,
        reverse: bool = False,
        after: Place | None = None,
        limit: int | None = None,
        among: Among = Among.VISIBLE,
    ) -> Sequence[Place]:
        """The next documents in scope in this order."""
        column = _SORTED_BY[sort]
        downwards = (sort != Sort.TITLE) != reverse
        with self._db.read(scope) as connection:
            if among == Among.VISIBLE:
                condition, values = self._in(connection, scope)
            else:
                condition, values = self._demands.hidden_too(connection, scope)
                archived = "" if scope.archived else " AND NOT d.archived"
                condition = f"({condition}) AND d.deleted = %s{archived}"
                values = [*values, among == Among.DELETED]
            if after is not None:
                behind, bound = _behind(column, after, downwards)
                condition, values = f"({condition}) AND ({behind})", [*values, *bound]
            found = rows(
                connection,
                f"SELECT {column}, d.id FROM documents AS d WHERE {condition}"
                f" ORDER BY {column} {'DESC' if downwards else 'ASC'} NULLS LAST, d.id LIMIT %s",
                (*values, limit),
            )
        return [Place(key, id) for key, id in found]

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""
        with self._db.read(scope) as connection:
            condition, values = self._in(connection, scope)
            held = f"FROM documents AS d WHERE {condition} GROUP BY 1 ORDER BY 1"
            kinds = rows(connection, f'SELECT d.kind COLLATE "C", count(*) {held}', values)
            spoken = rows(connection, f"SELECT d.languages, count(*) {held}", values)
            collections = rows(
                connection,
                "SELECT (SELECT name FROM collections WHERE row = d.collection), count(*) " + held,
                values,
            )
            tags = rows(connection, _TAGS.format(condition=condition), values)
        return Facets(dict(kinds), dict(collections), dict(tags), count_languages(spoken))

    def resolve(self, names: Sequence[str], scope: Scope) -> Sequence[str]:
        """Ids of the documents in scope that go by the first of the names that any goes by."""
        with self._db.read(scope) as connection:
            condition, values = self._in(connection, scope)
            for name in names:
                keys = ("id", name), ("path", name), ("url", name), ("title_key", fold(name))
                for column, key in keys:
                    found = rows(
                        connection,
                        f"SELECT d.id FROM documents AS d WHERE d.{column} = %s AND {condition}"
                        " ORDER BY d.id",
                        (key, *values),
                    )
                    if found:
                        return [id for (id,) in found]
            # These looks through all documents are a last resort.
            ending = [name for name in names if name and "\n" not in name]
            paths = rows(
                connection,
                "SELECT d.id, d.path FROM documents AS d"
                f" WHERE d.path IS NOT NULL AND {condition} ORDER BY d.id",
                values,
            )
            filed = [id for id, path in paths if path_ends_in(path, ending)] if ending else []
            if filed:
                return filed
            held = rows(
                connection,
                "SELECT d.id, d.aliases FROM documents AS d"
                f" WHERE d.aliases <> '{{}}' AND {condition}",
                values,
            )
        keys_of = {id: set(map(fold, aliases)) for id, aliases in held}
        return sorted(id for id, known in keys_of.items() if names and fold(names[0]) in known)

    def stats(self, scope: Scope, *, chunks: bool = False) -> Stats:
        """Counts and names over the documents in scope."""
        with self._db.read(scope) as connection:
            if scope.is_all_of_owner:
                said = self._counted.said(connection, scope.owner)
            else:
                said = self._counted.count(connection, self._in(connection, scope))
            number = 0
            if chunks:
                condition, values = self._in(connection, scope)
                ((number,),) = rows(
                    connection,
                    "SELECT count(*) FROM chunks AS c JOIN documents AS d ON d.row = c.document"
                    f" WHERE {condition}",
                    values,
                )
            size = self._counted.size(connection)
            revision = revision_of(connection)
        return Stats(
            documents=said.documents,
            languages=said.languages,
            kinds=said.kinds,
            properties=said.properties,
            bytes=size,
            revision=str(revision),
            chunks=number,
        )

    def receipt(self, owner: str, key: str) -> Receipt | None:
        """What became of the owner's request with this key, if that is still known."""
        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT asked, saved, at FROM receipts WHERE owner = %s AND key = %s",
                (owner, key),
            )
        if not found:
            return None
        ((asked, saved, at),) = found
        told = tuple(Saved(*one) for one in json.loads(saved))
        return Receipt(owner, Once(key, asked), told, datetime.fromtimestamp(at, UTC))

    def boilerplate(self) -> Boilerplate:
        """The boilerplate as it was last detected."""
        with self._db.read() as connection:
            ((documents, times),) = rows(connection, "SELECT documents, times FROM learned")
            known = self._known_boilerplate
            if known is None or known[0] != times:
                keys = frozenset(key for (key,) in rows(connection, "SELECT key FROM forms"))
                known = self._known_boilerplate = times, Boilerplate(keys, documents)
        return known[1]

    def _in(self, connection: Connection, scope: Scope) -> Condition:
        return self._demands.condition(connection, scope)


def _chunk(row: Any) -> Chunk:
    """The chunk of a row that begins with the id of its document."""
    _, position, start, end, first, last, headings, language, tokens, content, text, keys = row
    return Chunk(
        position,
        start,
        end,
        first,
        last,
        tuple(headings),
        language,
        tokens,
        content,
        text,
        tuple(keys),
    )


def _behind(column: str, after: Place, downwards: bool) -> Condition:
    """What comes after a place: what has no value comes last, and equal values go by id."""
    if after.key is None:
        return f"{column} IS NULL AND d.id > %s", [after.id]
    sign = "<" if downwards else ">"
    return (
        f"{column} {sign} %s OR ({column} = %s AND d.id > %s) OR {column} IS NULL",
        [after.key, after.key, after.id],
    )
