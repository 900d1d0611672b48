"""Which generation of vectors answers searches."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.model.space import Generation, GenerationState
from twolane.ports import Stores
from twolane.ports.queue import EmbeddingQueue
from twolane.ports.vectors import VectorIndex


def serving(stores: Stores) -> Generation | None:
    """The generation that answers searches, or None before the first one.

    That is the one that was told to serve; while it lacks passages, one that stands by and
    lacks fewer answers in its place.
    """
    candidates = in_use(stores.vectors)
    return fullest(stores.queue, candidates) if candidates else None


def in_use(vectors: VectorIndex) -> list[Generation]:
    """The generation that serves and those that stand by, newest first."""
    held = vectors.generations()
    first = [one for one in held if one.state == GenerationState.SERVING]
    return first + [one for one in reversed(held) if one.state == GenerationState.STANDBY]


def fullest(queue: EmbeddingQueue, candidates: Sequence[Generation]) -> Generation:
    """The generation that lacks the fewest passages; of equals, the first."""
    if len(candidates) == 1:
        return candidates[0]
    best, most = candidates[0], queue.progress(candidates[0].number)
    for one in candidates[1:]:
        if not most.missing:
            break
        other = queue.progress(one.number)
        if other.missing < most.missing:
            best, most = one, other
    return best


def revision(stores: Stores) -> str:
    """A name for all that a search can see; another one whenever any of it changes."""
    held = stores.vectors.generations()
    told = ",".join(f"{one.number}{one.state}{one.revision}" for one in held)
    return f"{stores.documents.revision()} {told}"
