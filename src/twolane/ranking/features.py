"""The features of a candidate: what its words, its meaning and its name say for it.

Each is a small function of one query and one document, in its natural unit, so that it means the
same in every index and on every store: nothing is divided by what else was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from twolane.model.answer import Feature
from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS
from twolane.model.scope import Word
from twolane.ranking.bm25f import Bm25f, idf

_TITLE = FIELDS.index("title")
_IN_TITLE, _IN_BODY = itemgetter(_TITLE), itemgetter(FIELDS.index("body"))


class MatchedWords(NamedTuple):
    """What a document's words say for it: features, the words of the query, the best passage."""

    features: dict[Feature, float]
    words: tuple[str, ...]
    passage: int | None


class WordFeatures:
    """The features that documents have by their words, for one query.

    `words` are those that count, `sequence` all words in the order of typing, also function words.
    """

    def __init__(
        self, words: Sequence[Word], sequence: Sequence[Word], frequencies: Frequencies
    ) -> None:
        self._words = words
        self._bm25f = Bm25f(words, frequencies)
        idfs = [idf(word, frequencies) for word in sequence]
        self._pairs = [one + other for one, other in pairwise(idfs)]
        self._reach_of_pairs = sum(self._pairs) or 1.0
        self._idfs = [idf(word, frequencies) for word in words]
        self._usual_idf = sum(self._idfs) / len(words) if words else 1.0
        # Who types nothing but words that count types a list of what must be there.
        self._is_list = len(sequence) <= len(words)

    def of(self, document: DocumentTerms) -> MatchedWords | None:
        """What the document's words say for it; None if it holds no word of the query."""
        score = self._bm25f.of(document)
        if not score.coverage:
            return None
        counts = document.frequencies
        held = []
        for word, trust, rarity in zip(self._words, score.trusts, self._idfs, strict=True):
            if trust:
                several = [counts[key] for key in word.keys if key in counts]
                in_title, in_body = max(map(_IN_TITLE, several)), max(map(_IN_BODY, several))
                held.append(_Held(word, trust, rarity, in_title, in_body))
        passage_coverage, passage = _best_passage(document, held)
        features = {
            Feature.BM25F: score.bm25f,
            Feature.COVERAGE: score.coverage,
            Feature.PASSAGE_COVERAGE: passage_coverage,
        }
        if document.lengths[_TITLE]:
            features[Feature.TITLE] = self._title(document.lengths[_TITLE], held)
        if document.adjacent:
            side_by_side = sum([self._pairs[at] for at in document.adjacent])
            features[Feature.PAIRS] = side_by_side / self._reach_of_pairs
        if self._is_list and len(held) == len(self._words):
            # A word that was only guessed is there as surely as the guess is.
            features[Feature.ALL_WORDS] = score.coverage
        return MatchedWords(features, tuple([one.word.text for one in held]), passage)

    def _title(self, length: int, held: Sequence[_Held]) -> float:
        """How much of the title the query says, by inverse document frequency.

        Words that only the title has are taken for as rare as those of the query are on average.
        """
        said, places = 0.0, 0
        for one in held:
            if one.in_title:
                said += one.rarity
                places += one.in_title
        unsaid = max(0, length - places) * self._usual_idf
        return said / (said + unsaid) if said else 0.0


class _Held(NamedTuple):
    """A word of the query that a document holds: what it is worth, and how often it stands where.

    `trust` is its share of the query's information, `rarity` its inverse document frequency.
    """

    word: Word
    trust: float
    rarity: float
    in_title: int
    in_body: int


def _best_passage(document: DocumentTerms, held: Sequence[_Held]) -> tuple[float, int | None]:
    """The coverage of the best single passage, read under the document's title, and its place.

    A word of the title counts for every passage: nobody repeats it in each.
    Of passages that cover the same the one with most words side by side is best, then the one
    with most occurrences, then the first. There is none where the body holds no word.
    """
    above = 0.0
    below = []
    for one in held:
        if one.in_title:
            above += one.trust
        elif one.in_body:
            below.append((one.word.keys, one.trust))
    best = (0.0, 0, 0)
    place = None
    for passage in document.passages:
        covered = 0.0
        for keys, trust in below:
            if not passage.terms.isdisjoint(keys):
                covered += trust
        if place is None or (covered, passage.pairs, passage.occurrences) > best:
            best, place = (covered, passage.pairs, passage.occurrences), passage.place
    return above + best[0], place
