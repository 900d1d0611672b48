"""How an index is: how complete, what became of each file, and a name for what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from twolane.embedding.spaces import Embedders, choose
from twolane.model.answer import Degradation, Lane
from twolane.model.document import Chunk, digest
from twolane.model.errors import EmbedderUnavailable
from twolane.model.permissions import require
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import ANYWHERE, Capability, Scope
from twolane.model.space import Failure, Generation, Progress
from twolane.ports import Stores
from twolane.ports.documents import Among, DocumentStore, Part, Stats, Stored, file_records
from twolane.ports.generations import serving
from twolane.ranking.search import SWITCHED_OFF
from twolane.settings import Settings

# No store holds as many documents.
_ALL = 2**31 - 1

_WITH_CHUNKS = frozenset({Part.TEXT, Part.CHUNKS})


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


def status_of(stores: Stores, scope: Scope, degraded: tuple[Degradation, ...]) -> Status:
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
            Standing(generation, stores.queue.progress(generation.number, scope))
            for generation in stores.vectors.generations()
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
    statuses = []
    for collection in stores.documents.collections(scope):
        for record in file_records(stores.documents.known(collection.name), scope.owner):
            id = f"{collection.name}/{record.path}"
            status = FileStatus(collection.name, record, waiting.get(id, 0), failures.get(id))
            statuses.append(status)
    return statuses


def dense_degradation(
    stores: Stores, settings: Settings, embedders: Embedders
) -> tuple[Degradation, ...]:
    """What a search would say now about the lane of meaning; loads no model."""
    if not settings.search.semantic:
        return (Degradation(Lane.DENSE, SWITCHED_OFF),)
    try:
        remark = choose(stores, embedders).remark
    except EmbedderUnavailable as error:
        remark = str(error)
    return (Degradation(Lane.DENSE, remark),) if remark else ()


def with_vectors(stores: Stores, scope: Scope) -> frozenset[str]:
    """Ids of the documents in scope that meaning can find."""
    generation = serving(stores)
    if generation is None:
        return frozenset()
    import numpy as np

    # Everything that has a vector at all is as near to nothing as everything else.
    nothing = np.zeros(generation.space.dimensions, np.float32)
    neighbours = stores.vectors.nearest(generation.number, nothing, scope, limit=_ALL)
    return frozenset(neighbour.id for neighbour in neighbours)


def index_digest(stores: Stores, batch: int) -> str:
    """A name for what is indexed: documents, how they were analysed, and the space."""
    generation = serving(stores)
    space = generation.space.fingerprint if generation else ""
    return digest("\n".join([*sorted(_digest_lines(stores.documents, batch)), space]))


def _digest_lines(documents: DocumentStore, batch: int) -> list[str]:
    ids = [listed.id for listed in documents.list(ANYWHERE, among=Among.KEPT)]
    rooted = {source.name for source in documents.collections() if source.root is not None}
    lines = []
    for at in range(0, len(ids), batch):
        for id, stored in documents.get(ids[at : at + batch], parts=_WITH_CHUNKS).items():
            document = stored.document
            # What is hidden is told by its text alone.
            chunks = () if document.hidden else stored.chunks
            # The hash says what was written, the digest of the text what is there now.
            text = f"{document.content_hash} {digest(document.body)}"
            line = f"{id} {text} {stored.analyzer_version} {_spans(chunks)}"
            # The hash of a file covers its front matter; a saved document has none.
            lines.append(line if document.collection in rooted else line + _beside(stored))
    return lines


def _spans(chunks: Sequence[Chunk]) -> str:
    return " ".join(
        f"{chunk.start}-{chunk.end} {chunk.content_hash} {chunk.language}" for chunk in chunks
    )


def _beside(stored: Stored) -> str:
    """What was saved beside the texts."""
    saved = stored.document
    names = [saved.collection, saved.kind, saved.path, saved.owner, saved.tags]
    flags = [saved.searchable, saved.archived, saved.encrypted]
    return " " + json.dumps([*names, flags, dict(saved.properties)], sort_keys=True)
