"""Words of other languages that mean the same as those of a query, through a dictionary.

The lexical lane cannot judge a document in another language by the words of a query.
By words that mean the same it can: not well enough to trust it alone, for a word may be missing or
have another meaning, but well enough to be heard beside the dense lane.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from twolane.model.scope import Word
from twolane.text.translations import translations

# Similarities at which two words have nothing in common, and at which they mean the same.
_UNLIKE, _ALIKE = 0.5, 0.95

# More would be other words.
_MOST = 6


def with_translations(
    words: Sequence[Word], held: Callable[[Collection[str]], Collection[str]]
) -> tuple[Word, ...]:
    """The words, each with terms of another language that `held` says some document has."""
    similar = [_similar(word) for word in words]
    wanted = {term for others in similar for term in others}
    there = held(wanted) if wanted else ()
    return tuple(
        _joined(word, {term: others[term] for term in others if term in there})
        for word, others in zip(words, similar, strict=True)
    )


def _similar(word: Word) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in () if word.prefix else word.terms:
        for other, similarity in translations(term):
            found[other] = max(similarity, found.get(other, 0.0))
    return found


def _joined(word: Word, others: Mapping[str, float]) -> Word:
    kept = sorted(others, key=lambda term: -others[term])[:_MOST]
    return replace(
        word,
        terms=(*word.terms, *kept),
        likeness=tuple(_likeness(others[term]) for term in kept),
    )


def _likeness(similarity: float) -> float:
    # Not in proportion: a neighbour at half the way is still mostly a translation.
    return sqrt(min(1.0, max(0.0, similarity - _UNLIKE) / (_ALIKE - _UNLIKE)))
