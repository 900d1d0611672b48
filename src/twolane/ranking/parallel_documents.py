"""Counterparts: documents that say the same in two languages.

The lexical lane can judge only one of the two, and the dense lane measures each by itself, with
an error of its own.
What is known of one of them holds for the other: so the dense lane lifts the lower of the two
towards the higher, and fusion lets the lexical lane judge a translation by its original.
That two passages say the same is seen by how near their vectors are to each other, which a
multilingual model tells far better than how near a short query is to either.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twolane.model.answer import Counterpart
from twolane.model.candidate import Neighbour
from twolane.model.space import Space
from twolane.settings.linear_algebra import one_thread

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# How far a translation is lifted towards its original: a little less than all the way, so that
# of two that say the same the one in the query's own language comes first.
_LIFT = 0.9


@dataclass(frozen=True, slots=True)
class Bounds:
    """Similarities at which two passages are no counterparts, and at which they surely are.

    `part` are the dimensions that are compared: those of a model without an accent.
    """

    part: slice
    unlike: float
    alike: float


# Translations of one paragraph are .83 similar in `use` (median; 1 in 100 is below .62), two
# others on like subjects .50 (1 in 20 is above .65); with the second model beside it, this
# model's half still tells them apart best, for it has no accent.
_BOUNDS: dict[str, Bounds] = {
    "use": Bounds(slice(0, 512), unlike=0.60, alike=0.75),
    "ensemble": Bounds(slice(0, 512), unlike=0.60, alike=0.75),
}


def bounds(space: Space) -> Bounds | None:
    """When two passages of this space say the same in two languages; None where nobody knows."""
    return _BOUNDS.get(space.embedder)


@dataclass(frozen=True, slots=True)
class Lifted:
    """A neighbour with the similarity that it is ranked by, and the counterpart that counts."""

    neighbour: Neighbour
    similarity: float
    counterpart: Counterpart | None = None


def lifted(found: Sequence[Neighbour], plausible: AbstractSet[str], bounds: Bounds) -> list[Lifted]:
    """The neighbours in order once each was lifted by its counterparts, ties by id.

    `plausible` are the languages of the query; of two that tie, a document in one of them is first.
    """
    ours = [not plausible.isdisjoint(one.languages) for one in found]
    if all(ours) or not any(ours):
        return [Lifted(one, one.similarity) for one in found]
    import numpy as np

    closeness = _closeness(found, bounds)
    similarities = np.array([one.similarity for one in found], np.float64)
    # At full closeness this is the counterpart's own similarity, to the last bit.
    raised = (1 - closeness) * similarities[:, None] + closeness * similarities[None, :]
    by = np.argmax(raised, axis=1)
    # Only a document in the query's language has an opinion of the lexical lane to lend.
    lender = np.argmax(np.where(np.array(ours), closeness, 0.0), axis=1)
    rows = []
    for place, one in enumerate(found):
        highest = float(raised[place, by[place]])
        gain = highest - one.similarity
        if ours[place]:
            other = int(by[place]) if gain > 0 else place
            similarity = highest
        else:
            other = int(lender[place])
            similarity = one.similarity + _LIFT * gain
        close = float(closeness[place, other])
        counterpart = Counterpart(found[other].id, close) if close > 0 else None
        rows.append((not ours[place], Lifted(one, similarity, counterpart)))
    rows.sort(key=lambda row: (-row[1].similarity, row[0], row[1].neighbour.id))
    return [row for _, row in rows]


@one_thread()
def _closeness(found: Sequence[Neighbour], bounds: Bounds) -> Matrix:
    """How surely each two say the same, 0 where they share a language or have none."""
    import numpy as np

    vectors = np.stack([_vector(one)[bounds.part] for one in found])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    names = sorted({name for one in found for name in one.languages})
    speaks = np.array([[name in one.languages for name in names] for one in found], np.float32)
    mute = ~speaks.any(axis=1)
    apart = (speaks @ speaks.T) == 0
    apart[mute] = False
    apart[:, mute] = False
    share = (vectors @ vectors.T - bounds.unlike) / (bounds.alike - bounds.unlike)
    closeness: Matrix = np.where(apart, np.clip(share, 0.0, 1.0), 0.0)
    return closeness


def _vector(neighbour: Neighbour) -> Vector:
    if neighbour.vector is None:
        raise ValueError(f"the vector of {neighbour.id} is missing")
    return neighbour.vector
