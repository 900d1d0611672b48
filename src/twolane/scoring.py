"""BM25F and coverage: how well a document's words answer a query's.

Computed here, once, from the candidates' streams and the index's frequencies,
so that every store ranks alike.
BM25F after Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields"
(CIKM 2004): counts are weighted and normalised per field, added, and saturated once per word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from twolane.answers import Candidate, Frequencies
from twolane.model import FIELDS
from twolane.scopes import Word

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
        (_needles(word), _kin(word), rarity(word, frequencies), word.weight, word.text)
        for word in words
    ]
    total = sum(weight for _, _, weight, _, _ in weighed) or 1.0
    scored = []
    for candidate in candidates:
        fields = _fields(candidate, frequencies.average_lengths)
        points = covered = 0.0
        matched = []
        for needles, kin, weight, typed, text in weighed:
            count, trust = _times(needles, fields), typed
            if not count and kin:
                count, likeness = _kinship(kin, fields)
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


def rarity(word: Word, frequencies: Frequencies) -> float:
    """The word's inverse document frequency; its commonest stem decides.

    A word that no document holds is as rare as those that mean the same.
    """
    containing = max((frequencies.containing.get(term, 0) for term in word.own), default=0)
    containing = containing or max(
        (frequencies.containing.get(term, 0) for term in word.terms), default=0
    )
    documents = max(frequencies.documents, containing)
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def _needles(word: Word) -> list[str]:
    # A stem stands between two spaces; a prefix is only bounded on its left.
    return [f" {term}" if word.prefix else f" {term} " for term in word.own]


def _kin(word: Word) -> list[tuple[str, float]]:
    return [(f" {term} ", likeness) for term, likeness in word.kin]


def _times(needles: Sequence[str], fields: Sequence[tuple[str, float]]) -> float:
    """How often any of the needles occurs, by what an occurrence counts in each field."""
    count = 0.0
    for stream, factor in fields:
        for needle in needles:
            found = stream.count(needle)
            if found:
                count += found * factor
    return count


def _kinship(
    kin: Sequence[tuple[str, float]], fields: Sequence[tuple[str, float]]
) -> tuple[float, float]:
    """How often words that mean the same occur, and how surely they do."""
    count = surest = 0.0
    for needle, likeness in kin:
        found = _times((needle,), fields)
        if found:
            count += likeness * found
            surest = max(surest, likeness)
    return count, surest


def _fields(candidate: Candidate, averages: Mapping[str, float]) -> list[tuple[str, float]]:
    """The candidate's streams that are not empty, each with what one occurrence counts."""
    fields = []
    for name in FIELDS:
        stream: str = getattr(candidate.stems, name)
        if stream:
            share = _LENGTH_SHARE[name]
            relative = (stream.count(" ") / 2) / (averages.get(name) or 1.0)
            fields.append((stream, WEIGHTS[name] / (1 - share + share * relative)))
    return fields
