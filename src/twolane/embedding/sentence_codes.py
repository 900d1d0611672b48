"""Vectors of sentences in four bits a number, and how near a query is to the best of them.

A passage has about ten sentences, so their vectors would take ten times the room of its own.
They only refine an order that the passages' own vectors made, and for that sixteen steps are as
good as floats (docs/explanation/ranking.md), at an eighth of the room.
The components of a unit vector of 512 numbers are mostly below .14, so one step fits all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twolane.model.space import Space
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# The size of a step for 512 dimensions; it grows as vectors of fewer have larger components.
_STEP = 0.02
_DIMENSIONS = 512

# Levels from -7 to 7, kept as 1 to 15.
_HIGHEST = 7
_MIDDLE = 8


def sentence_part(space: Space) -> slice | None:
    """The dimensions in which the space embeds sentences, or None if it does not."""
    if space.sentences == "none":
        return None
    start, end = space.sentences.split(":")
    return slice(int(start), int(end))


def coded(vectors: Matrix) -> bytes:
    """Unit rows of an even number of dimensions, two numbers to a byte."""
    import numpy as np

    levels = np.clip(np.rint(vectors / _step(vectors.shape[1])), -_HIGHEST, _HIGHEST)
    nibbles = (levels + _MIDDLE).astype(np.uint8)
    packed: bytes = (nibbles[:, 0::2] << 4 | nibbles[:, 1::2]).tobytes()
    return packed


def silent(dimensions: int) -> bytes:
    """The code of a sentence that is near to nothing; no level is kept as 0."""
    return bytes(dimensions // 2)


@one_thread()
def nearest_sentences(codes: Sequence[bytes], query: Vector) -> tuple[Vector, list[int]]:
    """For each passage the similarity of its nearest sentence, and which one that is.

    NaN and -1 for a passage without sentences; a silent one is never the nearest.
    """
    import numpy as np

    width = len(query) // 2
    counts = np.array([len(code) // width for code in codes])
    best = np.full(len(codes), np.nan, np.float32)
    which = np.full(len(codes), -1)
    filled = np.flatnonzero(counts)
    if len(filled):
        packed = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, width)
        # Two products over half of the numbers each; the levels are moved to 0 afterwards.
        points = (packed >> 4).astype(np.float32) @ query[0::2]
        points += (packed & 15).astype(np.float32) @ query[1::2]
        points -= _MIDDLE * query.sum()
        starts = np.concatenate(([0], np.cumsum(counts[filled])[:-1]))
        similarities = points * np.float32(_step(len(query)))
        similarities[packed[:, 0] == 0] = -np.inf
        best[filled] = np.maximum.reduceat(similarities, starts)
        highest = np.flatnonzero(similarities == np.repeat(best[filled], counts[filled]))
        # Two sentences may be alike; the first of them stands for both.
        which[filled] = highest[np.searchsorted(highest, starts)] - starts
    return best, which.tolist()


def _step(dimensions: int) -> float:
    return _STEP * float((_DIMENSIONS / dimensions) ** 0.5)
