"""What there is to prepare, a file or a draft, and what comes of it.

A kind of work knows how to do a task, and how tasks and outcomes travel between processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from twolane.drafting import Drafted, drafted
from twolane.drafts import Draft
from twolane.errors import BadDraft
from twolane.model import Kind, Prepared, Problem, ProblemCode
from twolane.parsing.markdown import Parsed, parse_note
from twolane.preparing import prepare
from twolane.preparing.packing import (
    document_of,
    draft_of,
    packed_analysis,
    packed_document,
    packed_draft,
    prepared_of,
)
from twolane.settings import Settings

TaskT = TypeVar("TaskT")
OutcomeT = TypeVar("OutcomeT")


class Work(Protocol[TaskT, OutcomeT]):
    """One kind of work; what was packed is what was there, whichever process unpacks it."""

    name: str

    def weight(self, task: TaskT) -> int:
        """How much text there is, roughly, in characters or bytes."""

    def do(self, task: TaskT, settings: Settings) -> OutcomeT:
        """Prepare one; raises what goes wrong."""

    def failed(self, task: TaskT, error: Exception) -> OutcomeT:
        """What comes of a task that raised: a problem of its own, never the end of a run."""

    def packed_task(self, task: TaskT) -> Any:
        """The task as values that can be pickled."""

    def task_of(self, packed: Any) -> TaskT:
        """The task that was packed."""

    def packed_outcome(self, outcome: OutcomeT) -> Any:
        """The outcome as values that can be pickled."""

    def outcome_of(self, packed: Any) -> OutcomeT:
        """The outcome that was packed."""


class FileTask(NamedTuple):
    """A file as it was read."""

    data: bytes
    path: str
    collection: str
    modified: datetime
    kind: Kind


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What the file says; prepared unless there is no document or it is not searchable."""

    parsed: Parsed
    prepared: Prepared | None = None


class Files:
    """Reading notes and preparing them."""

    name = "files"

    def weight(self, task: FileTask) -> int:
        """How many bytes there are."""
        return len(task.data)

    def do(self, task: FileTask, settings: Settings) -> FileOutcome:
        """Read and prepare one."""
        parsed = parse_note(
            task.data,
            path=task.path,
            collection=task.collection,
            modified=task.modified,
            kind=task.kind,
        )
        document = parsed.document
        ready = prepare(document, settings) if document and document.searchable else None
        return FileOutcome(parsed, ready)

    def failed(self, task: FileTask, error: Exception) -> FileOutcome:
        """A file that is left out."""
        return FileOutcome(Parsed(None, (Problem(task.path, ProblemCode.INTERNAL, _why(error)),)))

    def packed_task(self, task: FileTask) -> Any:
        """The task as it is."""
        return tuple(task)

    def task_of(self, packed: Any) -> FileTask:
        """The task that was packed."""
        return FileTask(*packed)

    def packed_outcome(self, outcome: FileOutcome) -> Any:
        """The document, the problems and what was made of the document."""
        document = outcome.parsed.document
        problems = [(one.path, one.code, one.reason) for one in outcome.parsed.problems]
        return (
            packed_document(document) if document else None,
            problems,
            packed_analysis(outcome.prepared),
        )

    def outcome_of(self, packed: Any) -> FileOutcome:
        """The outcome that was packed."""
        document, problems, analysis = packed
        found = tuple([Problem(*one) for one in problems])
        if document is None:
            return FileOutcome(Parsed(None, found))
        made = document_of(document)
        return FileOutcome(Parsed(made, found), prepared_of(made, analysis))


class DraftTask(NamedTuple):
    """A draft; with `ahead` it is prepared before anybody knows whether it is to be stored."""

    draft: Draft
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """The document that the draft describes, or why there is none."""

    result: Drafted | BadDraft
    prepared: Prepared | None = None


class Drafts:
    """Checking drafts, and preparing them."""

    name = "drafts"

    def weight(self, task: DraftTask) -> int:
        """How long the text is, as far as it is one."""
        return len(str(task.draft.body)) + len(str(task.draft.description))

    def do(self, task: DraftTask, settings: Settings) -> DraftOutcome:
        """Check one, and prepare it if that is wanted."""
        try:
            done = drafted(task.draft, most_bytes=settings.max_file_bytes)
        except BadDraft as error:
            return DraftOutcome(error)
        return DraftOutcome(done, prepare(done.document, settings) if task.ahead else None)

    def failed(self, task: DraftTask, error: Exception) -> DraftOutcome:
        """A draft that is left out."""
        return DraftOutcome(unprepared(str(task.draft.id), error))

    def packed_task(self, task: DraftTask) -> Any:
        """The draft's fields."""
        return packed_draft(task.draft), task.ahead

    def task_of(self, packed: Any) -> DraftTask:
        """The task that was packed."""
        return DraftTask(draft_of(packed[0]), packed[1])

    def packed_outcome(self, outcome: DraftOutcome) -> Any:
        """The refusal; or the document, the remarks and what was made of the document."""
        done = outcome.result
        if isinstance(done, BadDraft):
            return (done.id, done.field, done.reason), None, (), None
        analysis = packed_analysis(outcome.prepared)
        return None, packed_document(done.document), done.remarks, analysis

    def outcome_of(self, packed: Any) -> DraftOutcome:
        """The outcome that was packed."""
        refusal, document, remarks, analysis = packed
        if refusal is not None:
            return DraftOutcome(BadDraft(*refusal))
        made = document_of(document)
        return DraftOutcome(Drafted(made, remarks), prepared_of(made, analysis))


FILES = Files()
DRAFTS = Drafts()

# By the name that a process is told.
WORKS: dict[str, Work[Any, Any]] = {FILES.name: FILES, DRAFTS.name: DRAFTS}


def unprepared(id: str, error: Exception) -> BadDraft:
    """Why a document is not saved whose analysis raised something unforeseen."""
    return BadDraft(id, "body", _why(error))


def _why(error: Exception) -> str:
    return f"could not be analysed ({type(error).__name__}: {error}); please report this"
