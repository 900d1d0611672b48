"""Reading documents in other languages by their words, through a dictionary.

The lexical lane cannot judge a document in another language by the words of a query.
By words that mean the same it can: not well enough to trust it alone, for a word may be missing or
have another meaning, but well enough to be heard beside the dense lane.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from twolane.answers import Frequencies, Hit
from twolane.language.translations import translations
from twolane.ports import Retrieval
from twolane.scopes import Scope, Word
from twolane.scoring import score

# Similarities at which two words have nothing in common, and at which they mean the same.
_UNLIKE, _ALIKE = 0.5, 0.95

# More would be other words.
_MOST = 6

# So many translations of a word pick candidates, if they are in few documents or a small share.
_PICKING = 3
_COMMON = 0.05
_FEW = 100

# One wrong word among two decides; so many must agree before they count in full.
_ENOUGH = 4


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
    frequencies = retrieval.frequencies(words)
    others = _telling(words, frequencies)
    if not others:
        return []
    # Half of a pool is enough: what few translations find is far down in the list.
    candidates = [
        one
        for one in retrieval.lexical(others, scope, every=False, limit=limit // 2)
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
        for one in score(words, candidates, frequencies)
    ]


def _telling(words: Sequence[Word], frequencies: Frequencies) -> list[Word]:
    """The translations that pick candidates: the likest of each word, and none that is common.

    The engine is slow on many words and on words that are everywhere; others only score.
    """
    most = max(_FEW, _COMMON * frequencies.documents)
    picked = [
        (word.text, tuple(t for t, _ in word.kin if frequencies.containing.get(t, 0) <= most))
        for word in words
    ]
    return [Word(text, terms[:_PICKING]) for text, terms in picked if terms]


def _likeness(similarity: float) -> float:
    # Not in proportion: a neighbour at half the way is still mostly a translation.
    return sqrt(min(1.0, max(0.0, similarity - _UNLIKE) / (_ALIKE - _UNLIKE)))
