"""Whether vectors may be stored: an embedder can lie, a store must not believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twolane.model.errors import BadVectors

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix

# Rounding in four-byte floats stays far below this; anything beyond is another kind of vector.
_TOLERANCE = 1e-3


def check_vectors(vectors: Matrix, *, count: int, dimensions: int) -> None:
    """Raise BadVectors unless these are `count` finite unit vectors of `dimensions`."""
    import numpy as np

    if vectors.shape != (count, dimensions):
        raise BadVectors(
            f"expected {count} vectors of {dimensions} dimensions, got shape {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise BadVectors("a vector holds NaN or infinity")
    norms = np.linalg.norm(vectors, axis=1)
    if count and float(np.abs(norms - 1).max()) > _TOLERANCE:
        raise BadVectors("a vector is not of unit length")
