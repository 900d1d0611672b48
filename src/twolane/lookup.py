"""Which document a reference names: an id, a path, a URL, a unique title or a unique alias.

The ending of a path may be left out, as in links between notes.
"""

from __future__ import annotations

from dataclasses import replace

from twolane.errors import AmbiguousDocument, NoSuchDocument
from twolane.linking import EXTENSIONS
from twolane.model import Document
from twolane.ports import Documents
from twolane.scopes import Scope


def named(documents: Documents, reference: str, scope: Scope) -> Document:
    """The one document in scope that the reference names; else an error that says what to do."""
    spellings = (reference, *(f"{reference}{ending}" for ending in EXTENSIONS))
    found = next(filter(None, (documents.resolve(one, scope) for one in spellings)), [])
    found = found or documents.aliased(reference, scope)
    if len(found) > 1:
        raise AmbiguousDocument(reference, found)
    document = documents.document(found[0], scope) if found else None
    if document is None:
        raise NoSuchDocument(reference)
    return document


def meant(documents: Documents, reference: str, scope: Scope) -> Document:
    """The document that the reference names, whether or not the scope's filters let it pass.

    Who names a document means it: only the owner decides what may be named.
    If it names several, the filters may tell which one is meant.
    """
    anywhere = Scope(owner=scope.owner, capabilities=scope.capabilities, archived=True)
    try:
        return named(documents, reference, anywhere)
    except AmbiguousDocument as several:
        here = replace(scope, archived=True, clause=None)
        found = [id for id in several.candidates if documents.document(id, here)]
        if len(found) != 1:
            raise
        return named(documents, found[0], anywhere)
