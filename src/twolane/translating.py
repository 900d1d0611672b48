"""Reading documents in other languages by their words, through a dictionary.

The lexical lane cannot judge a document in another language by the words of a query.
By words that mean the same it can: not well enough to trust it alone, for a word may be missing or
have another meaning, but well enough to be heard beside the dense lane.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import sqrt

from twolane.answers import Hit
from twolane.language.translations import translations
from twolane.ports import Retrieval
from twolane.scopes import Scope, Word
from twolane.scoring import score

# Similarities at which two words have nothing in common, and at which they mean the same.
_UNLIKE, _ALIKE = 0.5, 0.95

# More would be other words.
_MOST = 6

# One wrong word among two decides; so many must agree before they count in full.
_ENOUGH = 4


def with_translations(word: Word, held: Callable[[Sequence[str]], Collection[str]]) -> Word:
    """The word with terms of another language that `held` says some document has."""
    if word.prefix:
        return word
    similar: dict[str, float] = {}
    for term in word.terms:
        for other, similarity in translations(term):
            similar[other] = max(similarity, similar.get(other, 0.0))
    there = held([*similar]) if similar else ()
    best = sorted((term for term in similar if term in there), key=lambda one: -similar[one])
    kept = best[:_MOST]
    return replace(
        word,
        terms=(*word.terms, *kept),
        likeness=tuple(_likeness(similar[term]) for term in kept),
    )


def translated_hits(
    retrieval: Retrieval,
    words: Sequence[Word],
    scope: Scope,
    *,
    own: Collection[str] | None,
    limit: int,
    coverage_power: float,
) -> list[Hit]:
    """Documents in other languages than the query's `own` by words that mean the same as its.

    A hit votes by the share of the query's information that it holds in translation; that of a
    short query counts for less.
    """
    if not words or own is None:
        return []
    trust = min(1.0, len(words) / _ENOUGH)
    others = [Word(word.text, tuple(term for term, _ in word.kin)) for word in words if word.kin]
    candidates = [
        one
        for one in retrieval.lexical(others, scope, every=False, limit=2 * limit)
        if not any(language in own for language in one.languages)
    ]
    return [
        Hit(
            one.id,
            one.languages,
            one.score,
            vote=trust * one.coverage**coverage_power,
            matched=one.matched,
        )
        for one in score(words, candidates, retrieval.frequencies(words))
    ]


def _likeness(similarity: float) -> float:
    # Not in proportion: a neighbour at half the way is still mostly a translation.
    return sqrt(min(1.0, max(0.0, similarity - _UNLIKE) / (_ALIKE - _UNLIKE)))
