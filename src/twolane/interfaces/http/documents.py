"""`/api/documents`, `/api/collections` and `/api/tags`: what the library holds."""

from __future__ import annotations

from twolane.interfaces import http_wire
from twolane.interfaces.http import schemas
from twolane.interfaces.http.endpoints import Call, Endpoint, Parameter, Reply
from twolane.interfaces.http.problems import AMBIGUOUS, NOT_FOUND
from twolane.interfaces.http.searching import state
from twolane.model import Document
from twolane.scopes import Capability

ID = Parameter(
    "id",
    "The document's id, percent-encoded; for reading also its path, URL, unique title or alias.",
    required=True,
    in_path=True,
    example="notes/garden/Tomatoes.md",
)


def read(call: Call) -> Reply:
    """A document with its text, headings and passages."""
    document = call.library.document(call.given["id"], scope=call.named)
    link = call.library.links([document], roots=call.may(Capability.ADMIN)).get(document.id)
    said = http_wire.whole_document_json(document, call.library.chunks(document), link)
    return Reply(said, etag=etag_of(document))


def etag_of(document: Document) -> str:
    """The name of a document's state; another one after every change."""
    return f'"{document.version}-{document.content_hash}"'


def collections(call: Call) -> Reply:
    """All collections, with how many documents of each the caller can see."""
    counts = call.library.facets(scope=call.scope).collections
    said = http_wire.collections_json(
        call.library.collections(), counts, roots=call.may(Capability.ADMIN)
    )
    return Reply(said)


def tags(call: Call) -> Reply:
    """All tags of documents that the caller can see."""
    return Reply(http_wire.tags_json(call.library.facets(scope=call.scope).tags))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/documents/{id}",
        "readDocument",
        "Read a document",
        read,
        parameters=(ID,),
        gives={200: schemas.DOCUMENT},
        problems=(NOT_FOUND, AMBIGUOUS),
    ),
    Endpoint(
        "GET",
        "/api/collections",
        "collections",
        "List the collections",
        collections,
        gives={200: schemas.COLLECTIONS},
        state=state,
    ),
    Endpoint(
        "GET",
        "/api/tags",
        "tags",
        "List the tags, the most frequent first",
        tags,
        gives={200: schemas.TAGS},
        state=state,
    ),
)
