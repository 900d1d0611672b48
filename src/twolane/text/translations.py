"""Which words of other languages mean the same as a word, and how surely.

The dictionary comes with the package: stems of English and Russian words, each with the dozen
stems of the other language whose words lie nearest to it in the space of the default embedder.
Nobody translated anything; `benchmarks/translations.py` makes the file from two lists of words.
A word has several meanings and near misses among its neighbours, so each has a likeness.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path

from twolane.model.values import dataclass

# The languages that the dictionary holds.
LANGUAGES = frozenset(("en", "ru"))

FORMAT = b"TLT1"
_RESOURCE = "translations.bin"

# Likeness is kept in one byte beside the number of the term.
_BITS, _SCALE = 8, 255


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Sorted terms, end to end, and for each its links to others of them."""

    text: bytes
    starts: array[int]
    firsts: array[int]
    links: array[int]

    def of(self, term: str) -> list[tuple[str, float]]:
        """Terms of the other language, the likest first; empty for a term that is not here."""
        number = self._find(term.encode("utf-8", "replace"))
        if number is None:
            return []
        links = self.links[self.firsts[number] : self.firsts[number + 1]]
        return [(self._term(link >> _BITS).decode(), (link & _SCALE) / _SCALE) for link in links]

    def _find(self, term: bytes) -> int | None:
        numbers = range(len(self.starts) - 1)
        number = bisect_left(numbers, term, key=self._term)
        return number if number in numbers and self._term(number) == term else None

    def _term(self, number: int) -> bytes:
        return self.text[self.starts[number] : self.starts[number + 1]]


@lru_cache(maxsize=2_000)
def translations(term: str) -> tuple[tuple[str, float], ...]:
    """Terms of the other language that mean the same as this one, with their likeness."""
    return tuple(_packaged().of(term))


@lru_cache(maxsize=1)
def _packaged() -> Dictionary:
    return read_dictionary(Path(__file__).with_name(_RESOURCE).read_bytes())


def read_dictionary(data: bytes) -> Dictionary:
    """The dictionary that `write_dictionary` wrote."""
    if data[:4] != FORMAT:
        raise ValueError("not a dictionary of translations")
    # Views, because copies of five megabytes take longer than reading them.
    view = memoryview(data)
    terms, links, length = _numbers(view[4:16])
    text, rest = data[16 : 16 + length], view[16 + length :]
    cut = 4 * (terms + 1)
    return Dictionary(
        text,
        _numbers(rest[:cut]),
        _numbers(rest[cut : 2 * cut]),
        _numbers(rest[2 * cut : 2 * cut + 4 * links]),
    )


def write_dictionary(entries: dict[str, list[tuple[str, float]]]) -> bytes:
    """The entries as a file; every term that is linked to must be an entry, too."""
    terms = sorted(term.encode() for term in entries)
    numbers = {term: number for number, term in enumerate(terms)}
    starts, firsts, links = [0], [0], []
    for term in terms:
        starts.append(starts[-1] + len(term))
        links += [
            numbers[other.encode()] << _BITS | round(likeness * _SCALE)
            for other, likeness in entries[term.decode()]
        ]
        firsts.append(len(links))
    text = b"".join(terms)
    counts = [len(terms), len(links), len(text)]
    return FORMAT + b"".join([_bytes(counts), text, _bytes(starts), _bytes(firsts), _bytes(links)])


def _numbers(data: memoryview) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _bytes(numbers: list[int]) -> bytes:
    packed = array("I", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
