"""The `Outbox` port: what changed is named in the same transaction, for another engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.builders import COLLECTION, Clock, embed, prepared, put, space, unit
from tests.contract.adapters import Adapter
from twolane.model.document import Amendment, Batch, Collection
from twolane.model.errors import Conflict
from twolane.model.space import GenerationState
from twolane.ports import Stores
from twolane.ports.documents import PutCollection, RenameCollection
from twolane.ports.outbox import Lag, Outbox

X = unit(1, 0, 0, 0)


@pytest.fixture
def kept(durable: Adapter, clock: Clock) -> Iterator[Stores]:
    """A new store that outlives its process, with its outbox switched on."""
    with durable.fresh(clock) as store:
        assert store.outbox is not None
        store.outbox.switch(on=True)
        try:
            yield store
        finally:
            store.outbox.switch(on=False)


def box(store: Stores) -> Outbox:
    assert store.outbox is not None
    return store.outbox


def drained(store: Stores) -> set[str]:
    """The documents that wait, all of them, and none is left."""
    found: set[str] = set()
    while turn := box(store).take("me", limit=3, lease=60):
        found |= set(turn.ids)
        box(store).done(turn)
    return found


def test_a_database_has_a_name_of_its_own(durable: Adapter) -> None:
    """It stays the same while changes are recorded, and no other database has it."""
    names = set()
    for _ in range(2):
        with durable.fresh() as store:
            assert box(store).identity() == ""
            box(store).switch(on=True)
            name = box(store).identity()
            assert len(name) >= 32
            assert box(store).identity() == name
            names.add(name)
            box(store).switch(on=False)
            assert box(store).identity() == ""
    assert len(names) == 2


def test_nothing_is_recorded_before_it_is_switched_on(durable: Adapter) -> None:
    """A library that needs no other engine pays nothing for it."""
    with durable.fresh() as store:
        assert not box(store).is_on()
        put(store, prepared("a", "ant"))
        box(store).switch(on=True)
        box(store).switch(on=True)
        assert box(store).is_on()
        assert drained(store) == set()
        put(store, prepared("b", "bee"))
        box(store).switch(on=False)
        box(store).switch(on=True)
        assert drained(store) == set()
        box(store).switch(on=False)


def test_each_kind_of_change_names_its_documents(kept: Stores) -> None:
    """New, changed, deleted, tagged, renamed: whatever a search could see of it is recorded."""
    first = prepared("a", "ant")
    put(kept, first, prepared("b", "bee"))
    assert drained(kept) == {"a", "b"}
    put(kept, prepared("a", "another ant"))
    assert drained(kept) == {"a"}
    kept.documents.apply(Amendment("b", version=1, tags=("work",)))
    assert drained(kept) == {"b"}
    kept.documents.apply(Amendment("b", version=2, archived=True))
    assert drained(kept) == {"b"}
    kept.documents.apply(Batch(COLLECTION, deletes=["a"]))
    assert drained(kept) == {"a"}
    kept.documents.apply(PutCollection(Collection("empty")))
    assert drained(kept) == set()
    kept.documents.apply(RenameCollection(COLLECTION, "new"))
    assert "b" in drained(kept)


def test_what_is_rolled_back_is_not_recorded(kept: Stores) -> None:
    """A change that fails as a whole leaves no entry."""
    put(kept, prepared("a", "ant"))
    drained(kept)
    with pytest.raises(Conflict):
        kept.documents.apply(
            Batch(COLLECTION, upserts=[prepared("b", "bee")]), Amendment("a", version=7)
        )
    assert drained(kept) == set()


def test_vectors_name_the_documents_that_hold_their_passages(kept: Stores) -> None:
    """A vector that comes, changes or goes is a change of every document with its passage."""
    first, second = prepared("a", "ant"), prepared("b", "bee")
    put(kept, first, second)
    number = kept.vectors.open_generation(space()).number
    drained(kept)
    embed(kept, number, first, X)
    assert drained(kept) == {"a"}
    embed(kept, number, first, unit(0, 1, 0, 0))
    embed(kept, number, second, X)
    assert drained(kept) == {"a", "b"}
    kept.vectors.add(number, [], means={})
    assert drained(kept) == {"a", "b"}


def test_a_generation_is_a_change_without_a_document(kept: Stores) -> None:
    """One that is opened or dropped wakes the worker, and names no document for it."""
    first = prepared("a", "ant")
    put(kept, first)
    kept.vectors.open_generation(space())
    other = kept.vectors.open_generation(space(model="other")).number
    embed(kept, other, first, X)
    drained(kept)
    kept.vectors.set_state({other: None})
    turn = box(kept).take("me", limit=9, lease=60)
    assert turn is not None and turn.entries and not turn.ids
    assert GenerationState.SERVING in {one.state for one in kept.vectors.generations()}


def test_one_worker_at_a_time(kept: Stores, clock: Clock) -> None:
    """Another one waits until the first releases its turn, or has not been heard of for long."""
    put(kept, prepared("a", "ant"))
    first = box(kept).take("first", limit=9, lease=60)
    assert first is not None
    assert box(kept).take("second", limit=9, lease=60) is None
    again = box(kept).take("first", limit=9, lease=60)
    assert again is not None and again.number > first.number and again.ids == first.ids
    clock.now += 61
    late = box(kept).take("second", limit=9, lease=60)
    assert late is not None and late.number > again.number
    box(kept).release("second")
    assert box(kept).take("first", limit=9, lease=60) is not None
    assert box(kept).number() > late.number


def test_the_lag_is_that_of_the_oldest_change(kept: Stores) -> None:
    """How many changes wait, and since when; nothing once they are done."""
    assert box(kept).lag() == Lag()
    box(kept).again(["a", "b", "a"])
    lag = box(kept).lag()
    assert lag.changes == 3 and 0 <= lag.seconds < 60
    turn = box(kept).take("me", limit=9, lease=60)
    assert turn is not None and turn.ids == ("a", "b")
    box(kept).done(turn)
    assert box(kept).lag() == Lag()


def test_streams_are_those_of_documents_that_can_be_found(kept: Stores) -> None:
    """The languages and words of a document, and nothing of one that is hidden."""
    shown = prepared("a", "ants", title="Bees")
    put(kept, shown, prepared("b", "secret", searchable=False))
    found = box(kept).streams(["a", "b", "c"])
    assert list(found) == ["a"]
    assert found["a"].languages == shown.languages
    assert found["a"].fields[0] == shown.stems.title
    assert found["a"].fields[-1] == shown.stems.body
