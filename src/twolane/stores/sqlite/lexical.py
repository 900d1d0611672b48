"""Candidates by words, through FTS5: its order picks the pool, their counts are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import Likeness
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.session import Session
from twolane.stores.sqlite.conditions import is_narrow, match_any
from twolane.stores.sqlite.substrings import SqliteSubstrings
from twolane.stores.term_counts import TermCounter

# The engine's order only picks the pool, with the weights that scoring uses (FIELDS order).
_POOL_WEIGHTS = "10, 8, 5, 4, 4, 3, 1"

# Candidates with their streams, for a pool of rows chosen inside.
_STREAMS = """
SELECT d.id, d.languages, x.title, x.aliases, x.tags, x.headings, x.description, x.url, {body}
FROM ({pool}) AS pool JOIN documents AS d ON d.row = pool.row JOIN texts AS x ON x.row = pool.row
LEFT JOIN term_vectors AS t ON t.document = pool.row"""

# The best rows of the full-text index; `+` keeps SQLite from looking up rows one by one.
_MATCHING = """
SELECT rowid AS row FROM words WHERE words MATCH ? AND {condition}
ORDER BY bm25(words, {weights}), rowid LIMIT ?"""

# Rows in scope without any word to rank them by.
_LISTED = "SELECT d.row FROM documents AS d WHERE {condition} ORDER BY d.id LIMIT ?"

# The streams of documents that can be found, by id.
_BY_ID = "SELECT row FROM documents WHERE listed AND id = ANY(?)"
STREAMS_OF = _STREAMS.format(pool=_BY_ID, body="x.stems")


class SqliteLexical(SqliteSubstrings):
    """The LexicalIndex port."""

    def candidates(
        self,
        words: Sequence[Word],
        scope: Scope,
        *,
        every: bool,
        limit: int,
        count: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> list[DocumentTerms]:
        """Documents in scope that hold every word (or any, if not `every`), at most `limit`."""
        counter = TermCounter(words if count is None else count, sequence)
        # One snapshot, so that the rows in scope are those that the words are looked up in.
        with self._db.reading() as session:
            if words:
                condition, values = self._rows_in(session, scope)
                pool = _MATCHING.format(condition=condition, weights=_POOL_WEIGHTS)
                bound = [match_any(words, every=every), *values, limit]
            else:
                condition, values = self._scoped.condition(session, scope)
                pool = _LISTED.format(condition=condition)
                bound = [*values, limit]
            return _counted(session, counter, pool, bound)

    def term_frequencies(
        self,
        ids: Sequence[str],
        words: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> Mapping[str, DocumentTerms]:
        """The same for documents that were found in scope before, by id."""
        counter = TermCounter(words, sequence)
        with self._db.reading() as session:
            found = _counted(session, counter, _BY_ID, (list(ids),))
        return {document.id: document for document in found}

    def document_frequencies(self, words: Sequence[Word], scope: Scope) -> Frequencies:
        """The owner's documents, how many of them hold each term, and average field lengths."""
        with self._db.reading(scope) as session:
            return self._counted.document_frequencies(session, words, scope.owner)

    def similar_terms(
        self, term: str, scope: Scope, likeness: Likeness, *, edits: int = 1, limit: int
    ) -> list[str]:
        """Terms of the owner's documents that are like this one, at most `limit`."""
        with self._db.reading(scope) as session:
            vocabulary = self._counted.vocabulary(session, scope.owner)
        return vocabulary.like(term, likeness, edits=edits, limit=limit)

    def _rows_in(self, session: Session, scope: Scope) -> Condition:
        """The scope as a condition on the full-text index's row."""
        if is_narrow(scope):
            return self._scoped.listing(session, scope, "+words.rowid")
        if scope.archived:
            return "1", []
        return "+words.rowid NOT IN (SELECT row FROM documents WHERE archived)", []


def _counted(
    session: Session, counter: TermCounter, pool: str, values: Sequence[object]
) -> list[DocumentTerms]:
    """The documents of a pool with their counts, by term vectors where these are enough."""
    body = "x.stems" if counter.needs_streams else "coalesce(t.terms, x.stems)"
    found = session.rows(_STREAMS.format(pool=pool, body=body), values)
    return [counter.of(row[0], tuple(row[1].split()), row[2:]) for row in found]
