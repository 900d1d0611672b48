"""Copies: documents that say the same in the same words.

A sketch of a text is the smallest hashes of its runs of words, and two sketches tell how much of
their runs two texts share, after Broder, "On the resemblance and containment of documents" (1997).
Copies of one note would fill a page that has room for other answers, so they come after those, and
share one rank in each lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from zlib import crc32

from twolane.answers import Fused, Hit, Sketch
from twolane.language import fold
from twolane.ports import Retrieval

# Runs of so many words are seldom the same in two texts by chance.
_RUN = 4

# So many hashes of so many bytes tell nine tenths from three quarters.
_HASHES = 48
_WIDTH = 4

# Texts with fewer runs have too little in them to be told apart by it.
_FEWEST = 8

# From this share on, two texts are one with a line more or less; a form that was filled in twice
# shares less.
_SAME = 0.8

# So many documents of each list, a page of them, are looked at before all are.
_HEAD = 20

# Texts that share so much share one of their smallest hashes.
_FIRST = 3


def sketch(stems: str) -> bytes:
    """The sketch of a text by its stream of stems; empty for a text that is too short."""
    words = stems.encode("utf-8", "surrogatepass").split()
    if len(words) < _RUN + _FEWEST - 1:
        return b""
    runs = zip(*(words[at:] for at in range(_RUN)), strict=False)
    smallest = sorted(set(map(crc32, map(b" ".join, runs))))[:_HASHES]
    return b"".join(each.to_bytes(_WIDTH, "big") for each in smallest)


def resemblance(one: bytes, other: bytes) -> float:
    """The share of their runs of words that two texts have in common, by their sketches."""
    first, second = set(_hashes(one)), set(_hashes(other))
    smallest = sorted(first | second)[: max(len(first), len(second))]
    return sum(each in first and each in second for each in smallest) / max(1, len(smallest))


def are_copies(one: Sketch, other: Sketch) -> bool:
    """Whether two documents are the same, but for a few words.

    Under titles of their own they may be about two things in the same words, so that nothing
    may differ then.
    """
    return _same(one, other) or (_akin(one, other) and resemblance(one.runs, other.runs) >= _SAME)


def originals(retrieval: Retrieval, lists: Iterable[Sequence[Hit | Fused]]) -> dict[str, str]:
    """By copy, the first of the listed documents that it is a copy of."""
    ids = [[one.id for one in each] for each in lists]
    found: dict[str, str] = {}
    # Most libraries have no copies; where the first are none, further ones do no harm.
    for depth in (_HEAD, None):
        listed = list(dict.fromkeys(id for each in ids for id in each[:depth]))
        found = _originals(listed, retrieval.sketches(listed)) if len(listed) > 1 else {}
        if not found:
            break
    return found


def folded(fused: Sequence[Fused], same: Mapping[str, str], wanted: int) -> list[Fused]:
    """The ranking with every copy of a document above it behind the first `wanted` others.

    `same` tells which documents say the same: those with one original, and the original.
    A document names its copies, and a copy the document.
    """
    if not same:
        return list(fused)
    first: dict[str, str] = {}
    copies: dict[str, list[Fused]] = {}
    distinct = []
    for one in fused:
        best = first.setdefault(same.get(one.id, one.id), one.id)
        if best == one.id:
            distinct.append(one)
        else:
            copies.setdefault(best, []).append(one._replace(copy_of=best))
    named = [
        one._replace(copies=tuple(copy.id for copy in copies[one.id])) if one.id in copies else one
        for one in distinct
    ]
    behind = sorted((one for each in copies.values() for one in each), key=_place)
    return [*named[:wanted], *behind, *named[wanted:]]


def _originals(ids: Sequence[str], sketches: Mapping[str, Sketch]) -> dict[str, str]:
    found: dict[str, str] = {}
    known: dict[bytes, list[str]] = {}
    # What is the same shares one of the smallest hashes, so few pairs are compared, mostly none.
    smallest = {id: _hashes(one.runs[: _FIRST * _WIDTH]) for id, one in sketches.items()}
    several = list(chain.from_iterable(smallest.values()))
    if len(set(several)) == len(several):
        return found
    for id in ids:
        sketch = sketches.get(id)
        if sketch is None or id in found:
            continue
        keys = smallest[id]
        near = dict.fromkeys(other for key in keys for other in known.get(key, ()) if other != id)
        original = next((other for other in near if are_copies(sketches[other], sketch)), None)
        if original is not None:
            found[id] = original
        else:
            for key in keys:
                known.setdefault(key, []).append(id)
    return found


def _same(one: Sketch, other: Sketch) -> bool:
    return one.content_hash == other.content_hash


def _akin(one: Sketch, other: Sketch) -> bool:
    """Whether one is called as the other, or as the other with something added."""
    short, long = sorted((fold(one.title), fold(other.title)), key=len)
    return short in long


def _hashes(runs: bytes) -> list[bytes]:
    return [runs[at : at + _WIDTH] for at in range(0, len(runs), _WIDTH)]


def _place(one: Fused) -> tuple[float, str]:
    return -one.score, one.id
