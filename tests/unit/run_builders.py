"""Runs made by hand, for tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.evaluation.runs import Asked, Place, Run

GOLDEN = GoldenSet(
    name="set",
    description="A set.",
    queries=(
        GoldenQuery("q1", "first", relevant=("a.md", "b.md"), direction="en→en", category="x"),
        GoldenQuery("q2", "second", relevant=("c.md",), direction="en→ru", category="x"),
        GoldenQuery("q3", "third", relevant=("d.md",), partial=("a.md",), direction="en→en"),
    ),
)

PERFECT: Mapping[str, Sequence[str]] = {
    "q1": ("a.md", "b.md", "c.md"),
    "q2": ("c.md", "a.md"),
    "q3": ("d.md", "a.md", "b.md"),
}


def run_of(
    rankings: Mapping[str, Sequence[str]] = PERFECT,
    *,
    golden: GoldenSet = GOLDEN,
    ms: float = 2.0,
    relevance: float | None = None,
    answerable: bool | None = None,
    **fields: Any,
) -> Run:
    """A run with these rankings; the features of every place give less and less."""
    asked = []
    for number, query in enumerate(golden.queries):
        places = tuple(
            Place(
                path,
                1 / rank,
                relevance,
                {"bm25f": round(2 / rank, 3), "passage": round(0.9 - 0.1 * rank, 3)},
            )
            for rank, path in enumerate(rankings[query.id], start=1)
        )
        asked.append(Asked(query.id, ms * (number + 1), places, answerable))
    known: dict[str, Any] = {
        "name": golden.name,
        "mode": "hybrid",
        "settings": {"ranking.rrf_k": 60.0, "embedding.embedder": "hashing"},
        "created": "2026-01-02T03:04:05+00:00",
        "space": "f00",
        "corpus": "c0ffee",
        "commit": "abc1234",
        "machine": {"system": "Linux", "processor": "x86_64", "cores": 2},
    }
    return Run(golden=golden, asked=tuple(asked), **{**known, **fields})
