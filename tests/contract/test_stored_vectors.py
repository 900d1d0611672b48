"""The `Retrieval` port for what is already known: vectors, shared passages and the revision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Clock, embed, prepared, put, space, unit
from tests.contract.adapters import Adapter
from tests.contract.strategies import VECTORS, shelves
from twolane.model import Batch, Collection, Prepared
from twolane.ports import Store
from twolane.scopes import Scope

X, Y, Z = unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(0, 0, 1, 0)


@pytest.fixture
def generation(store: Store) -> int:
    """The number of a serving generation."""
    return store.open_generation(space()).number


def held(store: Store, generation: int, *ids: str) -> dict[str, list[tuple[int, list[float]]]]:
    """The vectors of the documents as plain values."""
    found = store.vectors(generation, ids)
    return {id: [(place, vector.tolist()) for place, vector in found[id]] for id in sorted(found)}


class TestVectors:
    """The vectors of given documents."""

    def test_each_chunk_by_position(self, store: Store, generation: int) -> None:
        """A document has the vectors of its chunks in order, as plain numbers and float32."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat")
        put(store, one, two)
        embed(store, generation, one, X, Y)
        embed(store, generation, two, Z)
        assert held(store, generation, "a", "b") == {
            "a": [(0, X.tolist()), (1, Y.tolist())],
            "b": [(0, Z.tolist())],
        }
        ((position, vector),) = store.vectors(generation, ["b"])["b"]
        assert (type(position), vector.dtype, vector.shape) == (int, np.float32, (4,))

    def test_only_what_was_asked_for(self, store: Store, generation: int) -> None:
        """Other documents, unknown ids and no ids at all give nothing."""
        one, two = prepared("a", "ant"), prepared("b", "bee")
        put(store, one, two)
        embed(store, generation, one, X)
        embed(store, generation, two, Y)
        assert set(held(store, generation, "b", "nobody", "b")) == {"b"}
        assert held(store, generation) == {}

    def test_chunks_without_a_vector_are_left_out(self, store: Store, generation: int) -> None:
        """A chunk that waits for its vector is missing, and so is a document without any."""
        one = prepared("a", "ant\n\nbee")
        put(store, one, prepared("b", "cat"))
        chunk = one.chunks[1]
        store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, X)])
        assert held(store, generation, "a", "b") == {"a": [(1, X.tolist())]}

    def test_a_borrowed_vector_counts(self, store: Store, generation: int) -> None:
        """A passage under a new title has the old vector until its own is there."""
        old, new = prepared("a", "ant", title="Old"), prepared("a", "ant", title="New")
        put(store, old)
        embed(store, generation, old, X)
        put(store, new)
        assert held(store, generation, "a") == {"a": [(0, X.tolist())]}
        embed(store, generation, new, Y)
        assert held(store, generation, "a") == {"a": [(0, Y.tolist())]}

    @pytest.mark.parametrize("flag", ["deleted", "encrypted", "searchable"])
    def test_hidden_documents_never(self, store: Store, generation: int, flag: str) -> None:
        """A document that is hidden shows no vector, although it is still stored."""
        shown = prepared("a", "ant")
        put(store, shown)
        embed(store, generation, shown, X)
        assert held(store, generation, "a")
        put(store, prepared("a", "ant", **{flag: flag != "searchable"}))
        assert held(store, generation, "a") == {}

    def test_archived_documents_too(self, store: Store, generation: int) -> None:
        """Whoever found an archived document may have its vectors."""
        one = prepared("a", "ant", archived=True)
        put(store, one)
        embed(store, generation, one, X)
        assert held(store, generation, "a") == {"a": [(0, X.tolist())]}

    def test_generations_do_not_mix(self, store: Store, generation: int) -> None:
        """Each generation has its own vectors."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        other = store.open_generation(space("two")).number
        assert held(store, other, "a") == {}
        embed(store, other, one, Y)
        assert held(store, other, "a") == {"a": [(0, Y.tolist())]}
        assert held(store, generation, "a") == {"a": [(0, X.tolist())]}

    def test_what_is_given_can_be_changed(self, store: Store, generation: int) -> None:
        """The vectors are the caller's own; writing into them changes no answer."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        store.vectors(generation, ["a"])["a"][0][1][:] = 9
        assert held(store, generation, "a") == {"a": [(0, X.tolist())]}


class TestSharing:
    """In how many documents a passage stands."""

    def test_counts_documents(self, store: Store) -> None:
        """A passage counts once for each document that holds it, whatever its title."""
        one = prepared("a", "ant\n\nbee\n\nant", title="One")
        two = prepared("b", "ant", title="Two")
        put(store, one, two, prepared("c", "cat"))
        ant, bee, _ = (chunk.text_hash for chunk in one.chunks)
        assert dict(store.sharing([ant, bee, ant, "unknown"])) == {ant: 2, bee: 1}
        assert dict(store.sharing([])) == {}

    def test_hidden_documents_do_not_count(self, store: Store) -> None:
        """A hidden document holds nothing, an archived one does."""
        one = prepared("a", "ant")
        put(
            store,
            one,
            prepared("b", "ant", archived=True),
            prepared("c", "ant", deleted=True),
            prepared("d", "ant", encrypted=True),
            prepared("e", "ant", searchable=False),
        )
        (text_hash,) = (chunk.text_hash for chunk in one.chunks)
        assert dict(store.sharing([text_hash])) == {text_hash: 2}


LETTER = "The wheel of the tide mill was mended in spring, when the water stood low and clear."


class TestSketches:
    """What tells copies."""

    def test_equal_texts_have_equal_sketches(self, store: Store) -> None:
        """A sketch has the title and the hash of the content; a short text has none."""
        put(store, prepared("a", LETTER, title="A"), prepared("b", LETTER, title="B"))
        put(store, prepared("c", "Too short."), prepared("d", f"{LETTER} And still."))
        found = store.sketches(["a", "b", "c", "d", "unknown"])
        assert {id: one.title for id, one in found.items()} == {"a": "A", "b": "B", "d": "Untitled"}
        assert found["a"].runs == found["b"].runs != found["d"].runs
        assert found["a"].content_hash == found["b"].content_hash != found["d"].content_hash
        assert dict(store.sketches([])) == {}

    def test_a_sketch_follows_its_text(self, store: Store) -> None:
        """A document that is saved again has the sketch of its new text."""
        put(store, prepared("a", LETTER))
        before = store.sketches(["a"])["a"]
        put(store, prepared("a", f"{LETTER} And still."))
        assert store.sketches(["a"])["a"] != before
        put(store, prepared("a", "Short now."))
        assert dict(store.sketches(["a"])) == {}

    def test_hidden_documents_have_none(self, store: Store) -> None:
        """What cannot be found is no copy of anything."""
        put(
            store,
            prepared("b", LETTER, archived=True),
            prepared("c", LETTER, deleted=True),
            prepared("d", LETTER, encrypted=True),
            prepared("e", LETTER, searchable=False),
        )
        assert set(store.sketches(["b", "c", "d", "e"])) == {"b"}


class TestRevision:
    """A name for the state of the store."""

    def test_reading_changes_nothing(self, store: Store, generation: int) -> None:
        """As long as nothing is written the name stays the same."""
        one = prepared("a", "ant")
        put(store, one)
        embed(store, generation, one, X)
        before = store.revision()
        store.nearest(generation, X, Scope(), limit=9, floor=-1)
        store.vectors(generation, ["a"])
        store.claim(generation, worker="w", limit=9, seconds=9)
        assert store.revision() == before

    def test_every_change_counts(self, store: Store, generation: int) -> None:
        """Documents, vectors and generations that come, change or go give it a new name."""
        one = prepared("a", "ant")
        names = [store.revision()]
        put(store, one)
        names.append(store.revision())
        embed(store, generation, one, X)
        names.append(store.revision())
        embed(store, generation, one, Y)
        names.append(store.revision())
        other = store.open_generation(space("two")).number
        names.append(store.revision())
        store.activate(other)
        names.append(store.revision())
        store.drop_generation(generation)
        names.append(store.revision())
        store.apply(Batch("notes", deletes=["a"]))
        names.append(store.revision())
        assert len(set(names)) == len(names)

    def test_is_seen_by_others(self, durable: Adapter, tmp_path: Path) -> None:
        """Two openings of one store agree about its name, also after one of them wrote."""
        one, two = durable.open(tmp_path, Clock()), durable.open(tmp_path, Clock())
        try:
            one.add_collection(Collection("notes"))
            put(one, prepared("a", "ant"))
            assert one.revision() == two.revision()
            before = two.revision()
            put(two, prepared("b", "bee"))
            assert before != one.revision() == two.revision()
        finally:
            one.close()
            two.close()


@settings(max_examples=30, deadline=None)
@given(shelf=shelves(), data=st.data())
def test_vectors_are_those_that_nearest_compares(
    adapter: Adapter, shelf: list[Prepared], data: st.DataObject
) -> None:
    """The best of a document's vectors is as similar as `nearest` says, in every store."""
    with adapter.fresh() as store:
        generation = store.open_generation(space()).number
        for each in shelf:
            store.add_collection(Collection(each.document.collection))
            put(store, each)
            for chunk in each.chunks:
                if data.draw(st.booleans()):
                    vector = data.draw(st.sampled_from(VECTORS))
                    store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, vector)])
        ids = [each.document.id for each in shelf]
        asked = VECTORS[2]
        best = {
            id: max(float(vector @ asked) for _, vector in pairs)
            for id, pairs in store.vectors(generation, ids).items()
        }
        near = store.nearest(generation, asked, Scope(archived=True), limit=99, floor=-2)
    assert best == pytest.approx({each.id: each.similarity for each in near}, abs=1e-6)
