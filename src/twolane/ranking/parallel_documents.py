"""Parallel documents: those that say the same in two languages.

Words can judge only one of the two, and meaning measures each by itself, with an error of its own.
What is known of one of them holds for the other.
That two passages say the same is seen by how near their vectors are to each other, which a
multilingual model tells far better than how near a short query is to either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from twolane.model.candidate import Candidate
from twolane.model.space import Space
from twolane.model.values import dataclass
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector


@dataclass(frozen=True, slots=True)
class Bounds:
    """Similarities at which two passages are not parallel, and at which they surely are.

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


@one_thread()
def find_parallels(
    candidates: Sequence[Candidate], passages: Mapping[str, Vector], space: Space
) -> None:
    """Tell each candidate which others say the same in another language, and how surely.

    `passages` are the vectors of their best passages.
    Documents that share a language, or have none, are never parallel.
    """
    import numpy as np

    bounds = _BOUNDS.get(space.embedder)
    known = [one for one in candidates if one.id in passages and one.languages]
    spoken: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(known):
        spoken.setdefault(one.languages, []).append(place)
    if bounds is None or len(spoken) < 2:
        return
    vectors = np.stack([passages[one.id][bounds.part] for one in known])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    alike = vectors @ vectors.T
    for ours, theirs in combinations(spoken, 2):
        if not set(ours).isdisjoint(theirs):
            continue
        between = alike[np.ix_(spoken[ours], spoken[theirs])]
        share = (between - bounds.unlike) / (bounds.alike - bounds.unlike)
        for at, other in np.argwhere(share > 0).tolist():
            one, parallel = known[spoken[ours][at]], known[spoken[theirs][other]]
            closeness = min(1.0, float(share[at, other]))
            one.parallels[parallel.id] = parallel.parallels[one.id] = closeness
