"""What peers without a hybrid search of their own are given: reciprocal rank fusion with k = 60."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

POOL = 100


def fused(rankings: Iterable[Sequence[Any]], count: int) -> list[Any]:
    """The best of several rankings (Cormack, Clarke and Büttcher, SIGIR 2009)."""
    scores: dict[Any, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, start=1):
            scores[one] = scores.get(one, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda one: -scores[one])[:count]


def words(text: str) -> list[str]:
    """The words of a query, each once."""
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


def nearest(matrix: Any, vector: Any, count: int) -> list[int]:
    """The rows with the highest dot products."""
    similarities = matrix @ vector
    best = np.argpartition(similarities, -min(count, len(similarities)))[-count:]
    return [int(row) for row in best[np.argsort(-similarities[best])]]
