"""Candidates from SQLite: by words through FTS5, by meaning through a matrix in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from twolane.answers import Candidate, Frequencies, NearChunk, Neighbour, Sketch
from twolane.model import FIELDS, Kind, Stems
from twolane.scopes import Scope, Word
from twolane.stores.sqlite.conditions import in_scope, match_any, narrower_than_usual
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import dumped_texts
from twolane.stores.sqlite.expressions import Condition
from twolane.stores.sqlite.scoped import ScopedRows

if TYPE_CHECKING:
    from twolane.ports import Vector
    from twolane.stores.sqlite.matrix import VectorCache

# The engine's order only picks the pool, with the weights that scoring uses (FIELDS order).
_POOL_WEIGHTS = "10, 8, 5, 4, 4, 3, 1"

# Candidates with their streams, for a pool of rows chosen inside.
_STREAMS = """
SELECT d.id, d.languages, x.title, x.aliases, x.tags, x.headings, x.description, x.url, x.stems
FROM ({pool}) AS pool JOIN documents AS d ON d.row = pool.row JOIN texts AS x ON x.row = pool.row"""

# The best rows of the full-text index; `+` keeps SQLite from looking up rows one by one.
_MATCHING = """
SELECT rowid AS row FROM words WHERE words MATCH ? AND {condition}
ORDER BY bm25(words, {weights}), rowid LIMIT ?"""

# Rows in scope without any word to rank them by.
_LISTED = "SELECT d.row FROM documents AS d WHERE {condition} ORDER BY d.id LIMIT ?"

# The names of properties, found by leaps through their index: there are few, each of many.
_PROPERTIES = """
WITH RECURSIVE names(name) AS (
    SELECT min(name) FROM property_values
    UNION ALL
    SELECT (SELECT min(p.name) FROM property_values AS p WHERE p.name > names.name)
    FROM names WHERE names.name IS NOT NULL)
SELECT name FROM names WHERE name IS NOT NULL AND EXISTS (
    SELECT 1 FROM property_values AS p JOIN documents AS d ON d.row = p.document
    WHERE p.name = names.name AND d.listed)"""

_OF_KIND = "SELECT 1 FROM documents WHERE kind = ? AND listed LIMIT 1"

# In how many listed documents each passage stands.
_SHARING = """
SELECT c.text_hash, count(DISTINCT c.document)
FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND c.text_hash IN (SELECT value FROM json_each(?)) GROUP BY 1"""

_SKETCHES = """
SELECT d.id, d.title, d.content_hash, s.runs
FROM documents AS d JOIN sketches AS s ON s.document = d.row
WHERE d.listed AND d.id IN (SELECT value FROM json_each(?))"""

# Documents have a revision, vectors a row number that only grows, and generations a state.
REVISION = """
SELECT (SELECT revision FROM counters)
       || ' ' || coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vectors'), 0)
       || ' ' || coalesce((SELECT group_concat(number || state) FROM generations), '')"""


class SqliteRetrieval:
    """The Retrieval port."""

    _db: Database
    _cached: dict[int, VectorCache]
    _counted: Counted
    _scoped: ScopedRows

    def lexical(
        self, words: Sequence[Word], scope: Scope, *, every: bool, limit: int
    ) -> list[Candidate]:
        """Documents in scope that hold every word (or any, if not `every`), at most `limit`."""
        # One snapshot, so that the rows in scope are those that the words are looked up in.
        with self._db.read() as connection, connection:
            if words:
                condition, values = self._rows_in(connection, scope)
                pool = _MATCHING.format(condition=condition, weights=_POOL_WEIGHTS)
                bound = [match_any(words, every=every), *values, limit]
            else:
                condition, values = in_scope(scope)
                pool = _LISTED.format(condition=condition)
                bound = [*values, limit]
            found = rows(connection, _STREAMS.format(pool=pool), bound)
        return [Candidate(row[0], tuple(row[1].split()), Stems(*row[2:])) for row in found]

    def languages(self) -> frozenset[str]:
        """The languages of all documents that are not hidden."""
        with self._db.read() as connection:
            return self._counted.current(connection).languages

    def kinds(self) -> frozenset[Kind]:
        """The kinds of all documents that are not hidden."""
        with self._db.read() as connection:
            return self._counted.current(connection).kinds

    def properties(self) -> frozenset[str]:
        """The keys of all properties of documents that are not hidden."""
        with self._db.read() as connection:
            return self._counted.current(connection).properties

    def vocabulary(self) -> Sequence[str]:
        """All terms that some document holds which is not hidden, sorted."""
        with self._db.read() as connection:
            counted = self._counted.current(connection)
            if not counted.vocabulary:
                counted.vocabulary.extend(
                    term for (term,) in connection.execute("SELECT term FROM vocabulary")
                )
            return counted.vocabulary

    def frequencies(self, words: Sequence[Word]) -> Frequencies:
        """Document frequency of each term of the words, and average field lengths."""
        with self._db.read() as connection:
            counted = self._counted.current(connection)
            terms = {(term, word.prefix) for word in words for term in word.terms}
            missing = [key for key in terms if key not in counted.containing]
            for key in missing:
                counted.containing[key] = _containing(connection, *key)
            containing = {term: counted.containing[term, prefix] for term, prefix in sorted(terms)}
        documents, lengths = counted.documents, counted.lengths
        return Frequencies(
            documents,
            containing,
            {name: lengths[name] / documents if documents else 0.0 for name in FIELDS},
        )

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float,
        cosine: bool = False,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product with `vector`, best first."""
        cache = self._cache(generation)
        with self._db.read() as connection:
            allowed = None
            narrower = narrower_than_usual(scope)
            # One snapshot, so that the rows in scope are rows that the matrix knows.
            with connection:
                cache.refresh(connection)
                if narrower is not None:
                    allowed = self._scoped.rows(connection, scope)
                best = cache.nearest(
                    vector,
                    allowed=allowed,
                    archived=scope.archived,
                    limit=limit,
                    floor=floor,
                    cosine=cosine,
                    chunks=max(detail, 1),
                )
                named = {
                    row: (id, tuple(languages.split()))
                    for row, id, languages in connection.execute(
                        "SELECT row, id, languages FROM documents"
                        " WHERE row IN (SELECT value FROM json_each(?))",
                        (str([one.document for one in best]),),
                    )
                }
                codes = (
                    _codes(connection, [row for one in best for _, _, row in one.chunks])
                    if detail
                    else {}
                )
        found = [
            Neighbour(
                *named[one.document],
                one.chunks[0][0],
                one.chunks[0][1],
                one.vector if detail else None,
                tuple(
                    NearChunk(position, similarity, codes.get(row, b""))
                    for position, similarity, row in one.chunks[:detail]
                ),
            )
            for one in best
        ]
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.id))
        return found[:limit]

    def vectors(
        self, generation: int, ids: Sequence[str]
    ) -> Mapping[str, list[tuple[int, Vector]]]:
        """(position, vector) of the chunks that have one, their own or borrowed, by document id."""
        cache = self._cache(generation)
        with self._db.read() as connection, connection:
            cache.refresh(connection)
            named: dict[int, str] = dict(
                rows(
                    connection,
                    "SELECT row, id FROM documents"
                    " WHERE listed AND id IN (SELECT value FROM json_each(?))",
                    (json.dumps(list(ids)),),
                )
            )
            held = cache.vectors_of(list(named))
        return {named[row]: pairs for row, pairs in held.items()}

    def sharing(self, text_hashes: Sequence[str]) -> Mapping[str, int]:
        """How many documents that are not hidden hold each passage, by its text hash."""
        with self._db.read() as connection:
            return dict(rows(connection, _SHARING, (json.dumps(list(text_hashes)),)))

    def sketches(self, ids: Sequence[str]) -> Mapping[str, Sketch]:
        """What tells copies apart, by document id."""
        with self._db.read() as connection:
            found = rows(connection, _SKETCHES, (dumped_texts(ids),))
        return {id: Sketch(title, content, runs) for id, title, content, runs in found}

    def revision(self) -> str:
        """The counters that every commit of documents, vectors or generations moves."""
        with self._db.read() as connection:
            return str(connection.execute(REVISION).get)

    def _rows_in(self, connection: apsw.Connection, scope: Scope) -> Condition:
        """The scope as a condition on the full-text index's row."""
        if narrower_than_usual(scope) is not None:
            return self._scoped.condition(connection, scope, "+words.rowid")
        if scope.archived:
            return "1", []
        return "+words.rowid NOT IN (SELECT row FROM documents WHERE archived)", []

    def _cache(self, generation: int) -> VectorCache:
        from twolane.stores.sqlite.matrix import VectorCache

        cache = self._cached.get(generation)
        return cache or self._cached.setdefault(generation, VectorCache(generation))


@dataclass(frozen=True, slots=True)
class _Counts:
    """The whole index in numbers; `containing` is filled as terms are asked for."""

    documents: int
    lengths: dict[str, int]
    languages: frozenset[str]
    properties: frozenset[str]
    kinds: frozenset[Kind]
    containing: dict[tuple[str, bool], int]
    vocabulary: list[str] = field(default_factory=list)


class Counted:
    """Counts that stay true until somebody commits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = -1
        self._counts = _Counts(0, {}, frozenset(), frozenset(), frozenset(), {})

    def current(self, connection: apsw.Connection) -> _Counts:
        """The counts for the state of the index that the connection sees."""
        revision = rows(connection, "SELECT revision FROM counters")[0][0]
        with self._lock:
            if revision != self._revision:
                self._counts = _count(connection)
                self._revision = revision
            return self._counts


def _count(connection: apsw.Connection) -> _Counts:
    documents, *lengths = rows(connection, f"SELECT documents, {', '.join(FIELDS)} FROM totals")[0]
    spoken = rows(connection, "SELECT DISTINCT languages FROM documents WHERE listed")
    return _Counts(
        documents,
        dict(zip(FIELDS, lengths, strict=True)),
        frozenset(name for (names,) in spoken for name in names.split()),
        frozenset(name for (name,) in rows(connection, _PROPERTIES)),
        frozenset(kind for kind in Kind if rows(connection, _OF_KIND, (str(kind),))),
        {},
    )


def _containing(connection: apsw.Connection, term: str, prefix: bool) -> int:
    if prefix:
        quoted = term.replace('"', '""')
        return int(
            connection.execute(
                "SELECT count(*) FROM words WHERE words MATCH ?", (f'"{quoted}"*',)
            ).get
        )
    return int(connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).get or 0)


def _codes(connection: apsw.Connection, vector_rows: Sequence[int]) -> dict[int, bytes]:
    """The codes of the passages' sentences by the rows of their vectors."""
    return dict(
        rows(
            connection,
            "SELECT v.row, s.codes FROM vectors AS v JOIN sentences AS s"
            " ON s.generation = v.generation AND s.content_hash = v.content_hash"
            " WHERE v.row IN (SELECT value FROM json_each(?))",
            (str(list(vector_rows)),),
        )
    )
