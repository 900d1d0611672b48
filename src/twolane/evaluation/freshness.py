"""Are the vectors up to date? Which documents changed and still wait for theirs?

A passage has its vector when its text was embedded as it is now, title and headings included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twolane import Library, Scope
from twolane.model.space import Generation, Progress

_ANY = Scope(archived=True)


@dataclass(frozen=True, slots=True)
class Freshness:
    """What is stale, as document ids, and what vectors there are.

    `missing` documents cannot be found by meaning; of `partial` ones some passages have their
    vector and others wait.
    `pending` and `failed` count passages of the generation that serves.
    """

    missing: tuple[str, ...]
    partial: tuple[str, ...]
    pending: int
    failed: int
    generations: tuple[tuple[Generation, Progress], ...]
    degraded: str | None

    @property
    def stale(self) -> bool:
        """Whether anything is not as the notes are now."""
        behind = self.missing or self.partial
        return bool(behind or self.pending or self.failed or self.degraded)


def freshness(library: Library) -> Freshness:
    """Compare the vectors of a library with its documents."""
    status = library.status()
    held: dict[str, list[str]] = {"missing": [], "partial": []}
    served = library.served(scope=_ANY)
    for id in _waiting(library, has_vectors=status.generation is not None):
        held["partial" if id in served else "missing"].append(id)
    return Freshness(
        missing=tuple(held["missing"]),
        partial=tuple(held["partial"]),
        pending=status.progress.pending,
        failed=status.progress.failed,
        generations=tuple(library.generations()),
        degraded="; ".join(degradation.reason for degradation in status.degraded) or None,
    )


def _waiting(library: Library, *, has_vectors: bool) -> Iterator[str]:
    """Ids of documents with passages that have no vector."""
    for file in library.files():
        if file.id is not None and (file.waiting or not has_vectors):
            yield file.id
