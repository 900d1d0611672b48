"""Scopes and clauses as SQL conditions over a document's row.

Building a condition is separate from running it: everything here is text in, text out.
What SQL cannot tell of a clause (quotations, distances) is asked of `Leaves`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import assert_never

from twolane.model.document import FIELDS
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.stores.postgres.lexemes import WEIGHTS, either
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
from twolane.text.names import expression

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
