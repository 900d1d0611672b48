"""Whose a document is, and who may change it."""

from __future__ import annotations

from dataclasses import replace

from twolane.model.document import Document
from twolane.model.errors import BadDraft, HeldInFile, NotPermitted, NotYours, TwolaneError
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import Stored


def refusal(
    document: Document, before: Stored | None, scope: Scope, rooted: frozenset[str]
) -> TwolaneError | None:
    """Why the scope may not save the document, or None if it may.

    An owner hears the same of everything that they may not see.
    """
    if scope.owner is not None:
        theirs = before is not None and before.document.owner == scope.owner
        if not theirs and (before or document.id.partition("/")[0] in rooted):
            return NotYours("id", document.id)
        moves = before is None or before.document.collection != document.collection
        if moves and document.collection in rooted:
            return NotYours("collection", document.collection)
    if before is None and document.id.partition("/")[0] in rooted:
        return BadDraft(document.id, "id", "ids that begin so belong to files; use another")
    if before is None and document.collection in rooted:
        reason = f"{document.collection!r} holds the files of a folder; choose another"
        return BadDraft(document.id, "collection", reason)
    for name in {document.collection, (before.document if before else document).collection}:
        if name in rooted:
            return HeldInFile(document.id, name)
        if scope.collections and name not in scope.collections:
            return NotPermitted(f"{Capability.WRITE} in the collection {name}")
    return None


def owned(document: Document, scope: Scope) -> Document:
    """The document as that of the scope's owner; somebody else's is refused."""
    if scope.owner is None or document.owner == scope.owner:
        return document
    if document.owner is not None:
        raise NotPermitted(f"{Capability.WRITE} for {document.owner}")
    return replace(document, owner=scope.owner)


def may_see(document: Document, scope: Scope) -> bool:
    """Whether the document is there for the scope."""
    return (scope.owner is None or document.owner == scope.owner) and (
        not scope.collections or document.collection in scope.collections
    )
