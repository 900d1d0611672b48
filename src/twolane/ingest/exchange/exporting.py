"""Collections and documents as lines of JSON, which an import reads back without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from twolane.ingest.exchange.collection_rows import written_collection
from twolane.ingest.exchange.json_rows import written
from twolane.model.draft import Draft
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import Among, DocumentStore


def exported_collections(documents: DocumentStore, scope: Scope) -> Iterator[str]:
    """A line for each collection that the scope names, or for all, by name."""
    require(scope, Capability.SEARCH)
    for one in documents.collections(scope):
        if not scope.collections or one.name in scope.collections:
            yield f"{written_collection(one)}\n"


def exported(
    documents: DocumentStore,
    scope: Scope,
    *,
    batch: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[str]:
    """A line for each document in scope that is not deleted, hidden ones too, by id."""
    require(scope, Capability.SEARCH)
    ids = [one.id for one in documents.list(scope, among=Among.KEPT)]
    for at in range(0, len(ids), batch):
        held = documents.get(ids[at : at + batch])
        for id in ids[at : at + batch]:
            if id in held:
                yield f"{written(Draft.of(held[id].document))}\n"
        progress(min(at + batch, len(ids)), len(ids))
