"""Candidates by words: PostgreSQL's index picks the pool, their counts are told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import Likeness
from twolane.stores.postgres.document_rows import STREAMS
from twolane.stores.postgres.lexemes import POOL_WEIGHTS, asked, either
from twolane.stores.postgres.substrings import PostgresSubstrings
from twolane.stores.sql.session import Session
from twolane.stores.term_counts import TermCounter

# Candidates with their streams, for a pool of documents chosen inside.
_STREAMS = f"""
SELECT d.id, d.languages, {STREAMS}
FROM ({{pool}}) AS pool JOIN documents AS d ON d.row = pool.row JOIN texts AS x ON x.row = d.row"""

# The best documents that the index of words offers.
_MATCHING = """
SELECT d.row FROM own_words AS w JOIN documents AS d ON d.row = w.document
WHERE w.words @@ ?::tsquery AND {condition} ORDER BY {order} DESC, d.id LIMIT ?"""

# Documents in scope without any word to rank them by.
_LISTED = "SELECT d.row FROM documents AS d WHERE {condition} ORDER BY d.id LIMIT ?"

# The streams of documents that can be found, by id.
STREAMS_OF = _STREAMS.format(
    pool="SELECT d.row FROM documents AS d WHERE d.listed AND d.id = ANY(?)"
)

# What one word gives a document: the more places, the better the fields and the shorter the
# document, the more (1 divides by the logarithm of its length).
_SHARE = f"? * ts_rank('{POOL_WEIGHTS}', w.words, ?::tsquery, 1)"

# The rarest words pick the pool; a query may have hundreds.
_MOST_SHARES = 24


class PostgresLexical(PostgresSubstrings):
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
        with self._db.reading(scope) as session:
            condition, values = self._demands.condition(session, scope)
            if words:
                order, shares = self._order(session, words, scope)
                pool = _MATCHING.format(condition=condition, order=order)
                query = asked(words, every=every, owner=scope.owner)
                bound = [query, *values, *shares, limit]
            else:
                pool, bound = _LISTED.format(condition=condition), [*values, limit]
            found = session.rows(_STREAMS.format(pool=pool), bound)
        counter = TermCounter(words if count is None else count, sequence)
        return list(_counted(counter, found).values())

    def term_frequencies(
        self,
        ids: Sequence[str],
        words: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> Mapping[str, DocumentTerms]:
        """The same for documents that were found in scope before, by id."""
        with self._db.reading() as session:
            found = session.rows(STREAMS_OF, (list(ids),))
        return _counted(TermCounter(words, sequence), found)

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

    def _order(
        self, session: Session, words: Sequence[Word], scope: Scope
    ) -> tuple[str, list[Any]]:
        """The expression by which the pool is picked: rare words count more than common ones."""
        documents = self._counted.said(session, scope.owner).documents
        held = self._counted.frequencies(session, _terms(words), scope.owner)
        shares = sorted(
            (
                (_idf(documents, sum(held[term, word.prefix] for term in word.terms)), word)
                for word in words
            ),
            key=lambda share: -share[0],
        )[:_MOST_SHARES]
        values = [value for idf, word in shares for value in (idf, either(word))]
        return f"({' + '.join([_SHARE] * len(shares))})", values


def _counted(counter: TermCounter, found: Sequence[Any]) -> dict[str, DocumentTerms]:
    """The documents of rows of _STREAMS; what is counted in their streams is counted here."""
    return {row[0]: counter.of(row[0], tuple(row[1]), row[2:]) for row in found}


def _terms(words: Sequence[Word]) -> list[tuple[str, bool]]:
    return [(term, word.prefix) for word in words for term in word.terms]


def _idf(documents: int, frequency: int) -> float:
    return math.log(1 + (max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))
