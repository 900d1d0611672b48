"""What documents hold of the words of a query, counted in their streams of stems.

All stores count here, so that all of them tell the same: in the streams themselves, or in the term
vectors that were made from them (`term_vectors`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, product

from twolane.model.candidate import DocumentTerms, PassageTerms
from twolane.model.document import FIELDS, PASSAGE_BREAK
from twolane.model.scope import Word
from twolane.stores.term_vectors import TermVector, hash_of

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
        # Of the beginning of a word a term vector knows nothing.
        begun = self._prefixes or any(word.prefix for word in sequence or ())
        self.needs_streams = self._all or bool(begun)
        self._hashes = [] if self.needs_streams else [(key, hash_of(key)) for key in self._needles]

    def of(
        self, id: str, languages: tuple[str, ...], streams: Sequence[str | bytes]
    ) -> DocumentTerms:
        """The document with its counts; `streams` are in the order of `FIELDS`.

        A body may be a packed term vector, unless streams are needed.
        """
        found: dict[str, list[int]] = {}
        lengths = []
        passages: list[PassageTerms] = []
        adjacent: Collection[int] = ()
        counted: Iterable[tuple[str, int]]
        for place, stream in enumerate(streams):
            # Most documents leave most fields empty.
            if not stream:
                lengths.append(0)
                continue
            if isinstance(stream, bytes):
                vector = TermVector(stream)
                lengths.append(vector.length)
                counted, adjacent = self._in_vector(vector, passages)
            else:
                lengths.append(stream.count(" ") // 2)
                if place == _BODY and self._in_detail:
                    counted, adjacent = self._in_body(stream, passages)
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
        self, body: str, passages: list[PassageTerms]
    ) -> tuple[Iterable[tuple[str, int]], set[int]]:
        """The counts of a body, and the places of pairs that stand in a passage; adds these."""
        total: dict[str, int] = {}
        adjacent: set[int] = set()
        for place, passage in enumerate(body.split(PASSAGE_BREAK)):
            counts = dict(self._counts(passage))
            pairs = [at for at, pair in enumerate(self._pairs) if pair.stands_in(passage, counts)]
            adjacent.update(pairs)
            if counts:
                terms = frozenset(counts)
                passages.append(PassageTerms(place, terms, len(pairs), sum(counts.values())))
            for key, count in counts.items():
                total[key] = total.get(key, 0) + count
        return total.items(), adjacent

    def _in_vector(
        self, vector: TermVector, passages: list[PassageTerms]
    ) -> tuple[Iterable[tuple[str, int]], Collection[int]]:
        """The same from a term vector."""
        found = {key: at for key, code in self._hashes if (at := vector.positions(code))}
        counts = [(key, len(positions)) for key, positions in found.items()]
        if not self._in_detail:
            return counts, ()
        known = dict(found)
        adjacent = {}
        lacks = found.keys().isdisjoint
        for number, pair in enumerate(self._pairs):
            if not any(map(lacks, pair.needed)):
                positions = pair.positions_in(vector, known)
                if positions:
                    adjacent[number] = positions
        if vector.passages == 1 and found:
            occurrences = sum([count for _, count in counts])
            passages.append(PassageTerms(0, frozenset(found), len(adjacent), occurrences))
        else:
            passages += _by_passage(vector, found, adjacent.values())
        return counts, adjacent

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
        self._first, self._second = first.terms, second.terms
        # A document that lacks a word that was counted cannot hold it beside another.
        self.needed = [
            word.keys for word in (first, second) if all(key in counted for key in word.keys)
        ]

    def stands_in(self, body: str, found: Mapping[str, int]) -> bool:
        """Whether a text with these terms holds the words side by side."""
        lacks = found.keys().isdisjoint
        return not any(map(lacks, self.needed)) and any(map(body.__contains__, self._needles))

    def positions_in(self, vector: TermVector, known: dict[str, list[int]]) -> list[int]:
        """Where the first word stands right before the second, in one passage with it.

        `known` are positions that were looked up; others are added to them.
        """
        second = _positions(vector, self._second, known)
        if not second:
            return []
        before = {position - 1 for position in second}
        both = before.intersection(_positions(vector, self._first, known))
        if vector.passages == 1 or not both:
            return list(both)
        return [position for position in both if not vector.begins_passage(position + 1)]


def _positions(vector: TermVector, terms: Sequence[str], known: dict[str, list[int]]) -> list[int]:
    """Where any of the terms stands."""
    for term in terms:
        if term not in known:
            known[term] = vector.positions(hash_of(term))
    if len(terms) == 1:
        return known[terms[0]]
    return [position for term in terms for position in known[term]]


def _by_passage(
    vector: TermVector, found: Mapping[str, list[int]], pairs: Iterable[list[int]]
) -> list[PassageTerms]:
    """What each passage holds of the terms that were found, and of pairs."""
    held: dict[int, list[str]] = {}
    occurrences: dict[int, int] = {}
    beside: dict[int, int] = {}
    for key, positions in found.items():
        for place, count in vector.by_passage(positions):
            held.setdefault(place, []).append(key)
            occurrences[place] = occurrences.get(place, 0) + count
    for positions in pairs:
        for place, _ in vector.by_passage(positions):
            beside[place] = beside.get(place, 0) + 1
    return [
        PassageTerms(place, frozenset(held[place]), beside.get(place, 0), occurrences[place])
        for place in sorted(held)
    ]
