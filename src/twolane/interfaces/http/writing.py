"""Writing over HTTP: documents are created, replaced, changed, deleted; tags get other names."""

from __future__ import annotations

import json
import re
import secrets
from functools import partial
from urllib.parse import quote

from twolane.interfaces.http.documents import etag_of
from twolane.interfaces.http.endpoints import Call, Reply, endpoint
from twolane.interfaces.http.parameters import Deletion, DocumentId, TagId
from twolane.interfaces.http.problems import (
    CHANGED,
    CONFLICT,
    KEY_REUSED,
    NOT_FOUND,
    HttpProblem,
    problem_of,
)
from twolane.interfaces.wire import bodies
from twolane.interfaces.wire.documents import SavedDocuments, saved_documents
from twolane.interfaces.wire.shape import builtins
from twolane.model.document import digest
from twolane.model.draft import Changes, Once, Saved
from twolane.model.errors import BadInput, Conflict
from twolane.model.scope import Capability

_VERSION = re.compile(r'(?:W/)?"([0-9]{1,9})(?:-[0-9a-f]*)?"')

# A document without any of these and without an id would be found by nothing.
_NAMING = ("title", "text", "url", "description", "summary", "aliases", "arguments")

_writes = partial(endpoint, tag="documents", gives=SavedDocuments, capability=Capability.WRITE)


@_writes(
    "POST",
    "/api/v1/documents",
    "createDocument",
    statuses=(201,),
    problems=(CONFLICT, KEY_REUSED),
    conditions=("Idempotency-Key",),
)
def create(call: Call, body: bodies.NewDocument) -> Reply:
    """Save a new document.

    It can be searched by words when this answers; vectors follow.
    """
    given = body.given()
    if not any(given.get(name) for name in ("id", *_NAMING, "encrypted")):
        raise BadInput(f"nothing names this document; give one of {', '.join(_NAMING)}, or an id")
    saved = call.library.save(
        bodies.draft_of(given.get("id") or secrets.token_hex(12), body),
        scope=call.scope,
        expected_version=0,
        once=_once(call, "createDocument", body),
    )
    return _told(saved, status=201)


@_writes(
    "PUT",
    "/api/v1/documents/{id}",
    "putDocument",
    statuses=(200, 201),
    problems=(CONFLICT, CHANGED),
    conditions=("If-Match", "If-None-Match"),
)
def put(call: Call, given: DocumentId, body: bodies.Replacement) -> Reply:
    """Save a document, or replace it.

    With `If-Match` it is replaced only if it still is what the caller saw.
    """
    version = 0 if call.new else expected(call)
    draft = bodies.draft_of(given.id, body)
    try:
        saved = call.library.save(draft, scope=call.scope, expected_version=version)
    except Conflict as error:
        raise _overtaken(call, error) from error
    return _told(saved, status=201 if saved.created else 200)


@_writes(
    "PATCH",
    "/api/v1/documents/{id}",
    "changeDocument",
    problems=(NOT_FOUND, CONFLICT, CHANGED),
    conditions=("If-Match",),
)
def patch(call: Call, given: DocumentId, body: bodies.DocumentChange) -> Reply:
    """Change parts of a document, or restore it.

    With `If-Match` it is changed only if it still is what the caller saw.
    """
    scope, version = call.scope, expected(call)
    said = body.given()
    parts = set(said) - {"deleted"}
    if said.get("deleted") and parts:
        raise BadInput("a document is deleted or changed, not both; send two requests")
    try:
        if parts:
            saved = call.library.revise(
                given.id,
                partial(bodies.changed, body=body),
                scope=scope,
                expected_version=version,
                deleted="deleted" in said,
            )
        elif body.deleted:
            (saved,) = call.library.delete(given.id, scope=scope, expected_version=version)
            return Reply(saved_documents([saved]))
        else:
            (saved,) = call.library.restore(given.id, scope=scope, expected_version=version)
    except Conflict as error:
        raise _overtaken(call, error) from error
    return _told(saved)


@_writes(
    "DELETE",
    "/api/v1/documents/{id}",
    "deleteDocument",
    problems=(NOT_FOUND, CONFLICT, CHANGED),
    conditions=("If-Match",),
)
def delete(call: Call, given: Deletion) -> Reply:
    """Delete a document; it can be restored unless it is purged."""
    if given.purge:
        return Reply(saved_documents(call.library.purge(given.id, scope=call.scope)))
    try:
        saved = call.library.delete(given.id, scope=call.scope, expected_version=expected(call))
    except Conflict as error:
        raise _overtaken(call, error) from error
    return Reply(saved_documents(saved))


@_writes(
    "POST",
    "/api/v1/bulk",
    "bulk",
    problems=(NOT_FOUND, CONFLICT, KEY_REUSED),
    conditions=("Idempotency-Key",),
)
def bulk(call: Call, body: bodies.Bulk) -> Reply:
    """Save, delete, restore and archive many documents.

    All of the changes are made, or none.
    """
    lists = body.given()
    drafts = tuple(bodies.draft_of(one.id, one) for one in lists.pop("save", ()))
    done = call.library.change_all(
        Changes(save=drafts, **lists), scope=call.scope, once=_once(call, "bulk", body)
    )
    return Reply(saved_documents(done))


@_writes("PATCH", "/api/v1/tags/{tag}", "renameTag", problems=(NOT_FOUND, CONFLICT))
def rename_tag(call: Call, given: TagId, body: bodies.TagName) -> Reply:
    """Give a tag another name wherever it stands."""
    return Reply(saved_documents(call.library.rename_tag(given.tag, body.name, scope=call.scope)))


def expected(call: Call) -> int | None:
    """The version that the caller last saw, by `If-Match`; None if any will do."""
    if call.if_match is None or call.if_match.strip() == "*":
        return None
    found = _VERSION.fullmatch(call.if_match.strip())
    if found is None:
        raise HttpProblem(CHANGED, "the header If-Match is no ETag of a document")
    return int(found[1])


def _once(call: Call, name: str, body: bodies.Body) -> Once | None:
    """The name of a request that has a key: whoever sends it again is told what became of it."""
    if call.key is None:
        return None
    return Once(call.key, digest(f"{name}\n{json.dumps(builtins(body), sort_keys=True)}"))


def _overtaken(call: Call, error: Conflict) -> HttpProblem:
    """A conflict with what the caller made a condition has a status of its own."""
    problem = problem_of(error)
    conditional = call.if_match is not None or call.new
    return HttpProblem(CHANGED, problem.detail) if conditional else problem


def _told(saved: Saved, *, status: int = 200) -> Reply:
    """What became of a document, where it is, and the ETag for the next change.

    Nothing is read for it: who may only write is told the same, and nothing can fail any more.
    """
    headers = {"Location": f"/api/v1/documents/{quote(saved.id, safe='')}"}
    return Reply(saved_documents([saved]), status, etag_of(saved), headers=headers)


ENDPOINTS = (create, put, patch, delete, bulk, rename_tag)
