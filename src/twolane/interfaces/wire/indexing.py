"""How complete the index is, what indexing and embedding did, and how the program is set up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from twolane.interfaces.wire.search import Degraded
from twolane.interfaces.wire.shape import Counts, Rounded, Shape, Time, plain, shape
from twolane.model.document import Kind
from twolane.model.problem import Problem, ProblemCode
from twolane.model.space import GenerationState

if TYPE_CHECKING:
    from twolane.ingest.indexing import Report
    from twolane.library.completeness import FileStatus as FileOf
    from twolane.library.completeness import StagesStanding, Standing
    from twolane.library.completeness import Status as StatusOf
    from twolane.library.embedding import Embedded as Embedding
    from twolane.model import answer as model
    from twolane.model.document import Collection


class FileStage(StrEnum):
    """How far one file has come."""

    INDEXED = "indexed"
    EMBEDDED = "embedded"
    PENDING = "pending"
    SKIPPED = "skipped"
    FAILED = "failed"


class Generation(Shape):
    """One set of vectors: its space, its state, and how far it is."""

    number: int
    state: GenerationState
    reason: str | None
    embedded: int
    pending: int
    failed: int
    abandoned: int
    rate: float | None
    seconds_left: float | None
    embedder: str
    model: str
    revision: str
    dimensions: int
    fingerprint: str


class Generations(Shape):
    """Every set of vectors, oldest first."""

    generations: list[Generation]


class FileStatus(Shape):
    """What became of one file or saved document."""

    collection: str
    id: Annotated[str | None, Meta(description="Its document, if it gave one.")]
    path: Annotated[str, Meta(description="Its path; the id of what was saved without one.")]
    state: FileStage
    pending: int
    embedded_at: Annotated[
        Time | None, Meta(description="When its last passage got a vector, if all have one.")
    ]
    code: ProblemCode | None
    reason: str | None
    tries: int | None
    next_try: Time | None


class IndexedCollection(Shape):
    """A collection of the index."""

    name: str
    root: str | None
    kind: Kind


class Stage(Shape):
    """How an optional stage did so far, for all that share the database."""

    stage: str
    model: str
    calls: Annotated[int, Meta(description="Requests to its model.")]
    failures: Annotated[int, Meta(description="Of these, how many failed or came too late.")]
    skipped: Annotated[
        int, Meta(description="How often it was not asked because it paused or was busy.")
    ]
    cached: Annotated[int, Meta(description="How often an earlier answer was used.")]
    seconds: Rounded
    tokens: Annotated[int, Meta(description="Tokens read and written, as the server counts.")]
    in_a_row: Annotated[int, Meta(description="Failures since the last success.")]
    paused_until: Annotated[Time | None, Meta(description="Until when it is not asked.")]
    last_failure: str


class Stages(Shape):
    """The optional stages, and the answers of chat models that are kept for them."""

    records: list[Stage]
    answers: int
    bytes: int


class Outbox(Shape):
    """How far the Qdrant cluster is behind the database."""

    changes: int
    seconds: Rounded


class Status(Shape):
    """How complete the index is."""

    documents: int
    chunks: int
    embedded: int
    pending: int
    failed: int
    failed_chunks: int
    skipped: int
    generation: int | None
    generations: list[Generation]
    languages: Counts
    collections: list[IndexedCollection]
    db: Annotated[
        str,
        Meta(description="The database on the server, for callers with `admin`; otherwise empty."),
    ]
    bytes: int
    degraded: Degraded
    stages: Annotated[Stages, Meta(description="How the optional stages did that are switched on.")]
    outbox: Annotated[
        Outbox | None, Meta(description="What waits for the Qdrant cluster, where there is one.")
    ]
    files: Annotated[
        list[FileStatus] | UnsetType, Meta(description="Every file, where that was asked.")
    ] = UNSET


class IndexedFolder(Shape):
    """What indexing did in one folder."""

    collection: str
    indexed: int
    moved: int
    unchanged: int
    skipped: int
    failed: int
    deleted: int
    withheld: int
    seconds: Rounded
    problems: list[Problem]


class Embedded(Shape):
    """What embedding came to."""

    generation: int
    embedded: int
    failed: int
    pending: int
    stopped: str | None
    seconds: Rounded
    rate: float | None
    took_over: int | None
    refused: str | None


class IndexReport(Shape):
    """What indexing did, folder by folder, and what embedding did if it ran."""

    collections: list[IndexedFolder]
    embedding: Embedded | None
    degraded: Degraded
    seconds: Annotated[Rounded, Meta(description="How long all of it took, with the vectors.")]


class Setting(Shape):
    """One setting, its value and where that came from."""

    name: str
    value: Any
    origin: str
    meaning: str


class SettingsList(Shape):
    """All settings, and the file that they are looked for in."""

    file: str
    settings: list[Setting]


class Check(Shape):
    """A part that a check-up looked at, whether it is well, and what was seen."""

    name: str
    ok: bool
    seen: str


class Checkup(Shape):
    """What a check-up looked at."""

    ok: bool
    checks: list[Check]


def status(
    found: StatusOf,
    files: Sequence[FileOf] | None = None,
    collections: Sequence[Collection] = (),
) -> Status:
    """How complete the index is, with a row for each file if they are given."""
    serving = found.generation
    said = shape(
        Status,
        found,
        documents=found.stats.documents,
        chunks=found.stats.chunks,
        embedded=found.progress.ready,
        pending=found.progress.pending,
        failed_chunks=found.progress.failed,
        generation=serving.number if serving else None,
        generations=[generation(one) for one in found.generations],
        languages=found.stats.languages,
        collections=collections,
        db=found.location,
        bytes=found.stats.bytes,
        stages=_stages(found.stages),
        outbox=None if found.lag is None else shape(Outbox, found.lag),
    )
    if files is not None:
        said.files = [_file(file, has_vectors=serving is not None) for file in files]
    return said


def _stages(standing: StagesStanding) -> Stages:
    now = datetime.now(UTC).timestamp()
    records = [
        shape(
            Stage,
            record,
            paused_until=datetime.fromtimestamp(record.paused_until, UTC)
            if record.paused_until > now
            else None,
        )
        for record in standing.records
    ]
    return Stages(records=records, answers=standing.answers, bytes=standing.bytes)


def generation(standing: Standing) -> Generation:
    """One set of vectors."""
    held, progress, space = standing.generation, standing.progress, standing.generation.space
    return shape(
        Generation,
        space,
        number=held.number,
        state=held.state,
        reason=held.reason,
        embedded=progress.ready,
        pending=progress.pending,
        failed=progress.failed,
        abandoned=progress.abandoned,
        rate=progress.rate,
        seconds_left=standing.seconds_left,
    )


def generations(standings: Sequence[Standing]) -> Generations:
    """Every set of vectors."""
    return Generations(generations=[generation(standing) for standing in standings])


def file_stage(file: FileOf, *, has_vectors: bool) -> FileStage:
    """How far a file has come; `has_vectors` tells whether there is a generation to be in."""
    stage = FileStage(file.record.state.value)
    if stage != FileStage.INDEXED:
        return stage
    if file.failure is not None:
        return FileStage.FAILED
    if file.waiting:
        return FileStage.PENDING
    return FileStage.EMBEDDED if has_vectors else FileStage.INDEXED


def _file(file: FileOf, *, has_vectors: bool) -> FileStatus:
    record, failure = file.record, file.failure
    next_try = failure.next_try if failure else None
    return shape(
        FileStatus,
        record,
        collection=file.collection,
        id=file.id,
        embedded_at=file.embedded_at,
        state=file_stage(file, has_vectors=has_vectors),
        pending=file.waiting,
        reason=failure.reason if failure else record.reason or None,
        tries=failure.tries if failure else None,
        next_try=None if next_try is None else datetime.fromtimestamp(next_try, UTC),
    )


def embedded(found: Embedding) -> Embedded:
    """What embedding came to."""
    return shape(Embedded, found)


def index_report(
    reports: Sequence[Report],
    embedding: Embedding | None,
    degraded: Sequence[model.Degradation],
    seconds: float,
) -> IndexReport:
    """What indexing did, and how long all of it took."""
    said = {"collections": reports, "embedding": embedding, "degraded": degraded}
    return shape(IndexReport, None, **said, seconds=seconds)


def settings_list(file: str, rows: Sequence[tuple[str, object, str, str]]) -> SettingsList:
    """All settings: each by name, value, origin and meaning."""
    settings = [
        Setting(name=name, value=plain(value), origin=origin, meaning=meaning)
        for name, value, origin, meaning in rows
    ]
    return SettingsList(file=file, settings=settings)


def checkup(checks: Sequence[tuple[str, bool, str]]) -> Checkup:
    """What a check-up looked at: each part, whether it is well, and what was seen."""
    return Checkup(
        ok=all(well for _, well, _ in checks),
        checks=[Check(name=name, ok=well, seen=seen) for name, well, seen in checks],
    )
