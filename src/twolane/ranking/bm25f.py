"""BM25F and coverage: how well a document's words answer a query's.

Computed here, once, from the counts that a store tells, so that every store ranks alike.
BM25F after Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields"
(CIKM 2004): counts are weighted and normalised per field, added, and saturated once per word.
Both are told as shares of what the query could reach, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS
from twolane.model.scope import Word

# A word in the title says most about a note; tags and aliases are chosen by hand too.
WEIGHTS: Mapping[str, float] = {
    "title": 10.0,
    "aliases": 8.0,
    "tags": 5.0,
    "headings": 4.0,
    "description": 4.0,
    "url": 3.0,
    "body": 1.0,
}

# Length matters fully in bodies; in short fields one word more or less says little.
_LENGTH_SHARE: Mapping[str, float] = {name: 0.75 if name == "body" else 0.3 for name in FIELDS}

# How fast repetitions of a word stop counting; the usual value.
_SATURATION = 1.2

# The place, the weight and the share of length of each field.
_FIELDS = tuple((place, WEIGHTS[name], _LENGTH_SHARE[name]) for place, name in enumerate(FIELDS))


class WordScore(NamedTuple):
    """What a document's words are worth, as shares of what the query could reach.

    `coverage` is 1 when it holds every word, and near 0 when it holds only a common one.
    `trusts` has the share that each word of the query adds to it, 0 for one that it lacks.
    """

    bm25f: float
    coverage: float
    trusts: tuple[float, ...]


class Bm25f:
    """Scores documents for the words of one query."""

    def __init__(self, words: Sequence[Word], frequencies: Frequencies) -> None:
        self.words = words
        idfs = [idf(word, frequencies) for word in words]
        total = sum(idfs) or 1.0
        self._weighed = [
            (word.keys, word.weight * weight / total)
            for word, weight in zip(words, idfs, strict=True)
        ]
        averages = [frequencies.average_lengths.get(name) or 1.0 for name in FIELDS]
        self._fields = [
            (place, weight, 1 - share, share / averages[place]) for place, weight, share in _FIELDS
        ]

    def of(self, document: DocumentTerms) -> WordScore:
        """The score of a document."""
        counts, lengths = document.frequencies, document.lengths
        fields = [
            (place, weight / (free + per_word * lengths[place]))
            for place, weight, free, per_word in self._fields
            if lengths[place]
        ]
        points = covered = 0.0
        trusts = []
        for terms, trust in self._weighed:
            count = _weighted(terms, counts, fields)
            if count:
                points += trust * count / (_SATURATION + count)
                covered += trust
            trusts.append(trust if count else 0.0)
        return WordScore(points, covered, tuple(trusts))


def idf(word: Word, frequencies: Frequencies) -> float:
    """The word's inverse document frequency; its commonest stem decides."""
    frequency = frequencies.document_frequency
    containing = max((frequency.get(key, 0) for key in word.keys), default=0)
    documents = max(frequencies.documents, containing)
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


# The place of a field, and what one occurrence counts there.
_Field = tuple[int, float]


def _weighted(
    terms: Sequence[str], counts: Mapping[str, Sequence[int]], fields: Sequence[_Field]
) -> float:
    """How often the terms occur, each occurrence by the weight and length of its field."""
    total = 0.0
    for term in terms:
        if term in counts:
            in_fields = counts[term]
            for place, weight in fields:
                if in_fields[place]:
                    total += weight * in_fields[place]
    return total
