"""What documents hold of the words of a query, counted in their streams of stems.

All stores keep the streams and count here, so that all of them tell the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise, product

from twolane.model.candidate import DocumentTerms, PassageTerms
from twolane.model.document import FIELDS, PASSAGE_BREAK
from twolane.model.scope import Word

# For more terms than this it is quicker to tally a text once than to look for each in it.
_MANY = 16

_BODY = FIELDS.index("body")


class TermCounter:
    """Counts the terms of some words in documents, or all terms if there are no words.

    With a `sequence`, the words in the order of the query, it also tells what each passage holds,
    and which words stand side by side.
    """

    def __init__(
        self, words: Sequence[Word] | None, sequence: Sequence[Word] | None = None
    ) -> None:
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
        self._in_detail = sequence is not None
        self._pairs = [_Pair(*pair, self._needles) for pair in pairwise(sequence or ())]

    def of(self, id: str, languages: tuple[str, ...], streams: Sequence[str]) -> DocumentTerms:
        """The document with its counts; `streams` are in the order of `FIELDS`."""
        found: dict[str, list[int]] = {}
        lengths = []
        passages: list[PassageTerms] = []
        adjacent: set[int] = set()
        for place, stream in enumerate(streams):
            # Most documents leave most fields empty.
            lengths.append(stream.count(" ") // 2 if stream else 0)
            if not stream:
                continue
            if place == _BODY and self._in_detail:
                counted = self._in_body(stream, passages, adjacent)
            else:
                counted = self._counts(stream)
            for key, count in counted:
                counts = found.get(key)
                if counts is None:
                    counts = found[key] = [0] * len(streams)
                counts[place] = count
        return DocumentTerms(
            id, languages, found, lengths, tuple(passages), tuple(sorted(adjacent))
        )

    def _in_body(
        self, body: str, passages: list[PassageTerms], adjacent: set[int]
    ) -> Iterable[tuple[str, int]]:
        """The counts of a body; adds its passages, and the places of pairs that stand in one."""
        total: dict[str, int] = {}
        for passage in body.split(PASSAGE_BREAK):
            counts = dict(self._counts(passage))
            pairs = [at for at, pair in enumerate(self._pairs) if pair.stands_in(passage, counts)]
            adjacent.update(pairs)
            passages.append(PassageTerms(frozenset(counts), len(pairs), sum(counts.values())))
            for key, count in counts.items():
                total[key] = total.get(key, 0) + count
        return total.items()

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


class _Pair:
    """Two words that follow each other in a query."""

    def __init__(self, first: Word, second: Word, counted: Mapping[str, str]) -> None:
        end = "" if second.prefix else " "
        self._needles = [f" {one}  {two}{end}" for one, two in product(first.terms, second.terms)]
        # A document that lacks a word that was counted cannot hold it beside another.
        self._needed = [
            word.keys for word in (first, second) if all(key in counted for key in word.keys)
        ]

    def stands_in(self, body: str, found: Container[str]) -> bool:
        """Whether a text with these terms holds the words side by side."""
        if not all(any(key in found for key in keys) for keys in self._needed):
            return False
        return any(needle in body for needle in self._needles)
