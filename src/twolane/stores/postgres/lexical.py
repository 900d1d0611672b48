"""Candidates by words, and documents by letters.

PostgreSQL's index of words picks the pool, and their counts are told.
LIKE over the spelling of letters says where to look, and the text decides; with pg_trgm an index
answers LIKE, without it the server looks through the letters in scope.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from twolane.model import deadlines
from twolane.model.candidate import DocumentTerms, Frequencies, Match, Names
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import Likeness
from twolane.stores.postgres.conditions import FEW, Demands, holding
from twolane.stores.postgres.documents import THEIR_WORDS
from twolane.stores.postgres.lexemes import POOL_WEIGHTS, asked, either
from twolane.stores.postgres.writing import COLUMNS, STREAMS
from twolane.stores.spelled_names import SpelledNames
from twolane.stores.sql.counting import Counted, Remembered
from twolane.stores.sql.document_rows import document_of
from twolane.stores.sql.filtering import NOTHING, Condition, joined
from twolane.stores.sql.session import Database, Session
from twolane.stores.term_counts import TermCounter
from twolane.text.names import loose
from twolane.text.substrings import NAMES, SHORTEST, TEXTS, fields_of, match_in, spelled

# Documents in scope whose letters, of names or of texts, hold a text; by id.
_HOLDING = """
SELECT d.row FROM own_letters AS l JOIN documents AS d ON d.row = l.document
WHERE l.{column} LIKE ? AND {condition} ORDER BY d.id"""

# All that a person sees of some documents, and their languages.
_SEEN = f"""
SELECT {COLUMNS}, d.languages FROM documents AS d
JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row
WHERE d.row = ANY(?) ORDER BY d.id"""

# What documents in scope are called whose names hold some pieces.
_CALLED = """
SELECT d.id, d.languages, d.title, d.aliases, d.path, d.url
FROM own_letters AS l JOIN documents AS d ON d.row = l.document
WHERE ({pieces}) AND {condition} ORDER BY d.id LIMIT ?"""

# What all documents of an owner are called.
_THEIR_NAMES = "SELECT document, names FROM own_letters WHERE owner = ?"

# Of some owners the names are kept: so many letters, of one or two bytes each.
_MOST_LETTERS = 16_000_000

# So many texts are read and looked at before it is asked whether they are enough.
_AT_A_TIME = 50


# Candidates with their streams, for a pool of documents chosen inside.
_STREAMS = f"""
SELECT d.id, d.languages, {STREAMS}
FROM ({{pool}}) AS pool JOIN documents AS d ON d.row = pool.row JOIN texts AS x ON x.row = d.row"""

# The best documents that the index of words offers.
_MATCHING = """
SELECT d.row FROM {words} AS w JOIN documents AS d ON d.row = w.document
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


class PostgresLexical:
    """The LexicalIndex port."""

    def __init__(self, database: Database, counted: Counted, demands: Demands) -> None:
        self._db = database
        self._counted = counted
        self._demands = demands
        self._names: Remembered[str, tuple[object, SpelledNames]] = Remembered(
            _MOST_LETTERS, lambda known: len(known[1])
        )

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
                owner = scope.owner
                source, theirs = "own_words", []
                if owner is not None and self._counted.said(session, owner).documents <= FEW:
                    source, theirs, owner = f"({THEIR_WORDS})", [owner], None
                pool = _MATCHING.format(words=source, condition=condition, order=order)
                query = asked(words, every=every, owner=owner)
                bound = [*theirs, query, *values, *shares, limit]
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

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter; names before texts."""
        needle = spelled(text)
        if not needle:
            return []
        found: dict[str, Match] = {}
        try:
            with self._db.reading(scope) as session:
                for match in self._matches(session, needle, scope):
                    found.setdefault(match.id, match)
                    if len(found) >= limit:
                        break
        except TooSlow:
            # What was found until then is the answer.
            if not deadlines.is_over():
                raise
        return list(found.values())

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names hold all pieces of one group."""
        groups = [group for group in pieces if group and all(len(piece) > 2 for piece in group)]
        if not groups:
            return []
        with self._db.reading(scope) as session:
            pieces, bound = self._holding_all(session, groups, scope.owner)
            if (pieces, bound) == NOTHING:
                return []
            condition, values = self._demands.condition(session, scope)
            statement = _CALLED.format(pieces=pieces, condition=condition)
            found = session.rows(statement, [*bound, *values, limit])
        return [
            Names(id, tuple(languages), title, tuple(aliases), path, url)
            for id, languages, title, aliases, path, url in found
        ]

    def _holding_all(
        self, session: Session, groups: Sequence[Sequence[str]], owner: str | None
    ) -> Condition:
        """That names hold all pieces of one of the groups.

        An index of letters may find them among many; the names of an owner with few documents are
        looked through here.
        """
        if owner is None or self._counted.said(session, owner).documents > FEW:
            patterns = [[("l.names LIKE ?", [holding(one)]) for one in group] for group in groups]
            held = joined([joined(each, "AND") for each in patterns], "OR")
            return held if owner is None else joined([held, ("l.owner = ?", [owner])], "AND")
        rows = self._called(session, owner).rows_with(groups)
        return ("l.document = ANY(?)", [rows]) if rows else NOTHING

    def _called(self, session: Session, owner: str) -> SpelledNames:
        """What all documents of an owner are called, read once for each state that they are in."""
        state = self._counted.said(session, owner).state
        known = self._names.get(owner)
        if known is None or known[0] != state:
            with session.unhurried():
                names = SpelledNames(session.rows(_THEIR_NAMES, (owner,)))
            known = self._names.put(owner, (state, names))
        return known[1]

    def _matches(self, session: Session, needle: str, scope: Scope) -> Iterator[Match]:
        """All that hold the needle, names before texts; a document may come more than once."""
        condition, values = self._demands.condition(session, scope)
        names = tuple(name for name in NAMES if len(needle) >= SHORTEST or name != "path")
        for column, letters, fields in (
            ("names", loose(needle), names),
            ("texts", needle, TEXTS),
        ):
            statement = _HOLDING.format(column=column, condition=condition)
            offered = session.rows(statement, [holding(letters), *values])
            for start in range(0, len(offered), _AT_A_TIME):
                deadlines.check()
                some = [row for (row,) in offered[start : start + _AT_A_TIME]]
                for row in session.rows(_SEEN, (some,)):
                    yield from _match(row, needle, fields)

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


def _match(row: Any, needle: str, fields: Sequence[str]) -> Iterator[Match]:
    document = document_of(row)
    match = match_in(document.id, tuple(row[28]), needle, fields_of(document, fields, needle))
    if match is not None:
        yield match
