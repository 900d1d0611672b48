"""The `Upkeep` port: soundness, backup, closing and opening again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import COLLECTION, Clock, embed, phrase, prepared, put, space, unit, word
from tests.contract.adapters import MEMORY, Adapter
from twolane.errors import StoreError
from twolane.model import Batch, Collection, FileRecord, FileState, Progress
from twolane.ports import Store
from twolane.scopes import Scope

X = unit(1, 0, 0, 0)


def filled(store: Store) -> None:
    """Give the store a document, a vector, a failure and a ledger row."""
    held = prepared("a", "two ants\n\nbee", tags=("work",), properties={"n": 1})
    store.add_collection(Collection(COLLECTION))
    put(store, held)
    generation = store.open_generation(space()).number
    first, second = held.chunks
    store.add_vectors(generation, [(first.content_hash, first.text_hash, X)])
    store.fail(generation, second.content_hash, "no answer", retry_in=9)
    store.apply(Batch(COLLECTION, records=[FileRecord("b.md", FileState.SKIPPED)]))


def check_filled(store: Store) -> None:
    """The store holds what `filled` gave it."""
    held = prepared("a", "two ants\n\nbee", tags=("work",), properties={"n": 1})
    assert store.documents(["a"]) == {"a": held.document}
    assert store.chunks("a") == list(held.chunks)
    assert [row.path for row in store.ledger(COLLECTION)] == ["a.md", "b.md"]
    (serving,) = store.generations()
    assert serving.space == space()
    assert store.progress(serving.number) == Progress(1, 0, 1)
    assert store.failures(serving.number)["a"].reason == "no answer"
    found = store.nearest(serving.number, X, Scope(), limit=9, floor=0)
    assert [each.id for each in found] == ["a"]
    quoted = Scope(tags=("work",), clause=phrase("two ants", quoted=True))
    assert [each.id for each in store.lexical([word("bee")], quoted, every=True, limit=9)] == ["a"]
    assert store.check() == []


def test_a_sound_store_has_no_problems(store: Store) -> None:
    """Checking finds nothing wrong before, during and after ordinary use."""
    assert store.check() == []
    filled(store)
    check_filled(store)
    store.apply(Batch(COLLECTION, deletes=["a"]))
    store.sweep()
    assert store.check() == []


def test_the_location_is_told(store: Store) -> None:
    """A store says where it lives."""
    assert isinstance(store.location, str)
    assert store.location


def test_closing_twice_is_harmless(adapter: Adapter, tmp_path: Path) -> None:
    """The second close does nothing."""
    store = adapter.open(tmp_path, Clock())
    filled(store)
    store.close()
    store.close()


def test_a_durable_store_remembers(durable: Adapter, tmp_path: Path) -> None:
    """What was stored is there when the store is opened again."""
    store = durable.open(tmp_path, Clock())
    filled(store)
    store.close()
    again = durable.open(tmp_path, Clock())
    try:
        check_filled(again)
    finally:
        again.close()


def test_two_open_stores_see_each_other(durable: Adapter, tmp_path: Path) -> None:
    """A store that is open already answers with what another one has just stored."""
    reader, writer = (durable.open(tmp_path, Clock()) for _ in range(2))
    try:
        filled(writer)
        check_filled(reader)
        generation = reader.generations()[0].number
        more = prepared("b", "cat")
        put(writer, more)
        embed(writer, generation, more, X)
        found = reader.nearest(generation, X, Scope(), limit=9, floor=0)
        assert [each.id for each in found] == ["a", "b"]
        assert reader.frequencies([word("cat")]).containing == {"cat": 1}
        writer.apply(Batch(COLLECTION, deletes=["a"]))
        found = reader.nearest(generation, X, Scope(), limit=9, floor=0)
        assert [each.id for each in found] == ["b"]
        assert reader.recent(Scope(), limit=9) == ["b"]
    finally:
        reader.close()
        writer.close()


def test_a_store_without_a_file_cannot_be_copied(tmp_path: Path) -> None:
    """The memory store refuses a backup instead of writing something that is none."""
    with MEMORY.fresh() as store, pytest.raises(StoreError, match="no file"):
        store.backup(str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_a_backup_is_a_store(durable: Adapter, tmp_path: Path) -> None:
    """A copy of the live store holds all of it, and the store goes on."""
    target = tmp_path / "copy"
    with durable.fresh() as store:
        filled(store)
        store.backup(str(target))
        put(store, prepared("later", "ant"))
    assert durable.restore is not None
    copied = durable.restore(target, Clock())
    try:
        check_filled(copied)
        assert copied.recent(Scope(), limit=9) == ["a"]
    finally:
        copied.close()
