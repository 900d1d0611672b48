"""Whether a document is in a scope."""

from __future__ import annotations

from twolane.model import deadlines
from twolane.model.document import Document, Prepared
from twolane.model.scope import Scope, Trait
from twolane.stores.memory.filtering import happened, is_among, passes
from twolane.stores.memory.matching import meets


def in_scope(prepared: Prepared, scope: Scope) -> bool:
    """Whether the document counts for this scope; a hidden one never does.

    TooSlow if the time of the question is over: whoever looks through all documents comes by here.
    """
    deadlines.check()
    document = prepared.document
    return (
        not document.hidden
        and (scope.archived or not document.archived)
        and is_owned(document, scope)
        and (not scope.collections or document.collection in scope.collections)
        and (not scope.kinds or document.kind in scope.kinds)
        and (not scope.documents or document.id in scope.documents)
        and (not scope.languages or is_among(prepared, Trait.LANGUAGE, scope.languages))
        and all(is_among(prepared, Trait.TAG, (tag,)) for tag in scope.tags)
        and not is_among(prepared, Trait.TAG, scope.without_tags)
        and (not scope.paths or is_among(prepared, Trait.PATH, scope.paths))
        and _dated(prepared, scope)
        and all(passes(prepared, one) for one in scope.filters)
        and (scope.clause is None or meets(prepared, scope.clause))
    )


def is_owned(document: Document, scope: Scope) -> bool:
    """Whether the document is the scope's owner's, or the scope has none."""
    return scope.owner is None or document.owner == scope.owner


def _dated(prepared: Prepared, scope: Scope) -> bool:
    if scope.updated_from is None and scope.updated_before is None:
        return True
    return happened(prepared.document.updated, scope.updated_from, scope.updated_before)
