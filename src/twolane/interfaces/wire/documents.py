"""Documents, collections and tags, and what became of changes to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta

from twolane.interfaces.wire.indexing import Embedded
from twolane.interfaces.wire.search import File, Link, file_in, most_first
from twolane.interfaces.wire.shape import (
    Counts,
    Headings,
    Lines,
    Rounded,
    Shape,
    Time,
    plain,
    shape,
)
from twolane.model.document import Kind
from twolane.model.problem import Problem
from twolane.results.excerpts import section_ids

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from twolane.ingest.exchange.rows import ImportReport
    from twolane.library.embedding import Embedded as Embedding
    from twolane.library.fetching import FetchReport
    from twolane.model import document as model
    from twolane.model.draft import Saved as SavedDraft


class DocumentPart(Shape):
    """A document with the part of its text that was asked for."""

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    link: Link
    title: str
    aliases: list[str]
    tags: list[str]
    description: str | None
    summary: str | None
    arguments: list[str]
    properties: dict[str, Any]
    created: Time | None
    updated: Time | None
    used: Time | None
    uses: int
    archived: bool
    embedded_at: Annotated[
        Time | None, Meta(description="When its last passage got a vector, if all have one.")
    ]
    heading: str | None
    lines: Lines | None
    text: Annotated[str, Meta(description="The Markdown source without front matter.")]
    file: File = UNSET


class Heading(Shape):
    """A heading of a document, its line in the file, and its id within the document."""

    level: int
    text: str
    line: int
    id: str


class Passage(Shape):
    """A passage of a document."""

    position: int
    heading: Headings
    lines: Lines
    start: int
    end: int
    language: str | None


class Document(DocumentPart, kw_only=True):
    """A document with its whole text, its headings and its passages."""

    version: int
    headings: list[Heading]
    chunks: Annotated[
        list[Passage],
        Meta(description="The passages; `start` and `end` are offsets into `text`."),
    ]


class Outline(Shape):
    """The headings of a document, in order."""

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    title: str
    headings: list[Heading]


class Collection(Shape):
    """A collection, with how many documents of it the caller can see."""

    name: str
    kind: Kind
    root: Annotated[
        str | None, Meta(description="Its folder on the server, for callers with `admin`.")
    ]
    description: str | None
    documents: int | None


class CollectionDetails(Collection):
    """A collection with the files that count as its own."""

    include: list[str]
    exclude: list[str]


class Collections(Shape):
    """All collections, by name."""

    collections: list[Collection]


class CollectionsDetails(Shape):
    """All collections with their details, by name."""

    collections: list[CollectionDetails]


class RemovedCollection(Shape):
    """What went with a collection."""

    removed: str
    documents: int


class TagCount(Shape):
    """A tag, and how many documents bear it."""

    name: str
    documents: int


class TagList(Shape):
    """The tags, the most frequent first."""

    tags: list[TagCount]


class TagCounts(Shape):
    """Tags with the number of documents that bear them, by name."""

    tags: Counts


class Saved(Shape):
    """What became of a document that a change named."""

    id: str
    version: int
    changed: Annotated[bool, Meta(description="Whether anything is different now.")]
    created: Annotated[bool, Meta(description="Whether it was not there before.")]


class SavedDocuments(Shape):
    """What became of the documents that a change named."""

    documents: list[Saved]


class DeletedDocument(Shape):
    """A deleted document that can be restored."""

    id: str
    title: str


class DeletedDocuments(Shape):
    """The deleted documents that can be restored."""

    deleted: list[DeletedDocument]


class PagesFetched(Shape):
    """How many pages of bookmarks were fetched, and which could not be."""

    fetched: int
    seconds: Rounded
    problems: list[Problem]


class Imported(Shape):
    """What an import did, and what embedding did if it ran."""

    source: str
    added: int
    changed: int
    unchanged: int
    merged: int
    skipped: int
    failed: int
    mended: int
    collections: int
    seconds: Rounded
    problems: list[Problem]
    embedding: Embedded | None
    pages: PagesFetched | None = None


class Exported(Shape):
    """How many documents were written, and where."""

    exported: str
    documents: int


def document_part(
    document: model.Document,
    text: str,
    lines: tuple[int, int] | None,
    heading: str | None = None,
    link: str | None = None,
    embedded_at: datetime | None = None,
    file_of: Callable[[model.Document], Path | None] | None = None,
) -> DocumentPart:
    """A document with a part of its text, and its file where that may be told."""
    said = {
        "text": text,
        "lines": lines,
        "heading": heading,
        "link": link,
        "embedded_at": embedded_at,
        "file": file_in(file_of, document),
    }
    return shape(DocumentPart, document, **_filled(document), **said)


def whole_document(
    document: model.Document,
    chunks: Sequence[model.Chunk],
    link: str | None,
    embedded_at: datetime | None = None,
) -> Document:
    """A document with all that there is of it."""
    last = document.first_line + document.body.removesuffix("\n").count("\n")
    passages = [
        shape(Passage, chunk, heading=chunk.headings, lines=(chunk.first_line, chunk.last_line))
        for chunk in chunks
    ]
    return shape(
        Document,
        document,
        **_filled(document),
        text=document.body,
        lines=(document.first_line, last) if document.body.strip() else None,
        heading=None,
        headings=_headings(document),
        link=link,
        embedded_at=embedded_at,
        chunks=passages,
    )


def _filled(document: model.Document) -> dict[str, Any]:
    """What JSON tells otherwise: null for what is empty, and front matter plainly."""
    return {
        "description": document.description or None,
        "summary": document.summary or None,
        "properties": plain(document.properties),
    }


def outline(document: model.Document) -> Outline:
    """The headings of a document."""
    return shape(Outline, document, headings=_headings(document))


def _headings(document: model.Document) -> list[Heading]:
    ids = section_ids(document.headings)
    return [shape(Heading, one, id=id) for one, id in zip(document.headings, ids, strict=True)]


def collection_details(
    collection: model.Collection, documents: int | None = None
) -> CollectionDetails:
    """A collection, with how many documents it holds if that is known."""
    description = collection.description or None
    return shape(CollectionDetails, collection, description=description, documents=documents)


def collections_details(
    collections: Sequence[model.Collection], counts: Mapping[str, int]
) -> CollectionsDetails:
    """All collections with their details."""
    held = [
        collection_details(collection, counts.get(collection.name, 0)) for collection in collections
    ]
    return CollectionsDetails(collections=held)


def collections(
    held: Sequence[model.Collection], counts: Mapping[str, int], *, roots: bool
) -> Collections:
    """All collections; their folders only if `roots` are told."""
    listed = [
        shape(
            Collection,
            one,
            description=one.description or None,
            documents=counts.get(one.name, 0),
            root=one.root if roots else None,
        )
        for one in held
    ]
    return Collections(collections=listed)


def tag_list(counts: Mapping[str, int]) -> TagList:
    """The tags, the most frequent first."""
    listed = most_first(counts).items()
    return TagList(tags=[TagCount(name=name, documents=count) for name, count in listed])


def saved_documents(saved: Sequence[SavedDraft]) -> SavedDocuments:
    """What became of documents."""
    return SavedDocuments(documents=[shape(Saved, one) for one in saved])


def deleted_documents(gone: Sequence[model.Document]) -> DeletedDocuments:
    """The deleted documents that can be restored."""
    return DeletedDocuments(deleted=[shape(DeletedDocument, one) for one in gone])


def imported(
    report: ImportReport, embedded: Embedding | None, fetched: FetchReport | None = None
) -> Imported:
    """What an import came to."""
    pages = pages_fetched(fetched) if fetched else None
    return shape(Imported, report, source=report.name, embedding=embedded, pages=pages)


def pages_fetched(report: FetchReport) -> PagesFetched:
    """What came of fetching pages."""
    return shape(PagesFetched, report)
