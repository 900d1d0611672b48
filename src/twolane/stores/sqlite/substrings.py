"""Documents by their letters in SQLite: trigrams say where to look, the stored text decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import apsw

from twolane.model.candidate import Match, Names
from twolane.model.scope import Scope
from twolane.stores.spelled_names import SpelledNames
from twolane.stores.sql.counting import Counted
from twolane.stores.sqlite.conditions import ScopedRows
from twolane.stores.sqlite.database import Database, Session
from twolane.stores.sqlite.trigrams import (
    CALLED_COLUMNS,
    NAME_COLUMNS,
    TEXT_COLUMNS,
    holding,
    name_fields,
    names_of,
    text_fields,
)
from twolane.stores.vocabulary import Vocabulary
from twolane.text.languages import script_of
from twolane.text.names import lines, loose
from twolane.text.substrings import SHORTEST, body_fields, holds, match_in, spelled
from twolane.text.tokens import token_texts, tokens

# No stored text holds these, and the driver does not take them.
_SURROGATES = re.compile("[\ud800-\udfff]")

# Without trigrams of texts, so many words of the vocabulary may hold a part of what is sought.
_MOST_TERMS = 200

# Scripts that are written without spaces.
_UNBROKEN = ("han", "kana", "thai")

# An ending of a word that stemming may have cut off.
_ENDING = 3

# Documents that a full-text table offers; the table comes first, whatever else is restricted.
_OFFERED = """
SELECT {columns} FROM (SELECT rowid AS row FROM {table} WHERE {table} MATCH ?) AS o
CROSS JOIN documents AS d ON d.row = o.row JOIN texts AS x ON x.row = d.row WHERE {condition}"""

# Documents whose trigrams are missing or old.
_UNSETTLED = """
SELECT {columns} FROM unsettled AS u CROSS JOIN documents AS d ON d.row = u.document
JOIN texts AS x ON x.row = d.row WHERE {condition}"""

# Documents that are known by their rows.
_CHOSEN = "SELECT {columns} FROM documents AS d WHERE {condition} AND d.row = ANY(?)"

# Every document in scope, where no index tells which of them to look at.
_EVERY = """
SELECT {columns} FROM documents AS d JOIN texts AS x ON x.row = d.row WHERE {condition}"""

# What a document says, apart from what it is called.
_TOLD = f"d.id, d.languages, {TEXT_COLUMNS}"

# What lists are written with in a row is not written so in what they list.
_ESCAPED = frozenset('"\\')


class SqliteSubstrings:
    """The part of the LexicalIndex port that looks at letters."""

    def __init__(self, database: Database, counted: Counted, scoped: ScopedRows) -> None:
        self._db = database
        self._counted = counted
        self._scoped = scoped
        # By the state of the file.
        self._unsettled = -1, SpelledNames(())

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter; names before texts."""
        needle = spelled(text)
        if not needle or _SURROGATES.search(needle):
            return []
        found: dict[str, Match] = {}
        # One snapshot, so that what is unsettled fits to the trigrams.
        # When the time is over, what was found until then is the answer.
        with self._db.reading() as session, suppress(apsw.InterruptError):
            for match in self._matches(session, needle, scope):
                found.setdefault(match.id, match)
                if len(found) >= limit:
                    break
        return list(found.values())

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names may hold all pieces of one group."""
        groups = [group for group in pieces if group and min(map(len, group)) >= SHORTEST]
        if not groups:
            return []
        with self._db.reading() as session:
            condition, values = self._scoped.condition(session, scope)
            expression = " OR ".join([f"({holding(*group)})" for group in groups])
            offered = _OFFERED.format(
                columns=CALLED_COLUMNS, table="name_trigrams", condition=condition
            )
            rows = session.rows(f"{offered} LIMIT ?", (expression, *values, limit))
            if unsettled := self._unsettled_names(session).rows_with(groups):
                chosen = _CHOSEN.format(columns=CALLED_COLUMNS, condition=condition)
                rows += session.rows(chosen, (*values, unsettled))
        found = {row[0]: row for row in rows}
        return [names_of(row) for row in islice(found.values(), limit)]

    def _unsettled_names(self, session: Session) -> SpelledNames:
        """What unsettled documents are called, read once for each state of the file."""
        revision = session.revision()
        known = self._unsettled
        if known[0] != revision:
            with session.unhurried():
                every = _UNSETTLED.format(columns=f"d.row, {CALLED_COLUMNS}", condition="d.listed")
                spelled = [(row[0], lines(names_of(row[1:]))) for row in session.stream(every)]
            known = self._unsettled = revision, SpelledNames(spelled)
        return known[1]

    def _matches(self, session: Session, needle: str, scope: Scope) -> Iterator[Match]:
        """All that hold the needle, names before texts; a document may come more than once."""
        condition, values = self._scoped.condition(session, scope)

        def offered(columns: str, table: str, expression: str) -> Iterator[Any]:
            statement = _OFFERED.format(columns=columns, table=table, condition=condition)
            return session.stream(statement, (expression, *values))

        def unsettled(columns: str) -> Iterator[Any]:
            statement = _UNSETTLED.format(columns=columns, condition=condition)
            return (row for row in session.stream(statement, values) if may_hold(row, needle))

        may_hold = _may_hold if _ESCAPED.isdisjoint(needle) else lambda row, needle: True
        if len(needle) < SHORTEST:
            word = token_texts(needle) == [needle]

            def begun(columns: str) -> Iterator[Any]:
                if word:
                    return offered(columns, "words", _begun(self._vocabulary(session), needle))
                # Signs are in no index of words, and too short for trigrams.
                every = _EVERY.format(columns=columns, condition=condition)
                return (row for row in session.stream(every, values) if may_hold(row, needle))

            for row in begun(NAME_COLUMNS):
                names = [field for field in name_fields(row) if field[0] != "path"]
                yield from _match(row, needle, names)
            for row in begun(_TOLD):
                yield from _match(row, needle, text_fields(row[2:], needle))
            return
        named = offered(NAME_COLUMNS, "name_trigrams", holding(loose(needle)))
        for row in chain(named, unsettled(NAME_COLUMNS)):
            yield from _match(row, needle, name_fields(row))
        if session.rows("SELECT texts FROM trigrams")[0][0]:
            table, expression = "text_trigrams", holding(needle)
        else:
            table, expression = "words", _words_with(self._vocabulary(session), needle)
        told = offered(_TOLD, table, expression) if expression else iter(())
        for row in chain(told, unsettled(_TOLD)):
            yield from _match(row, needle, text_fields(row[2:], needle))

    def _vocabulary(self, session: Session) -> Vocabulary:
        return self._counted.vocabulary(session, None)


def _begun(vocabulary: Vocabulary, needle: str) -> str:
    """The FTS5 expression for words that begin with the needle."""
    terms = ['"' + needle.replace('"', '""') + '"*']
    if script_of(needle) in _UNBROKEN:
        # Where no space tells words apart, any sign may begin one.
        terms += [f'"{term}"' for term in vocabulary.holding(needle)]
    return " OR ".join(terms[:_MOST_TERMS])


def _words_with(vocabulary: Vocabulary, needle: str) -> str:
    """The FTS5 expression for words that may hold the longest piece of the needle."""
    longest = max((token.text for token in tokens(needle)), key=len, default="")
    piece = longest[: max(SHORTEST, len(longest) - _ENDING)]
    if len(piece) < SHORTEST:
        return ""
    quoted = (term.replace('"', '""') for term in vocabulary.holding(piece)[:_MOST_TERMS])
    return " OR ".join(f'"{term}"' for term in quoted)


def _may_hold(row: Any, needle: str) -> bool:
    """Whether a row holds the needle at all; quicker than to look where."""
    if holds("\n".join(filter(None, row[2:])), needle):
        return True
    # The last column is the name of a tag, or the body, which is not seen as it is written.
    seen = (texts for _, texts in body_fields(row[-1] or "", needle))
    return len(needle) >= SHORTEST and any(holds(text, needle) for texts in seen for text in texts)


def _match(row: Any, needle: str, fields: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[Match]:
    match = match_in(row[0], tuple(row[1].split()), needle, fields)
    if match is not None:
        yield match
