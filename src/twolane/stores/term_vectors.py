"""Term vectors: where each term stands in a body, packed so that a few are looked up quickly.

A query has about ten terms and a page may have ten thousand words: looking through all of them for
each candidate took most of a search over long pages.
A term is kept as 64 bits of its hash, in order, so that it is found by halving; two terms of one
document and one query that share a hash are not to be expected in the life of a library.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, chain
from struct import Struct

from twolane.model.document import PASSAGE_BREAK

# How many different terms, words and passages there are; then the terms' hashes (64 bits), where
# the positions of each end (16), the positions by term (16), where the passages begin (16).
_HEAD = Struct("<III4x")

# Positions have 16 bits, in the order of bytes that most machines have.
_MOST = 0xFFFF if sys.byteorder == "little" else -1


@lru_cache(maxsize=1 << 16)
def hash_of(term: str) -> int:
    """The hash by which a term is found."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def pack(stream: str) -> bytes | None:
    """The term vector of a body's stream of stems; None if it is empty or too long for one."""
    words = stream.split()
    if not 0 < len(words) <= _MOST:
        return None
    positions: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        positions.setdefault(word, []).append(at)
    terms = sorted((hash_of(term), found) for term, found in positions.items())
    lengths = [len(passage.split()) for passage in stream.split(PASSAGE_BREAK)]
    return b"".join(
        (
            _HEAD.pack(len(terms), len(words), len(lengths)),
            array("Q", [code for code, _ in terms]).tobytes(),
            array("H", accumulate(len(found) for _, found in terms)).tobytes(),
            array("H", chain.from_iterable(found for _, found in terms)).tobytes(),
            array("H", accumulate(lengths[:-1], initial=0)).tobytes(),
        )
    )


class TermVector:
    """A packed term vector, to be looked up in."""

    __slots__ = ("_ends", "_hashes", "_positions", "_starts", "length", "passages")

    def __init__(self, packed: bytes) -> None:
        terms, self.length, self.passages = _HEAD.unpack_from(packed)
        whole = memoryview(packed)
        ends = _HEAD.size + 8 * terms
        positions = ends + 2 * terms
        starts = positions + 2 * self.length
        self._hashes = whole[_HEAD.size : ends].cast("Q")
        self._ends = whole[ends:positions].cast("H")
        self._positions = whole[positions:starts].cast("H")
        # Looked at often, which is quicker in a list.
        self._starts = whole[starts:].cast("H").tolist()

    def positions(self, code: int) -> list[int]:
        """Where the term with this hash stands, in order."""
        hashes, ends = self._hashes, self._ends
        at = bisect_left(hashes, code)
        if at == len(hashes) or hashes[at] != code:
            return []
        return self._positions[ends[at - 1] if at else 0 : ends[at]].tolist()

    def by_passage(self, positions: list[int]) -> Iterable[tuple[int, int]]:
        """The passages that hold these positions, each with how many of them."""
        starts = self._starts
        found: dict[int, int] = {}
        for position in positions:
            passage = bisect_right(starts, position)
            found[passage - 1] = found.get(passage - 1, 0) + 1
        return found.items()

    def begins_passage(self, position: int) -> bool:
        """Whether a passage begins with the word at this position."""
        at = bisect_left(self._starts, position)
        return at < self.passages and self._starts[at] == position
