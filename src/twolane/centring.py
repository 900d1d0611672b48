"""Centring: taking the accent out of multilingual vectors.

A multilingual model places texts of one language together, so that a query finds its own
language first.
Subtracting each language's mean vector from its passages, and from queries in it,
leaves what the texts mean.
The means belong to a generation: they are worked out once it is complete, and frozen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.model import Space

if TYPE_CHECKING:
    from twolane.ports import Matrix, Vector

# The mean of fewer passages says more about those passages than about their language.
FEWEST = 8

# The name under which the mean over all languages is kept, for texts of none or of a rare one.
EVERY = "*"


def block(space: Space) -> slice | None:
    """The dimensions that are centred, or None if the space is not."""
    policy, _, dimensions = space.centring.partition(" ")
    if policy != "language":
        return None
    start, end = dimensions.split(":")
    return slice(int(start), int(end))


def means_of(vectors: Matrix, languages: Sequence[str | None], part: slice) -> dict[str, Vector]:
    """The mean of each language that has enough passages, and the mean over all."""
    import numpy as np

    means = {EVERY: vectors[:, part].mean(axis=0)}
    names = np.array([language or "" for language in languages])
    for language in sorted(set(names) - {""}):
        spoken = vectors[names == language]
        if len(spoken) >= FEWEST:
            means[str(language)] = spoken[:, part].mean(axis=0)
    return means


def centred(
    vectors: Matrix, languages: Sequence[str | None], means: Mapping[str, Vector], part: slice
) -> Matrix:
    """The vectors with their languages' means taken out of the part, again of unit length."""
    import numpy as np

    if not means or not len(vectors):
        return vectors
    moved: Matrix = vectors.copy()
    away = np.stack([means.get(language or EVERY, means[EVERY]) for language in languages])
    lengths = np.linalg.norm(vectors[:, part], axis=1, keepdims=True)
    moved[:, part] -= away
    norms = np.linalg.norm(moved[:, part], axis=1, keepdims=True)
    # A part that equals its mean says nothing; it keeps its place rather than becoming noise.
    moved[:, part] = np.where(
        norms > 1e-6, moved[:, part] * (lengths / np.maximum(norms, 1e-6)), vectors[:, part]
    )
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return moved


def centred_query(
    vector: Vector, languages: Collection[str], means: Mapping[str, Vector], space: Space
) -> Vector:
    """The query's vector, with the mean of its language taken out if it is clear, else of all."""
    part = block(space)
    if part is None or not means:
        return vector
    language = next(iter(languages)) if len(languages) == 1 else None
    moved: Vector = centred(vector[None], [language], means, part)[0]
    return moved
