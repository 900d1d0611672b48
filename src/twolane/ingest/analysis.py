"""Analysis: a document's passages, languages and stems, made once, the same for every store.

This is the slow part of writing, and it needs nothing but a file or a draft and a few settings, so
that other processes can do it (`twolane.ingest.parallel`).
"""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote

from twolane.ingest.chunking import (
    CHUNKER,
    SMALLEST,
    chunk_document,
    estimate_tokens,
    plain,
)
from twolane.ingest.chunking import without_boilerplate as chunks_without_boilerplate
from twolane.ingest.drafting import Drafted, drafted
from twolane.ingest.parsing.markdown import Parsed, parse_note
from twolane.model.document import PASSAGE_BREAK, Chunk, Document, Kind, Prepared, Stems, digest
from twolane.model.draft import Draft
from twolane.model.errors import BadDraft
from twolane.model.problem import Problem, ProblemCode
from twolane.ports.documents import DocumentStore
from twolane.settings import Settings
from twolane.text.detection import language_of
from twolane.text.shingles import sketch
from twolane.text.tokens import only_stemmed_as, stream

# Raised when stems or passages of the same text change, so that unchanged files are done again.
ANALYSIS = "7"


def prepare(document: Document, settings: Settings) -> Prepared:
    """Analyse a document: its passages, its languages and its stems; none of what is encrypted."""
    if document.encrypted:
        return Prepared(document, (), Stems(), analyzer_version=analyzer_version(settings))
    candidates, usual = settings.index.languages, _usual_language(document, settings)
    chunks = chunk_document(
        document,
        size=_chunk_size(document.body, settings),
        overlap=settings.index.chunk_overlap,
        breadcrumb=settings.experiment.breadcrumb,
        # What stands beside an empty body was looked at above.
        language_of=(
            (lambda text: language_of(text, candidates, usual))
            if document.body
            else (lambda _: usual)
        ),
    )
    only = only_stemmed_as(settings.experiment.stemming)
    spoken = only or usual
    stems = Stems(
        title=stream(document.title, spoken),
        aliases=stream("\n".join(document.aliases), spoken),
        tags="".join(stream(tag) for tag in document.tags),
        headings=stream("\n".join(heading.text for heading in document.headings), spoken),
        description=stream(
            "\n".join((document.description, document.summary, *document.arguments)), spoken
        ),
        url=stream(unquote(document.url) if document.url else "", spoken),
        body=_body_stream(document.body, chunks, only),
    )
    return Prepared(
        document,
        chunks,
        stems,
        analyzer_version=analyzer_version(settings),
        sketch=sketch(stems.body),
    )


def reworded(
    document: Document, chunks: Sequence[Chunk], settings: Settings, boilerplate: Container[int]
) -> tuple[Chunk, ...]:
    """The passages of a document as they are embedded without this boilerplate."""

    def speech(text: str, usual: str | None) -> str | None:
        # Most passages hold none, and then nobody asks.
        around = usual or _usual_language(document, settings)
        return language_of(text, settings.index.languages, around)

    return chunks_without_boilerplate(
        document, chunks, boilerplate, breadcrumb=settings.experiment.breadcrumb, language_of=speech
    )


def boilerplate_keys(documents: DocumentStore, settings: Settings) -> frozenset[int]:
    """The keys of lines that are left out of what is embedded; none where that is switched off."""
    return documents.boilerplate().keys if settings.ranking.boilerplate else frozenset()


def without_boilerplate(
    prepared: Prepared, settings: Settings, boilerplate: frozenset[int]
) -> Prepared:
    """The document with its passages as they are embedded without this boilerplate."""
    if not boilerplate:
        return prepared
    chunks = reworded(prepared.document, prepared.chunks, settings, boilerplate)
    return replace(prepared, chunks=chunks)


def analyzer_version(settings: Settings) -> str:
    """A name for how documents are analysed under these settings."""
    return digest(
        f"{ANALYSIS} {CHUNKER} {settings.index.chunk_tokens} {settings.index.chunk_overlap} "
        f"{settings.experiment.chunk_characters} {settings.experiment.breadcrumb} "
        f"{settings.experiment.stemming} {' '.join(settings.index.languages)}"
    )


def _usual_language(document: Document, settings: Settings) -> str | None:
    opening = plain(document.body[:4000]) or f"{document.description}\n{document.summary}"
    return language_of(f"{document.title}\n{opening}", settings.index.languages)


def _chunk_size(body: str, settings: Settings) -> int:
    """The size of a passage in tokens; characters are worth what they cost in this text."""
    if not settings.experiment.chunk_characters or not body:
        return settings.index.chunk_tokens
    worth = estimate_tokens(body) / len(body)
    return max(SMALLEST, round(settings.experiment.chunk_characters * worth))


def _body_stream(body: str, chunks: tuple[Chunk, ...], only: str | None) -> str:
    """The body's stems, each passage in its own language, overlaps counted once.

    A break stands between passages, so that what stands in one of them can be told.
    """
    pieces = []
    end = 0
    for chunk in chunks:
        pieces.append(stream(body[max(end, chunk.start) : chunk.end], only or chunk.language))
        end = max(end, chunk.end)
    return PASSAGE_BREAK.join(pieces)


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


def analyze_file(task: FileTask, settings: Settings) -> Parsed:
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
        return Parsed(None, (problem,))
    return replace(parsed, prepared=ready)


class DraftTask(NamedTuple):
    """A draft; with `ahead` it is analysed before anybody knows whether it is to be stored."""

    draft: Draft
    ahead: bool = False

    @property
    def size(self) -> int:
        """How much text there is, in characters, as far as it is text."""
        return len(str(self.draft.body)) + len(str(self.draft.description))


def analyze_draft(task: DraftTask, settings: Settings) -> Drafted | BadDraft:
    """Check a draft, and analyse it if that is wanted; what goes wrong is its own problem."""
    try:
        done = drafted(task.draft, most_bytes=settings.index.max_file_bytes)
        return replace(done, prepared=prepare(done.document, settings)) if task.ahead else done
    except BadDraft as error:
        return error
    except Exception as error:
        log.warning("a document could not be analysed", exc_info=error)
        return unprepared(str(task.draft.id), error)


def unprepared(id: str, error: Exception) -> BadDraft:
    """Why a document is not saved whose analysis raised something unforeseen."""
    return BadDraft(id, "body", _why(error))


def _why(error: Exception) -> str:
    return f"could not be analysed ({type(error).__name__}: {error}); please report this"
