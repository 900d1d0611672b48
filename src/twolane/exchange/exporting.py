"""Collections and documents as lines of JSON, which an import reads back without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from twolane.drafts import Draft
from twolane.exchange.collection_rows import written_collection
from twolane.exchange.json_rows import written
from twolane.permissions import require
from twolane.ports import Store
from twolane.scopes import Capability, Scope


def exported_collections(store: Store, scope: Scope) -> Iterator[str]:
    """A line for each collection that the scope names, or for all, by name."""
    require(scope, Capability.SEARCH)
    for one in store.collections():
        if not scope.collections or one.name in scope.collections:
            yield f"{written_collection(one)}\n"


def exported(
    store: Store,
    scope: Scope,
    *,
    batch: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[str]:
    """A line for each document in scope that is not deleted, hidden ones too, by id."""
    require(scope, Capability.SEARCH)
    ids = store.inventory(scope, deleted=False)
    for at in range(0, len(ids), batch):
        held = store.stored(ids[at : at + batch])
        for id in ids[at : at + batch]:
            if id in held:
                yield f"{written(Draft.of(held[id].document))}\n"
        progress(min(at + batch, len(ids)), len(ids))
