"""Codes of vectors: a byte a number, to tell quickly which of many cannot be the nearest.

Each vector is divided by its largest number and rounded to -127..127; its scale brings it back.
A product of codes differs from that of the vectors by rounding alone, so that whoever looks a
margin further than the best by codes misses none of the best: measured on 36,688 passages and 1,200
queries of eight collections, the hundred best stand among the first 120 by codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twolane.model.values import dataclass

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# Codes are made in blocks that fit into a core's own memory.
_BLOCK = 512

_LARGEST = 127

# Rounding errors add up like chance; so many of their standard deviations are never reached.
_DEVIATIONS = 8


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of vectors with their scales; there may be room for more behind the last."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    count: int

    @classmethod
    def of(cls, vectors: Matrix) -> Codes:
        """The codes of all rows."""
        empty = cls(np.empty((0, 0), np.int8), np.empty(0, np.float32), 0)
        return empty.with_more(vectors, 0, len(vectors))

    def with_more(self, vectors: Matrix, start: int, room: int) -> Codes:
        """These with the codes of more vectors from `start` on, and room for so many in all."""
        codes, scales = self.codes, self.scales
        end = start + len(vectors)
        if max(end, room) > len(codes):
            size = max(end, room) + (room // 8 if start else 0)
            codes = np.empty((size, vectors.shape[1]), np.int8)
            scales = np.empty(size, np.float32)
            if start:
                codes[:start], scales[:start] = self.codes[:start], self.scales[:start]
        for first in range(0, len(vectors), _BLOCK):
            block = vectors[first : first + _BLOCK]
            at = slice(start + first, start + first + len(block))
            codes[at], scales[at] = _coded(block)
        return Codes(codes, scales, end)

    def similarities(self, vector: Vector) -> tuple[Vector, float]:
        """The dot product of each vector with this one, as far as codes tell, and a margin.

        What is better than another by more than the margin is better by the vectors, too.
        """
        import simsimd

        (code,), (scale,) = _coded(vector[np.newaxis])
        scales = self.scales[: self.count]
        products = np.empty(self.count, np.float32)
        simsimd.dot(self.codes[: self.count], code, out=products, out_dtype="f32")
        products *= scales
        products *= scale
        step = max(float(scale), float(scales.max(initial=0.0)))
        return products, _DEVIATIONS * step * (2 / 12) ** 0.5


def _coded(vectors: Matrix) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    largest = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
    scales = np.maximum(largest / _LARGEST, np.finfo(np.float32).tiny).astype(np.float32)
    codes: NDArray[np.int8] = np.rint(vectors / scales[:, np.newaxis]).astype(np.int8)
    return codes, scales
