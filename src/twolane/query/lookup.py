"""Which document a reference names: an id, a path, a URL, a unique title or a unique alias.

The ending of a path may be left out, as in links between notes.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from twolane.model.document import Document
from twolane.model.errors import AmbiguousDocument, NoSuchDocument
from twolane.model.scope import Scope
from twolane.ports.documents import DocumentStore
from twolane.ports.lexical import LexicalIndex
from twolane.text.names import EXTENSIONS, loose
from twolane.text.tokens import fold

# A name that is like another one shares so many letters in a row with it somewhere.
_PIECE = 4
# More names than this are not compared, and longer ones only by their beginning.
_MOST_NAMES = 200
_LONGEST = 80
# Below this likeness, two names have little in common.
_LIKE = 0.7


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


def near_names(index: LexicalIndex, reference: str, scope: Scope) -> list[str]:
    """At most three titles or paths in scope that are spelled much like the reference."""
    letters = loose(reference)[:_LONGEST]
    pieces = [[letters[at : at + _PIECE]] for at in range(max(0, len(letters) - _PIECE) + 1)]
    names: dict[str, str] = {}
    for one in index.named(pieces, scope, limit=_MOST_NAMES):
        file = (one.path or "").rpartition("/")[2]
        for name in filter(None, (one.title, one.path, file, *one.aliases)):
            names.setdefault(fold(name), name)
    close = get_close_matches(fold(reference), names, n=3, cutoff=_LIKE)
    return [names[one] for one in close]


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
