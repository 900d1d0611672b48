"""From rows to saved documents: in batches, each searchable when it is committed.

Readers of formats give rows: drafts with the place they come from, or why there is none.
A row that cannot be saved is a problem of the report; the others go in.
The same import again changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from twolane.ingest.analysis import DraftTask, analyze_draft
from twolane.ingest.drafting import Drafted, drafted
from twolane.ingest.exchange.rows import BadRow, CollectionRow, ImportReport, Row, Rows
from twolane.ingest.parallel import ParallelAnalysis
from twolane.ingest.saving import Saver
from twolane.model.document import Collection, Document, Prepared
from twolane.model.draft import Draft
from twolane.model.errors import BadDraft, HeldInFile, TwolaneError
from twolane.model.problem import ProblemCode
from twolane.model.scope import Capability, Scope, require
from twolane.model.values import dataclass
from twolane.ports.documents import DocumentStore, PutCollection
from twolane.settings import Settings

# A batch ends before its texts fill the memory, however few they are.
_MOST_CHARACTERS = 8_000_000

_AnyRow = Row | CollectionRow | BadRow
Progress = Callable[[ImportReport], None]


class Importer:
    """Saves rows; with `merge`, rows of one id add to each other and to what is held."""

    def __init__(
        self,
        documents: DocumentStore,
        settings: Settings,
        scope: Scope,
        report: ImportReport,
        *,
        merge: bool,
    ) -> None:
        require(scope, Capability.WRITE)
        self._documents = documents
        self._saver = Saver(documents, settings)
        self._settings = settings
        self._scope = scope
        self._merge = merge
        self._analysis = ParallelAnalysis(analyze_draft, settings)
        self._changing = True
        self._batch: dict[str, list[_Taken]] = {}
        self._characters = 0
        # Ids that came before, as numbers: all that grows with the file.
        self._seen: set[int] = set()
        self.report = report

    def run(self, rows: Rows, progress: Progress) -> ImportReport:
        """Save all rows; what was saved stays if the rows break off."""
        started = time.perf_counter()
        try:
            with self._analysis:
                for row, done in self._analysis.run(self._tasks(rows)):
                    self._take(row, done)
                    if (
                        len(self._batch) >= self._settings.index.batch
                        or self._characters > _MOST_CHARACTERS
                    ):
                        self._flush()
                        progress(self.report)
        finally:
            self._flush()
            self.report.seconds = time.perf_counter() - started
            progress(self.report)
        return self.report

    def _tasks(self, rows: Rows) -> Iterator[tuple[_AnyRow, DraftTask | None]]:
        for row in rows:
            if isinstance(row, Row):
                # Where the last rows changed nothing, these hardly will, and need no preparing.
                ahead = self._analysis.shared and self._changing
                yield row, DraftTask(row.draft, ahead)
            else:
                yield row, None

    def _take(self, row: _AnyRow, done: Drafted | BadDraft | None) -> None:
        report = self.report
        place = f"{report.name}: {row.place}" if row.place.startswith("line ") else row.place
        if isinstance(row, CollectionRow):
            self._describe(row, place)
            return
        if isinstance(row, BadRow):
            skipped = row.code == ProblemCode.EXCLUDED
            report.skipped += skipped
            report.failed += not skipped
            report.tell(place, row.code, row.reason)
            return
        if done is not None:
            self._take_draft(row, done, place)

    def _take_draft(self, row: Row, done: Drafted | BadDraft, place: str) -> None:
        report = self.report
        if isinstance(done, BadDraft):
            report.failed += 1
            report.tell(place, ProblemCode.BAD_ROW, f"{done.field}: {done.reason}")
            return
        for remark in (*row.remarks, *done.remarks):
            report.tell(place, ProblemCode.MENDED, remark)
        report.mended += bool(row.remarks or done.remarks)
        self._add(done.document, done.prepared, place)

    def _describe(self, row: CollectionRow, place: str) -> None:
        """Make the collection, or describe the one that is there; its folder stays its own."""
        given, report = row.collection, self.report
        for remark in row.remarks:
            report.tell(place, ProblemCode.MENDED, remark)
        report.mended += bool(row.remarks)
        known = next(
            (
                collection
                for collection in self._documents.collections()
                if collection.name == given.name
            ),
            None,
        )
        if known is not None and replace(known, root=None) == given:
            return
        reason = _why_not(known, given, self._scope)
        if reason:
            report.skipped += 1
            report.tell(place, ProblemCode.EXCLUDED, reason)
            return
        self._documents.apply(PutCollection(given))
        report.collections += 1

    def _add(self, document: Document, ready: Prepared | None, place: str) -> None:
        key = hash(document.id)
        first = key not in self._seen
        self._seen.add(key)
        if not first and not self._merge:
            self.report.failed += 1
            reason = f"the id {document.id!r} came before; the first one went in"
            self.report.tell(place, ProblemCode.DUPLICATE, reason)
            return
        self.report.merged += not first
        self._batch.setdefault(document.id, []).append(_Taken(document, place, first, ready))
        self._characters += len(document.body)

    def _flush(self) -> None:
        """Save the batch; what may not be changed is told and left out."""
        batch, self._batch, self._characters = self._batch, {}, 0
        documents = [taken[-1].document for taken in batch.values()]
        if self._merge:
            documents = self._merged(batch)
        refused: dict[str, TwolaneError] = {}
        # What was joined with others is not what was prepared.
        ready = {
            document.id: taken.ready
            for document in documents
            if (taken := batch[document.id][-1]).ready is not None and taken.document is document
        }
        saved = self._saver.put(documents, self._scope, refused=refused, ready=ready, now=False)
        self._changing = 2 * sum(one.changed for one in saved) >= len(saved)
        for one in saved:
            if batch[one.id][0].first:
                self.report.added += one.created
                self.report.changed += one.changed and not one.created
                self.report.unchanged += not one.changed
        for id, error in refused.items():
            self._leave(batch[id], str(error), failed=not isinstance(error, HeldInFile))

    def _merged(self, batch: dict[str, list[_Taken]]) -> list[Document]:
        stored = self._documents.get(list(batch))
        documents = []
        for id, taken in batch.items():
            before = stored[id].document if id in stored else None
            if before is not None and (before.deleted or before.encrypted):
                what = "deleted" if before.deleted else "encrypted"
                self._leave(taken, f"the bookmark was {what} here; it stays so", failed=False)
            elif before is None and len(taken) == 1:
                documents.append(taken[0].document)
            else:
                documents.append(self._joined(before, taken))
        return documents

    def _joined(self, before: Document | None, taken: Sequence[_Taken]) -> Document:
        draft = Draft.of(before or taken[0].document)
        for one in taken:
            draft = _joined(draft, Draft.of(one.document), first=one.first)
        return drafted(draft, most_bytes=self._settings.index.max_file_bytes).document

    def _leave(self, taken: Sequence[_Taken], reason: str, *, failed: bool) -> None:
        code = ProblemCode.BAD_ROW if failed else ProblemCode.EXCLUDED
        for one in taken:
            self.report.merged -= not one.first
            self.report.failed += failed
            self.report.skipped += not failed
            self.report.tell(one.place, code, reason)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A document that waits to be saved; `first` tells that its id did not come before."""

    document: Document
    place: str
    first: bool
    ready: Prepared | None = None


def _why_not(known: Collection | None, given: Collection, scope: Scope) -> str:
    """Why the collection that is there must not be described anew; empty if it may."""
    if scope.collections and given.name not in scope.collections:
        return f"the collection {given.name!r} is not yours to describe"
    if known is not None and known.root is not None:
        return f"the collection {given.name!r} holds the files of {known.root}; it stays as it is"
    if known is not None and Capability.ADMIN not in scope.capabilities:
        return f"describing {given.name!r} anew needs the capability {Capability.ADMIN}"
    return ""


def _joined(old: Draft, new: Draft, *, first: bool) -> Draft:
    """What is held with what comes: nothing is lost, and the same again adds nothing.

    The first row of a file says how the document is called; later ones only fill gaps.
    """
    ahead, behind = (new, old) if first else (old, new)
    return replace(
        old,
        title=ahead.title or behind.title,
        url=ahead.url or behind.url,
        path=ahead.path or behind.path,
        description=ahead.description or behind.description,
        tags=(*old.tags, *new.tags),
        created=min(filter(None, (old.created, new.created)), default=None),
        updated=max(filter(None, (old.updated, new.updated)), default=None),
        used=max(filter(None, (old.used, new.used)), default=None),
        uses=max(old.uses, new.uses),
    )
