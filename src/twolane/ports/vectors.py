"""The port of meaning: generations of vectors, and what is near in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from twolane.model.candidate import Neighbour
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.model.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]


class NewVector(NamedTuple):
    """The unit vector of a passage, and the codes of the vectors of its sentences.

    Without codes, a passage whose vector is replaced keeps those that it has.
    """

    content_hash: str
    vector: Vector
    sentences: bytes = b""


class PassageVector(NamedTuple):
    """A document's passage with its vector, and the codes of its sentences; it may have none."""

    position: int
    vector: Vector
    sentences: bytes = b""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean vector of a language, and of how many passages it was taken."""

    vector: Vector = field(compare=False)
    passages: int


class VectorIndex(Protocol):
    """Keeps vectors by generation and content hash; knows nothing of languages and models."""

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none.

        The first generation of a store serves at once; a later one fills until activated.
        One that was retired fills again, with the vectors that it had.
        """

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one.

        Dropping takes the vectors along.
        The reason is kept with those that are held back from now on.
        """

    def note_model(self, generation: int, name: str) -> str:
        """Keep what a server called the model of this generation; the first name stays.

        The name that is kept.
        """

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language; empty before that."""

    def add(
        self,
        generation: int,
        vectors: Iterable[NewVector],
        *,
        means: Mapping[str, Mean] | None = None,
    ) -> None:
        """Store the vectors, or replace those with their content hashes.

        Those of passages that no document holds any more are left out: their text may be secret.
        With `means`, they were centred by these anew: the means are set with them, both or
        neither, and vectors that are not named are gone.
        """

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float = -1.0,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product with `vector`, best first.

        With `detail` each carries its best chunk's vector and so many of its nearest chunks.

        Leaves out similarities below `floor`; ties break by document id, then position.
        """

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id, in order of position.

        A hidden document and one without vectors are left out.
        """

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, each with a document that has it.

        Those with the lowest content hashes, and of their documents the one with the lowest id,
        so that every store chooses the same.
        """
