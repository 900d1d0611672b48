"""Which document a reference names: an id, a path, a URL, a unique title or a unique alias.

The ending of a path may be left out, as in links between notes.
"""

from __future__ import annotations

from dataclasses import replace

from twolane.model.document import Document
from twolane.model.errors import AmbiguousDocument, NoSuchDocument
from twolane.model.scope import Scope
from twolane.ports.documents import DocumentStore
from twolane.text.links import EXTENSIONS


def named(documents: DocumentStore, reference: str, scope: Scope) -> Document:
    """The one document in scope that the reference names; else an error that says what to do."""
    spellings = (reference, *(f"{reference}{ending}" for ending in EXTENSIONS))
    found = documents.resolve(spellings, scope)
    if len(found) > 1:
        raise AmbiguousDocument(reference, found)
    held = documents.get(found, scope)
    if not held:
        raise NoSuchDocument(reference)
    return held[found[0]].document


def meant(documents: DocumentStore, reference: str, scope: Scope) -> Document:
    """The document that the reference names, whether or not the scope's filters let it pass.

    Who names a document means it: only the owner decides what may be named.
    If it names several, the filters may tell which one is meant.
    """
    anywhere = Scope(owner=scope.owner, capabilities=scope.capabilities, archived=True)
    try:
        return named(documents, reference, anywhere)
    except AmbiguousDocument as several:
        here = replace(scope, archived=True, clause=None)
        found = list(documents.get(several.candidates, here, frozenset()))
        if len(found) != 1:
            raise
        return named(documents, found[0], anywhere)
