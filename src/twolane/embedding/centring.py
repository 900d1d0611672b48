"""Centring: taking the accent out of multilingual vectors.

A multilingual model places texts of one language together, so that a query finds its own
language first.
Subtracting each language's mean vector from its passages, and from queries in it,
leaves what the texts mean.
The means belong to a generation: they are worked out once it is complete, and kept until a
language has come or grown by far; then they are worked out anew, without embedding anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.model.space import Space
from twolane.ports.vectors import Mean

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# The mean of fewer passages says more about those passages than about their language.
FEWEST = 8

# Means are worked out anew when a language has so many times the passages that it had then.
GROWTH = 4

# The name under which the mean over all languages is kept, for texts of none or of a rare one.
EVERY = "*"


def block(space: Space) -> slice | None:
    """The dimensions that are centred, or None if the space is not."""
    policy, _, dimensions = space.centring.partition(" ")
    if policy != "language":
        return None
    start, end = dimensions.split(":")
    return slice(int(start), int(end))


def means_of(vectors: Matrix, languages: Sequence[str | None], part: slice) -> dict[str, Mean]:
    """The mean of each language that has enough passages, and the mean over all."""
    import numpy as np

    means = {EVERY: Mean(vectors[:, part].mean(axis=0), len(vectors))}
    names = np.array([language or "" for language in languages])
    for language in sorted(set(names) - {""}):
        spoken = vectors[names == language]
        if len(spoken) >= FEWEST:
            means[str(language)] = Mean(spoken[:, part].mean(axis=0), len(spoken))
    return means


def centred(
    vectors: Matrix, languages: Sequence[str | None], means: Mapping[str, Mean], part: slice
) -> Matrix:
    """The vectors with their languages' means taken out of the part, again of unit length."""
    import numpy as np

    if not means or not len(vectors):
        return vectors
    moved: Matrix = vectors.copy()
    away = _means_for(languages, means)
    lengths = np.linalg.norm(vectors[:, part], axis=1, keepdims=True)
    moved[:, part] -= away
    norms = np.linalg.norm(moved[:, part], axis=1, keepdims=True)
    # A part that equals its mean says nothing; it keeps its place rather than becoming noise.
    moved[:, part] = np.where(
        norms > 1e-6, moved[:, part] * (lengths / np.maximum(norms, 1e-6)), vectors[:, part]
    )
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return moved


def uncentred(
    vectors: Matrix, languages: Sequence[str | None], means: Mapping[str, Mean], part: slice
) -> Matrix:
    """What `centred` made these vectors of: centring loses nothing, so no text is embedded again.

    The part p was r - m, scaled to the length of r; the one r of that length on the line from m
    along p is the positive root of a quadratic equation.
    """
    import numpy as np

    if not means or not len(vectors):
        return vectors
    exact = vectors[:, part].astype(np.float64)
    away = _means_for(languages, means).astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    along = exact / np.maximum(lengths, 1e-12)
    half = (along * away).sum(axis=1, keepdims=True)
    rest = lengths**2 - (away**2).sum(axis=1, keepdims=True)
    raw = away + along * (np.sqrt(np.maximum(half**2 + rest, 0.0)) - half)
    moved: Matrix = vectors.copy()
    moved[:, part] = raw
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return moved


def outgrown(means: Mapping[str, Mean], passages: Mapping[str, int]) -> bool:
    """Whether means no longer fit the passages of each language: one came, or grew, since then."""
    then = {language: one.passages for language, one in means.items()}
    return any(
        now >= FEWEST and now >= GROWTH * then.get(language, 0)
        for language, now in passages.items()
    )


def same_means(some: Mapping[str, Mean], others: Mapping[str, Mean]) -> bool:
    """Whether both are the same means, so that vectors centred by them may be compared."""
    return some.keys() == others.keys() and all(
        some[language].vector.tobytes() == others[language].vector.tobytes() for language in some
    )


def _means_for(languages: Sequence[str | None], means: Mapping[str, Mean]) -> Matrix:
    import numpy as np

    rest = means[EVERY]
    away: Matrix = np.stack([means.get(language or EVERY, rest).vector for language in languages])
    return away


def centred_query(
    vector: Vector, languages: Collection[str], means: Mapping[str, Mean], space: Space
) -> Vector:
    """The query's vector, with the mean of its language taken out if it is clear, else of all."""
    part = block(space)
    if part is None or not means:
        return vector
    language = next(iter(languages)) if len(languages) == 1 else None
    moved: Vector = centred(vector[None], [language], means, part)[0]
    return moved
