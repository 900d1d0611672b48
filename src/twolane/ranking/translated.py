"""The lexical lane's reading of documents in other languages, by words that mean the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from twolane.model.candidate import Frequencies, Hit
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import LexicalIndex
from twolane.ranking.bm25f import score

# So many translations of a word pick candidates, if they are in few documents or a small share.
_PICKING = 3
_COMMON = 0.05
_FEW = 100

# One wrong word among two decides; so many must agree before they count in full.
_ENOUGH = 4


def translated_hits(
    lexical: LexicalIndex,
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
    frequencies = lexical.document_frequencies(words, scope)
    others = _selective(words, frequencies)
    if not others:
        return []
    # Half of a pool is enough: what few translations find is far down in the list.
    candidates = [
        one
        for one in lexical.candidates(others, scope, every=False, limit=limit // 2, count=words)
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


def _selective(words: Sequence[Word], frequencies: Frequencies) -> list[Word]:
    """The translations that pick candidates: the likest of each word, and none that is common.

    The engine is slow on many words and on words that are everywhere; others only score.
    """
    most = max(_FEW, _COMMON * frequencies.documents)
    picked = [
        (
            word.text,
            tuple(t for t, _ in word.kin if frequencies.document_frequency.get(t, 0) <= most),
        )
        for word in words
    ]
    return [Word(text, terms[:_PICKING]) for text, terms in picked if terms]
