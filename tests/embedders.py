"""Embedders that do what a test needs: fail, lie, hang, or make vectors of another space."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector


class Counting(HashingEmbedder):
    """Remembers how often each text was embedded; `model` gives it a space of its own."""

    def __init__(self, model: str = "signed-stems") -> None:
        self.model = model
        self.texts: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.queries = 0

    @property
    def space(self) -> Space:
        """The space of this model."""
        return replace(super().space, model=self.model)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors, counted."""
        self.texts.update(texts)
        self.sizes.append(len(texts))
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        """The vector of a query, counted apart."""
        self.queries += 1
        vector: Vector = HashingEmbedder.embed_passages(self, [text])[0]
        return vector


class Lying(Counting):
    """Changes its vectors before it gives them away."""

    def __init__(self, lie: Callable[[Matrix], Matrix]) -> None:
        super().__init__()
        self._lie = lie

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors that must not be believed."""
        return self._lie(super().embed_passages(texts))


class Poisoned(Counting):
    """Cannot embed texts that hold a word."""

    def __init__(self, word: str = "poison") -> None:
        super().__init__()
        self.word: str | None = word

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Fails as a whole if one of the texts is bad."""
        self.sizes.append(len(texts))
        if self.word and any(self.word in text for text in texts):
            raise RuntimeError("it tastes bad")
        return super().embed_passages(texts)


class Shaky(Counting):
    """Fails a share of its calls at random."""

    def __init__(self, share: float, seed: int = 0) -> None:
        super().__init__()
        self._share = share
        self._random = random.Random(seed)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors, if luck has it."""
        if self._random.random() < self._share:
            raise ConnectionError("not now")
        return super().embed_passages(texts)


class Hanging(Counting):
    """Does not answer for passages until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.released = threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors, in the end."""
        self.asked.set()
        self.released.wait(30)
        return super().embed_passages(texts)
