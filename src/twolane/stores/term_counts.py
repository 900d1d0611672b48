"""How often documents hold the terms of a query, counted in their streams of stems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from twolane.model.candidate import Candidate
from twolane.model.scope import Word

# For more terms than this it is quicker to tally a text once than to look for each in it.
_MANY = 16


class TermCounter:
    """Counts the terms of some words in documents, or all terms if there are no words."""

    def __init__(self, words: Sequence[Word] | None) -> None:
        self._all = words is None
        # A stem stands between two spaces; a prefix is only bounded on its left.
        self._needles = {
            key: f" {term}" if word.prefix else f" {term} "
            for word in words or ()
            for key, term in zip(word.keys, word.terms, strict=True)
        }
        self._prefixes = {
            key: needle for key, needle in self._needles.items() if not needle.endswith(" ")
        }
        self._tallied = self._all or len(self._needles) > _MANY

    def candidate(self, id: str, languages: tuple[str, ...], streams: Sequence[str]) -> Candidate:
        """The document with its counts; `streams` are in the order of `FIELDS`."""
        found: dict[str, list[int]] = {}
        lengths = []
        for place, stream in enumerate(streams):
            # Most documents leave most fields empty.
            lengths.append(stream.count(" ") // 2 if stream else 0)
            for key, count in self._counts(stream) if stream else ():
                counts = found.get(key)
                if counts is None:
                    counts = found[key] = [0] * len(streams)
                counts[place] = count
        return Candidate(id, languages, found, lengths)

    def _counts(self, stream: str) -> Iterable[tuple[str, int]]:
        if not self._tallied:
            count = stream.count
            return [(key, n) for key, needle in self._needles.items() if (n := count(needle))]
        tally = Counter(stream.split())
        if self._all:
            return tally.items()
        whole = [(key, tally[key]) for key in self._needles.keys() & tally.keys()]
        begun = [(key, stream.count(needle)) for key, needle in self._prefixes.items()]
        return whole + [pair for pair in begun if pair[1]]
