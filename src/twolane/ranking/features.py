"""The features of a candidate: what its words, its meaning and its name say for it.

Each is a small function of one query and one document, in its natural unit, so that it means the
same in every index and on every store: nothing is divided by what else was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from twolane.model.answer import Feature
from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS
from twolane.model.scope import Word
from twolane.ranking.bm25f import Bm25f, idf

_TITLE, _BODY = FIELDS.index("title"), FIELDS.index("body")


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
        passage_coverage, passage = self._best_passage(document, score.trusts)
        features = {
            Feature.BM25F: score.bm25f,
            Feature.COVERAGE: score.coverage,
            Feature.PASSAGE_COVERAGE: passage_coverage,
        }
        if document.lengths[_TITLE]:
            features[Feature.TITLE] = self._title(document)
        if document.adjacent:
            side_by_side = sum(self._pairs[at] for at in document.adjacent)
            features[Feature.PAIRS] = side_by_side / self._reach_of_pairs
        if self._is_list and all(score.trusts):
            # A word that was only guessed is there as surely as the guess is.
            features[Feature.ALL_WORDS] = score.coverage
        words = [word.text for word, trust in zip(self._words, score.trusts, strict=True) if trust]
        return MatchedWords(features, tuple(words), passage)

    def _best_passage(
        self, document: DocumentTerms, trusts: Sequence[float]
    ) -> tuple[float, int | None]:
        """The coverage of the best single passage, read under the document's title, and its place.

        A word of the title counts for every passage: nobody repeats it in each.
        Of passages that cover the same the one with most words side by side is best, then the one
        with most occurrences, then the first. There is none where the body holds no word.
        """
        above = 0.0
        below = []
        counts = document.frequencies
        for word, trust in zip(self._words, trusts, strict=True):
            if not trust:
                continue
            keys = [key for key in word.keys if key in counts]
            if any(counts[key][_TITLE] for key in keys):
                above += trust
            elif any(counts[key][_BODY] for key in keys):
                below.append((keys, trust))
        best = (0.0, 0, 0)
        place = None
        for passage in document.passages:
            held = 0.0
            for keys, trust in below:
                if not passage.terms.isdisjoint(keys):
                    held += trust
            if place is None or (held, passage.pairs, passage.occurrences) > best:
                best, place = (held, passage.pairs, passage.occurrences), passage.place
        return above + best[0], place

    def _title(self, document: DocumentTerms) -> float:
        """How much of the title the query says, by inverse document frequency.

        Words that only the title has are taken for as rare as those of the query are on average.
        """
        counts = document.frequencies
        said, places = 0.0, 0
        for word, rarity in zip(self._words, self._idfs, strict=True):
            times = max((counts[key][_TITLE] for key in word.keys if key in counts), default=0)
            if times:
                said += rarity
                places += times
        unsaid = max(0, document.lengths[_TITLE] - places) * self._usual_idf
        return said / (said + unsaid) if said else 0.0
