"""Writing over HTTP: documents are created, replaced, changed, deleted; tags get other names."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from twolane.drafts import Draft, Saved
from twolane.errors import BadInput, Conflict
from twolane.interfaces import draft_wire, writing_wire
from twolane.interfaces.http import body_schemas, schemas
from twolane.interfaces.http.documents import ID, etag_of
from twolane.interfaces.http.endpoints import Call, Endpoint, Parameter, Reply, Type
from twolane.interfaces.http.problems import (
    CHANGED,
    CONFLICT,
    NOT_FOUND,
    Refused,
    refusal,
)
from twolane.scopes import Capability

if TYPE_CHECKING:
    from twolane.model import Document

_VERSION = re.compile(r'(?:W/)?"([0-9]{1,9})(?:-[0-9a-f]*)?"')

# A document without any of these and without an id would be found by nothing.
_NAMING = ("title", "text", "url", "description", "summary", "aliases", "arguments")


def create(call: Call) -> Reply:
    """Save a new document; an id that is there already is a conflict."""
    if not any(call.body.get(name) for name in ("id", *_NAMING, "encrypted")):
        raise BadInput(f"nothing names this document; give one of {', '.join(_NAMING)}, or an id")
    id = call.body.get("id") or secrets.token_hex(12)
    saved = call.library.save(
        draft_wire.draft_of(id, call.body), scope=call.scope, expected_version=0
    )
    return _told(call, saved, status=201)


def put(call: Call) -> Reply:
    """Save a document under an id, whether or not there is one."""
    draft = draft_wire.draft_of(call.given["id"], call.body)
    version = 0 if call.new else expected(call)
    try:
        saved = call.library.save(draft, scope=call.scope, expected_version=version)
    except Conflict as error:
        raise _overtaken(call, error) from error
    return _told(call, saved, status=201 if saved.created else 200)


def patch(call: Call) -> Reply:
    """Change parts of a document and leave the others."""
    id, body = call.given["id"], call.body
    version = expected(call)
    try:
        if body.get("deleted") is False:
            (saved,) = call.library.restore(id, scope=call.scope, expected_version=version)
            version = None
        elif body.get("deleted") is True:
            (saved,) = call.library.delete(id, scope=call.scope, expected_version=version)
            return Reply(writing_wire.saved_json([saved]))
        if set(body) - {"deleted"}:
            held = exactly(call, id)
            # What is changed was changed now, unless the body says when.
            draft = draft_wire.changed(replace(Draft.of(held), updated=None), body)
            saved = call.library.save(
                draft,
                scope=call.scope,
                expected_version=held.version if version is None else version,
            )
    except Conflict as error:
        raise _overtaken(call, error) from error
    return _told(call, saved)


def delete(call: Call) -> Reply:
    """Take a document out of everything; with `purge`, for good."""
    id = call.given["id"]
    if call.given["purge"]:
        return Reply(writing_wire.saved_json(call.library.purge(id, scope=call.scope)))
    try:
        saved = call.library.delete(id, scope=call.scope, expected_version=expected(call))
    except Conflict as error:
        raise _overtaken(call, error) from error
    return Reply(writing_wire.saved_json(saved))


def bulk(call: Call) -> Reply:
    """Save, delete, restore, archive, touch many documents: each kind of change is all or none."""
    body, scope = call.body, call.scope
    done: list[Saved] = []
    if body.get("save"):
        drafts = [draft_wire.draft_of(one["id"], one) for one in body["save"]]
        done += call.library.save_all(drafts, scope=scope)
    if body.get("delete"):
        done += call.library.delete(body["delete"], scope=scope)
    if body.get("restore"):
        done += call.library.restore(body["restore"], scope=scope)
    if body.get("archive"):
        done += call.library.archive(body["archive"], scope=scope)
    if body.get("unarchive"):
        done += call.library.unarchive(body["unarchive"], scope=scope)
    if body.get("touch"):
        done += call.library.touch(body["touch"], scope=scope)
    return Reply(writing_wire.saved_json(done))


def rename_tag(call: Call) -> Reply:
    """Give a tag another name wherever it stands, and with it the tags below it."""
    saved = call.library.rename_tag(call.given["tag"], call.body["name"], scope=call.scope)
    return Reply(writing_wire.saved_json(saved))


def expected(call: Call) -> int | None:
    """The version that the caller last saw, by `If-Match`; None if any will do."""
    if call.if_match is None or call.if_match.strip() == "*":
        return None
    found = _VERSION.fullmatch(call.if_match.strip())
    if found is None:
        raise Refused(CHANGED, "the header If-Match is no ETag of a document")
    return int(found[1])


def exactly(call: Call, id: str) -> Document:
    """The document with this very id: a change must not hit what only has the same title."""
    held = call.library.document(id, scope=call.named)
    if held.id != id:
        raise Refused(NOT_FOUND, f"no document has the id {id[:200]!r}; do you mean {held.id!r}?")
    return held


def _overtaken(call: Call, error: Conflict) -> Refused:
    """A conflict with what the caller made a condition has a status of its own."""
    refused = refusal(error)
    conditional = call.if_match is not None or call.new
    return Refused(CHANGED, refused.detail) if conditional else refused


def _told(call: Call, saved: Saved, *, status: int = 200) -> Reply:
    """What became of a document, where it is, and the ETag for the next change."""
    headers = {"Location": f"/api/documents/{quote(saved.id, safe='')}"}
    etag = None
    try:
        etag = etag_of(call.library.document(saved.id, scope=call.named))
    except BadInput:
        # It can be saved so that it cannot be found, and then it cannot be read here, either.
        etag = f'"{saved.version}"'
    return Reply(writing_wire.saved_json([saved]), status, etag, headers=headers)


_CHANGING = (NOT_FOUND, CONFLICT)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/documents",
        "createDocument",
        "Save a new document",
        create,
        capability=Capability.WRITE,
        takes=body_schemas.DRAFT,
        gives={201: schemas.SAVED},
        problems=(CONFLICT,),
        description="It can be searched by words when this answers; vectors follow.",
    ),
    Endpoint(
        "PUT",
        "/api/documents/{id}",
        "putDocument",
        "Save a document, or replace it",
        put,
        capability=Capability.WRITE,
        parameters=(ID,),
        takes=body_schemas.REPLACEMENT,
        gives={200: schemas.SAVED, 201: schemas.SAVED},
        problems=(CONFLICT, CHANGED),
        conditions=("If-Match", "If-None-Match"),
        description="With `If-Match` it is replaced only if it still is what the caller saw.",
    ),
    Endpoint(
        "PATCH",
        "/api/documents/{id}",
        "changeDocument",
        "Change parts of a document, or restore it",
        patch,
        capability=Capability.WRITE,
        parameters=(ID,),
        takes=body_schemas.CHANGE,
        gives={200: schemas.SAVED},
        problems=(*_CHANGING, CHANGED),
        conditions=("If-Match",),
        description="With `If-Match` it is changed only if it still is what the caller saw.",
    ),
    Endpoint(
        "DELETE",
        "/api/documents/{id}",
        "deleteDocument",
        "Delete a document; it can be restored unless it is purged",
        delete,
        capability=Capability.WRITE,
        parameters=(
            ID,
            Parameter("purge", "Whether it goes for good.", Type.TRUTH, default=False),
        ),
        gives={200: schemas.SAVED},
        problems=(*_CHANGING, CHANGED),
        conditions=("If-Match",),
    ),
    Endpoint(
        "POST",
        "/api/bulk",
        "bulk",
        "Save, delete, restore and archive many documents",
        bulk,
        capability=Capability.WRITE,
        takes=body_schemas.BULK,
        gives={200: schemas.SAVED},
        problems=_CHANGING,
        description="Each kind of change is made for all of its documents or for none.",
    ),
    Endpoint(
        "PATCH",
        "/api/tags/{tag}",
        "renameTag",
        "Give a tag another name wherever it stands",
        rename_tag,
        capability=Capability.WRITE,
        parameters=(Parameter("tag", "The tag.", required=True, in_path=True, example="garden"),),
        takes=body_schemas.TAG,
        gives={200: schemas.SAVED},
        problems=_CHANGING,
    ),
)
