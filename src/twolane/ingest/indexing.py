"""The write path of files: source → parse → chunk → store. Their only writer.

Files are read once, in batches; what a batch holds is searchable when the batch is committed.
An interrupted run loses at most one batch of work, and the next run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from twolane.ingest.analysis import analyzer_version, reworded
from twolane.ingest.analysis_tasks import FileOutcome, FileTask, analyze_file
from twolane.ingest.parallel import ParallelAnalysis
from twolane.model.document import Batch, Collection, Prepared
from twolane.model.permissions import require
from twolane.model.problem import FileRecord, FileState, Problem, ProblemCode
from twolane.model.scope import Capability, Scope
from twolane.ports import Stores
from twolane.ports.documents import DocumentStore, Known, PutCollection
from twolane.ports.source import Entry, Source
from twolane.settings import Settings

# Losing more than this share of a root's files at once looks like a mistake, not like tidying up.
_SUDDEN_LOSS = 0.5


@dataclass(slots=True)
class Report:
    """What a run did."""

    collection: str
    indexed: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    deleted: int = 0
    withheld: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)


Progress = Callable[[Report], None]


class Indexer:
    """Brings collections of a store in step with their sources."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._stores = stores
        self._settings = settings

    def index(
        self,
        source: Source,
        collection: Collection,
        scope: Scope,
        *,
        prune: bool = False,
        progress: Progress = lambda report: None,
    ) -> Report:
        """Bring the collection in step with the source.

        Unchanged files are not read.
        If more than half of the known files are gone, nothing is deleted unless `prune`.
        """
        require(scope, Capability.WRITE)
        started = time.perf_counter()
        self._stores.documents.apply(PutCollection(collection))
        run = _Run(self._stores.documents, self._settings, collection, progress)
        with ParallelAnalysis(analyze_file, self._settings) as analysis:
            for offered, outcome in analysis.run(run.offered(source)):
                run.take(offered, outcome)
        run.finish(prune=prune)
        self._stores.maintenance.settle()
        run.report.seconds = time.perf_counter() - started
        return run.report


class _Run:
    """One pass over a source."""

    def __init__(
        self,
        documents: DocumentStore,
        settings: Settings,
        collection: Collection,
        progress: Progress,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._collection = collection.name
        self._kind = collection.kind
        self._progress = progress
        self._known: Mapping[str, Known] = documents.known(collection.name)
        self._analyzer_version = analyzer_version(settings)
        self._boilerplate = (
            documents.boilerplate().keys if settings.ranking.boilerplate else frozenset()
        )
        self._seen: set[str] = set()
        self._closed_folders: list[str] = []
        self._upserts: list[Prepared] = []
        self._deletes: list[str] = []
        self._records: list[FileRecord] = []
        self.report = Report(collection.name)

    def offered(self, source: Source) -> Iterator[tuple[Entry | FileRecord, FileTask | None]]:
        """What the source has, and what there is to do for it."""
        for offered in source.entries():
            if isinstance(offered, FileRecord) or self._is_unchanged(offered):
                yield offered, None
                continue
            try:
                data = source.read(offered)
            except OSError as error:
                reason = error.strerror or str(error)
                state, code = FileState.FAILED, ProblemCode.UNREADABLE
                yield FileRecord(offered.path, state, None, reason, code), None
            else:
                modified = datetime.fromtimestamp(offered.stamp.modified_ns / 1e9, UTC)
                task = FileTask(data, offered.path, self._collection, modified, self._kind)
                yield offered, task

    def take(self, offered: Entry | FileRecord, outcome: FileOutcome | None) -> None:
        """Take in one thing that the source has; without an outcome it is as it was."""
        if offered.path in self._known:
            self._seen.add(offered.path)
        if isinstance(offered, FileRecord):
            self._pass_over(offered)
        elif outcome is None:
            self.report.unchanged += 1
        else:
            self._take_read(offered, outcome)
        self._progress(self.report)
        if len(self._upserts) + len(self._records) >= self._settings.index.batch:
            self._commit()

    def finish(self, *, prune: bool) -> None:
        gone = [path for path in self._known if not self._is_there(path)]
        documents = [known.id for path in gone if (known := self._known[path]).id is not None]
        held = sum(known.id is not None for known in self._known.values())
        if documents and len(documents) > held * _SUDDEN_LOSS and not prune:
            self.report.withheld = len(documents)
            gone = [path for path in gone if self._known[path].id is None]
        else:
            self._deletes += documents
            self.report.deleted = len(documents)
        self._commit(forgotten=gone)

    def _is_there(self, path: str) -> bool:
        # What lies in a folder that could not be opened is not gone, only out of sight.
        return path in self._seen or any(
            path.startswith(f"{folder}/") for folder in self._closed_folders
        )

    def _is_unchanged(self, entry: Entry) -> bool:
        known = self._known.get(entry.path)
        return (
            known is not None
            and known.id is not None
            and known.stamp == entry.stamp
            and known.analyzer_version == self._analyzer_version
        )

    def _take_read(self, entry: Entry, outcome: FileOutcome) -> None:
        parsed = outcome.parsed
        self.report.problems += parsed.problems
        if parsed.document is None:
            first = parsed.problems[0]
            self._replace_by_record(
                FileRecord(entry.path, FileState.FAILED, entry.stamp, first.reason, first.code)
            )
            self.report.failed += 1
        elif outcome.prepared is None:
            self._pass_over(
                FileRecord(
                    entry.path,
                    FileState.SKIPPED,
                    entry.stamp,
                    "`search: false` in its front matter",
                    ProblemCode.EXCLUDED,
                )
            )
        else:
            self._upsert(outcome.prepared, entry, parsed.problems)

    def _upsert(self, prepared: Prepared, entry: Entry, problems: tuple[Problem, ...]) -> None:
        document = prepared.document
        chunks = prepared.chunks
        if self._boilerplate:
            chunks = reworded(document, chunks, self._settings, self._boilerplate)
        self._upserts.append(replace(prepared, chunks=chunks, stamp=entry.stamp))
        if problems:
            first = problems[0]
            self._records.append(
                FileRecord(entry.path, FileState.INDEXED, entry.stamp, first.reason, first.code)
            )
        self.report.indexed += 1

    def _pass_over(self, record: FileRecord) -> None:
        self._replace_by_record(record)
        if record.state == FileState.FAILED:
            if record.code == ProblemCode.UNREADABLE:
                self._closed_folders.append(record.path)
            self.report.failed += 1
            code = record.code or ProblemCode.INTERNAL
            self.report.problems.append(Problem(record.path, code, record.reason))
        else:
            self.report.skipped += 1

    def _replace_by_record(self, record: FileRecord) -> None:
        self._records.append(record)
        known = self._known.get(record.path)
        # The text of a file that cannot be read now stays: the file may well be back tomorrow.
        if known and known.id is not None and record.code != ProblemCode.UNREADABLE:
            self._deletes.append(known.id)

    def _leave_taken(self) -> None:
        """Keep files from replacing documents that were saved under their ids."""
        new = [
            one.document.id
            for one in self._upserts
            if (known := self._known.get(str(one.document.path))) is None or known.id is None
        ]
        for id, held in self._documents.get(new, parts=frozenset()).items() if new else ():
            if held.document.collection == self._collection:
                continue
            taken = next(one for one in self._upserts if one.document.id == id)
            self._upserts.remove(taken)
            self.report.indexed -= 1
            reason = (
                f"the id {id!r} is that of a document in the collection "
                f"{held.document.collection!r}; purge that one, or rename the file"
            )
            path = str(taken.document.path)
            self._pass_over(
                FileRecord(path, FileState.FAILED, taken.stamp, reason, ProblemCode.CLASH)
            )

    def _commit(self, forgotten: list[str] | None = None) -> None:
        self._leave_taken()
        if self._upserts or self._deletes or self._records or forgotten:
            self._documents.apply(
                Batch(
                    self._collection,
                    self._upserts,
                    self._deletes,
                    self._records,
                    forgotten or (),
                )
            )
        self._upserts, self._deletes, self._records = [], [], []
