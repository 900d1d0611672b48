"""Whose a document is, and who may change it."""

from __future__ import annotations

from dataclasses import replace

from twolane.errors import BadDraft, HeldInFile, IdTaken, NotPermitted, TwolaneError
from twolane.model import Document
from twolane.ports import Stored
from twolane.scopes import Capability, Scope


def refusal(
    document: Document, before: Stored | None, scope: Scope, rooted: frozenset[str]
) -> TwolaneError | None:
    """Why the scope may not save the document, or None if it may."""
    if before and scope.owner is not None and before.document.owner != scope.owner:
        return IdTaken(document.id)
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
