"""Documents by their letters: LIKE over their spelling says where to look, the text decides.

With pg_trgm an index answers LIKE; without it the server looks through the letters in scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from twolane.model import deadlines
from twolane.model.candidate import Match, Names
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope
from twolane.stores.postgres.conditions import holding
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.document_rows import COLUMNS
from twolane.stores.sql.counting import Counted
from twolane.stores.sql.document_rows import document_of
from twolane.stores.sql.session import Database, Session
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

# So many texts are read and looked at before it is asked whether they are enough.
_AT_A_TIME = 50


class PostgresSubstrings:
    """The part of the LexicalIndex port that looks at letters."""

    def __init__(self, database: Database, counted: Counted, demands: Demands) -> None:
        self._db = database
        self._counted = counted
        self._demands = demands

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
        tests = " OR ".join(["l.names LIKE ALL(?)"] * len(groups))
        patterns = [[holding(piece) for piece in group] for group in groups]
        with self._db.reading(scope) as session:
            condition, values = self._demands.condition(session, scope)
            statement = _CALLED.format(pieces=tests, condition=condition)
            found = session.rows(statement, [*patterns, *values, limit])
        return [
            Names(id, tuple(languages), title, tuple(aliases), path, url)
            for id, languages, title, aliases, path, url in found
        ]

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


def _match(row: Any, needle: str, fields: Sequence[str]) -> Iterator[Match]:
    document = document_of(row)
    match = match_in(document.id, tuple(row[28]), needle, fields_of(document, fields, needle))
    if match is not None:
        yield match
