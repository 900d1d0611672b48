"""Whether a document is in a scope."""

from __future__ import annotations

from datetime import UTC, datetime

from twolane.globs import matches_any
from twolane.language import fold
from twolane.model import Document, Prepared
from twolane.scopes import Scope
from twolane.stores.memory.matching import meets


def in_scope(prepared: Prepared, scope: Scope) -> bool:
    """Whether the document counts for this scope; a hidden one never does."""
    document = prepared.document
    return (
        not document.hidden
        and (scope.archived or not document.archived)
        and (scope.owner is None or document.owner == scope.owner)
        and (not scope.collections or document.collection in scope.collections)
        and (not scope.kinds or document.kind in scope.kinds)
        and (not scope.documents or document.id in scope.documents)
        and (not scope.languages or not set(scope.languages).isdisjoint(prepared.languages))
        and all(_tagged(document, tag) for tag in scope.tags)
        and not any(_tagged(document, tag) for tag in scope.without_tags)
        and (not scope.paths or _placed(document, scope))
        and _dated(document, scope)
        and (scope.clause is None or meets(prepared, scope.clause))
    )


def moment(time: datetime) -> datetime:
    """The time with a zone; one without is read as UTC, so that any two can be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _tagged(document: Document, wanted: str) -> bool:
    folded = fold(wanted)
    held = [fold(tag) for tag in document.tags]
    return any(tag == folded or tag.startswith(folded + "/") for tag in held)


def _placed(document: Document, scope: Scope) -> bool:
    return document.path is not None and matches_any(document.path, scope.paths)


def _dated(document: Document, scope: Scope) -> bool:
    if scope.updated_from is None and scope.updated_before is None:
        return True
    if document.updated is None:
        return False
    updated = moment(document.updated)
    if scope.updated_from is not None and updated < moment(scope.updated_from):
        return False
    return scope.updated_before is None or updated < moment(scope.updated_before)
