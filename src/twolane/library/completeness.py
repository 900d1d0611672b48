"""How an index is: how complete, what became of each document, and a name for what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime

from twolane.embedding.spaces import Embedders, choose
from twolane.model.answer import Degradation, Lane
from twolane.model.document import Chunk, digest
from twolane.model.errors import EmbedderUnavailable
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import ANYWHERE, Capability, Scope, require
from twolane.model.space import Failure, Generation, Progress
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Among, Known, Part, Stats, Stored, file_records
from twolane.ports.generations import serving
from twolane.ports.outbox import Lag
from twolane.ports.stages import StageRecord
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
class StagesStanding:
    """How the optional stages did, and how many answers of chat models are kept for them."""

    records: tuple[StageRecord, ...] = ()
    answers: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """How complete the index is, and how the optional stages that are switched on did.

    `lag` is how far a Qdrant cluster is behind, where one is searched.
    """

    stats: Stats
    progress: Progress
    skipped: int
    failed: int
    generation: Generation | None
    generations: tuple[Standing, ...]
    degraded: tuple[Degradation, ...]
    location: str
    stages: StagesStanding = field(default_factory=StagesStanding)
    lag: Lag | None = None


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What became of one file or saved document, and how many of its passages lack a vector.

    `id` is that of its document, if it gave one; what was saved goes by its path, if it has one,
    else by its id.
    `embedded_at` is when the last of its passages got its vector, if all of them have one.
    """

    collection: str
    record: FileRecord
    waiting: int
    failure: Failure | None
    id: str | None = None
    embedded_at: datetime | None = None


def status_of(stores: Stores, scope: Scope, degraded: tuple[Degradation, ...]) -> Status:
    """How complete the index is for the scope's owner; `degraded` tells which lanes cannot run."""
    require(scope, Capability.SEARCH)
    generation = serving(stores)
    stats = stores.documents.stats(replace(scope, archived=True), detail=True)
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


def files_of(stores: Stores, scope: Scope, *, batch: int = 1000) -> list[FileStatus]:
    """What became of each file and each saved document; an owner is told of their own."""
    require(scope, Capability.SEARCH)
    generation = serving(stores)
    progress = Progress(0, 0, 0)
    if generation:
        progress = stores.queue.progress(generation.number, scope, detail=True)
    found = []
    for collection in stores.documents.collections(scope):
        known = stores.documents.known(collection.name)
        told = _records(known, scope.owner)
        if collection.root is None:
            # Only files are known by their paths; what was saved may have none.
            told = [(id, record) for id, record in told if id is None]
            told += _saved(stores, scope, collection.name, batch)
        found += [_standing(collection.name, id, record, progress) for id, record in told]
    return found


def embedded_at(stores: Stores, id: str, scope: Scope) -> datetime | None:
    """When the last passage of a document got its vector, if all of them have one."""
    generation = serving(stores)
    if generation is None:
        return None
    asked = Scope(owner=scope.owner, documents=(id,))
    at = stores.queue.progress(generation.number, asked, detail=True).embedded.get(id)
    return None if at is None else datetime.fromtimestamp(at, UTC)


_Told = tuple[str | None, FileRecord]


def _records(known: Mapping[str, Known], owner: str | None) -> list[_Told]:
    records = {file_record.path: file_record for file_record in file_records(known, owner)}
    return [(known[path].id, record) for path, record in records.items()]


def _saved(stores: Stores, scope: Scope, collection: str, batch: int) -> list[_Told]:
    """The documents of a collection that come from no file, by id."""
    inside = Scope(owner=scope.owner, collections=(collection,), archived=True)
    ids = [one.id for one in stores.documents.list(inside)]
    told: list[_Told] = []
    for at in range(0, len(ids), batch):
        held = stores.documents.get(ids[at : at + batch], parts=frozenset())
        told += [
            (id, FileRecord(one.document.path or id, FileState.INDEXED))
            for id, one in sorted(held.items())
        ]
    return told


def _standing(
    collection: str, id: str | None, record: FileRecord, progress: Progress
) -> FileStatus:
    if id is None:
        return FileStatus(collection, record, 0, None)
    at = progress.embedded.get(id)
    return FileStatus(
        collection,
        record,
        progress.waiting.get(id, 0),
        progress.failures.get(id),
        id,
        None if at is None else datetime.fromtimestamp(at, UTC),
    )


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


def index_digest(stores: Stores, settings: Settings) -> str:
    """A name for what is indexed: documents, how they were analysed, and the space."""
    generation = serving(stores)
    space = generation.space.fingerprint if generation else ""
    return digest("\n".join([*sorted(_digest_lines(stores, settings)), space]))


def _digest_lines(stores: Stores, settings: Settings) -> list[str]:
    documents, batch = stores.documents, settings.index.batch
    ids = [listed.id for listed in documents.list(ANYWHERE, among=Among.KEPT)]
    rooted = {source.name for source in documents.collections() if source.root is not None}
    lines = []
    for at in range(0, len(ids), batch):
        for id, stored in documents.get(ids[at : at + batch], parts=_WITH_CHUNKS).items():
            document = stored.document
            # What is hidden is told by its text alone.
            chunks = () if document.hidden else _as_read(stored, settings)
            # The hash says what was written, the digest of the text what is there now.
            text = f"{document.content_hash} {digest(document.body)}"
            line = f"{id} {text} {stored.analyzer_version} {_spans(chunks)}"
            # The hash of a file covers its front matter; a saved document has none.
            lines.append(line if document.collection in rooted else line + _beside(stored))
    return lines


def _as_read(stored: Stored, settings: Settings) -> Sequence[Chunk]:
    """The passages of a document as they are before any boilerplate is left out of them."""
    if not any(chunk.boilerplate for chunk in stored.chunks):
        return stored.chunks
    from twolane.ingest.analysis import reworded

    return reworded(stored.document, stored.chunks, settings, frozenset())


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
