"""`/api/v1/documents`, `/api/v1/collections` and `/api/v1/tags`: what the library holds."""

from __future__ import annotations

from twolane.interfaces.http.endpoints import Call, Reply, endpoint
from twolane.interfaces.http.parameters import DocumentId, ExcerptParameters
from twolane.interfaces.http.problems import AMBIGUOUS, NOT_FOUND
from twolane.interfaces.http.searching import state
from twolane.interfaces.wire import documents as wire
from twolane.model.document import Document
from twolane.model.draft import Saved
from twolane.model.scope import Capability


@endpoint(
    "GET",
    "/api/v1/documents/{id}",
    "readDocument",
    tag="documents",
    gives=wire.Document,
    problems=(NOT_FOUND, AMBIGUOUS),
)
def read(call: Call, given: DocumentId) -> Reply:
    """Read a document."""
    document = call.library.document(given.id, scope=call.named)
    link = call.library.links([document], roots=call.may(Capability.ADMIN)).get(document.id)
    at = call.library.embedded_at(document.id, scope=call.scope)
    said = wire.whole_document(document, call.library.chunks(document), link, at)
    return Reply(said, etag=etag_of(document))


@endpoint(
    "GET",
    "/api/v1/excerpt",
    "readExcerpt",
    tag="documents",
    gives=wire.DocumentPart,
    problems=(NOT_FOUND, AMBIGUOUS),
    state=state,
)
def excerpt(call: Call, given: ExcerptParameters) -> Reply:
    """Read a part of a document: lines of its file, or a section."""
    section = given.section[0] if len(given.section) == 1 else given.section
    part = call.library.excerpt(given.doc, section=section, lines=given.lines, scope=call.named)
    links = call.library.links([part.document], roots=call.may(Capability.ADMIN))
    link = links.get(part.document.id)
    at = call.library.embedded_at(part.document.id, scope=call.scope)
    said = wire.document_part(part.document, part.text, part.lines, part.heading, link, at)
    return Reply(said)


def etag_of(document: Document | Saved) -> str:
    """The name of a document's state; another one after every change."""
    return f'"{document.version}-{document.content_hash}"'


@endpoint(
    "GET",
    "/api/v1/collections",
    "collections",
    tag="documents",
    gives=wire.Collections,
    state=state,
)
def collections(call: Call) -> Reply:
    """List the collections."""
    counts = call.library.facets(scope=call.scope).collections
    held = call.library.collections(scope=call.scope)
    return Reply(wire.collections(held, counts, roots=call.may(Capability.ADMIN)))


@endpoint("GET", "/api/v1/tags", "tags", tag="documents", gives=wire.TagList, state=state)
def tags(call: Call) -> Reply:
    """List the tags, the most frequent first."""
    return Reply(wire.tag_list(call.library.facets(scope=call.scope).tags))


ENDPOINTS = (read, excerpt, collections, tags)
