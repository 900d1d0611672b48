"""The `Vectors` port: what is left to do, what failed and when it is tried again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.builders import Clock, embed, prepared, put, space, unit
from twolane.model import Failure, Prepared, Progress
from twolane.ports import Store
from twolane.scopes import Scope

UP, ASIDE = unit(1, 0, 0, 0), unit(0, 1, 0, 0)


@pytest.fixture
def generation(store: Store) -> int:
    """A generation to fill."""
    return store.open_generation(space()).number


def claimed(store: Store, generation: int, worker: str = "w", **options: object) -> list[str]:
    """The texts of what the worker gets."""
    found = store.claim(generation, worker=worker, limit=9, seconds=60, **options)  # type: ignore[arg-type]
    return [one.text for one in found]


class TestFailures:
    """Passages that could not be embedded."""

    def test_tries_are_counted(self, store: Store, generation: int, clock: Clock) -> None:
        """Each failure counts, the next try is known, and whoever claims it learns of both."""
        held = prepared("a", "ant")
        put(store, held)
        key = held.chunks[0].content_hash
        store.fail(generation, key, "no", retry_in=30)
        store.fail(generation, key, "still no", retry_in=60)
        assert store.failures(generation) == {"a": Failure("still no", 2, clock.now + 60)}
        assert claimed(store, generation) == []
        clock.pass_time(61)
        (again,) = store.claim(generation, worker="w", limit=9, seconds=60)
        assert again.tries == 2

    def test_giving_up(self, store: Store, generation: int, clock: Clock) -> None:
        """What is given up is never due by itself, and is counted."""
        held = prepared("a", "ant")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "never", retry_in=None)
        clock.pass_time(10**9)
        assert claimed(store, generation) == []
        assert store.due(generation) is None
        assert store.progress(generation) == Progress(0, 0, 1, 1)
        assert store.failures(generation)["a"].next_try is None

    def test_retrying(self, store: Store, generation: int) -> None:
        """Asked to, everything that failed is due at once, as if it had never been tried."""
        held = prepared("a", "ant\n\nbee\n\ncat")
        put(store, held)
        ant, bee, _ = (chunk.content_hash for chunk in held.chunks)
        store.fail(generation, ant, "never", retry_in=None)
        store.fail(generation, bee, "later", retry_in=900)
        assert store.retry(generation) == 2
        found = store.claim(generation, worker="w", limit=9, seconds=60)
        assert [(one.text, one.tries) for one in found] == [("ant", 0), ("bee", 0), ("cat", 0)]

    def test_the_first_passage_speaks_for_its_document(self, store: Store, generation: int) -> None:
        """Of several failures of a document, that of its first passage is told."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        for chunk, reason in zip(held.chunks, ("z", "a"), strict=True):
            store.fail(generation, chunk.content_hash, reason, retry_in=9)
        assert store.failures(generation)["a"].reason == "z"


class TestDue:
    """When there is something to do again."""

    def test_nothing_is_waited_for(self, store: Store, generation: int) -> None:
        """Without leases and failures nobody waits."""
        put(store, prepared("a", "ant"))
        assert store.due(generation) is None

    def test_the_soonest_counts(self, store: Store, generation: int, clock: Clock) -> None:
        """A lease and a failure end at their times; what is over is due now."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "no", retry_in=100)
        assert store.due(generation) == pytest.approx(100)
        store.claim(generation, worker="w", limit=1, seconds=40)
        assert store.due(generation) == pytest.approx(40)
        clock.pass_time(150)
        assert store.due(generation) == 0

    def test_what_is_gone_is_not_waited_for(self, store: Store, generation: int) -> None:
        """A failure of a passage that no document holds any more is nobody's business."""
        held = prepared("a", "ant")
        put(store, held)
        store.fail(generation, held.chunks[0].content_hash, "no", retry_in=100)
        put(store, prepared("a", "bee"))
        assert store.due(generation) is None


def test_claiming_for_some_documents(store: Store, generation: int) -> None:
    """Only passages of the named documents are handed out."""
    put(store, prepared("a", "ant"), prepared("b", "bee"), prepared("c", "cat"))
    assert claimed(store, generation, ids=["c", "a", "none"]) == ["ant", "cat"]
    assert claimed(store, generation, ids=[]) == []
    assert claimed(store, generation) == ["bee"]


def test_what_is_stored(store: Store, generation: int) -> None:
    """The vectors of passages are found by their hashes; those without one are left out."""
    held = prepared("a", "ant\n\nbee")
    put(store, held)
    ant, bee = held.chunks
    store.add_vectors(generation, [(ant.content_hash, ant.text_hash, UP)])
    found = store.known_vectors(generation, [ant.content_hash, bee.content_hash])
    assert list(found) == [ant.content_hash]
    assert np.array_equal(found[ant.content_hash], UP)
    assert store.known_sentences(generation, [ant.content_hash, bee.content_hash]) == {}
    row = (bee.content_hash, bee.text_hash, ASIDE)
    store.add_vectors(generation, [row], {bee.content_hash: b"codes"})
    held = store.known_sentences(generation, [ant.content_hash, bee.content_hash])
    assert held == {bee.content_hash: b"codes"}


def test_what_is_uncovered(store: Store, generation: int) -> None:
    """A passage counts until it has a vector or one to borrow; hidden ones never do."""
    held = prepared("a", "ant\n\nbee", title="Old")
    put(store, held, prepared("h", "hidden", searchable=False))
    assert store.uncovered(generation) == 2
    embed(store, generation, held, UP, ASIDE)
    assert store.uncovered(generation) == 0
    put(store, prepared("a", "ant\n\nbee\n\ncat", title="New"))
    assert store.uncovered(generation) == 1


class TestLenders:
    """Text that was cut anew borrows the vector of the passage that held it."""

    def test_a_lender_covers_until_there_is_a_vector(self, store: Store, generation: int) -> None:
        """The new passage is found by the old vector, keeps it from the sweep, then has its own."""
        old = prepared("a", "ant bee")
        put(store, old)
        embed(store, generation, old, UP)
        assert store.uncovered(generation) == 0
        new = recut(prepared("a", "ant\n\nbee"), old)
        put(store, new)
        assert store.uncovered(generation) == 0
        assert store.sweep() == 0
        (near,) = store.nearest(generation, UP, Scope(), limit=9, floor=0.5)
        assert (near.id, near.position) == ("a", 0)
        assert [one.lender for one in store.chunks("a")] == [old.chunks[0].text_hash] * 2
        embed(store, generation, new, ASIDE, ASIDE)
        assert store.nearest(generation, UP, Scope(), limit=9, floor=0.5) == []
        assert store.sweep() == 1

    def test_late_vectors_of_a_lender_are_seen(self, store: Store, generation: int) -> None:
        """A vector that comes after the cut serves those who borrow from it."""
        old = prepared("a", "ant bee")
        put(store, recut(prepared("a", "ant"), old))
        assert store.nearest(generation, UP, Scope(), limit=9, floor=0.5) == []
        chunk = old.chunks[0]
        store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, UP)])
        assert len(store.nearest(generation, UP, Scope(), limit=9, floor=0.5)) == 1


def recut(new: Prepared, old: Prepared) -> Prepared:
    """The new cut, each passage borrowing from the first of the old one."""
    lender = old.chunks[0].text_hash
    return replace(new, chunks=tuple(replace(one, lender=lender) for one in new.chunks))
