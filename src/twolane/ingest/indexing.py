"""The write path of files: source → parse → chunk → store. Their only writer.

Files are read once, in batches; what a batch holds is searchable when the batch is committed.
An interrupted run loses at most one batch of work, and the next run goes on from there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from operator import attrgetter

from twolane.ingest.analysis import (
    FileTask,
    analyze_file,
    analyzer_version,
    boilerplate_keys,
    without_boilerplate,
)
from twolane.ingest.parallel import ParallelAnalysis
from twolane.ingest.parsing.markdown import Parsed
from twolane.model.document import EMPTY, Amendment, Batch, Collection, Prepared
from twolane.model.problem import FileRecord, FileState, Problem, ProblemCode
from twolane.model.scope import Capability, Scope, require
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Among, DocumentStore, Known, PutCollection
from twolane.ports.source import Entry, Source
from twolane.settings import Settings

# Losing more than this share of a root's files at once looks like a mistake, not like tidying up.
_SUDDEN_LOSS = 0.5


@dataclass(slots=True)
class Report:
    """What a run did; `moved` notes are counted among those `indexed`, too."""

    collection: str
    indexed: int = 0
    moved: int = 0
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
        A note whose file is at another path by now goes on as the same note.
        If more than half of the known files are gone, nothing is deleted unless `prune`: these
        notes are kept out of sight until their files are back.
        If all of them are gone, the folder is taken for one that is not connected.
        """
        require(scope, Capability.WRITE)
        started = time.perf_counter()
        self._stores.documents.apply(PutCollection(collection))
        run = _Run(self._stores.documents, self._settings, collection, progress)
        with ParallelAnalysis(analyze_file, self._settings) as analysis:
            for offered, parsed in analysis.run(run.offered(source)):
                run.take(offered, parsed)
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
        self._boilerplate = boilerplate_keys(documents, settings)
        self._seen: set[str] = set()
        self._closed_folders: list[str] = []
        self._upserts: list[Prepared] = []
        self._deletes: list[str] = []
        self._records: list[FileRecord] = []
        # Files that were not known, and so may be known ones that moved.
        self._new: list[FilePlace] = []
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

    def take(self, offered: Entry | FileRecord, parsed: Parsed | None) -> None:
        """Take in one thing that the source has; what was not parsed is as it was."""
        if offered.path in self._known:
            self._seen.add(offered.path)
        if isinstance(offered, FileRecord):
            self._pass_over(offered)
        elif parsed is None:
            self.report.unchanged += 1
        else:
            self._take_read(offered, parsed)
        self._progress(self.report)
        if len(self._upserts) + len(self._records) >= self._settings.index.batch:
            self._commit()

    def finish(self, *, prune: bool) -> None:
        """Follow the notes that moved; delete those that are gone, or put them out of sight."""
        self._leave_taken()
        gone = [path for path in self._known if not self._is_there(path)]
        lost = [
            FilePlace(known.id, path, known.content_hash)
            for path in gone
            if (known := self._known[path]).id is not None
        ]
        missing = self._missing()
        followed = moves([*lost, *missing], self._new)
        self.report.moved = len(followed)
        before = set(followed.values())
        lost = [place for place in lost if place.id not in before]
        missing = [place for place in missing if place.id not in before]
        total = sum(known.id is not None for known in self._known.values())
        hidden: Sequence[Amendment] = ()
        if prune or len(lost) <= total * _SUDDEN_LOSS:
            self._deletes += [place.id for place in lost]
            self.report.deleted = len(lost)
            lost = []
        else:
            kept = {place.path for place in lost}
            gone = [path for path in gone if path not in kept]
            if self._seen or self.report.indexed:
                stored = self._documents.get([place.id for place in lost], parts=frozenset())
                hidden = [
                    Amendment(id, one.document.version, deleted=True) for id, one in stored.items()
                ]
        if prune:
            self._deletes += [place.id for place in missing]
            self.report.deleted += len(missing)
        else:
            self.report.withheld = len(lost) + len(missing)
            reason = "its file is gone; the note is kept out of sight until it is back (or --prune)"
            self._records += [
                FileRecord(one.path, FileState.FAILED, None, reason, ProblemCode.GONE)
                for one in (*(lost if hidden else ()), *missing)
            ]
        self._commit(forgotten=gone, followed=followed, hidden=hidden)

    def _missing(self) -> list[FilePlace]:
        """The notes that an earlier run put out of sight, and whose files are not back."""
        if not self._known:
            return []
        scope = Scope(collections=(self._collection,), archived=True)
        ids = [one.id for one in self._documents.list(scope, among=Among.DELETED)]
        back = {one.path for one in self._new}
        stored = self._documents.get(ids, parts=frozenset()) if ids else {}
        return [
            FilePlace(id, str(one.document.path), one.document.content_hash)
            for id, one in stored.items()
            if one.document.path not in back
        ]

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

    def _take_read(self, entry: Entry, parsed: Parsed) -> None:
        self.report.problems += parsed.problems
        if parsed.document is None:
            first = parsed.problems[0]
            self._replace_by_record(
                FileRecord(entry.path, FileState.FAILED, entry.stamp, first.reason, first.code)
            )
            self.report.failed += 1
        elif parsed.prepared is None:
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
            self._upsert(parsed.prepared, entry, parsed.problems)

    def _upsert(self, prepared: Prepared, entry: Entry, problems: tuple[Problem, ...]) -> None:
        document = prepared.document
        own = without_boilerplate(prepared, self._settings, self._boilerplate)
        self._upserts.append(replace(own, stamp=entry.stamp))
        known = self._known.get(entry.path)
        if self._known and (known is None or known.id is None):
            self._new.append(FilePlace(document.id, entry.path, document.content_hash))
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
            upsert.document.id
            for upsert in self._upserts
            if (known := self._known.get(str(upsert.document.path))) is None or known.id is None
        ]
        for id, stored in self._documents.get(new, parts=frozenset()).items() if new else ():
            if stored.document.collection == self._collection:
                continue
            taken = next(upsert for upsert in self._upserts if upsert.document.id == id)
            self._upserts.remove(taken)
            self._new = [one for one in self._new if one.id != id]
            self.report.indexed -= 1
            reason = (
                f"the id {id!r} is that of a document in the collection "
                f"{stored.document.collection!r}; purge that one, or rename the file"
            )
            path = str(taken.document.path)
            self._pass_over(
                FileRecord(path, FileState.FAILED, taken.stamp, reason, ProblemCode.CLASH)
            )

    def _commit(
        self,
        forgotten: Sequence[str] = (),
        followed: Mapping[str, str] = EMPTY,
        hidden: Sequence[Amendment] = (),
    ) -> None:
        self._leave_taken()
        if self._upserts or self._deletes or self._records or forgotten or followed or hidden:
            self._documents.apply(
                Batch(
                    self._collection,
                    self._upserts,
                    self._deletes,
                    self._records,
                    forgotten,
                    moves=followed,
                ),
                *hidden,
            )
        self._upserts, self._deletes, self._records = [], [], []


# ----------------------------------------------------------------------- which notes only moved


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where a note is, or was: its document's id, its path, and a name for what its file says."""

    id: str
    path: str
    content_hash: str | None

    @property
    def name(self) -> str:
        """The name of the file, without its folders."""
        return self.path.rpartition("/")[2]


def moves(gone: Iterable[FilePlace], new: Iterable[FilePlace]) -> dict[str, str]:
    """By the id of a new note, the id of the one that it was before it moved; each once.

    The same content is the same note; of several, those that kept their file name go first.
    A file name that one note lost and one new note has is the same note, too: editors mend the
    links in a note when they move it.
    """
    left, arrived = sorted(gone, key=_BY_PATH), sorted(new, key=_BY_PATH)
    lost, won = (Counter(place.name for place in places) for places in (left, arrived))
    alike: tuple[Callable[[FilePlace], object], ...] = (
        lambda place: place.content_hash and (place.content_hash, place.name),
        lambda place: place.content_hash,
        # A vault may hold many `index.md`.
        lambda place: place.name if lost[place.name] == won[place.name] == 1 else None,
    )
    found: dict[str, str] = {}
    for key in alike:
        waiting: dict[object, list[FilePlace]] = {}
        taken = set(found.values())
        for place in left:
            if place.id not in taken and key(place):
                waiting.setdefault(key(place), []).append(place)
        for place in arrived:
            if place.id not in found and (same := waiting.get(key(place))):
                found[place.id] = same.pop(0).id
    return found


_BY_PATH = attrgetter("path")
