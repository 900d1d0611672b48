"""The terms that documents hold, as repairing slips asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from twolane.model.scope import Scope, Word
from twolane.ports.lexical import LexicalIndex, Likeness

# So many terms that are like another are looked at; what comes after them is hardly meant.
_MOST = 1000


class Vocabulary:
    """The terms of the documents that the scope's owner may see."""

    def __init__(self, lexical: LexicalIndex, scope: Scope) -> None:
        self._lexical = lexical
        self._scope = scope

    def known(self, terms: Iterable[str]) -> list[str]:
        """Those of the terms that some document holds, in their order."""
        wanted = tuple(terms)
        word = Word("", wanted)
        found = self._lexical.document_frequencies([word], self._scope).document_frequency
        return [term for term in wanted if found[term]]

    def similar(
        self, term: str, likeness: Likeness, *, edits: int = 1, limit: int = _MOST
    ) -> list[str]:
        """The terms that are like this one, likest first."""
        return self._lexical.similar_terms(term, self._scope, likeness, edits=edits, limit=limit)
