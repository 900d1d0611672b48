"""The `Retrieval` port by meaning: nearest documents to a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import embed, phrase, prepared, put, space, unit
from tests.contract.adapters import Adapter
from twolane.answers import Neighbour
from twolane.errors import TwolaneError
from twolane.model import Batch, Prepared
from twolane.ports import Store
from twolane.scopes import Scope, Without

if TYPE_CHECKING:
    from twolane.ports import Vector

X, Y, Z = unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(0, 0, 1, 0)
ALL_WAYS = unit(1, 1, 1, 1)


@pytest.fixture
def generation(store: Store) -> int:
    """The number of a serving generation."""
    return store.open_generation(space()).number


def near(
    store: Store,
    generation: int,
    vector: Vector,
    *,
    scope: Scope | None = None,
    limit: int = 99,
    floor: float = -1.0,
) -> list[tuple[str, int, float]]:
    """Id, position and similarity of the neighbours."""
    found = store.nearest(generation, vector, scope or Scope(), limit=limit, floor=floor)
    return [(each.id, each.position, round(each.similarity, 5)) for each in found]


def with_codes(store: Store, generation: int, given: Prepared, *rows: tuple[Vector, bytes]) -> None:
    """Store a vector and the codes of its sentences for each of the document's chunks."""
    pairs = list(zip(given.chunks, rows, strict=True))
    store.add_vectors(
        generation,
        [(chunk.content_hash, chunk.text_hash, vector) for chunk, (vector, _) in pairs],
        {chunk.content_hash: codes for chunk, (_, codes) in pairs},
    )


class TestNearest:
    """Documents by their best chunk."""

    def test_best_first(self, store: Store, generation: int) -> None:
        """Documents come in order of similarity, each with its best chunk."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat\n\ndog")
        put(store, one, two)
        embed(store, generation, one, Y, ALL_WAYS)
        embed(store, generation, two, X, Y)
        assert near(store, generation, X) == [("b", 0, 1.0), ("a", 1, 0.5)]

    def test_carries_languages(self, store: Store, generation: int) -> None:
        """A neighbour knows all languages of its document, as plain Python values."""
        held = prepared("a", "ant\n\nbee", languages=("ru", "en"))
        put(store, held)
        embed(store, generation, held, X, Y)
        (found,) = store.nearest(generation, X, Scope(), limit=9, floor=0)
        assert found == Neighbour("a", ("en", "ru"), 0, 1.0)
        assert (type(found.position), type(found.similarity)) == (int, float)

    def test_carries_its_vector_if_asked(self, store: Store, generation: int) -> None:
        """In detail a neighbour brings the vector of its best chunk, else none."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        embed(store, generation, held, Y, X)
        (found,) = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert found.vector is not None
        assert found.vector.tolist() == X.tolist()
        (plain,) = store.nearest(generation, X, Scope(), limit=9, floor=0)
        assert plain.vector is None

    def test_carries_its_sentences_if_asked(self, store: Store, generation: int) -> None:
        """In detail a neighbour brings the codes of its best chunk's sentences, else none."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        with_codes(store, generation, held, (Y, b"yy"), (X, b"xx"))
        (found,) = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert found.chunks[0].sentences == b"xx"
        (plain,) = store.nearest(generation, X, Scope(), limit=9, floor=0)
        assert plain.chunks == ()

    def test_carries_its_nearest_chunks_if_asked(self, store: Store, generation: int) -> None:
        """In detail a neighbour brings so many chunks, nearest first, ties by position."""
        held = prepared("a", "ant\n\nbee\n\ncow\n\ndog")
        put(store, held)
        with_codes(store, generation, held, (Y, b"1"), (X, b"2"), (Y, b"3"), (-X, b""))
        (found,) = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=3)
        assert [(one.position, round(one.similarity, 5)) for one in found.chunks] == [
            (1, 1.0),
            (0, 0.0),
            (2, 0.0),
        ]
        assert [one.sentences for one in found.chunks] == [b"2", b"1", b"3"]
        (all_,) = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=9)
        assert [one.position for one in all_.chunks] == [1, 0, 2, 3]

    def test_sentences_stay_when_the_vector_is_replaced(
        self, store: Store, generation: int
    ) -> None:
        """Centring moves vectors of passages and leaves their sentences alone; new ones win."""
        held = prepared("a", "ant")
        put(store, held)
        with_codes(store, generation, held, (X, b"xx"))
        (chunk,) = held.chunks
        store.recentre(generation, {}, [(chunk.content_hash, chunk.text_hash, Y)])
        (found,) = store.nearest(generation, Y, Scope(), limit=9, floor=0.9, detail=1)
        assert found.chunks[0].sentences == b"xx"
        with_codes(store, generation, held, (Y, b"yy"))
        (found,) = store.nearest(generation, Y, Scope(), limit=9, floor=0.9, detail=1)
        assert found.chunks[0].sentences == b"yy"

    def test_sentences_are_borrowed_and_swept_with_the_vector(
        self, store: Store, generation: int
    ) -> None:
        """Equal text under another title borrows both, and what serves nobody is gone."""
        held, renamed = prepared("a", "ant", title="One"), prepared("b", "ant", title="Two")
        put(store, held, renamed)
        with_codes(store, generation, held, (X, b"xx"))
        found = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert [(one.id, one.chunks[0].sentences) for one in found] == [("a", b"xx"), ("b", b"xx")]
        store.apply(Batch(collection=held.document.collection, deletes=("a", "b")))
        store.sweep()
        put(store, held)
        embed(store, generation, held, X)
        (found_again,) = store.nearest(generation, X, Scope(), limit=9, floor=0, detail=1)
        assert found_again.chunks[0].sentences == b""

    def test_ties_break_by_id_then_position(self, store: Store, generation: int) -> None:
        """Equal similarities come by document id, and the first of equal chunks counts."""
        for name in "cab":
            held = prepared(name, f"x {name}\n\ny {name}\n\nz {name}")
            put(store, held)
            embed(store, generation, held, Y, X, X)
        assert near(store, generation, X) == [(name, 1, 1.0) for name in "abc"]
        assert near(store, generation, X, limit=2) == [(name, 1, 1.0) for name in "ab"]

    def test_leaves_out_what_is_below_the_floor(self, store: Store, generation: int) -> None:
        """A similarity equal to the floor stays, one below goes."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, ALL_WAYS)
        embed(store, generation, two, unit(-1, 1, 0, 0))
        assert near(store, generation, X, floor=0.5) == [("a", 0, 0.5)]
        assert near(store, generation, X, floor=0.51) == []
        assert [id for id, _, _ in near(store, generation, X)] == ["a", "b"]

    def test_documents_without_vectors_are_left_out(self, store: Store, generation: int) -> None:
        """Only chunks with a vector take part, and a store without any answers with nothing."""
        assert near(store, generation, X) == []
        held = prepared("a", "ant\n\nbee")
        put(store, held, prepared("b", "cat"), prepared("c"))
        assert near(store, generation, X) == []
        chunk = held.chunks[1]
        store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, X)])
        assert near(store, generation, X) == [("a", 1, 1.0)]

    def test_hidden_documents_are_left_out(self, store: Store, generation: int) -> None:
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

    def test_archived_documents_when_asked(self, store: Store, generation: int) -> None:
        """Archived documents take part if the scope says so."""
        held = prepared("a", "ant", archived=True)
        put(store, held)
        embed(store, generation, held, X)
        assert near(store, generation, X) == []
        assert near(store, generation, X, scope=Scope(archived=True)) == [("a", 0, 1.0)]

    def test_limit_comes_after_the_scope(self, store: Store, generation: int) -> None:
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

    def test_follows_every_change(self, store: Store, generation: int) -> None:
        """New chunks, replaced documents and deletions show in the next answer."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, X)
        embed(store, generation, two, Y)
        assert near(store, generation, X) == [("a", 0, 1.0), ("b", 0, 0.0)]
        put(store, prepared("a", "bee\n\nant"))
        assert near(store, generation, X) == [("a", 1, 1.0), ("b", 0, 0.0)]
        store.apply(Batch("notes", deletes=["a"]))
        assert near(store, generation, X) == [("b", 0, 0.0)]
        put(store, prepared("0", "ant"))
        assert near(store, generation, X) == [("0", 0, 1.0), ("b", 0, 0.0)]

    def test_refuses_a_vector_of_another_space(self, store: Store, generation: int) -> None:
        """A query of the wrong dimension is an error, not an answer."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, X)
        with pytest.raises(TwolaneError):
            near(store, generation, unit(1, 0, 0))


class TestBorrowing:
    """A passage under a new title uses the old vector until its own is there."""

    def test_a_new_title_keeps_the_old_vector(self, store: Store, generation: int) -> None:
        """A document whose title changed is still found by meaning."""
        old, new = prepared("a", "ant", title="Old"), prepared("a", "ant", title="New")
        put(store, old)
        embed(store, generation, old, X)
        put(store, new)
        assert near(store, generation, X) == [("a", 0, 1.0)]

    def test_its_own_vector_comes_first(self, store: Store, generation: int) -> None:
        """As soon as its own vector is there, a chunk borrows no more."""
        old, new = prepared("a", "ant", title="Old"), prepared("a", "ant", title="New")
        put(store, old)
        embed(store, generation, old, X)
        put(store, new)
        assert near(store, generation, X) == [("a", 0, 1.0)]
        embed(store, generation, new, Y)
        assert near(store, generation, X) == [("a", 0, 0.0)]

    def test_another_documents_vector_will_do(self, store: Store, generation: int) -> None:
        """A chunk borrows from any passage with the same text, also one that comes later."""
        one, two = prepared("a", "ant", title="One"), prepared("b", "ant", title="Two")
        put(store, one, two)
        assert near(store, generation, X) == []
        embed(store, generation, one, X)
        assert near(store, generation, X) == [("a", 0, 1.0), ("b", 0, 1.0)]

    def test_the_lowest_content_hash_lends(self, store: Store, generation: int) -> None:
        """Which of several vectors is borrowed does not depend on when they came."""
        borrower = prepared("c", "ant", title="Three")
        lenders = [prepared(name, "ant", title=name) for name in ("a", "b")]
        lenders.sort(key=lambda held: held.chunks[0].content_hash)
        put(store, borrower, *lenders)
        embed(store, generation, lenders[1], Y)
        assert ("c", 0, 0.0) in near(store, generation, X)
        embed(store, generation, lenders[0], X)
        assert ("c", 0, 1.0) in near(store, generation, X)

    def test_spaces_do_not_lend_to_each_other(self, store: Store, generation: int) -> None:
        """A vector of another generation is never borrowed."""
        old, new = prepared("a", "ant", title="Old"), prepared("a", "ant", title="New")
        put(store, old)
        embed(store, generation, old, X)
        put(store, new)
        other = store.open_generation(space("two")).number
        assert near(store, other, X) == []


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
        generation = store.open_generation(space()).number
        expected = {}
        for number, chunks in enumerate(rows):
            text = "\n\n".join(f"{number} {place}" for place in range(len(chunks)))
            held = prepared(f"{number:02}", text)
            put(store, held)
            vectors = [unit(*values) for values in chunks]
            embed(store, generation, held, *vectors)
            expected[held.document.id] = float(np.max(np.stack(vectors) @ vector))
        found = store.nearest(generation, vector, Scope(), limit=limit, floor=-2)
    assert len(found) == min(limit, len(rows))
    assert all(abs(each.similarity - expected[each.id]) < 1e-5 for each in found)
    ranked = sorted(expected.values(), reverse=True)[:limit]
    assert [each.similarity for each in found] == pytest.approx(ranked, abs=1e-5)
