"""Changes that belong together, collected before any of them is made."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.model.document import Amendment, Batch, amended
from twolane.ports.documents import Change, DocumentStore, PutCollection, Stored


class Staged:
    """Documents as they will be once the changes are made; until `commit` nobody else sees any."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._changes: list[Change] = []
        # None: deleted for good.
        self._after: dict[str, Stored | None] = {}
        self._added: set[str] = set()

    def get(self, ids: Sequence[str]) -> dict[str, Stored]:
        """The documents with these ids, hidden or not."""
        found = self._documents.get([id for id in ids if id not in self._after])
        staged = {id: self._after[id] for id in ids if id in self._after}
        return found | {id: one for id, one in staged.items() if one is not None}

    def collections(self) -> set[str]:
        """The names of all collections."""
        return {one.name for one in self._documents.collections()} | self._added

    def add(self, *changes: Change) -> None:
        """Change documents or add collections, after all changes before."""
        for change in changes:
            if isinstance(change, Batch):
                self._after |= dict.fromkeys((*change.deletes, *change.purges))
                for one in change.upserts:
                    self._after[one.document.id] = Stored(one.document, one.analyzer_version)
            elif isinstance(change, Amendment):
                held = self.get([change.id])[change.id]
                self._after[change.id] = Stored(
                    amended(held.document, change), held.analyzer_version
                )
            elif isinstance(change, PutCollection):
                self._added.add(change.collection.name)
        self._changes += changes

    def commit(self, *others: Change) -> None:
        """Make all changes and the others, or none; Conflict if somebody else was quicker."""
        self._documents.apply(*self._changes, *others)
