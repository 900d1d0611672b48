"""Scopes and clauses as SQL conditions over a document's row.

Building a condition is separate from running it: everything here is text in, text out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from math import prod
from typing import assert_never

from twolane.model.filters import Trait
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.stores.sqlite.expressions import Condition, joined, marks, negated
from twolane.stores.sqlite.filtering import among, passing
from twolane.text.literals import spread
from twolane.text.tokens import fold

# A phrase of words with several stems each is spelled out; this bounds the spelling.
_MOST_SPELLINGS = 64

# So many words of a quotation are looked for together.
_SCATTERED = 8


def in_scope(scope: Scope) -> Condition:
    """The condition on `documents AS d` that a document counts in the scope."""
    parts: list[Condition] = [("d.listed", [])]
    if not scope.archived:
        parts.append(("NOT d.archived", []))
    parts += _restrictions(scope)
    return joined(parts, "AND")


def narrower_than_usual(scope: Scope) -> Condition | None:
    """The condition beyond "listed and not archived" on `d`, or None if there is none."""
    parts = _restrictions(scope)
    return joined(parts, "AND") if parts else None


def match_any(words: Sequence[Word], *, every: bool) -> str:
    """The FTS5 expression for documents with every (or any) of the words."""
    return (" AND " if every else " OR ").join(_word(word) for word in words)


def _restrictions(scope: Scope) -> list[Condition]:
    parts: list[Condition] = []
    if scope.owner is not None:
        parts.append(("d.owner = ?", [scope.owner]))
    if scope.collections:
        parts.append(among(Trait.COLLECTION, scope.collections))
    if scope.kinds:
        parts.append(among(Trait.KIND, scope.kinds))
    parts += [among(Trait.TAG, (tag,)) for tag in scope.tags]
    parts += [negated(among(Trait.TAG, (tag,))) for tag in scope.without_tags]
    if scope.paths:
        parts.append(among(Trait.PATH, scope.paths))
    if scope.languages:
        parts.append(among(Trait.LANGUAGE, scope.languages))
    if scope.updated_from is not None:
        parts.append(("d.updated >= ?", [scope.updated_from.timestamp()]))
    if scope.updated_before is not None:
        parts.append(("d.updated < ?", [scope.updated_before.timestamp()]))
    if scope.documents:
        parts.append((f"d.id IN ({marks(scope.documents)})", [*scope.documents]))
    parts += [passing(one) for one in scope.filters]
    if scope.clause is not None:
        parts += _demanded(scope.clause)
    return parts


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
            return _clause(inner, name) if field in (None, name) else _NOTHING
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
    return joined([*together, *rest], "OR") if clauses else _NOTHING


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
        return parts[0] if parts else _EVERYTHING
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


_EVERYTHING: Condition = ("1", [])
_NOTHING: Condition = ("0", [])


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
