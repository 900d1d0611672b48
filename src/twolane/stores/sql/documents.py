"""The DocumentStore port over an SQL database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from twolane.model.answer import Place, Sort
from twolane.model.document import Boilerplate, Chunk, Collection, Kind
from twolane.model.draft import Once, Receipt, Saved
from twolane.model.problem import FileRecord, FileState, ProblemCode
from twolane.model.scope import EVERYBODY, Scope
from twolane.model.values import dataclass
from twolane.ports.documents import WHOLE, Among, Change, Facets, Known, Part, Stats, Stored
from twolane.stores.sql.counting import Counted
from twolane.stores.sql.document_rows import document_of, stamp_of
from twolane.stores.sql.filtering import EVERYTHING, Condition
from twolane.stores.sql.session import Database, Session
from twolane.text.tokens import fold

_COLLECTIONS = """
SELECT name, root, kind, include, exclude, description FROM collections
WHERE CAST(? AS text) IS NULL OR row IN
    (SELECT collection FROM documents WHERE owner = ? AND NOT deleted)
ORDER BY name"""

_CHUNKS = """
SELECT d.id, c.position, c.start, c."end", c.first_line, c.last_line, c.headings,
       c.language, c.tokens, c.content_hash, c.text_hash, c.forms
FROM documents AS d JOIN chunks AS c ON c.document = d.row
WHERE d.id = ANY(?) ORDER BY c.document, c.position"""

_KNOWN = """
SELECT path, id, modified_ns, size, content_hash, recipe, owner, NOT listed FROM documents
WHERE path IS NOT NULL AND NOT deleted
  AND collection = (SELECT row FROM collections WHERE name = ?)"""

_LEDGER = """
SELECT path, state, code, reason, modified_ns, size FROM ledger
WHERE collection = (SELECT row FROM collections WHERE name = ?)"""

_CHUNK_COUNT = """
SELECT count(*) FROM chunks AS c JOIN documents AS d ON d.row = c.document WHERE {condition}"""

_SORTED_BY = {
    Sort.UPDATED: "d.updated",
    Sort.CREATED: "d.created",
    Sort.USED: "d.used",
    Sort.TITLE: "d.title_key",
    None: "CAST(NULL AS text)",
}

# More documents than there can be, where a list has no limit.
_ALL = 1 << 62


class Scoping(Protocol):
    """Scopes as conditions on a document `d`."""

    def condition(self, session: Session, scope: Scope) -> Condition:
        """That it counts in the scope."""

    def hidden_too(self, session: Session, scope: Scope, *, deleted: bool) -> Condition:
        """The same for documents that cannot be found, deleted ones or all others."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What one engine does in its own way.

    `texts` and `keys` read a stored list of texts, or of the keys of boilerplate; `no_texts` is one
    without an entry.
    `tag_counts` says how many documents in a `{condition}` have each tag, by its first spelling.
    `path_ends_in` gives the ids of documents in a condition whose path ends in one of some names.
    `size` is how many bytes all of it takes, and `apply` makes changes.
    """

    columns: str
    light_columns: str
    texts: Callable[[Any], Sequence[str]]
    no_texts: str
    keys: Callable[[Any], Sequence[int]]
    tag_counts: str
    path_ends_in: Callable[[Session, Sequence[str], Condition], list[str]]
    size: Callable[[Session], int]
    apply: Callable[[Sequence[Change]], None]


class SqlDocuments:
    """The DocumentStore port."""

    def __init__(
        self, database: Database, engine: Engine, scoping: Scoping, counted: Counted
    ) -> None:
        self._db = database
        self._engine = engine
        self._scoping = scoping
        self._counted = counted
        self._known_boilerplate: tuple[int, Boilerplate] | None = None

    def collections(self, scope: Scope = EVERYBODY) -> Sequence[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs."""
        with self._db.reading(scope) as session:
            found = session.known(_COLLECTIONS, (scope.owner, scope.owner))
        texts = self._engine.texts
        return [
            Collection(
                name, root, Kind(kind), tuple(texts(include)), tuple(texts(exclude)), description
            )
            for name, root, kind, include, exclude, description in found
        ]

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds: of documents that are not deleted, and of files."""
        with self._db.reading() as session:
            ledger = session.rows(_LEDGER, (collection,))
            documents = session.rows(_KNOWN, (collection,))
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
        known = {
            path: Known(None, record.stamp, None, record=record) for path, record in records.items()
        }
        for path, id, modified, size, content_hash, analyzer_version, owner, hidden in documents:
            known[path] = Known(
                id,
                stamp_of(modified, size),
                content_hash,
                analyzer_version,
                owner,
                bool(hidden),
                records.get(path),
            )
        return known

    def apply(self, *changes: Change) -> None:
        """Make all changes in their order, or none."""
        if changes:
            self._engine.apply(changes)

    def get(
        self,
        ids: Sequence[str],
        scope: Scope | None = None,
        parts: frozenset[Part] = WHOLE,
    ) -> dict[str, Stored]:
        """The documents with these ids that are in scope, with these parts of them."""
        columns = self._engine.light_columns
        tables = "documents AS d JOIN collections AS c ON c.row = d.collection"
        if Part.TEXT in parts:
            columns, tables = self._engine.columns, f"{tables} JOIN texts AS x ON x.row = d.row"
        sketch = "CAST(NULL AS bytea)"
        if Part.SKETCH in parts:
            sketch, tables = "s.runs", f"{tables} LEFT JOIN sketches AS s ON s.document = d.row"
        with self._db.reading(scope) as session:
            condition, values = EVERYTHING if scope is None else self._in(session, scope)
            found = session.rows(
                f"SELECT {columns}, d.recipe, {sketch} FROM {tables}"
                f" WHERE d.id = ANY(?) AND {condition}",
                (list(ids), *values),
            )
            chunks: dict[str, list[Chunk]] = {}
            if Part.CHUNKS in parts:
                for id, *row in session.rows(_CHUNKS, ([row[0] for row in found],)):
                    chunks.setdefault(id, []).append(self._chunk(row))
        return {
            row[0]: Stored(
                document_of(row, self._engine.texts),
                row[-2],
                tuple(chunks.get(row[0], ())),
                row[-1] or b"",
            )
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
        with self._db.reading(scope) as session:
            if among == Among.VISIBLE:
                condition, values = self._in(session, scope)
            else:
                deleted = among == Among.DELETED
                condition, values = self._scoping.hidden_too(session, scope, deleted=deleted)
            if after is not None:
                behind, bound = _behind(column, after, downwards)
                condition, values = f"({condition}) AND ({behind})", [*values, *bound]
            found = session.rows(
                f"SELECT {column}, d.id FROM documents AS d WHERE {condition}"
                f" ORDER BY {column} {'DESC' if downwards else 'ASC'} NULLS LAST, d.id LIMIT ?",
                (*values, _ALL if limit is None else limit),
            )
        return [Place(key, id) for key, id in found]

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""
        with self._db.reading(scope) as session:
            condition, values = self._in(session, scope)
            inside = f"FROM documents AS d WHERE {condition} GROUP BY 1"
            kinds = session.rows(f"SELECT d.kind, count(*) {inside}", values)
            languages = session.rows(f"SELECT d.languages, count(*) {inside}", values)
            name = "(SELECT name FROM collections WHERE row = d.collection)"
            collections = session.rows(f"SELECT {name}, count(*) {inside}", values)
            tags = session.rows(self._engine.tag_counts.format(condition=condition), values)
        return Facets(
            dict(sorted(kinds)),
            dict(sorted(collections)),
            dict(sorted(tags)),
            self._counted.by_language(languages),
        )

    def resolve(self, names: Sequence[str], scope: Scope) -> Sequence[str]:
        """Ids of the documents in scope that go by the first of the names that any goes by."""
        with self._db.reading(scope) as session:
            condition, values = self._in(session, scope)
            for name in names:
                keys = ("id", name), ("path", name), ("url", name), ("title_key", fold(name))
                for column, key in keys:
                    found = session.rows(
                        f"SELECT d.id FROM documents AS d WHERE d.{column} = ? AND {condition}"
                        " ORDER BY d.id",
                        (key, *values),
                    )
                    if found:
                        return [id for (id,) in found]
            endings = [name for name in names if name and "\n" not in name]
            if endings:
                ids = self._engine.path_ends_in(session, endings, (condition, values))
                if ids:
                    return ids
            # This look through all documents with an alias is a last resort.
            aliases = session.rows(
                "SELECT d.id, d.aliases FROM documents AS d"
                f" WHERE d.aliases <> {self._engine.no_texts} AND {condition}",
                values,
            )
        keys_of = {id: set(map(fold, self._engine.texts(stored))) for id, stored in aliases}
        return sorted(id for id, known in keys_of.items() if names and fold(names[0]) in known)

    def revision(self) -> str:
        """A name for all documents: another one whenever any of them changes."""
        with self._db.reading() as session:
            return str(session.revision())

    def stats(self, scope: Scope, *, detail: bool = False) -> Stats:
        """Counts and names over the documents in scope."""
        with self._db.reading(scope) as session:
            if scope.is_all_of_owner:
                said = self._counted.said(session, scope.owner)
            else:
                said = self._counted.count(session, self._in(session, scope))
            found = Stats(said.documents, said.languages, said.kinds, said.properties)
            if not detail:
                return found
            condition, values = self._in(session, scope)
            ((chunks,),) = session.rows(_CHUNK_COUNT.format(condition=condition), values)
            return replace(found, bytes=self._engine.size(session), chunks=chunks)

    def receipt(self, owner: str, key: str) -> Receipt | None:
        """What became of the owner's request with this key, if that is still known."""
        with self._db.reading() as session:
            found = session.rows(
                "SELECT asked, saved, at FROM receipts WHERE owner = ? AND key = ?", (owner, key)
            )
        if not found:
            return None
        ((asked, saved, at),) = found
        told = tuple(Saved(*each) for each in json.loads(saved))
        return Receipt(owner, Once(key, asked), told, datetime.fromtimestamp(at, UTC))

    def boilerplate(self) -> Boilerplate:
        """The boilerplate as it was last detected."""
        with self._db.reading() as session:
            ((documents, times),) = session.rows("SELECT documents, times FROM learned")
            known = self._known_boilerplate
            if known is None or known[0] != times:
                keys = frozenset(key for (key,) in session.rows("SELECT key FROM forms"))
                known = self._known_boilerplate = times, Boilerplate(keys, documents)
        return known[1]

    def _in(self, session: Session, scope: Scope) -> Condition:
        return self._scoping.condition(session, scope)

    def _chunk(self, row: Sequence[Any]) -> Chunk:
        """The chunk of a row of _CHUNKS, without the id of its document."""
        position, start, end, first, last, headings, language, tokens, content, text, keys = row
        path, keys = tuple(self._engine.texts(headings)), tuple(self._engine.keys(keys))
        return Chunk(position, start, end, first, last, path, language, tokens, content, text, keys)


def _behind(column: str, after: Place, downwards: bool) -> Condition:
    """What comes after a place: what has no value comes last, and equal values go by id."""
    if after.key is None:
        return f"{column} IS NULL AND d.id > ?", [after.id]
    sign = "<" if downwards else ">"
    return (
        f"{column} {sign} ? OR ({column} = ? AND d.id > ?) OR {column} IS NULL",
        [after.key, after.key, after.id],
    )
