"""Changes to a copy of the memory store's state."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from twolane.model.document import (
    Amendment,
    Batch,
    Chunk,
    Document,
    Prepared,
    Rewording,
    amended,
)
from twolane.model.errors import BadInput, Conflict, StoreError
from twolane.model.problem import FileRecord
from twolane.ports.documents import (
    Change,
    KeepBoilerplate,
    KeepReceipt,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.stores.memory.state import State
from twolane.text.tokens import stream

_T = TypeVar("_T")


def make(state: State, change: Change) -> bool:
    """Make the change; whether no trace may be left of what was there."""
    match change:
        case Batch():
            return _apply(state, change)
        case Amendment(id, version):
            _demand_version(state, id, version)
            changed = _amended(state.documents[id], change)
            state.documents = {**state.documents, id: changed}
        case PutCollection(collection):
            state.collections = {**state.collections, collection.name: collection}
        case RenameCollection(name, new):
            _rename(state, name, new)
        case RemoveCollection(name):
            _demand_collection(state, name)
            state.documents = {
                id: one for id, one in state.documents.items() if one.document.collection != name
            }
            state.collections = _without(state.collections, name)
            state.ledger = _without(state.ledger, name)
            return True
        case KeepReceipt(receipt, since):
            held = {name: one for name, one in state.receipts.items() if one.at >= since}
            key = receipt.owner, receipt.once.key
            if key in held:
                raise StoreError(f"the key {receipt.once.key!r} was used before")
            state.receipts = {**held, key: receipt}
        case KeepBoilerplate(boilerplate, rewordings):
            state.boilerplate = boilerplate
            reworded = {(one.id, one.after.position, one.before): one for one in rewordings}
            state.documents = {id: _reworded(one, reworded) for id, one in state.documents.items()}
    return False


def forget_boilerplate(state: State) -> None:
    """Drop the keys of lines that no passage holds any more."""
    held = {
        key for one in state.documents.values() for chunk in one.chunks for key in chunk.boilerplate
    }
    state.boilerplate = replace(state.boilerplate, keys=state.boilerplate.keys & held)


def _apply(state: State, batch: Batch) -> bool:
    """Deletes come first, then upserts, then the ledger."""
    for id, version in batch.expected.items():
        _demand_version(state, id, version)
    if batch.collection not in state.collections:
        raise BadInput(f"there is no collection {batch.collection!r}; add it before its documents")
    documents = dict(state.documents)
    for id in (*batch.deletes, *batch.purges):
        if id in documents and documents[id].document.collection == batch.collection:
            del documents[id]
    for one in batch.upserts:
        if one.document.collection != batch.collection:
            raise BadInput(
                f"{one.document.id!r} belongs to the collection {one.document.collection!r}, "
                f"not {batch.collection!r}; put it into a batch of its own collection"
            )
        documents[one.document.id] = _upserted(one, documents.get(one.document.id))
    for new, old in batch.moves.items():
        if old in documents and documents[old].document.collection == batch.collection:
            documents[new] = _followed(documents[new], documents.pop(old).document)
    records = _changed_ledger(state.ledger.get(batch.collection, {}), batch)
    state.documents, state.ledger = documents, {**state.ledger, batch.collection: records}
    return bool(batch.purges) or any(one.document.encrypted for one in batch.upserts)


def _upserted(given: Prepared, before: Prepared | None) -> Prepared:
    document = given.document
    if before is not None:
        # How often and when it was last used is written in no file.
        used = document.used or before.document.used
        uses = document.uses or before.document.uses
        document = replace(document, used=used, uses=uses)
    chunks = tuple(sorted(given.chunks, key=lambda chunk: chunk.position))
    return replace(given, document=document, chunks=chunks)


def _followed(moved: Prepared, before: Document) -> Prepared:
    """A note at its new place goes on as what it was at the old one."""
    now = moved.document
    return replace(
        moved,
        document=replace(
            now,
            used=now.used or before.used,
            uses=now.uses + before.uses,
            owner=before.owner if now.owner is None else now.owner,
            archived=now.archived or before.archived,
        ),
    )


def _changed_ledger(held: dict[str, FileRecord], batch: Batch) -> dict[str, FileRecord]:
    gone = set(batch.forgotten) | {prepared.document.path for prepared in batch.upserts}
    rows = {path: row for path, row in held.items() if path not in gone}
    rows.update({record.path: record for record in batch.records})
    return rows


def _amended(prepared: Prepared, change: Amendment) -> Prepared:
    stems = prepared.stems
    if change.tags is not None:
        stems = replace(stems, tags="".join(stream(tag) for tag in change.tags))
    return replace(prepared, document=amended(prepared.document, change), stems=stems)


def _rename(state: State, name: str, new: str) -> None:
    _demand_collection(state, name)
    renamed = [_moved(one, name, new) for one in state.documents.values()]
    documents = {one.document.id: one for one in renamed}
    if new in state.collections or len(documents) < len(renamed):
        raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
    state.documents = documents
    moved = replace(state.collections[name], name=new)
    state.collections = {**_without(state.collections, name), new: moved}
    state.ledger = {**_without(state.ledger, name), new: state.ledger.get(name, {})}


def _moved(prepared: Prepared, name: str, new: str) -> Prepared:
    document = prepared.document
    if document.collection != name:
        return prepared
    named = document.path is not None and document.id == f"{name}/{document.path}"
    id = f"{new}/{document.path}" if named else document.id
    return replace(prepared, document=replace(document, id=id, collection=new))


def _reworded(prepared: Prepared, changed: dict[tuple[str, int, str], Rewording]) -> Prepared:
    def after(chunk: Chunk) -> Chunk:
        one = changed.get((prepared.document.id, chunk.position, chunk.content_hash))
        if one is None:
            return chunk
        now = one.after
        return replace(
            chunk,
            content_hash=now.content_hash,
            language=now.language,
            boilerplate=now.boilerplate,
        )

    return replace(prepared, chunks=tuple(map(after, prepared.chunks)))


def _demand_version(state: State, id: str, version: int) -> None:
    """Raise Conflict unless the document has the version; 0 is one that is not there."""
    prepared = state.documents.get(id)
    held = prepared.document.version if prepared else 0
    if held != version:
        raise Conflict(id, version, held)


def _demand_collection(state: State, name: str) -> None:
    if name not in state.collections:
        raise StoreError(f"there is no collection {name!r}")


def _without(held: dict[str, _T], name: str) -> dict[str, _T]:
    return {key: one for key, one in held.items() if key != name}
