"""Scopes and clauses as SQL conditions over a document's row.

Where SQL cannot tell whether a clause is met (quotations letter by letter, distances), the index of
words offers documents, and the code that defines the clause decides on each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import assert_never

from twolane.model import deadlines
from twolane.model.document import FIELDS, Prepared
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.stores.memory.matching import meets
from twolane.stores.postgres.changing import stems_of
from twolane.stores.postgres.lexemes import WEIGHTS, either
from twolane.stores.postgres.writing import COLUMNS, STREAMS
from twolane.stores.sql.counting import Remembered
from twolane.stores.sql.document_rows import document_of
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
from twolane.text.names import expression, loose
from twolane.text.substrings import spelled

# So many documents are looked through one by one, rather than asking an index of everybody's: their
# names, their words, and their passages, of which none can be missed then.
FEW = 5_000

# So many texts are looked at between two looks at the time.
_AT_A_TIME = 200

# Documents that may meet a demand, by the words or letters in it.
_OFFERED = "SELECT d.row FROM documents AS d WHERE d.listed AND {condition} ORDER BY d.row"

# Their texts as they were written and as streams.
_WRITTEN = f"""
SELECT {COLUMNS}, d.row, {STREAMS} FROM documents AS d
JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row
WHERE d.row = ANY(?)"""

_Key = tuple[int, str | None, Phrase | Near, str | None]


class Demands:
    """Scopes as conditions; which documents meet a demand is found once for every state."""

    def __init__(self) -> None:
        self._found: Remembered[_Key, list[int]] = Remembered()

    def condition(self, session: Session, scope: Scope) -> Condition:
        """That a document `d` is in the scope."""
        return in_scope(scope, lambda clause, field: self._rows(session, scope, clause, field))

    def hidden_too(self, session: Session, scope: Scope, *, deleted: bool) -> Condition:
        """The same for documents that cannot be found, deleted ones or all others."""
        return in_scope_hidden_too(
            scope,
            lambda clause, field: self._rows(session, scope, clause, field),
            deleted=deleted,
        )

    def _rows(
        self, session: Session, scope: Scope, clause: Phrase | Near, field: str | None
    ) -> list[int]:
        key = (session.revision(), scope.owner, clause, field)
        known = self._found.get(key)
        if known is None:
            known = self._found.put(key, _meeting(session, scope.owner, clause, field))
        return known


def _meeting(
    session: Session, owner: str | None, clause: Phrase | Near, field: str | None
) -> list[int]:
    if isinstance(clause, Near):
        parts = [_offering(phrase, field) for phrase in clause.phrases]
    elif clause.words:
        # What nobody sees may stand between the words of a quotation.
        parts = [having(clause.words, field)]
    else:
        parts = [_offering(clause, field)]
    if owner is not None:
        parts.append(("d.owner = ?", [owner]))
    condition, values = joined(parts, "AND")
    offered = [row for (row,) in session.rows(_OFFERED.format(condition=condition), values)]
    fields: Sequence[str] = FIELDS if field is None else (field,)
    found: list[int] = []
    for start in range(0, len(offered), _AT_A_TIME):
        deadlines.check()
        some = session.rows(_WRITTEN, (offered[start : start + _AT_A_TIME],))
        for row in some:
            held = Prepared(document_of(row), (), stems_of(row[29:]))
            if meets(held, clause, fields):
                found.append(row[28])
    return sorted(found)


def _offering(phrase: Phrase, field: str | None) -> Condition:
    """Which documents may hold a phrase: by its words, or by its letters where it has none."""
    if phrase.words or phrase.literal is None:
        return said(phrase.words, field)
    return (
        "EXISTS (SELECT 1 FROM own_letters AS l WHERE l.document = d.row"
        " AND (l.texts LIKE ? OR l.names LIKE ?))",
        [holding(spelled(phrase.literal)), holding(loose(phrase.literal).strip())],
    )


# Rows of the documents that meet a clause in a field, or in any.
Leaves = Callable[[Phrase | Near, str | None], Sequence[int]]

# The column of each field's stream.
_COLUMNS = {name: f"x.{'stems' if name == 'body' else name}" for name in FIELDS}

# Passages of a body stand on lines of their own, over which a phrase may go on.
_COLUMNS["body"] = "replace(x.stems, E'\\n', '')"

# All streams of a document, with a sign between them over which no phrase goes on.
_ALL_STREAMS = " || '|' || ".join(_COLUMNS.values())


def in_scope(scope: Scope, leaves: Leaves) -> Condition:
    """The condition on `documents AS d` that a document counts in the scope."""
    return listed(scope, _restrictions(scope, leaves))


def in_scope_hidden_too(scope: Scope, leaves: Leaves, *, deleted: bool) -> Condition:
    """The same for documents that cannot be found, deleted ones or all others."""
    return hidden_too(scope, _restrictions(scope, leaves), deleted=deleted)


def _restrictions(scope: Scope, leaves: Leaves) -> list[Condition]:
    parts = restrictions(scope, _DIALECT)
    return parts if scope.clause is None else [*parts, _clause(scope.clause, None, leaves)]


def _in_paths(patterns: Sequence[str]) -> Condition:
    # A path that is not there fits no pattern.
    return "d.path ~ ANY(?)", [[f"^(?:{expression(pattern)})$" for pattern in patterns]]


def _in_languages(languages: Sequence[str]) -> Condition:
    return "d.languages && ?::text[]", [list(languages)]


_DIALECT = Dialect(
    tagged="EXISTS (SELECT 1 FROM tags AS t WHERE t.document = d.row AND {test})",
    valued="EXISTS (SELECT 1 FROM property_values AS p WHERE p.document = d.row AND {test})",
    no_texts="'{}'",
    no_languages="'{}'",
    in_paths=_in_paths,
    in_languages=_in_languages,
)


def _clause(clause: Clause, field: str | None, leaves: Leaves) -> Condition:
    match clause:
        case Phrase(literal=None):
            return said(clause.words, field)
        case Phrase() | Near():
            return "d.row = ANY(?)", [list(leaves(clause, field))]
        case InField(name, inner):
            # A field within another field is in neither.
            return _clause(inner, name, leaves) if field in (None, name) else _outside(inner)
        case Without(inner):
            return negated(_clause(inner, field, leaves))
        case All(clauses):
            parts = [_clause(one, field, leaves) for one in dict.fromkeys(clauses)]
            return joined(parts, "AND") if parts else EVERYTHING
        case Either(clauses):
            parts = [_clause(one, field, leaves) for one in dict.fromkeys(clauses)]
            return joined(parts, "OR") if parts else NOTHING
        case _:
            assert_never(clause)


def _outside(clause: Clause) -> Condition:
    """What a clause is worth where there is no field to look at."""
    match clause:
        case Without(inner):
            return negated(_outside(inner))
        case InField(_, inner):
            return _outside(inner)
        case All(clauses):
            parts = [_outside(one) for one in clauses]
            return joined(parts, "AND") if parts else EVERYTHING
        case Either(clauses):
            parts = [_outside(one) for one in clauses]
            return joined(parts, "OR") if parts else NOTHING
        case _:
            return NOTHING


def said(words: Sequence[Word], field: str | None) -> Condition:
    """That the words stand next to each other in the field, or in any; true of no words."""
    if not words:
        return EVERYTHING
    held = having(words, field)
    if len(words) == 1 and field is None:
        # The index knows all words of all fields.
        return held
    test, values = _in_order(words, _COLUMNS[field] if field else _ALL_STREAMS)
    # Asked of one document after the other, for those alone that have the words.
    exact = f"(SELECT {test} FROM texts AS x WHERE x.row = d.row)"
    return joined([held, (exact, values)], "AND")


def having(words: Sequence[Word], field: str | None) -> Condition:
    """That a document has all the words, wherever they stand; a field's are among those told."""
    weight = WEIGHTS[field] if field else ""
    query = " & ".join(either(word, weight) for word in words)
    return "d.row IN (SELECT w.document FROM own_words AS w WHERE w.words @@ ?::tsquery)", [query]


def _in_order(words: Sequence[Word], stream: str) -> Condition:
    """That a stream has the words in this order, none between them: each is between two spaces."""
    if all(len(word.terms) == 1 for word in words) and not any(one.prefix for one in words[:-1]):
        run = "".join(f" {word.terms[0]} " for word in words)
        return f"({stream}) LIKE ?", [holding(run[:-1] if words[-1].prefix else run)]
    parts = [
        f" (?:{'|'.join(map(re.escape, word.terms))}){'[^ ]*' if word.prefix else ''} "
        for word in words
    ]
    return f"({stream}) ~ ?", ["".join(parts)]


def holding(text: str) -> str:
    """The pattern of LIKE for texts that hold this one, whatever signs it has."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
