"""Scopes and clauses as SQL conditions over a document's row.

Building a condition is separate from running it: everything here is text in, text out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from math import prod

from twolane.filters import Trait
from twolane.language import fold
from twolane.model import FIELDS
from twolane.scopes import All, Clause, InField, Near, Phrase, Scope, Without, Word
from twolane.stores.sqlite.expressions import Condition, joined, marks, negated
from twolane.stores.sqlite.filtering import among, passing

# A phrase of words with several stems each is spelled out; this bounds the spelling.
_MOST_SPELLINGS = 64


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
        parts.append(_clause(scope.clause, None))
    return parts


def _clause(clause: Clause, field: str | None) -> Condition:
    if isinstance(clause, Phrase):
        return _literally(_matching(_spelled(clause), field), (clause,), field)
    if isinstance(clause, Near):
        return _literally(_matching(_near(clause), field), clause.phrases, field)
    if isinstance(clause, InField):
        # A field within another field is in neither.
        return _clause(clause.clause, clause.name) if field in (None, clause.name) else _NOTHING
    if isinstance(clause, Without):
        return negated(_clause(clause.clause, field))
    if not clause.clauses:
        return _EVERYTHING if isinstance(clause, All) else _NOTHING
    parts = [_clause(part, field) for part in clause.clauses]
    return joined(parts, "AND" if isinstance(clause, All) else "OR")


def _literally(matched: Condition, phrases: Sequence[Phrase], field: str | None) -> Condition:
    """The condition, and that each quoted phrase stands in the text letter by letter."""
    literals = [phrase.literal for phrase in phrases if phrase.literal is not None]
    if not literals:
        return matched
    columns = ", ".join(_LITERAL[name] for name in ((field,) if field else FIELDS))
    tests = " AND ".join(f"holds_literally(?, {columns})" for _ in literals)
    return (
        "d.row IN (SELECT x.row FROM texts AS x JOIN documents AS y ON y.row = x.row"
        f" WHERE {matched[0].replace('d.row', 'x.row')} AND {tests})",
        [*matched[1], *(" ".join(fold(literal).split()) for literal in literals)],
    )


_EVERYTHING: Condition = ("1", [])
_NOTHING: Condition = ("0", [])

# Where the original text of a field is, for literal phrases.
_LITERAL = {
    "title": "y.title",
    "aliases": "(SELECT group_concat(value, ' ; ') FROM json_each(y.aliases))",
    "tags": "(SELECT group_concat(t.name, ' ; ') FROM document_tags AS dt"
    " JOIN tags AS t ON t.row = dt.tag WHERE dt.document = x.row)",
    "headings": "(SELECT group_concat(value ->> 1, ' ; ') FROM json_each(y.headings))",
    "description": "y.description, y.summary,"
    " (SELECT group_concat(value, ' ; ') FROM json_each(y.arguments))",
    "url": "y.url",
    "body": "x.body",
}


def _matching(expression: str, field: str | None) -> Condition:
    if not expression:
        return _EVERYTHING
    restricted = f"{field} : ({expression})" if field else expression
    return "d.row IN (SELECT rowid FROM words WHERE words MATCH ?)", [restricted]


def _near(near: Near) -> str:
    spellings = [_spellings(phrase.words) for phrase in near.phrases]
    groups = islice(product(*spellings), _MOST_SPELLINGS)
    return " OR ".join(f"NEAR({' '.join(group)}, {near.distance})" for group in groups)


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
