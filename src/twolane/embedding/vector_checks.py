"""Whether vectors may be stored: an embedder can lie, a store must not believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twolane.model.errors import BadVectors

if TYPE_CHECKING:
    from twolane.model.space import Generation
    from twolane.ports.vectors import Matrix, Vector

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


def check_query(vector: Vector, generation: Generation) -> None:
    """Raise BadVectors unless the query's vector is as long as those of the generation."""
    dimensions = generation.space.dimensions
    if tuple(vector.shape) != (dimensions,):
        raise BadVectors(
            f"generation {generation.number} holds vectors of {dimensions} numbers, but the "
            f"query's has shape {vector.shape}; embed the query in the generation's space"
        )
