"""txtai: its own hybrid search (BM25 and vectors, half and half), with vectors from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from txtai import Embeddings


class Engine:
    """One index, as it comes; vectors are handed over through its `external` method."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._given: list[Any] = []
        self._embeddings = Embeddings(
            {"method": "external", "transform": self._transform(), "hybrid": True}
        )

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """Texts and vectors in the same order."""
        self._given = list(vectors)
        rows = ((one["id"], f"{one['title']}\n{one['text']}", None) for one in passages)
        self._embeddings.index(rows)
        self._embeddings.config.pop("transform")
        self._embeddings.save(str(self._folder / "txtai"))

    def open(self) -> None:
        """Load what was saved."""
        self._embeddings = Embeddings()
        self._embeddings.load(str(self._folder / "txtai"), config={"transform": self._transform()})

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One hybrid search."""
        self._given = [vector]
        return [id for id, _ in self._embeddings.search(text, count)]

    def processes(self) -> list[int]:
        """None of its own."""
        return []

    def close(self) -> None:
        """Free what is held."""
        self._embeddings.close()

    def _transform(self) -> Callable[[list[str]], Any]:
        """What txtai takes for a model; it wants a function and no method."""

        def vectors(texts: list[str]) -> Any:
            taken, self._given = self._given[: len(texts)], self._given[len(texts) :]
            return np.stack(taken)

        return vectors
