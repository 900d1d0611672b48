"""Our own stems as PostgreSQL's lexemes: what the index of words holds, and what it is asked for.

PostgreSQL's parsers and dictionaries never see a text: they would find other words in it than
every other store does (docs/decisions/0010-our-own-lexemes-in-postgresql.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from twolane.model.document import FIELDS, Stems, digest
from twolane.model.scope import Word

# The weight of each field; four are all that PostgreSQL has.
WEIGHTS = {
    "title": "A",
    "aliases": "B",
    "tags": "B",
    "headings": "B",
    "description": "B",
    "url": "D",
    "body": "C",
}

# What a field's weight counts when the pool is picked, in PostgreSQL's order: D, C, B, A.
POOL_WEIGHTS = "{0.3, 0.1, 0.45, 1.0}"

# More places of a word in a document hardly tell more.
_MOST_PLACES = {"A": 3, "B": 4, "C": 12, "D": 2}

# A lexeme has to be shorter than two kilobytes; so long a word is known by its beginning.
_LONGEST = 480
_BEGINNING = 200

# A vector of lexemes has to be smaller than a megabyte; the first words are what is kept.
_LARGEST = 1_000_000


def vector(stems: Stems, owner: str | None) -> str:
    """The document's words as a literal of `tsvector`.

    The places of a lexeme only tell how often the document has it, and in which fields.
    """
    places: dict[str, Counter[str]] = {}
    for field in FIELDS:
        weight = WEIGHTS[field]
        for term, count in Counter(getattr(stems, field).split()).items():
            places.setdefault(lexeme(term), Counter())[weight] += count
    written = [f"{quoted(owned(owner))}:1D"]
    size = 0
    for term, counts in places.items():
        labels = [
            weight for weight in "ABCD" for _ in range(min(counts[weight], _MOST_PLACES[weight]))
        ]
        # Aligned to two bytes, with a count and two bytes a place.
        size += len(term.encode("utf-8", "replace")) + 3 + 2 * len(labels)
        if size > _LARGEST:
            break
        told = ",".join(f"{at}{weight}" for at, weight in enumerate(labels, start=1))
        written.append(f"{quoted(term)}:{told}")
    return " ".join(written)


def asked(words: Sequence[Word], *, every: bool, owner: str | None) -> str:
    """The literal of `tsquery` for the owner's documents with every (or any) of the words."""
    text = (" & " if every else " | ").join(either(word) for word in words)
    return text if owner is None else f"{quoted(owned(owner))} & ({text})"


def either(word: Word, weight: str = "") -> str:
    """That a document has one of the word's terms, in fields of this weight if one is given."""
    return f"({' | '.join(one(term, prefix=word.prefix, weight=weight) for term in word.terms)})"


def one(term: str, *, prefix: bool, weight: str = "") -> str:
    """That a document has the term, or one that begins with it."""
    marks = ("*" if prefix else "") + weight
    # No document has the lexeme that stands for no term.
    return quoted(lexeme(term) or " none") + (f":{marks}" if marks else "")


def owned(owner: str | None) -> str:
    """The lexeme of an owner, which is no word: words have no spaces."""
    return " owner" if owner is None else f" owner {lexeme(owner)}"


def lexeme(term: str) -> str:
    """The term as it is indexed."""
    return term if len(term) <= _LONGEST else f"{term[:_BEGINNING]}{digest(term)}"


def is_term(lexeme: str) -> bool:
    """Whether a lexeme is a word and not an owner's mark."""
    return not lexeme.startswith(" ")


def quoted(lexeme: str) -> str:
    """A lexeme as a literal of `tsvector` or `tsquery` spells it, whatever signs it has."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
