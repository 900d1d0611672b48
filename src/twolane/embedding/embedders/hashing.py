"""A deterministic embedder without a model, for tests.

Texts that share stems get similar vectors; it knows no meaning and no other language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from twolane.ingest.chunking import CHUNKER
from twolane.model.space import Space
from twolane.text.tokens import stream

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

_DIMENSIONS = 256


class HashingEmbedder:
    """Each stem adds a signed unit to a dimension that its hash chooses."""

    @property
    def space(self) -> Space:
        """The identity of the vectors."""
        return Space("hashing", "signed-stems", "1", _DIMENSIONS, CHUNKER)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text."""
        import numpy as np

        matrix = np.zeros((len(texts), _DIMENSIONS), np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for stem in stream(text).split():
                code = int.from_bytes(hashlib.blake2b(stem.encode(), digest_size=4).digest())
                row[code % _DIMENSIONS] += 1.0 if code & 0x8000_0000 else -1.0
            if not row.any():
                # A text without words still needs a direction.
                row[0] = 1.0
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query."""
        vector: Vector = self.embed_passages([text])[0]
        return vector
