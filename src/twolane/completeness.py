"""How complete the index is: counts over all of it, and what became of each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from twolane.answers import Degradation
from twolane.model import Failure, FileRecord, FileState, Generation, Progress
from twolane.permissions import require
from twolane.ports import Stats, Store
from twolane.scopes import Capability, Scope
from twolane.spaces import serving


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a generation is, and how long the rest will take at the rate it had last."""

    generation: Generation
    progress: Progress

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None if nothing is pending, or nothing is known of the rate."""
        if not self.progress.pending or not self.generation.rate:
            return None
        return self.progress.pending / self.generation.rate


@dataclass(frozen=True, slots=True)
class Status:
    """How complete the index is."""

    stats: Stats
    progress: Progress
    skipped: int
    failed: int
    generation: Generation | None
    generations: tuple[Standing, ...]
    degraded: tuple[Degradation, ...]
    location: str


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What became of one file, and how many of its passages still wait for a vector."""

    collection: str
    record: FileRecord
    waiting: int
    failure: Failure | None


def status_of(
    store: Store,
    scope: Scope,
    degraded: tuple[Degradation, ...],
) -> Status:
    """How complete the index is; `degraded` tells which lanes cannot run."""
    require(scope, Capability.SEARCH)
    generation = serving(store)
    stats = store.stats(replace(scope, archived=True))
    progress = store.progress(generation.number) if generation else Progress(0, stats.chunks, 0)
    records = [
        record for collection in store.collections() for record in store.ledger(collection.name)
    ]
    return Status(
        stats=stats,
        progress=progress,
        skipped=sum(record.state == FileState.SKIPPED for record in records),
        failed=sum(record.state == FileState.FAILED for record in records),
        generation=generation,
        generations=tuple(Standing(one, store.progress(one.number)) for one in store.generations()),
        degraded=degraded,
        location=store.location,
    )


def files_of(store: Store, scope: Scope) -> list[FileStatus]:
    """What became of each file of each collection."""
    require(scope, Capability.SEARCH)
    generation = serving(store)
    waiting: Mapping[str, int] = {}
    failures: Mapping[str, Failure] = {}
    if generation:
        waiting = store.unembedded(generation.number)
        failures = store.failures(generation.number)
    found = []
    for collection in store.collections():
        for record in store.ledger(collection.name):
            id = f"{collection.name}/{record.path}"
            found.append(FileStatus(collection.name, record, waiting.get(id, 0), failures.get(id)))
    return found
