"""The memory store's changes that leave texts alone, and what a writer must see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from twolane.errors import StoreError
from twolane.language import stream
from twolane.model import Amendment, Prepared
from twolane.ports import Stored
from twolane.scopes import Scope
from twolane.stores.memory.scoping import in_scope
from twolane.stores.memory.state import State


class MemoryChanges:
    """The part of the `Documents` port that changes what is there already."""

    _state: State

    def amend(self, amendments: Sequence[Amendment]) -> None:
        """Make all the changes, or none; text, stems and vectors stay as they are."""
        with self._state.lock:
            self._state.demand_versions({one.id: one.version for one in amendments})
            documents = dict(self._state.documents)
            for one in amendments:
                documents[one.id] = _amended(documents[one.id], one)
            self._state.documents = documents
            self._state.changes += bool(amendments)

    def stored(self, ids: Sequence[str]) -> dict[str, Stored]:
        """The documents with these ids, hidden or not."""
        with self._state.lock:
            held = self._state.documents
            return {id: Stored(held[id].document, held[id].recipe) for id in ids if id in held}

    def inventory(self, scope: Scope, *, deleted: bool) -> list[str]:
        """Ids of what the scope names, hidden documents too: those deleted, or the others."""
        with self._state.lock:
            held = sorted(self._state.documents.items())
        return [
            id
            for id, one in held
            if one.document.deleted == deleted and in_scope(_unhidden(one), scope)
        ]

    def rename_collection(self, name: str, new: str) -> None:
        """Give a collection another name, and its files' documents ids that begin with it."""
        with self._state.lock:
            held = self._state
            self._demand(name)
            renamed = {id: _moved(one, name, new) for id, one in held.documents.items()}
            ids = {one.document.id for one in renamed.values()}
            if new in held.collections or len(ids) < len(renamed):
                raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
            held.documents = {one.document.id: one for one in renamed.values()}
            held.collections[new] = replace(held.collections.pop(name), name=new)
            held.ledger[new] = held.ledger.pop(name, {})
            held.changes += 1

    def remove_collection(self, name: str) -> int:
        """Delete a collection with its documents and its ledger."""
        with self._state.lock:
            held = self._state
            self._demand(name)
            kept = {
                id: one for id, one in held.documents.items() if one.document.collection != name
            }
            gone = len(held.documents) - len(kept)
            held.documents = kept
            held.collections.pop(name)
            held.ledger.pop(name, None)
            held.changes += 1
            held.forget_vectors()
            held.forget_forms()
        return gone

    def _demand(self, name: str) -> None:
        if name not in self._state.collections:
            raise StoreError(f"there is no collection {name!r}")


def _amended(prepared: Prepared, change: Amendment) -> Prepared:
    document, stems = prepared.document, prepared.stems
    if change.tags is not None:
        stems = replace(stems, tags="".join(stream(tag) for tag in change.tags))
    changed = replace(
        document,
        archived=document.archived if change.archived is None else change.archived,
        deleted=document.deleted if change.deleted is None else change.deleted,
        used=max(filter(None, (document.used, change.used)), default=None),
        uses=document.uses + (change.used is not None),
        tags=document.tags if change.tags is None else change.tags,
        version=document.version + change.counts,
    )
    return replace(prepared, document=changed, stems=stems)


def _unhidden(prepared: Prepared) -> Prepared:
    shown = replace(prepared.document, searchable=True, deleted=False, encrypted=False)
    return replace(prepared, document=shown)


def _moved(prepared: Prepared, name: str, new: str) -> Prepared:
    document = prepared.document
    if document.collection != name:
        return prepared
    named = document.path is not None and document.id == f"{name}/{document.path}"
    id = f"{new}/{document.path}" if named else document.id
    return replace(prepared, document=replace(document, id=id, collection=new))
