"""The `VectorIndex` port: generations, vectors, means, and what is near."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Clock, embed, phrase, prepared, put, space, unit
from tests.contract.adapters import Adapter
from tests.contract.strategies import VECTORS, shelves
from twolane.model.candidate import Neighbour
from twolane.model.document import Batch, Collection, Prepared
from twolane.model.errors import BadVectors, TwolaneError
from twolane.model.scope import Scope, Without
from twolane.model.space import Generation, GenerationState, Progress
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.generations import revision
from twolane.ports.vectors import Mean, NewVector

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

UP, ASIDE = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
X, Y, Z = unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(0, 0, 1, 0)
ALL_WAYS = unit(1, 1, 1, 1)


class TestGenerations:
    """Sets of vectors, one space each."""

    def test_the_first_one_serves_at_once(self, store: Stores) -> None:
        """A new store's first generation serves, and opening it again finds it."""
        assert store.vectors.generations() == []
        first = store.vectors.open_generation(space())
        assert first == Generation(first.number, space(), GenerationState.SERVING)
        assert store.vectors.open_generation(space()) == first
        assert store.vectors.generations() == [first]

    def test_a_later_one_fills_until_activated(self, store: Stores) -> None:
        """A second space fills beside the first, then takes over and retires it."""
        first = store.vectors.open_generation(space("one"))
        second = store.vectors.open_generation(space("two", dimensions=7))
        assert second.state == GenerationState.FILLING
        assert store.vectors.open_generation(space("two", dimensions=7)) == second
        store.vectors.set_state({second.number: GenerationState.SERVING})
        states = {each.number: each.state for each in store.vectors.generations()}
        assert states == {
            first.number: GenerationState.RETIRED,
            second.number: GenerationState.SERVING,
        }

    def test_can_be_rolled_back(self, store: Stores) -> None:
        """A retired generation can serve again with the vectors it had."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.vectors.open_generation(space("one")).number
        embed(store, first, held, UP)
        second = store.vectors.open_generation(space("two")).number
        store.vectors.set_state({second: GenerationState.SERVING})
        store.vectors.set_state({first: GenerationState.SERVING})
        states = [each.state for each in store.vectors.generations()]
        assert states == [GenerationState.SERVING, GenerationState.RETIRED]
        assert store.queue.progress(first) == Progress(1, 0, 0)

    def test_activating_the_serving_one_changes_nothing(self, store: Stores) -> None:
        """The generation that serves stays the one that serves."""
        number = store.vectors.open_generation(space()).number
        store.vectors.set_state({number: GenerationState.SERVING})
        assert [each.state for each in store.vectors.generations()] == [GenerationState.SERVING]

    def test_a_retired_space_fills_again(self, store: Stores) -> None:
        """Opening the space of a retired generation brings it back with the vectors it had."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.vectors.open_generation(space("one"))
        embed(store, first.number, held, UP)
        store.vectors.set_state(
            {store.vectors.open_generation(space("two")).number: GenerationState.SERVING}
        )
        again = store.vectors.open_generation(space("one"))
        assert (again.number, again.state) == (first.number, GenerationState.FILLING)
        assert store.queue.progress(again.number) == Progress(1, 0, 0)

    def test_states_change_at_once(self, store: Stores) -> None:
        """Several change together; of those that served only the new one does."""
        names = ("one", "two", "three", "four")
        one, two, three, four = (
            store.vectors.open_generation(space(name)).number for name in names
        )
        store.vectors.set_state({two: GenerationState.SERVING, one: GenerationState.STANDBY})
        store.vectors.set_state({three: GenerationState.SERVING, one: GenerationState.HELD}, "why")
        assert [(each.state, each.reason) for each in store.vectors.generations()] == [
            (GenerationState.HELD, "why"),
            (GenerationState.RETIRED, None),
            (GenerationState.SERVING, None),
            (GenerationState.FILLING, None),
        ]
        store.vectors.set_state({one: GenerationState.SERVING})
        assert store.vectors.generations()[0].reason is None
        assert four in {each.number for each in store.vectors.generations()}

    def test_the_first_name_of_the_model_stays(self, store: Stores) -> None:
        """What a server called the model is kept with the generation, and never replaced."""
        number = store.vectors.open_generation(space()).number
        assert store.vectors.note_model(number, "tiny-v1") == "tiny-v1"
        assert store.vectors.note_model(number, "tiny-v2") == "tiny-v1"
        assert store.vectors.open_generation(space()).answered_by == "tiny-v1"
        assert [one.answered_by for one in store.vectors.generations()] == ["tiny-v1"]
        with pytest.raises(TwolaneError):
            store.vectors.note_model(number + 1, "tiny-v1")

    def test_something_always_serves(self, store: Stores) -> None:
        """Who serves is neither held back nor dropped, unless another one takes its place."""
        one = store.vectors.open_generation(space("one")).number
        two = store.vectors.open_generation(space("two")).number
        store.vectors.set_state({one: GenerationState.HELD, two: GenerationState.HELD}, "worse")
        store.vectors.set_state({one: None})
        assert [each.state for each in store.vectors.generations()] == [
            GenerationState.SERVING,
            GenerationState.HELD,
        ]
        assert store.vectors.open_generation(space("two")).state == GenerationState.HELD
        store.vectors.set_state({one: None, two: GenerationState.SERVING})
        assert [each.number for each in store.vectors.generations()] == [two]

    def test_dropping_takes_the_vectors_along(self, store: Stores) -> None:
        """A dropped generation is gone with its vectors, and its number is never used again."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.vectors.open_generation(space("one")).number
        second = store.vectors.open_generation(space("two")).number
        embed(store, second, held, UP)
        store.vectors.set_state({second: None})
        assert [each.number for each in store.vectors.generations()] == [first]
        third = store.vectors.open_generation(space("two")).number
        assert third > second
        assert store.queue.progress(third) == Progress(0, 1, 0)
        assert store.vectors.nearest(third, UP, Scope(), limit=9, floor=-1) == []

    def test_every_space_is_another(self, store: Stores) -> None:
        """Vectors and failures of one generation say nothing of another."""
        held = prepared("a", "ant")
        put(store, held)
        one = store.vectors.open_generation(space("one")).number
        two = store.vectors.open_generation(space("two")).number
        embed(store, one, held, UP)
        store.queue.fail(two, held.chunks[0].content_hash, "no", retry_in=9)
        assert store.queue.progress(one) == Progress(1, 0, 0)
        assert store.queue.progress(two) == Progress(0, 0, 1)
        assert store.vectors.nearest(two, UP, Scope(), limit=9, floor=-1) == []
        assert store.queue.progress(one, detail=True).failures == {}

    def test_an_unknown_one_is_refused(self, store: Stores) -> None:
        """Nothing is activated or stored in a generation that does not exist."""
        with pytest.raises(TwolaneError):
            store.vectors.set_state({99: GenerationState.SERVING})
        with pytest.raises(TwolaneError):
            store.vectors.add(99, [NewVector("content", UP)])
        with pytest.raises(TwolaneError):
            store.queue.claim(99, worker="w", limit=9, seconds=9)
        with pytest.raises(TwolaneError):
            store.queue.fail(99, "content", "no", retry_in=9)


BAD: dict[str, Vector] = {
    "too short": unit(1, 0, 0),
    "too long": unit(1, 0, 0, 0, 0),
    "two-dimensional": np.array([[1, 0, 0, 0]], np.float32),
    "not a number": np.array([1, 0, 0, np.nan], np.float32),
    "infinite": np.array([np.inf, 0, 0, 0], np.float32),
    "zero": np.zeros(4, np.float32),
    "not of unit length": np.array([1.002, 0, 0, 0], np.float32),
}


class TestAdd:
    """Vectors that may be stored, and those that may not."""

    @pytest.mark.parametrize("flaw", BAD)
    def test_refuses_bad_ones(self, store: Stores, generation: int, flaw: str) -> None:
        """One bad vector spoils the call: it raises and none of it is stored."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        rows = [
            NewVector(chunk.content_hash, vector)
            for chunk, vector in zip(held.chunks, (UP, BAD[flaw]), strict=True)
        ]
        with pytest.raises(BadVectors):
            store.vectors.add(generation, rows)
        assert store.queue.progress(generation) == Progress(0, 2, 0)
        assert store.vectors.nearest(generation, UP, Scope(), limit=9, floor=-1) == []

    def test_takes_what_is_nearly_a_unit(self, store: Stores, generation: int) -> None:
        """Rounding does no harm."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, np.array([1.0005, 0, 0, 0], np.float32))
        assert store.queue.progress(generation) == Progress(1, 0, 0)

    def test_takes_any_iterable(self, store: Stores, generation: int) -> None:
        """Rows may come from a generator, and there may be none."""
        held = prepared("a", "ant")
        put(store, held)
        store.vectors.add(generation, iter(()))
        chunk = held.chunks[0]
        store.vectors.add(generation, (NewVector(chunk.content_hash, UP) for _ in "x"))
        assert store.queue.progress(generation) == Progress(1, 0, 0)

    def test_stores_nothing_when_it_breaks_off(self, store: Stores, generation: int) -> None:
        """An iterable that raises half-way leaves no vector behind."""
        held = prepared("a", "ant")
        put(store, held)

        def broken() -> Iterator[NewVector]:
            yield NewVector(held.chunks[0].content_hash, UP)
            raise RuntimeError("the embedder broke off")

        with pytest.raises(RuntimeError, match="broke off"):
            store.vectors.add(generation, broken())
        assert store.queue.progress(generation) == Progress(0, 1, 0)

    def test_replaces_a_vector(self, store: Stores, generation: int) -> None:
        """The latest vector of a passage is the one that counts."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        embed(store, generation, held, unit(0, 1, 0, 0))
        (found,) = store.vectors.nearest(generation, unit(0, 1, 0, 0), Scope(), limit=9, floor=-1)
        assert found.similarity == pytest.approx(1)
        assert store.queue.progress(generation) == Progress(1, 0, 0)

    def test_does_not_keep_the_callers_array(self, store: Stores, generation: int) -> None:
        """What the caller does to its array afterwards changes nothing."""
        held = prepared("a", "ant")
        put(store, held)
        mine = UP.copy()
        embed(store, generation, held, mine)
        mine[:] = 0
        (found,) = store.vectors.nearest(generation, UP, Scope(), limit=9, floor=-1)
        assert found.similarity == pytest.approx(1)


class TestGoing:
    """A vector goes with the last passage that it serves."""

    def test_what_serves_no_passage_is_gone(self, store: Stores, generation: int) -> None:
        """The vectors of deleted and replaced passages go, in every generation."""
        kept, gone = prepared("a", "ant"), prepared("b", "bee\n\ncat")
        put(store, kept, gone)
        other = store.vectors.open_generation(space("two")).number
        for number in (generation, other):
            embed(store, number, kept, UP)
            embed(store, number, gone, UP, UP)
        put(store, prepared("b", "bee"))
        put(store, gone)
        assert store.queue.progress(generation) == Progress(2, 1, 0)
        store.documents.apply(Batch("notes", deletes=["b"]))
        put(store, gone)
        for number in (generation, other):
            assert store.queue.progress(number) == Progress(1, 2, 0)

    def test_a_passage_of_several_documents_keeps_it(self, store: Stores, generation: int) -> None:
        """As long as one document holds the passage it has its vector."""
        one, two = prepared("a", "same"), prepared("b", "same")
        put(store, one, two)
        embed(store, generation, one, UP)
        store.documents.apply(Batch("notes", deletes=["a"]))
        assert [each.id for each in store.vectors.nearest(generation, UP, Scope(), limit=9)] == [
            "b"
        ]

    def test_a_late_vector_is_left_out(self, store: Stores, generation: int) -> None:
        """What was purged while it was embedded leaves no vector."""
        held = prepared("a", "ant")
        put(store, held)
        store.documents.apply(Batch("notes", purges=["a"]))
        embed(store, generation, held, UP)
        put(store, held)
        assert store.queue.progress(generation) == Progress(0, 1, 0)

    def test_hidden_documents_keep_theirs(self, store: Stores, generation: int) -> None:
        """A document that is restored has its vectors at once."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        put(store, prepared("a", "ant", deleted=True))
        put(store, held)
        assert store.queue.progress(generation) == Progress(1, 0, 0)


def near(
    store: Stores,
    generation: int,
    vector: Vector,
    *,
    scope: Scope | None = None,
    limit: int = 99,
    floor: float = -1.0,
) -> list[tuple[str, int, float]]:
    """Id, position and similarity of the neighbours."""
    found = store.vectors.nearest(generation, vector, scope or Scope(), limit=limit, floor=floor)
    return [(each.id, each.position, round(each.similarity, 5)) for each in found]


def with_codes(
    store: Stores, generation: int, given: Prepared, *rows: tuple[Vector, bytes]
) -> None:
    """Store a vector and the codes of its sentences for each of the document's chunks."""
    pairs = list(zip(given.chunks, rows, strict=True))
    store.vectors.add(generation, [NewVector(chunk.content_hash, *row) for chunk, row in pairs])


class TestNearest:
    """Documents by their best chunk."""

    def test_best_first(self, store: Stores, generation: int) -> None:
        """Documents come in order of similarity, each with its best chunk."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat\n\ndog")
        put(store, one, two)
        embed(store, generation, one, Y, ALL_WAYS)
        embed(store, generation, two, X, Y)
        assert near(store, generation, X) == [("b", 0, 1.0), ("a", 1, 0.5)]

    def test_carries_languages(self, store: Stores, generation: int) -> None:
        """A neighbour knows all languages of its document, as plain Python values."""
        held = prepared("a", "ant\n\nbee", languages=("ru", "en"))
        put(store, held)
        embed(store, generation, held, X, Y)
        (found,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0)
        assert found == Neighbour("a", ("en", "ru"), 0, 1.0, 0.5)
        assert (type(found.position), type(found.similarity)) == (int, float)

    def test_carries_its_vector_if_asked(self, store: Stores, generation: int) -> None:
        """In detail a neighbour brings the vector of its best chunk, else none."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        embed(store, generation, held, Y, X)
        (found,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert found.vector is not None
        assert found.vector.tolist() == X.tolist()
        (plain,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0)
        assert plain.vector is None

    def test_carries_its_sentences_if_asked(self, store: Stores, generation: int) -> None:
        """In detail a neighbour brings the codes of its best chunk's sentences, else none."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        with_codes(store, generation, held, (Y, b"yy"), (X, b"xx"))
        (found,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert found.chunks[0].sentences == b"xx"
        (plain,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0)
        assert plain.chunks == ()

    def test_carries_its_nearest_chunks_if_asked(self, store: Stores, generation: int) -> None:
        """In detail a neighbour brings so many chunks, nearest first, ties by position."""
        held = prepared("a", "ant\n\nbee\n\ncow\n\ndog")
        put(store, held)
        with_codes(store, generation, held, (Y, b"1"), (X, b"2"), (Y, b"3"), (-X, b""))
        (found,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0, detail=3)
        assert [(one.position, round(one.similarity, 5)) for one in found.chunks] == [
            (1, 1.0),
            (0, 0.0),
            (2, 0.0),
        ]
        assert [one.sentences for one in found.chunks] == [b"2", b"1", b"3"]
        (all_,) = store.vectors.nearest(generation, X, Scope(), limit=9, floor=0, detail=9)
        assert [one.position for one in all_.chunks] == [1, 0, 2, 3]

    def test_sentences_stay_when_the_vector_is_replaced(
        self, store: Stores, generation: int
    ) -> None:
        """Centring moves vectors of passages and leaves their sentences alone; new ones win."""
        held = prepared("a", "ant")
        put(store, held)
        with_codes(store, generation, held, (X, b"xx"))
        (chunk,) = held.chunks
        store.vectors.add(generation, [NewVector(chunk.content_hash, Y)], means={})
        (found,) = store.vectors.nearest(generation, Y, Scope(), limit=9, floor=0.9, detail=1)
        assert found.chunks[0].sentences == b"xx"
        with_codes(store, generation, held, (Y, b"yy"))
        (found,) = store.vectors.nearest(generation, Y, Scope(), limit=9, floor=0.9, detail=1)
        assert found.chunks[0].sentences == b"yy"

    def test_sentences_go_with_the_vector(self, store: Stores, generation: int) -> None:
        """A passage that comes back has no codes before it is embedded with them."""
        held = prepared("a", "ant")
        put(store, held)
        with_codes(store, generation, held, (X, b"xx"))
        store.documents.apply(Batch("notes", deletes=["a"]))
        put(store, held)
        embed(store, generation, held, X)
        (found,) = store.vectors.nearest(generation, X, Scope(), limit=9, detail=1)
        assert found.chunks[0].sentences == b""

    def test_ties_break_by_id_then_position(self, store: Stores, generation: int) -> None:
        """Equal similarities come by document id, and the first of equal chunks counts."""
        for name in "cab":
            held = prepared(name, f"x {name}\n\ny {name}\n\nz {name}")
            put(store, held)
            embed(store, generation, held, Y, X, X)
        assert near(store, generation, X) == [(name, 1, 1.0) for name in "abc"]
        assert near(store, generation, X, limit=2) == [(name, 1, 1.0) for name in "ab"]

    def test_leaves_out_what_is_below_the_floor(self, store: Stores, generation: int) -> None:
        """A similarity equal to the floor stays, one below goes."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, ALL_WAYS)
        embed(store, generation, two, unit(-1, 1, 0, 0))
        assert near(store, generation, X, floor=0.5) == [("a", 0, 0.5)]
        assert near(store, generation, X, floor=0.51) == []
        assert [id for id, _, _ in near(store, generation, X)] == ["a", "b"]

    def test_documents_without_vectors_are_left_out(self, store: Stores, generation: int) -> None:
        """Only chunks with a vector take part, and a store without any answers with nothing."""
        assert near(store, generation, X) == []
        held = prepared("a", "ant\n\nbee")
        put(store, held, prepared("b", "cat"), prepared("c"))
        assert near(store, generation, X) == []
        chunk = held.chunks[1]
        store.vectors.add(generation, [NewVector(chunk.content_hash, X)])
        assert near(store, generation, X) == [("a", 1, 1.0)]

    def test_hidden_documents_are_left_out(self, store: Stores, generation: int) -> None:
        """A document that is hidden goes at once and comes back at once."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, X)
        assert near(store, generation, X) == [("a", 0, 1.0)]
        for hidden in (
            prepared("a", "ant", deleted=True),
            prepared("a", "ant", encrypted=True),
            prepared("a", "ant", searchable=False),
        ):
            put(store, hidden)
            assert near(store, generation, X, scope=Scope(archived=True)) == []
            put(store, held)
            assert near(store, generation, X) == [("a", 0, 1.0)]

    def test_archived_documents_when_asked(self, store: Stores, generation: int) -> None:
        """Archived documents take part if the scope says so."""
        held = prepared("a", "ant", archived=True)
        put(store, held)
        embed(store, generation, held, X)
        assert near(store, generation, X) == []
        assert near(store, generation, X, scope=Scope(archived=True)) == [("a", 0, 1.0)]

    def test_limit_comes_after_the_scope(self, store: Stores, generation: int) -> None:
        """Documents out of scope do not use up the limit, however near they are."""
        for number in range(30):
            held = prepared(f"{number:02}", f"ant {number}", owner="bob")
            put(store, held)
            embed(store, generation, held, X)
        mine = prepared("mine", "bee", owner="ann")
        put(store, mine)
        embed(store, generation, mine, ALL_WAYS)
        assert near(store, generation, X, scope=Scope(owner="ann"), limit=1) == [("mine", 0, 0.5)]
        clause = Scope(clause=Without(phrase("ant")))
        assert near(store, generation, X, scope=clause, limit=1) == [("mine", 0, 0.5)]
        assert len(near(store, generation, X, limit=31)) == 31
        assert len(near(store, generation, X, limit=7)) == 7

    def test_follows_every_change(self, store: Stores, generation: int) -> None:
        """New chunks, replaced documents and deletions show in the next answer."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, X)
        embed(store, generation, two, Y)
        assert near(store, generation, X) == [("a", 0, 1.0), ("b", 0, 0.0)]
        put(store, prepared("a", "bee\n\nant"))
        assert near(store, generation, X) == [("a", 1, 1.0), ("b", 0, 0.0)]
        store.documents.apply(Batch("notes", deletes=["a"]))
        assert near(store, generation, X) == [("b", 0, 0.0)]
        again = prepared("0", "ant")
        put(store, again)
        assert near(store, generation, X) == [("b", 0, 0.0)]
        embed(store, generation, again, X)
        assert near(store, generation, X) == [("0", 0, 1.0), ("b", 0, 0.0)]

    def test_refuses_a_vector_of_another_space(self, store: Stores, generation: int) -> None:
        """A query of the wrong dimension is an error, not an answer."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, X)
        with pytest.raises(TwolaneError):
            near(store, generation, unit(1, 0, 0))


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.lists(
            st.lists(st.integers(-9, 9), min_size=4, max_size=4).filter(any),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=8,
    ),
    asked=st.lists(st.integers(-9, 9), min_size=4, max_size=4).filter(any),
    limit=st.integers(1, 9),
)
def test_nearest_is_the_exact_maximum(
    adapter: Adapter, rows: list[list[list[int]]], asked: list[int], limit: int
) -> None:
    """Similarities are the dot products with the best chunk, in order, as a matrix gives them."""
    vector = unit(*asked)
    with adapter.fresh() as store:
        generation = store.vectors.open_generation(space()).number
        expected = {}
        for number, chunks in enumerate(rows):
            text = "\n\n".join(f"{number} {place}" for place in range(len(chunks)))
            held = prepared(f"{number:02}", text)
            put(store, held)
            vectors = [unit(*values) for values in chunks]
            embed(store, generation, held, *vectors)
            expected[held.document.id] = float(np.max(np.stack(vectors) @ vector))
        found = store.vectors.nearest(generation, vector, Scope(), limit=limit, floor=-2)
    assert len(found) == min(limit, len(rows))
    assert all(abs(each.similarity - expected[each.id]) < 1e-5 for each in found)
    ranked = sorted(expected.values(), reverse=True)[:limit]
    assert [each.similarity for each in found] == pytest.approx(ranked, abs=1e-5)


def stored(store: Stores, generation: int, *ids: str) -> dict[str, list[tuple[int, list[float]]]]:
    """The vectors of the documents as plain values."""
    found = store.vectors.get(generation, ids)
    return {id: [(one.position, one.vector.tolist()) for one in found[id]] for id in sorted(found)}


class TestGet:
    """The vectors of given documents."""

    def test_each_chunk_by_position(self, store: Stores, generation: int) -> None:
        """A document has the vectors of its chunks in order, as plain numbers and float32."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat")
        put(store, one, two)
        embed(store, generation, one, X, Y)
        embed(store, generation, two, Z)
        assert stored(store, generation, "a", "b") == {
            "a": [(0, X.tolist()), (1, Y.tolist())],
            "b": [(0, Z.tolist())],
        }
        ((position, vector, _),) = store.vectors.get(generation, ["b"])["b"]
        assert (type(position), vector.dtype, vector.shape) == (int, np.float32, (4,))

    def test_only_what_was_asked_for(self, store: Stores, generation: int) -> None:
        """Other documents, unknown ids and no ids at all give nothing."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, X)
        embed(store, generation, two, Y)
        assert set(stored(store, generation, "b", "nobody", "b")) == {"b"}
        assert stored(store, generation) == {}

    def test_chunks_without_a_vector_are_left_out(self, store: Stores, generation: int) -> None:
        """A chunk that waits for its vector is missing, and so is a document without any."""
        one = prepared("a", "ant\n\nbee")
        put(store, one, prepared("b", "cat"))
        chunk = one.chunks[1]
        store.vectors.add(generation, [NewVector(chunk.content_hash, X, b"xx")])
        assert store.vectors.get(generation, ["a"])["a"][0].sentences == b"xx"
        assert stored(store, generation, "a", "b") == {"a": [(1, X.tolist())]}

    @pytest.mark.parametrize("flag", ["deleted", "encrypted", "searchable"])
    def test_hidden_documents_never(self, store: Stores, generation: int, flag: str) -> None:
        """A document that is hidden shows no vector, although it is still stored."""
        shown = prepared("a", "ant")
        put(store, shown)
        embed(store, generation, shown, X)
        assert stored(store, generation, "a")
        put(store, prepared("a", "ant", **{flag: flag != "searchable"}))
        assert stored(store, generation, "a") == {}

    def test_archived_documents_too(self, store: Stores, generation: int) -> None:
        """Whoever found an archived document may have its vectors."""
        one = prepared("a", "ant", archived=True)
        put(store, one)
        embed(store, generation, one, X)
        assert stored(store, generation, "a") == {"a": [(0, X.tolist())]}

    def test_generations_do_not_mix(self, store: Stores, generation: int) -> None:
        """Each generation has its own vectors."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        other = store.vectors.open_generation(space("two")).number
        assert stored(store, other, "a") == {}
        embed(store, other, one, Y)
        assert stored(store, other, "a") == {"a": [(0, Y.tolist())]}
        assert stored(store, generation, "a") == {"a": [(0, X.tolist())]}

    def test_what_is_given_can_be_changed(self, store: Stores, generation: int) -> None:
        """The vectors are the caller's own; writing into them changes no answer."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        store.vectors.get(generation, ["a"])["a"][0].vector[:] = 9
        assert stored(store, generation, "a") == {"a": [(0, X.tolist())]}


class TestMeans:
    """What vectors were centred by."""

    def test_there_are_none_at_first(self, store: Stores, generation: int) -> None:
        """A generation that was never centred has no means."""
        assert store.vectors.means(generation) == {}

    def test_vectors_and_means_change_together(self, store: Stores, generation: int) -> None:
        """New means come with the vectors that were centred by them; others are gone."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        embed(store, generation, held, UP, UP)
        mean = Mean(np.float32([0.5, 0, 0, 0]), 17)
        moved = [NewVector(held.chunks[0].content_hash, ASIDE)]
        store.vectors.add(generation, moved, means={"en": mean})
        (told,) = store.vectors.means(generation).values()
        assert (told.vector.tolist(), told.passages) == ([0.5, 0, 0, 0], 17)
        assert near(store, generation, ASIDE, floor=0.5) == [("a", 0, 1.0)]
        assert near(store, generation, UP, floor=0.5) == []
        assert store.queue.progress(generation) == Progress(1, 1, 0)

    def test_a_bad_vector_changes_nothing(self, store: Stores, generation: int) -> None:
        """A vector that must not be stored leaves vectors and means as they were."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        bad = NewVector(held.chunks[0].content_hash, UP * np.float32(3))
        with pytest.raises(BadVectors):
            store.vectors.add(generation, [bad], means={"en": Mean(UP, 1)})
        assert store.vectors.means(generation) == {}
        assert near(store, generation, UP, floor=0.9) == [("a", 0, 1.0)]

    def test_they_go_with_their_generation(self, store: Stores, generation: int) -> None:
        """A dropped generation takes its means along."""
        other = store.vectors.open_generation(space("two")).number
        store.vectors.add(other, [], means={"en": Mean(UP, 1)})
        store.vectors.set_state({other: None})
        assert store.vectors.means(store.vectors.open_generation(space("two")).number) == {}


class TestSample:
    """Some passages, the same in every store."""

    def test_those_with_the_lowest_hashes(self, store: Stores, generation: int) -> None:
        """As many as asked for; equal passages once, by their first document; hidden ones never."""
        held = prepared("a", "\n\n".join(f"p{n}" for n in range(6)), languages=("en", "ru"))
        put(store, held, prepared("same", "p0"), prepared("b", "bee", languages=("de",)))
        put(store, prepared("c", "cat", languages=()), prepared("old", "elk", archived=True))
        hidden = prepared("h", "hidden", searchable=False)
        put(store, hidden)
        vectors = [unit(*(float(place == n) for place in range(3)), n) for n in range(6)]
        embed(store, generation, held, *vectors)
        embed(store, generation, hidden, UP)
        order = sorted((chunk.content_hash, chunk.position) for chunk in held.chunks)
        found = store.vectors.sample(generation, size=2)
        assert [id for id, _ in found] == ["a", "a"]
        assert [vector.tolist() for _, vector in found] == [
            vectors[at].tolist() for _, at in order[:2]
        ]
        assert len(store.vectors.sample(generation)) == 6


class TestRevision:
    """A name for the state of the store."""

    def test_reading_changes_nothing(self, store: Stores, generation: int) -> None:
        """As long as nothing is written the name stays the same."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        before = revision(store)
        store.vectors.nearest(generation, X, Scope(), limit=9, floor=-1)
        store.vectors.get(generation, ["a"])
        store.queue.claim(generation, worker="w", limit=9, seconds=9)
        assert revision(store) == before

    def test_every_change_counts(self, store: Stores, generation: int) -> None:
        """Documents, vectors and generations that come, change or go give it a new name."""
        one = prepared("a", "ant")
        names = [revision(store)]
        put(store, one)
        names.append(revision(store))
        embed(store, generation, one, X)
        names.append(revision(store))
        embed(store, generation, one, Y)
        names.append(revision(store))
        other = store.vectors.open_generation(space("two")).number
        names.append(revision(store))
        store.vectors.set_state({other: GenerationState.SERVING})
        names.append(revision(store))
        store.vectors.set_state({generation: None})
        names.append(revision(store))
        store.documents.apply(Batch("notes", deletes=["a"]))
        names.append(revision(store))
        assert len(set(names)) == len(names)

    def test_is_seen_by_others(self, durable: Adapter, tmp_path: Path) -> None:
        """Two openings of one store agree about its name, also after one of them wrote."""
        one, two = durable.open(tmp_path, Clock()), durable.open(tmp_path, Clock())
        try:
            one.documents.apply(PutCollection(Collection("notes")))
            put(one, prepared("a", "ant"))
            assert revision(one) == revision(two)
            before = revision(two)
            put(two, prepared("b", "bee"))
            assert before != revision(one) == revision(two)
        finally:
            one.maintenance.close()
            two.maintenance.close()


@settings(max_examples=30, deadline=None)
@given(shelf=shelves(), data=st.data())
def test_vectors_are_those_that_nearest_compares(
    adapter: Adapter, shelf: list[Prepared], data: st.DataObject
) -> None:
    """The best of a document's vectors is as similar as `nearest` says, in every store."""
    with adapter.fresh() as store:
        generation = store.vectors.open_generation(space()).number
        for each in shelf:
            store.documents.apply(PutCollection(Collection(each.document.collection)))
            put(store, each)
            for chunk in each.chunks:
                if data.draw(st.booleans()):
                    vector = data.draw(st.sampled_from(VECTORS))
                    store.vectors.add(generation, [NewVector(chunk.content_hash, vector)])
        ids = [each.document.id for each in shelf]
        asked = VECTORS[2]
        best = {
            id: max(float(one.vector @ asked) for one in passages)
            for id, passages in store.vectors.get(generation, ids).items()
        }
        near = store.vectors.nearest(generation, asked, Scope(archived=True), limit=99, floor=-2)
    assert best == pytest.approx({each.id: each.similarity for each in near}, abs=1e-6)
