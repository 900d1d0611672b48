"""What there is to analyse, a file or a draft, and what comes of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from twolane.ingest.analysis import prepare
from twolane.ingest.drafting import Drafted, drafted
from twolane.ingest.parsing.markdown import Parsed, parse_note
from twolane.model.document import Kind, Prepared
from twolane.model.draft import Draft
from twolane.model.errors import BadDraft
from twolane.model.problem import Problem, ProblemCode
from twolane.settings import Settings

log = logging.getLogger("twolane")


class FileTask(NamedTuple):
    """A file as it was read."""

    data: bytes
    path: str
    collection: str
    modified: datetime
    kind: Kind

    @property
    def size(self) -> int:
        """How much text there is, in bytes."""
        return len(self.data)


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What the file says; prepared unless there is no document or it is not searchable."""

    parsed: Parsed
    prepared: Prepared | None = None


def analyze_file(task: FileTask, settings: Settings) -> FileOutcome:
    """Read and analyse a note; what goes wrong is a problem of this file alone."""
    try:
        parsed = parse_note(
            task.data,
            path=task.path,
            collection=task.collection,
            modified=task.modified,
            kind=task.kind,
        )
        document = parsed.document
        ready = prepare(document, settings) if document and document.searchable else None
    except Exception as error:
        log.warning("a document could not be analysed", exc_info=error)
        problem = Problem(task.path, ProblemCode.INTERNAL, _why(error))
        return FileOutcome(Parsed(None, (problem,)))
    return FileOutcome(parsed, ready)


class DraftTask(NamedTuple):
    """A draft; with `ahead` it is analysed before anybody knows whether it is to be stored."""

    draft: Draft
    ahead: bool = False

    @property
    def size(self) -> int:
        """How much text there is, in characters, as far as it is text."""
        return len(str(self.draft.body)) + len(str(self.draft.description))


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """The document that the draft describes, or why there is none."""

    result: Drafted | BadDraft
    prepared: Prepared | None = None


def analyze_draft(task: DraftTask, settings: Settings) -> DraftOutcome:
    """Check a draft, and analyse it if that is wanted; what goes wrong is its own problem."""
    try:
        done = drafted(task.draft, most_bytes=settings.index.max_file_bytes)
        return DraftOutcome(done, prepare(done.document, settings) if task.ahead else None)
    except BadDraft as error:
        return DraftOutcome(error)
    except Exception as error:
        log.warning("a document could not be analysed", exc_info=error)
        return DraftOutcome(unprepared(str(task.draft.id), error))


def unprepared(id: str, error: Exception) -> BadDraft:
    """Why a document is not saved whose analysis raised something unforeseen."""
    return BadDraft(id, "body", _why(error))


def _why(error: Exception) -> str:
    return f"could not be analysed ({type(error).__name__}: {error}); please report this"
