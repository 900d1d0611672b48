"""Scopes and clauses as SQL conditions over a document's row, and the rows in a scope.

A search asks for the same scope several times, and so does the next one with the same filters;
finding its rows may mean a look at every document, so they are kept until somebody commits.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice, product
from math import prod
from typing import assert_never

from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.stores.sql.counting import Remembered
from twolane.stores.sql.filtering import (
    EVERYTHING,
    NOTHING,
    Condition,
    Dialect,
    hidden_too,
    joined,
    listed,
    negated,
    restrictions,
)
from twolane.stores.sql.session import Session
from twolane.text.names import LAST, beginning
from twolane.text.substrings import spread
from twolane.text.tokens import fold

# A phrase of words with several stems each is spelled out; this bounds the spelling.
_MOST_SPELLINGS = 64

# So many words of a quotation are looked for together.
_SCATTERED = 8


def in_scope(scope: Scope) -> Condition:
    """The condition on `documents AS d` that a document counts in the scope."""
    return listed(scope, _restrictions(scope))


def in_scope_hidden_too(scope: Scope, *, deleted: bool) -> Condition:
    """The same for documents that cannot be found, deleted ones or all others."""
    return hidden_too(scope, _restrictions(scope), deleted=deleted)


def is_narrow(scope: Scope) -> bool:
    """Whether the scope asks for more than that a document can be found and is not archived."""
    return bool(_restrictions(scope))


def match_any(words: Sequence[Word], *, every: bool) -> str:
    """The FTS5 expression for documents with every (or any) of the words."""
    return (" AND " if every else " OR ").join(_word(word) for word in words)


def _restrictions(scope: Scope) -> list[Condition]:
    parts = restrictions(scope, _DIALECT)
    return parts if scope.clause is None else [*parts, *_demanded(scope.clause)]


def _in_paths(patterns: Sequence[str]) -> Condition:
    """Paths that fit a pattern, looked for among those that begin as it does."""
    beginnings: list[Condition] = [
        ("d.path >= ? AND d.path < ?", [begin, begin + LAST])
        for begin in (beginning(pattern) for pattern in patterns)
    ]
    fitting: Condition = ("path_matches(d.path, ?)", ["\n".join(patterns)])
    return joined([joined(beginnings, "OR"), fitting], "AND")


def _in_languages(languages: Sequence[str]) -> Condition:
    # Each is stored between two spaces.
    return joined([("instr(d.languages, ?) > 0", [f" {name} "]) for name in languages], "OR")


_DIALECT = Dialect(
    tagged="d.row IN (SELECT dt.document FROM tags AS t JOIN document_tags AS dt ON dt.tag = t.row"
    " WHERE {test})",
    valued="d.row IN (SELECT p.document FROM property_values AS p WHERE {test})",
    no_texts="'[]'",
    no_languages="''",
    in_paths=_in_paths,
    in_languages=_in_languages,
)


def _demanded(clause: Clause) -> list[Condition]:
    """The conditions of a demand: one that the index of words answers, then all that is left."""
    clauses = clause.clauses if isinstance(clause, All) else (clause,)
    expressions, tests = _split(clauses, None)
    worded = [_matching(" AND ".join(expressions))] if expressions else []
    return [*worded, *([_in_turn(tests)] if tests else [])]


def _clause(clause: Clause, field: str | None) -> Condition:
    match clause:
        case Phrase() | Near():
            return _all((clause,), field)
        case InField(name, inner):
            # A field within another field is in neither.
            return _clause(inner, name) if field in (None, name) else NOTHING
        case Without(inner):
            return negated(_clause(inner, field))
        case All(clauses):
            return _all(clauses, field)
        case Either(clauses):
            return _any(clauses, field)
        case _:
            assert_never(clause)


def _all(clauses: Sequence[Clause], field: str | None) -> Condition:
    expressions, tests = _split(clauses, field)
    worded = [_matching(" AND ".join(expressions))] if expressions else []
    return _in_turn([*worded, *tests])


def _any(clauses: Sequence[Clause], field: str | None) -> Condition:
    """That one of the clauses holds; all that words alone can tell are asked for together."""
    worded = {clause: _expression(clause, field) for clause in clauses}
    expressions = [f"({expression})" for expression in worded.values() if expression]
    together = [_matching(" OR ".join(expressions))] if expressions else []
    rest = [_clause(clause, field) for clause in worded if not worded[clause]]
    return joined([*together, *rest], "OR") if clauses else NOTHING


def _split(clauses: Sequence[Clause], field: str | None) -> tuple[list[str], list[Condition]]:
    """What the index of words can tell of clauses that must all hold, and what it cannot."""
    expressions: list[str] = []
    tests: list[Condition] = []
    for clause in dict.fromkeys(clauses):
        expression = _expression(clause, field)
        if expression:
            expressions.append(f"({expression})")
        elif isinstance(clause, Phrase | Near):
            phrases = (clause,) if isinstance(clause, Phrase) else clause.phrases
            words = _within(
                field, _scattered(clause) if isinstance(clause, Phrase) else _near(clause)
            )
            expressions += [f"({words})"] if words else []
            tests += _letters(phrases, field)
        else:
            tests.append(_clause(clause, field))
    return expressions, tests


def _letters(phrases: Sequence[Phrase], field: str | None) -> list[Condition]:
    """That each quoted phrase stands in the text letter by letter."""
    return [
        (
            "holds_literally(d.row, d.revision, ?, ?)",
            [" ".join(fold(phrase.literal).split()), field],
        )
        for phrase in phrases
        if phrase.literal is not None
    ]


def _in_turn(parts: Sequence[Condition]) -> Condition:
    """That all of the conditions hold, each looked at only if those before it do.

    SQLite looks at both sides of an AND inside of other conditions, however dear they are.
    """
    if len(parts) < 2:
        return parts[0] if parts else EVERYTHING
    failing = " ".join(f"WHEN NOT ({part}) THEN 0" for part, _ in parts)
    return f"CASE {failing} ELSE 1 END", [value for _, values in parts for value in values]


def _expression(clause: Clause, field: str | None) -> str:
    """The clause as FTS5 writes it; empty if it asks for more than the words of a document."""
    match clause:
        case Phrase():
            return "" if clause.literal is not None else _within(field, _spelled(clause))
        case Near(phrases):
            literal = any(phrase.literal is not None for phrase in phrases)
            return "" if literal else _within(field, _near(clause))
        case InField(name, inner):
            return _expression(inner, name) if field in (None, name) else ""
        case Without():
            return ""
        case All(clauses) | Either(clauses):
            parts = [_expression(part, field) for part in dict.fromkeys(clauses)]
            word = " AND " if isinstance(clause, All) else " OR "
            return word.join(f"({part})" for part in parts) if all(parts) else ""
        case _:
            assert_never(clause)


def _within(field: str | None, expression: str) -> str:
    return f"{field} : ({expression})" if field and expression else expression


def _matching(expression: str) -> Condition:
    return "d.row IN (SELECT rowid FROM words WHERE words MATCH ?)", [expression]


def _near(near: Near) -> str:
    spellings = [_spellings(phrase.words) for phrase in near.phrases]
    groups = islice(product(*spellings), _MOST_SPELLINGS)
    return " OR ".join(f"NEAR({' '.join(group)}, {near.distance})" for group in groups)


def _scattered(phrase: Phrase) -> str:
    """The words of a quotation as FTS5 writes them, however much nobody sees stands between.

    The letters decide, so that its first words are enough to tell where to look.
    """
    words = phrase.words[:_SCATTERED]
    if len(words) < 2 or prod(len(one.terms) for one in words) > _MOST_SPELLINGS:
        return " AND ".join(map(_word, phrase.words))
    distance = spread(len(words))
    return _near(Near(tuple(Phrase((word,)) for word in words), distance))


def _spelled(phrase: Phrase) -> str:
    """The phrase as FTS5 writes it; a phrase with too many spellings, piece by piece."""
    pieces: list[list[Word]] = [[]]
    for word in phrase.words:
        if prod(len(one.terms) for one in (*pieces[-1], word)) > _MOST_SPELLINGS:
            pieces.append([])
        pieces[-1].append(word)
    return " AND ".join(f"({' OR '.join(_spellings(piece))})" for piece in pieces if piece)


def _spellings(words: Sequence[Word]) -> list[str]:
    rows = islice(product(*(word.terms for word in words)), _MOST_SPELLINGS)
    ending = "*" if words and words[-1].prefix else ""
    return [" + ".join(map(_quoted, row)) + ending for row in rows]


def _word(word: Word) -> str:
    ending = "*" if word.prefix else ""
    return "(" + " OR ".join(_quoted(term) + ending for term in word.terms) + ")"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


# As many scopes as a few callers ask for by turns.
_KEPT = 16

# With more rows than this the engine looks them up faster than it reads a list of them.
_MOST = 20_000


_Key = tuple[int, Scope]


class ScopedRows:
    """Rows by scope and state of the database; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: Remembered[_Key, list[int]] = Remembered(_KEPT)
        self._turns: dict[_Key, threading.Lock] = {}

    def rows(self, session: Session, scope: Scope) -> list[int]:
        """The rows of the documents in scope that the session sees."""
        key = (session.revision(), scope)
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        # The lanes of a search ask at the same time; the second one waits for what the first finds.
        with turn:
            try:
                known = self._rows.get(key)
                if known is not None:
                    return known
                condition, values = in_scope(scope)
                statement = f"SELECT d.row FROM documents AS d WHERE {condition}"
                return self._rows.put(key, [row for (row,) in session.rows(statement, values)])
            finally:
                with self._lock:
                    self._turns.pop(key, None)

    def condition(self, session: Session, scope: Scope) -> Condition:
        """That `d` is in scope; what the scope's demands leave is found once for all who ask."""
        return in_scope(scope) if scope.clause is None else self.listing(session, scope, "d.row")

    def hidden_too(self, _: Session, scope: Scope, *, deleted: bool) -> Condition:
        """The same for documents that cannot be found, deleted ones or all others."""
        return in_scope_hidden_too(scope, deleted=deleted)

    def listing(self, session: Session, scope: Scope, column: str) -> Condition:
        """That the column holds a row in scope, by a list of them where they are few."""
        found = self.rows(session, scope)
        # Demands are dearer to look up again than any list is to read.
        if len(found) <= _MOST or scope.clause is not None:
            return f"{column} IN (SELECT value FROM json_each(?))", [str(found)]
        condition, values = in_scope(scope)
        return f"{column} IN (SELECT d.row FROM documents AS d WHERE {condition})", values
