"""Preparing documents: analysed once, the same for every store.

This is the slow part of writing, and it needs nothing but the document and a few settings;
`preparing.in_order` has other processes do it where there is much of it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from urllib.parse import unquote

from twolane.chunking import (
    CHUNKER,
    SMALLEST,
    chunk_document,
    estimate_tokens,
    plain,
    without_forms,
)
from twolane.copies import sketch
from twolane.language import only_stemmed_as, stream
from twolane.language.detection import language_of
from twolane.model import Chunk, Document, Prepared, Stems, digest
from twolane.settings import Settings

# Raised when stems or passages of the same text change, so that unchanged files are done again.
ANALYSIS = "3"

# All that `prepare` and `drafted` look at; a process that prepares is told these.
PREPARING_SETTINGS = (
    "languages",
    "chunk_tokens",
    "chunk_overlap",
    "chunk_characters",
    "breadcrumb",
    "stemming",
    "max_file_bytes",
)


def prepare(document: Document, settings: Settings) -> Prepared:
    """Analyse a document: its passages, its languages and its stems; none of what is encrypted."""
    if document.encrypted:
        return Prepared(document, (), Stems(), recipe=recipe(settings))
    candidates, usual = settings.languages, _usual_language(document, settings)
    chunks = chunk_document(
        document,
        size=_chunk_size(document.body, settings),
        overlap=settings.chunk_overlap,
        breadcrumb=settings.breadcrumb,
        # What stands beside an empty body was looked at above.
        language_of=(
            (lambda text: language_of(text, candidates, usual))
            if document.body
            else (lambda _: usual)
        ),
    )
    only = only_stemmed_as(settings.stemming)
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
    return Prepared(document, chunks, stems, recipe=recipe(settings), sketch=sketch(stems.body))


def reworded(
    document: Document, chunks: Sequence[Chunk], settings: Settings, forms: Container[int]
) -> tuple[Chunk, ...]:
    """The passages of a document as they are embedded without these forms."""

    def speech(text: str, usual: str | None) -> str | None:
        # Most passages hold no form, and then nobody asks.
        around = usual or _usual_language(document, settings)
        return language_of(text, settings.languages, around)

    return without_forms(
        document, chunks, forms, breadcrumb=settings.breadcrumb, language_of=speech
    )


def recipe(settings: Settings) -> str:
    """A name for how documents are analysed under these settings."""
    return digest(
        f"{ANALYSIS} {CHUNKER} {settings.chunk_tokens} {settings.chunk_overlap} "
        f"{settings.chunk_characters} {settings.breadcrumb} {settings.stemming} "
        f"{' '.join(settings.languages)}"
    )


def _usual_language(document: Document, settings: Settings) -> str | None:
    opening = plain(document.body[:4000]) or f"{document.description}\n{document.summary}"
    return language_of(f"{document.title}\n{opening}", settings.languages)


def _chunk_size(body: str, settings: Settings) -> int:
    """The size of a passage in tokens; characters are worth what they cost in this text."""
    if not settings.chunk_characters or not body:
        return settings.chunk_tokens
    worth = estimate_tokens(body) / len(body)
    return max(SMALLEST, round(settings.chunk_characters * worth))


def _body_stream(body: str, chunks: tuple[Chunk, ...], only: str | None) -> str:
    """The body's stems, each passage in its own language, overlaps counted once."""
    pieces = []
    end = 0
    for chunk in chunks:
        pieces.append(stream(body[max(end, chunk.start) : chunk.end], only or chunk.language))
        end = max(end, chunk.end)
    return "".join(pieces)
