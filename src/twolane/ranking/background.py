"""What is usual in a generation of vectors: how similar two passages are, and how far that differs.

Models differ in how near they put any two texts, and libraries in how much their texts have in
common; a similarity means something only beside that.
One number for the whole generation: what is usual for a language or for a query would hide that a
language, or a query, has nothing near.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from twolane.model.space import Generation
from twolane.model.values import dataclass
from twolane.ports.vectors import VectorIndex
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# 50, 200 and 1,000 passages gave the same order (docs/explanation/ranking.md).
SAMPLE = 200

# A few passages say little; what is usual in the space counts as much as so many of them.
_PRIOR = 20


@dataclass(frozen=True, slots=True)
class Usual:
    """The mean and the standard deviation of similarities."""

    mean: float
    deviation: float

    def standardised(self, similarity: float) -> float:
        """How many deviations a similarity is above the mean."""
        return (similarity - self.mean) / self.deviation


class Background:
    """What is usual in generations, worked out once for each state of them; safe for threads."""

    def __init__(self, vectors: VectorIndex) -> None:
        self._vectors = vectors
        self._lock = threading.Lock()
        self._known: dict[int, tuple[object, Usual]] = {}

    def usual(self, generation: Generation, prior: Usual, documents: object = None) -> Usual:
        """What is usual for two passages of the generation; `prior` is what is in its space.

        `documents` names the state of the documents, which decides whose passages can be found.
        """
        state = generation.revision, documents
        with self._lock:
            before, known = self._known.get(generation.number, (None, prior))
        if before != state:
            sample = self._vectors.sample(generation.number, size=SAMPLE)
            known = usual_in(sample, prior)
            with self._lock:
                self._known[generation.number] = state, known
        return known


@one_thread()
def usual_in(sample: Sequence[tuple[str, Vector]], prior: Usual) -> Usual:
    """Mean and deviation of the similarities of passages of different documents."""
    import numpy as np

    if len(sample) < 2:
        return prior
    vectors = np.stack([vector for _, vector in sample])
    _, documents = np.unique([id for id, _ in sample], return_inverse=True)
    apart = (vectors @ vectors.T)[documents[:, None] < documents[None, :]]
    if not len(apart):
        return prior
    share = len(sample) / (len(sample) + _PRIOR)
    mean = share * float(apart.mean()) + (1 - share) * prior.mean
    variance = share * float(apart.var()) + (1 - share) * prior.deviation**2
    return Usual(mean, max(variance**0.5, 1e-6))
