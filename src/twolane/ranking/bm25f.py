"""BM25F and coverage: how well a document's words answer a query's.

Computed here, once, from the counts that a store tells, so that every store ranks alike.
BM25F after Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields"
(CIKM 2004): counts are weighted and normalised per field, added, and saturated once per word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from twolane.model.candidate import Candidate, Frequencies
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

# The place of a field, and what one occurrence counts there.
_Field = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score.

    `coverage` is the share of the query's information that the document holds:
    1.0 when it holds every word, near 0 when it holds only a common one.
    """

    id: str
    languages: tuple[str, ...]
    score: float
    coverage: float
    matched: tuple[str, ...]


def score(
    words: Sequence[Word],
    candidates: Sequence[Candidate],
    frequencies: Frequencies,
    *,
    by_coverage: bool = True,
) -> list[Scored]:
    """The candidates that hold any of the words, best first, ties by id.

    The order is BM25F times coverage: all words first in effect,
    then most of them, then some, and rare words count for more than common ones.
    Without `by_coverage` it is BM25F alone.
    """
    weighed = [
        (word.keys[: len(word.own)], word.kin, idf(word, frequencies), word.weight, word.text)
        for word in words
    ]
    total = sum(weight for _, _, weight, _, _ in weighed) or 1.0
    averages = [frequencies.average_lengths.get(name) or 1.0 for name in FIELDS]
    scored = []
    for candidate in candidates:
        fields, counts = _fields(candidate, averages), candidate.frequencies
        points = covered = 0.0
        matched = []
        for terms, kin, weight, typed, text in weighed:
            count, trust = _times(terms, counts, fields), typed
            if not count and kin:
                count, likeness = _kinship(kin, counts, fields)
                trust = typed * likeness
            if count:
                points += trust * weight * count / (_SATURATION + count)
                covered += trust * weight
                matched.append(text)
        if matched:
            coverage = covered / total
            scored.append(
                Scored(
                    candidate.id,
                    candidate.languages,
                    points * coverage if by_coverage else points,
                    coverage,
                    tuple(matched),
                )
            )
    scored.sort(key=lambda one: (-one.score, one.id))
    return scored


def idf(word: Word, frequencies: Frequencies) -> float:
    """The word's inverse document frequency; its commonest stem decides.

    A word that no document holds is as rare as those that mean the same.
    """
    frequency = frequencies.document_frequency
    held = [frequency.get(key, 0) for key in word.keys]
    containing = max(held[: len(word.own)], default=0) or max(held, default=0)
    documents = max(frequencies.documents, containing)
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def _times(
    terms: Sequence[str], counts: Mapping[str, Sequence[int]], fields: Sequence[_Field]
) -> float:
    """How often any of the terms occurs, by what an occurrence counts in each field."""
    held = [counts[term] for term in terms if term in counts]
    count = 0.0
    if held:
        for place, factor in fields:
            for one in held:
                if one[place]:
                    count += one[place] * factor
    return count


def _kinship(
    kin: Sequence[tuple[str, float]],
    counts: Mapping[str, Sequence[int]],
    fields: Sequence[_Field],
) -> tuple[float, float]:
    """How often words that mean the same occur, and how surely they do."""
    count = surest = 0.0
    for term, likeness in kin:
        found = _times((term,), counts, fields)
        if found:
            count += likeness * found
            surest = max(surest, likeness)
    return count, surest


def _fields(candidate: Candidate, averages: Sequence[float]) -> list[_Field]:
    """The candidate's fields that are not empty, and what each occurrence counts there."""
    return [
        (place, weight / (1 - share + share * (length / averages[place])))
        for (place, weight, share), length in zip(_FIELDS, candidate.lengths, strict=True)
        if length
    ]
