"""Are the vectors up to date? Which documents changed and still wait for theirs?

A passage has a vector of its own when its text was embedded as it is now.
Until then it may *borrow*: under a new title or heading the same text keeps its old vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twolane import Library, Scope
from twolane.errors import NoSuchDocument
from twolane.model import FileState, Generation, Progress

_ANY = Scope(archived=True)


@dataclass(frozen=True, slots=True)
class Freshness:
    """What is stale, as document ids, and what vectors there are.

    `missing` documents cannot be found by meaning, `borrowed` ones are found by old vectors
    alone, and of `partial` ones some passages have their vector and others wait.
    `pending` and `failed` count passages of the generation that serves.
    """

    missing: tuple[str, ...]
    partial: tuple[str, ...]
    borrowed: tuple[str, ...]
    pending: int
    failed: int
    generations: tuple[tuple[Generation, Progress], ...]
    degraded: str | None

    @property
    def stale(self) -> bool:
        """Whether anything is not as the notes are now."""
        behind = self.missing or self.partial or self.borrowed
        return bool(behind or self.pending or self.failed or self.degraded)


def freshness(library: Library) -> Freshness:
    """Compare the vectors of a library with its documents."""
    status = library.status()
    held: dict[str, list[str]] = {"missing": [], "partial": [], "borrowed": []}
    served = library.served(scope=_ANY)
    for id, waiting in _waiting(library, has_vectors=status.generation is not None):
        try:
            chunks = library.chunks(library.document(id, scope=_ANY))
        except NoSuchDocument:  # It went while we were looking.
            continue
        passages = len({chunk.content_hash for chunk in chunks})
        state = "missing" if id not in served else "partial" if waiting < passages else "borrowed"
        held[state].append(id)
    return Freshness(
        missing=tuple(held["missing"]),
        partial=tuple(held["partial"]),
        borrowed=tuple(held["borrowed"]),
        pending=status.progress.pending,
        failed=status.progress.failed,
        generations=tuple(library.generations()),
        degraded="; ".join(one.reason for one in status.degraded) or None,
    )


def _waiting(library: Library, *, has_vectors: bool) -> Iterator[tuple[str, int]]:
    """Document id → passages without a vector of their own, where there are any."""
    for file in library.files():
        if file.record.state != FileState.INDEXED:
            continue
        id = f"{file.collection}/{file.record.path}"
        if not has_vectors:
            yield id, 1
        elif file.waiting:
            yield id, file.waiting
