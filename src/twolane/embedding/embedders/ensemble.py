"""Both models at once: the weighted concatenation of their unit vectors.

The dot product of two such vectors is the weighted mean of the models' similarities;
they err on different queries, and together they err less (docs/explanation/ranking.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twolane.model.space import Space
from twolane.ports.embedder import Embedder, Parallel

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# What the second model's similarity weighs beside the first's; flat between 1 and 1.5.
SECOND_WEIGHT = 1.25


class EnsembleEmbedder:
    """`first` and `second` side by side; the second half is centred by language."""

    def __init__(self, first: Embedder, second: Embedder) -> None:
        self._first = first
        self._second = second
        share = 1 / (1 + SECOND_WEIGHT)
        self._factors = (share**0.5, (1 - share) ** 0.5)
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        """The identity of the vectors: both models', and how they are weighed."""
        if self._space is None:
            one, other = self._first.space, self._second.space
            both = one.dimensions + other.dimensions
            self._space = Space(
                embedder="ensemble",
                model=f"{one.model}+{other.model}",
                revision=f"{one.revision}+{other.revision}",
                dimensions=both,
                chunker=one.chunker,
                query_prompt=other.query_prompt,
                passage_prompt=other.passage_prompt,
                pooling=f"{one.pooling}; 1:{SECOND_WEIGHT}",
                centring=(
                    "none" if other.centring == "none" else f"language {one.dimensions}:{both}"
                ),
                sentences=one.sentences,
            )
        return self._space

    @property
    def parallel(self) -> int:
        """As many calls at once as the second model gains from; it has most of the work."""
        return self._second.parallel if isinstance(self._second, Parallel) else 1

    @property
    def reuses(self) -> Space:
        """The first model's space: its vectors are half of ours."""
        return self._first.space

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in order."""
        return self._joined(self._first.embed_passages(texts), self._second.embed_passages(texts))

    def embed_beside(self, texts: Sequence[str], known: Sequence[Vector | None]) -> Matrix:
        """One unit row per text; the first model runs only for texts whose vector is not known."""
        import numpy as np

        missing = [place for place, vector in enumerate(known) if vector is None]
        first = np.empty((len(texts), self._first.space.dimensions), np.float32)
        for place, vector in enumerate(known):
            if vector is not None:
                first[place] = vector
        if missing:
            first[missing] = self._first.embed_passages([texts[place] for place in missing])
        return self._joined(first, self._second.embed_passages(texts))

    def embed_sentences(self, texts: Sequence[str]) -> Matrix:
        """One unit row per sentence by the first model alone, which is the faster one."""
        return self._first.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query."""
        vector: Vector = self._joined(
            self._first.embed_query(text)[None], self._second.embed_query(text)[None]
        )[0]
        return vector

    def _joined(self, first: Matrix, second: Matrix) -> Matrix:
        import numpy as np

        joined: Matrix = np.hstack((self._factors[0] * first, self._factors[1] * second))
        return joined.astype(np.float32)
