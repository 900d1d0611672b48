"""The `Vectors` port: claims, failures, progress, storing and sweeping."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import Clock, embed, prepared, put, space, unit
from twolane.errors import BadVectors
from twolane.model import Batch, Pending, Progress
from twolane.ports import Store
from twolane.scopes import Scope

if TYPE_CHECKING:
    from twolane.ports import Vector

UP = unit(1, 0, 0, 0)


@pytest.fixture
def generation(store: Store) -> int:
    """The number of a serving generation."""
    return store.open_generation(space()).number


def claim(
    store: Store, generation: int, *, worker: str = "w", limit: int = 99, seconds: float = 60
) -> list[str]:
    """The texts of the passages that the worker gets."""
    given = store.claim(generation, worker=worker, limit=limit, seconds=seconds)
    return [pending.text for pending in given]


class TestClaims:
    """Work that is handed out."""

    def test_gives_what_is_needed_to_embed(self, store: Store, generation: int) -> None:
        """A claimed passage has its text, title and hashes."""
        held = prepared("a", "ant\nbee\n\ncat", title="Beasts")
        put(store, held)
        first, second = store.claim(generation, worker="w", limit=9, seconds=60)
        chunk = held.chunks[0]
        assert first == Pending(
            chunk.content_hash, chunk.text_hash, "Beasts", (), "ant\nbee", chunk.language
        )
        assert second.text == "cat"

    def test_comes_by_document_and_position(self, store: Store, generation: int) -> None:
        """Passages are handed out in a settled order, each once, up to the limit."""
        put(store, prepared("b", "four\n\nfive"), prepared("a", "one\n\ntwo\n\nthree"))
        assert claim(store, generation, limit=2) == ["one", "two"]
        assert claim(store, generation, limit=2) == ["three", "four"]
        assert claim(store, generation, limit=2) == ["five"]
        assert claim(store, generation, limit=2) == []

    def test_gives_equal_passages_once(self, store: Store, generation: int) -> None:
        """Documents that share a passage share the work."""
        put(store, prepared("a", "same\n\nsame"), prepared("b", "same\n\nother"))
        assert claim(store, generation) == ["same", "other"]

    def test_a_shared_passage_comes_with_its_first_document(
        self, store: Store, generation: int
    ) -> None:
        """A passage stands in line where its first document has it, not where others do."""
        put(store, prepared("a", "one\n\ntwo\n\nsame"), prepared("b", "same\n\nlast"))
        assert claim(store, generation) == ["one", "two", "same", "last"]

    def test_leaves_out_hidden_documents(self, store: Store, generation: int) -> None:
        """What cannot be found is not embedded; the archive is."""
        put(store, prepared("a", "gone", deleted=True), prepared("b", "secret", encrypted=True))
        put(store, prepared("c", "off", searchable=False), prepared("d", "old", archived=True))
        assert claim(store, generation) == ["old"]

    def test_leaves_out_what_is_ready(self, store: Store, generation: int) -> None:
        """A passage that has its vector is not handed out."""
        held = prepared("a", "ant")
        put(store, held, prepared("b", "bee"))
        embed(store, generation, held, UP)
        assert claim(store, generation) == ["bee"]

    def test_a_lease_holds_until_it_ends(self, store: Store, generation: int, clock: Clock) -> None:
        """Nobody gets a leased passage before its time is up."""
        put(store, prepared("a", "ant"))
        assert claim(store, generation, worker="one", seconds=60) == ["ant"]
        assert claim(store, generation, worker="two") == []
        assert claim(store, generation, worker="one") == []
        clock.pass_time(59)
        assert claim(store, generation, worker="two") == []
        clock.pass_time(2)
        assert claim(store, generation, worker="two") == ["ant"]

    def test_release_ends_a_workers_leases(self, store: Store, generation: int) -> None:
        """A worker that stops gives back what it held, and only that."""
        put(store, prepared("a", "ant\n\nbee"))
        assert claim(store, generation, worker="one", limit=1) == ["ant"]
        assert claim(store, generation, worker="two", limit=1) == ["bee"]
        store.release(generation, "one")
        assert claim(store, generation, worker="three") == ["ant"]

    def test_release_keeps_failures(self, store: Store, generation: int) -> None:
        """Giving work back does not forget what went wrong before."""
        held = prepared("a", "ant")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "too odd", retry_in=0)
        assert claim(store, generation, worker="one") == ["ant"]
        store.release(generation, "one")
        assert store.progress(generation) == Progress(0, 0, 1)
        assert claim(store, generation, worker="two") == ["ant"]

    def test_workers_never_share_a_passage(self, store: Store, generation: int) -> None:
        """Claims from several threads at once hand out every passage exactly once."""
        put(store, prepared("a", "\n\n".join(f"passage {number}" for number in range(40))))

        def work(worker: str) -> list[str]:
            taken = []
            while given := claim(store, generation, worker=worker, limit=3):
                taken += given
            return taken

        with ThreadPoolExecutor(4) as pool:
            taken = [text for given in pool.map(work, "abcd") for text in given]
        assert sorted(taken) == sorted(f"passage {number}" for number in range(40))


class TestFailures:
    """Passages that could not be embedded."""

    def test_wait_until_they_are_due(self, store: Store, generation: int, clock: Clock) -> None:
        """A failed passage is handed out again when its time has come, lease or no lease."""
        held = prepared("a", "ant")
        put(store, held)
        assert claim(store, generation, seconds=1000) == ["ant"]
        store.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=30)
        assert claim(store, generation) == []
        clock.pass_time(29)
        assert claim(store, generation) == []
        clock.pass_time(2)
        assert claim(store, generation) == ["ant"]

    def test_name_document_and_reason(self, store: Store, generation: int) -> None:
        """Each document with a failed passage is listed with the latest reason."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat")
        put(store, one, two)
        store.fail(generation, one.chunks[1].content_hash, "first", retry_in=9)
        store.fail(generation, one.chunks[1].content_hash, "second", retry_in=9)
        assert {id: one.reason for id, one in store.failures(generation).items()} == {"a": "second"}
        assert store.progress(generation) == Progress(0, 2, 1)

    def test_end_with_a_vector(self, store: Store, generation: int) -> None:
        """A passage that was embedded at last has not failed."""
        held = prepared("a", "ant")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        embed(store, generation, held, UP)
        assert store.failures(generation) == {}
        assert store.progress(generation) == Progress(1, 0, 0)
        store.apply(Batch("notes", deletes=["a"]))
        store.sweep()
        put(store, held)
        assert store.progress(generation) == Progress(0, 1, 0)

    def test_come_too_late_for_a_vector(self, store: Store, generation: int) -> None:
        """A slow worker's failure says nothing of a passage that another one embedded."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        store.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        assert store.failures(generation) == {}
        assert store.progress(generation) == Progress(1, 0, 0)

    def test_go_with_their_passage(self, store: Store, generation: int) -> None:
        """A failure of a passage that is gone or hidden counts no more."""
        held = prepared("a", "ant")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        put(store, prepared("a", "ant", archived=True, deleted=True))
        assert store.failures(generation) == {}
        assert store.progress(generation) == Progress(0, 0, 0)
        store.apply(Batch("notes", deletes=["a"]))
        assert store.progress(generation) == Progress(0, 0, 0)


def test_workers_are_those_that_hold_a_lease(store: Store, generation: int) -> None:
    """Who claimed work is known by name until it is done or given back."""
    put(store, prepared("a", "ant\n\nbee"))
    assert store.workers(generation) == []
    store.claim(generation, worker="w2", limit=1, seconds=60)
    store.claim(generation, worker="w1", limit=1, seconds=60)
    assert store.workers(generation) == ["w1", "w2"]
    store.release(generation, "w1")
    assert store.workers(generation) == ["w2"]


class TestProgress:
    """What is done and what is left."""

    def test_counts_distinct_passages(self, store: Store, generation: int) -> None:
        """Every passage that can be found is ready, pending or failed, and counted once."""
        one = prepared("a", "ant\n\nbee\n\nant")
        put(store, one, prepared("b", "ant\n\ncat"), prepared("c", "dog", deleted=True))
        assert store.progress(generation) == Progress(0, 3, 0)
        claim(store, generation, limit=1)
        assert store.progress(generation) == Progress(0, 3, 0)
        embed(store, generation, one, UP, unit(0, 1, 0, 0), UP)
        assert store.progress(generation) == Progress(2, 1, 0)

    def test_tells_what_is_left_by_document(self, store: Store, generation: int) -> None:
        """Documents with passages to embed are listed with their number, failed ones included."""
        one, two = prepared("a", "ant\n\nbee\n\nant"), prepared("b", "ant\n\ncat")
        put(store, one, two, prepared("c", "dog", encrypted=True))
        assert store.unembedded(generation) == {"a": 2, "b": 2}
        store.fail(generation, two.chunks[1].content_hash, "no answer", retry_in=9)
        embed(store, generation, one, UP, UP, UP)
        assert store.unembedded(generation) == {"b": 1}

    def test_a_borrowed_vector_is_not_ready(self, store: Store, generation: int) -> None:
        """A passage under a new title is pending until its own vector is there."""
        old = prepared("a", "ant", title="Old")
        put(store, old)
        embed(store, generation, old, UP)
        put(store, prepared("a", "ant", title="New"))
        assert store.progress(generation) == Progress(0, 1, 0)
        assert store.unembedded(generation) == {"a": 1}
        assert claim(store, generation) == ["ant"]

    def test_vectors_follow_a_rename(self, store: Store, generation: int) -> None:
        """The same passage under another id needs no new vector."""
        old = prepared("a", "ant", title="Same")
        put(store, old)
        embed(store, generation, old, UP)
        store.apply(Batch("notes", upserts=[prepared("b", "ant", title="Same")], deletes=["a"]))
        assert store.progress(generation) == Progress(1, 0, 0)
        assert [each.id for each in store.nearest(generation, UP, Scope(), limit=9, floor=0)] == [
            "b"
        ]


BAD: dict[str, Vector] = {
    "too short": unit(1, 0, 0),
    "too long": unit(1, 0, 0, 0, 0),
    "two-dimensional": np.array([[1, 0, 0, 0]], np.float32),
    "not a number": np.array([1, 0, 0, np.nan], np.float32),
    "infinite": np.array([np.inf, 0, 0, 0], np.float32),
    "zero": np.zeros(4, np.float32),
    "not of unit length": np.array([1.002, 0, 0, 0], np.float32),
}


class TestAddVectors:
    """Vectors that may be stored, and those that may not."""

    @pytest.mark.parametrize("flaw", BAD)
    def test_refuses_bad_ones(self, store: Store, generation: int, flaw: str) -> None:
        """One bad vector spoils the call: it raises and none of it is stored."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        rows = [
            (chunk.content_hash, chunk.text_hash, vector)
            for chunk, vector in zip(held.chunks, (UP, BAD[flaw]), strict=True)
        ]
        with pytest.raises(BadVectors):
            store.add_vectors(generation, rows)
        assert store.progress(generation) == Progress(0, 2, 0)
        assert store.nearest(generation, UP, Scope(), limit=9, floor=-1) == []

    def test_takes_what_is_nearly_a_unit(self, store: Store, generation: int) -> None:
        """Rounding does no harm."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, np.array([1.0005, 0, 0, 0], np.float32))
        assert store.progress(generation) == Progress(1, 0, 0)

    def test_takes_any_iterable(self, store: Store, generation: int) -> None:
        """Rows may come from a generator, and there may be none."""
        held = prepared("a", "ant")
        put(store, held)
        store.add_vectors(generation, iter(()))
        chunk = held.chunks[0]
        store.add_vectors(generation, ((chunk.content_hash, chunk.text_hash, UP) for _ in "x"))
        assert store.progress(generation) == Progress(1, 0, 0)

    def test_stores_nothing_when_it_breaks_off(self, store: Store, generation: int) -> None:
        """An iterable that raises half-way leaves no vector behind."""
        held = prepared("a", "ant")
        put(store, held)

        def broken() -> Iterator[tuple[str, str, Vector]]:
            yield held.chunks[0].content_hash, held.chunks[0].text_hash, UP
            raise RuntimeError("the embedder broke off")

        with pytest.raises(RuntimeError, match="broke off"):
            store.add_vectors(generation, broken())
        assert store.progress(generation) == Progress(0, 1, 0)

    def test_ends_the_lease(self, store: Store, generation: int) -> None:
        """A passage whose vector came and went is free to be claimed again."""
        held = prepared("a", "ant")
        put(store, held)
        assert claim(store, generation) == ["ant"]
        embed(store, generation, held, UP)
        store.apply(Batch("notes", deletes=["a"]))
        assert store.sweep() == 1
        put(store, held)
        assert claim(store, generation) == ["ant"]

    def test_replaces_a_vector(self, store: Store, generation: int) -> None:
        """The latest vector of a passage is the one that counts."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        embed(store, generation, held, unit(0, 1, 0, 0))
        (found,) = store.nearest(generation, unit(0, 1, 0, 0), Scope(), limit=9, floor=-1)
        assert found.similarity == pytest.approx(1)
        assert store.progress(generation) == Progress(1, 0, 0)

    def test_does_not_keep_the_callers_array(self, store: Store, generation: int) -> None:
        """What the caller does to its array afterwards changes nothing."""
        held = prepared("a", "ant")
        put(store, held)
        mine = UP.copy()
        embed(store, generation, held, mine)
        mine[:] = 0
        (found,) = store.nearest(generation, UP, Scope(), limit=9, floor=-1)
        assert found.similarity == pytest.approx(1)


class TestSweep:
    """Vectors that nothing uses."""

    def test_deletes_what_serves_no_chunk(self, store: Store, generation: int) -> None:
        """Only the vectors of passages that are gone are deleted, in every generation."""
        kept, gone = prepared("a", "ant"), prepared("b", "bee\n\ncat")
        put(store, kept, gone)
        other = store.open_generation(space("two")).number
        for number in (generation, other):
            embed(store, number, kept, UP)
            embed(store, number, gone, UP, UP)
        store.apply(Batch("notes", deletes=["b"]))
        assert store.sweep() == 4
        assert store.sweep() == 0
        assert store.progress(generation) == Progress(1, 0, 0)
        assert [each.id for each in store.nearest(other, UP, Scope(), limit=9, floor=-1)] == ["a"]
        put(store, gone)
        assert store.progress(generation) == Progress(1, 2, 0)

    def test_keeps_what_is_borrowed(self, store: Store, generation: int) -> None:
        """An old vector stays while a chunk with the same text has none of its own."""
        old, new = prepared("a", "ant", title="Old"), prepared("a", "ant", title="New")
        put(store, old)
        embed(store, generation, old, UP)
        put(store, new)
        assert store.sweep() == 0
        embed(store, generation, new, UP)
        assert store.sweep() == 1
        assert store.progress(generation) == Progress(1, 0, 0)

    def test_keeps_one_lender(self, store: Store, generation: int) -> None:
        """Of several old vectors for a text, only the one that is lent serves a chunk."""
        titles = [prepared("a", "ant", title=title) for title in ("one", "two", "three")]
        for held in titles[:2]:
            put(store, held)
            embed(store, generation, held, UP)
        put(store, titles[2])
        assert store.sweep() == 1
        assert len(store.nearest(generation, UP, Scope(), limit=9, floor=0)) == 1

    def test_keeps_those_of_hidden_documents(self, store: Store, generation: int) -> None:
        """A document that is restored has its vectors at once."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        put(store, prepared("a", "ant", deleted=True))
        assert store.sweep() == 0
        put(store, held)
        assert store.progress(generation) == Progress(1, 0, 0)
