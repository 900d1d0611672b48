"""The `Maintenance` port: soundness, backup, closing and opening again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import (
    COLLECTION,
    Clock,
    chunks_in,
    documents_of,
    embed,
    ledger,
    phrase,
    prepared,
    put,
    recent,
    space,
    unit,
    word,
)
from tests.contract.adapters import MEMORY, Adapter
from tests.postgres_server import Server
from twolane.model.document import Batch, Collection
from twolane.model.errors import BadInput, StoreError
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import Scope
from twolane.model.space import Progress
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.stores.postgres import open_stores

X = unit(1, 0, 0, 0)


def filled(store: Stores) -> None:
    """Give the store a document, a vector, a failure and a ledger row."""
    held = prepared("a", "two ants\n\nbee", tags=("work",), properties={"n": 1})
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, held)
    generation = store.vectors.open_generation(space()).number
    first, second = held.chunks
    store.vectors.add(generation, [NewVector(first.content_hash, X)])
    store.queue.fail(generation, second.content_hash, "no answer", retry_in=9)
    store.documents.apply(Batch(COLLECTION, records=[FileRecord("b.md", FileState.SKIPPED)]))


def check_filled(store: Stores) -> None:
    """The store holds what `filled` gave it."""
    held = prepared("a", "two ants\n\nbee", tags=("work",), properties={"n": 1})
    assert documents_of(store, ["a"]) == {"a": held.document}
    assert chunks_in(store, "a") == list(held.chunks)
    assert [row.path for row in ledger(store, COLLECTION)] == ["a.md", "b.md"]
    (serving,) = store.vectors.generations()
    assert serving.space == space()
    assert store.queue.progress(serving.number) == Progress(1, 0, 1)
    assert store.queue.progress(serving.number, detail=True).failures["a"].reason == "no answer"
    found = store.vectors.nearest(serving.number, X, Scope(), limit=9, floor=0)
    assert [each.id for each in found] == ["a"]
    quoted = Scope(tags=("work",), clause=phrase("two ants", quoted=True))
    assert [
        each.id for each in store.lexical.candidates([word("bee")], quoted, every=True, limit=9)
    ] == ["a"]
    assert store.maintenance.check() == []


def test_a_sound_store_has_no_problems(store: Stores) -> None:
    """Checking finds nothing wrong before, during and after ordinary use."""
    assert store.maintenance.check() == []
    filled(store)
    check_filled(store)
    store.documents.apply(Batch(COLLECTION, deletes=["a"]))
    assert store.maintenance.check() == []


def test_the_location_is_told(store: Stores) -> None:
    """A store says where it lives."""
    assert isinstance(store.maintenance.location, str)
    assert store.maintenance.location


def test_closing_twice_is_harmless(adapter: Adapter, tmp_path: Path) -> None:
    """The second close does nothing."""
    store = adapter.open(tmp_path, Clock())
    filled(store)
    store.maintenance.close()
    store.maintenance.close()


def test_a_durable_store_remembers(durable: Adapter, tmp_path: Path) -> None:
    """What was stored is there when the store is opened again."""
    store = durable.open(tmp_path, Clock())
    filled(store)
    store.maintenance.close()
    again = durable.open(tmp_path, Clock())
    try:
        check_filled(again)
    finally:
        again.maintenance.close()


def test_two_open_stores_see_each_other(durable: Adapter, tmp_path: Path) -> None:
    """A store that is open already answers with what another one has just stored."""
    reader, writer = (durable.open(tmp_path, Clock()) for _ in range(2))
    try:
        filled(writer)
        check_filled(reader)
        generation = reader.vectors.generations()[0].number
        more = prepared("b", "cat")
        put(writer, more)
        embed(writer, generation, more, X)
        found = reader.vectors.nearest(generation, X, Scope(), limit=9, floor=0)
        assert [each.id for each in found] == ["a", "b"]
        assert reader.lexical.document_frequencies([word("cat")], Scope()).document_frequency == {
            "cat": 1
        }
        writer.documents.apply(Batch(COLLECTION, deletes=["a"]))
        found = reader.vectors.nearest(generation, X, Scope(), limit=9, floor=0)
        assert [each.id for each in found] == ["b"]
        assert recent(reader, Scope(), limit=9) == ["b"]
    finally:
        reader.maintenance.close()
        writer.maintenance.close()


def test_a_store_without_a_file_cannot_be_copied(tmp_path: Path) -> None:
    """The memory store refuses a backup instead of writing something that is none."""
    with MEMORY.fresh() as store, pytest.raises(StoreError, match="no file"):
        store.maintenance.backup(str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_a_server_is_copied_by_its_own_programs(postgres: Server, tmp_path: Path) -> None:
    """A store that a server keeps refuses a backup, and says what to use."""
    with postgres.database() as url:
        store = open_stores(url)
        try:
            with pytest.raises(BadInput, match="use pg_dump"):
                store.maintenance.backup(str(tmp_path / "copy"))
        finally:
            store.maintenance.close()
    assert not (tmp_path / "copy").exists()


def test_a_backup_is_a_store(copied: Adapter, tmp_path: Path) -> None:
    """A copy of the live store holds all of it, and the store goes on."""
    target = tmp_path / "copy"
    with copied.fresh() as store:
        filled(store)
        store.maintenance.backup(str(target))
        put(store, prepared("later", "ant"))
    assert copied.restore is not None
    copy = copied.restore(target, Clock())
    try:
        check_filled(copy)
        assert recent(copy, Scope(), limit=9) == ["a"]
    finally:
        copy.maintenance.close()
