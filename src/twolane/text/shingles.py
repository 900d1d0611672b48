"""Sketches of texts: how much of their runs of words (shingles) two texts share.

A sketch is the smallest hashes of a text's shingles, after Broder, "On the resemblance and
containment of documents" (1997).
"""

from __future__ import annotations

from zlib import crc32

# Runs of so many words are seldom the same in two texts by chance.
_RUN = 4

# So many hashes of so many bytes tell nine tenths from three quarters.
_HASHES = 48
WIDTH = 4

# Texts with fewer runs have too little in them to be told apart by it.
_FEWEST = 8


def sketch(stems: str) -> bytes:
    """The sketch of a text by its stream of stems; empty for a text that is too short."""
    words = stems.encode("utf-8", "surrogatepass").split()
    if len(words) < _RUN + _FEWEST - 1:
        return b""
    runs = zip(*(words[at:] for at in range(_RUN)), strict=False)
    smallest = sorted(set(map(crc32, map(b" ".join, runs))))[:_HASHES]
    return b"".join(each.to_bytes(WIDTH, "big") for each in smallest)


def resemblance(one: bytes, other: bytes) -> float:
    """The share of their runs of words that two texts have in common, by their sketches."""
    first, second = set(hashes(one)), set(hashes(other))
    smallest = sorted(first | second)[: max(len(first), len(second))]
    return sum(each in first and each in second for each in smallest) / max(1, len(smallest))


def hashes(runs: bytes) -> list[bytes]:
    """The hashes that a sketch, or the beginning of one, is made of."""
    return [runs[at : at + WIDTH] for at in range(0, len(runs), WIDTH)]
