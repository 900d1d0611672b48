"""How complete the index is: counts over all of it, and what became of each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from twolane.model.answer import Degradation
from twolane.model.permissions import require
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import Capability, Scope
from twolane.model.space import Failure, Generation, Progress
from twolane.ports import Stores
from twolane.ports.documents import Stats, file_records
from twolane.ports.generations import serving


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a generation is, and how long the rest will take at the rate it had last."""

    generation: Generation
    progress: Progress

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None if nothing is pending, or nothing is known of the rate."""
        if not self.progress.pending or not self.progress.rate:
            return None
        return self.progress.pending / self.progress.rate


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
    stores: Stores,
    scope: Scope,
    degraded: tuple[Degradation, ...],
) -> Status:
    """How complete the index is for the scope's owner; `degraded` tells which lanes cannot run."""
    require(scope, Capability.SEARCH)
    generation = serving(stores)
    stats = stores.documents.stats(replace(scope, archived=True), chunks=True)
    progress = Progress(0, stats.chunks, 0)
    if generation:
        progress = stores.queue.progress(generation.number, scope)
    records = [
        record
        for collection in stores.documents.collections(scope)
        for record in file_records(stores.documents.known(collection.name), scope.owner)
    ]
    return Status(
        stats=stats,
        progress=progress,
        skipped=sum(record.state == FileState.SKIPPED for record in records),
        failed=sum(record.state == FileState.FAILED for record in records),
        generation=generation,
        generations=tuple(
            Standing(one, stores.queue.progress(one.number, scope))
            for one in stores.vectors.generations()
        ),
        degraded=degraded,
        location=stores.maintenance.location,
    )


def files_of(stores: Stores, scope: Scope) -> list[FileStatus]:
    """What became of each file of each collection; an owner is told of their documents'."""
    require(scope, Capability.SEARCH)
    generation = serving(stores)
    waiting: Mapping[str, int] = {}
    failures: Mapping[str, Failure] = {}
    if generation:
        progress = stores.queue.progress(generation.number, scope, detail=True)
        waiting, failures = progress.waiting, progress.failures
    found = []
    for collection in stores.documents.collections(scope):
        for record in file_records(stores.documents.known(collection.name), scope.owner):
            id = f"{collection.name}/{record.path}"
            found.append(FileStatus(collection.name, record, waiting.get(id, 0), failures.get(id)))
    return found
