"""The `EmbeddingQueue` port: what is left to do, who is at it, and what failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.builders import Clock, embed, prepared, put, unit
from twolane.model.document import Batch
from twolane.model.scope import Scope
from twolane.model.space import Failure, Jobs, Pending, Progress
from twolane.ports import Stores
from twolane.ports.vectors import NewVector

UP = unit(1, 0, 0, 0)


def claim(
    store: Stores, generation: int, *, worker: str = "w", limit: int = 99, seconds: float = 60
) -> list[str]:
    """The texts of the passages that the worker gets."""
    given = store.queue.claim(generation, worker=worker, limit=limit, seconds=seconds)
    return [pending.text for pending in given]


class TestClaims:
    """Work that is handed out."""

    def test_gives_what_is_needed_to_embed(self, store: Stores, generation: int) -> None:
        """A claimed passage has its text, its title and its place."""
        held = prepared("a", "ant\nbee\n\ncat", title="Beasts")
        put(store, held)
        first, second = store.queue.claim(generation, worker="w", limit=9, seconds=60)
        chunk = held.chunks[0]
        assert first == Pending(
            chunk.content_hash, "a", 0, "Beasts", (), "ant\nbee", chunk.language
        )
        assert second.text == "cat"

    def test_comes_by_document_and_position(self, store: Stores, generation: int) -> None:
        """Passages are handed out in a settled order, each once, up to the limit."""
        put(store, prepared("b", "four\n\nfive"), prepared("a", "one\n\ntwo\n\nthree"))
        assert claim(store, generation, limit=2) == ["one", "two"]
        assert claim(store, generation, limit=2) == ["three", "four"]
        assert claim(store, generation, limit=2) == ["five"]
        assert claim(store, generation, limit=2) == []

    def test_gives_equal_passages_once(self, store: Stores, generation: int) -> None:
        """Documents that share a passage share the work."""
        put(store, prepared("a", "same\n\nsame"), prepared("b", "same\n\nother"))
        assert claim(store, generation) == ["same", "other"]

    def test_a_shared_passage_comes_with_its_first_document(
        self, store: Stores, generation: int
    ) -> None:
        """A passage stands in line where its first document has it, not where others do."""
        put(store, prepared("a", "one\n\ntwo\n\nsame"), prepared("b", "same\n\nlast"))
        assert claim(store, generation) == ["one", "two", "same", "last"]

    def test_leaves_out_hidden_documents(self, store: Stores, generation: int) -> None:
        """What cannot be found is not embedded; the archive is."""
        put(store, prepared("a", "gone", deleted=True), prepared("b", "secret", encrypted=True))
        put(store, prepared("c", "off", searchable=False), prepared("d", "old", archived=True))
        assert claim(store, generation) == ["old"]

    def test_leaves_out_what_is_ready(self, store: Stores, generation: int) -> None:
        """A passage that has its vector is not handed out."""
        held = prepared("a", "ant")
        put(store, held, prepared("b", "bee"))
        embed(store, generation, held, UP)
        assert claim(store, generation) == ["bee"]

    def test_a_lease_holds_until_it_ends(
        self, store: Stores, generation: int, clock: Clock
    ) -> None:
        """Nobody gets a leased passage before its time is up."""
        put(store, prepared("a", "ant"))
        assert claim(store, generation, worker="one", seconds=60) == ["ant"]
        assert claim(store, generation, worker="two") == []
        assert claim(store, generation, worker="one") == []
        clock.pass_time(59)
        assert claim(store, generation, worker="two") == []
        clock.pass_time(2)
        assert claim(store, generation, worker="two") == ["ant"]

    def test_release_ends_a_workers_leases(self, store: Stores, generation: int) -> None:
        """A worker that stops gives back what it held, and only that."""
        put(store, prepared("a", "ant\n\nbee"))
        assert claim(store, generation, worker="one", limit=1) == ["ant"]
        assert claim(store, generation, worker="two", limit=1) == ["bee"]
        store.queue.release(generation, "one")
        assert claim(store, generation, worker="three") == ["ant"]

    def test_release_keeps_failures(self, store: Stores, generation: int) -> None:
        """Giving work back does not forget what went wrong before."""
        held = prepared("a", "ant")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "too odd", retry_in=0)
        assert claim(store, generation, worker="one") == ["ant"]
        store.queue.release(generation, "one")
        assert store.queue.progress(generation) == Progress(0, 0, 1)
        assert claim(store, generation, worker="two") == ["ant"]

    def test_workers_never_share_a_passage(self, store: Stores, generation: int) -> None:
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

    def test_wait_until_they_are_due(self, store: Stores, generation: int, clock: Clock) -> None:
        """A failed passage is handed out again when its time has come, lease or no lease."""
        held = prepared("a", "ant")
        put(store, held)
        assert claim(store, generation, seconds=1000) == ["ant"]
        store.queue.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=30)
        assert claim(store, generation) == []
        clock.pass_time(29)
        assert claim(store, generation) == []
        clock.pass_time(2)
        assert claim(store, generation) == ["ant"]

    def test_name_document_and_reason(self, store: Stores, generation: int) -> None:
        """Each document with a failed passage is listed with the latest reason."""
        one, two = prepared("a", "ant\n\nbee"), prepared("b", "cat")
        put(store, one, two)
        store.queue.fail(generation, one.chunks[1].content_hash, "first", retry_in=9)
        store.queue.fail(generation, one.chunks[1].content_hash, "second", retry_in=9)
        assert {
            id: one.reason
            for id, one in store.queue.progress(generation, detail=True).failures.items()
        } == {"a": "second"}
        assert store.queue.progress(generation) == Progress(0, 2, 1)

    def test_end_with_a_vector(self, store: Stores, generation: int) -> None:
        """A passage that was embedded at last has not failed."""
        held = prepared("a", "ant")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        embed(store, generation, held, UP)
        assert store.queue.progress(generation, detail=True).failures == {}
        assert store.queue.progress(generation) == Progress(1, 0, 0)
        store.documents.apply(Batch("notes", deletes=["a"]))
        put(store, held)
        assert store.queue.progress(generation) == Progress(0, 1, 0)

    def test_come_too_late_for_a_vector(self, store: Stores, generation: int) -> None:
        """A slow worker's failure says nothing of a passage that another one embedded."""
        held = prepared("a", "ant")
        put(store, held)
        embed(store, generation, held, UP)
        store.queue.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        assert store.queue.progress(generation, detail=True).failures == {}
        assert store.queue.progress(generation) == Progress(1, 0, 0)

    def test_go_with_their_passage(self, store: Stores, generation: int) -> None:
        """A failure of a passage that is gone or hidden counts no more."""
        held = prepared("a", "ant")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "no answer", retry_in=9)
        put(store, prepared("a", "ant", archived=True, deleted=True))
        assert store.queue.progress(generation, detail=True).failures == {}
        assert store.queue.progress(generation) == Progress(0, 0, 0)
        store.documents.apply(Batch("notes", deletes=["a"]))
        assert store.queue.progress(generation) == Progress(0, 0, 0)


def test_workers_are_those_that_hold_a_lease(store: Stores, generation: int) -> None:
    """Who claimed work is known by name until it is done or given back."""
    put(store, prepared("a", "ant\n\nbee"))
    assert list(store.queue.jobs(generation).workers) == []
    store.queue.claim(generation, worker="w2", limit=1, seconds=60)
    store.queue.claim(generation, worker="w1", limit=1, seconds=60)
    assert list(store.queue.jobs(generation).workers) == ["w1", "w2"]
    store.queue.release(generation, "w1")
    assert list(store.queue.jobs(generation).workers) == ["w2"]


def test_jobs_tell_what_was_given_up_and_how_fast_it_went(store: Stores, generation: int) -> None:
    """Of passages that failed only those count that are not tried again by themselves."""
    first, second = prepared("a", "ant"), prepared("b", "bee")
    put(store, first, second)
    assert store.queue.jobs(generation) == Jobs()
    store.queue.complete(generation, (), rate=7.5)
    store.queue.fail(generation, first.chunks[0].content_hash, "no", retry_in=100)
    assert store.queue.jobs(generation).abandoned == 0
    store.queue.fail(generation, second.chunks[0].content_hash, "no", retry_in=None)
    told = store.queue.jobs(generation)
    assert (told.abandoned, told.rate) == (1, 7.5)


class TestTimes:
    """When documents got their vectors."""

    def test_are_those_of_the_last_passage(
        self, store: Stores, clock: Clock, generation: int
    ) -> None:
        """A document has a time once nothing of it waits; vectors centred anew keep theirs."""
        two, one = prepared("a", "ant\n\nbee"), prepared("b", "cat")
        put(store, two, one, prepared("c", "dog"))

        def times(*documents: str) -> dict[str, float]:
            scope = Scope(documents=documents)
            return dict(store.queue.progress(generation, scope, detail=True).embedded)

        begin = clock()
        first, second = two.chunks
        store.vectors.add(generation, [NewVector(first.content_hash, UP)])
        assert times() == {}
        clock.pass_time(5)
        embed(store, generation, one, UP)
        clock.pass_time(5)
        store.vectors.add(generation, [NewVector(second.content_hash, UP)])
        assert times() == {"a": begin + 10, "b": begin + 5}
        assert times("b", "c") == {"b": begin + 5}
        clock.pass_time(5)
        anew = [NewVector(one.content_hash, UP) for one in (*two.chunks, *one.chunks)]
        store.vectors.add(generation, anew, means={})
        assert times() == {"a": begin + 10, "b": begin + 5}
        assert store.queue.progress(generation).embedded == {}


class TestProgress:
    """What is done and what is left."""

    def test_counts_distinct_passages(self, store: Stores, generation: int) -> None:
        """Every passage that can be found is ready, pending or failed, and counted once."""
        one = prepared("a", "ant\n\nbee\n\nant")
        put(store, one, prepared("b", "ant\n\ncat"), prepared("c", "dog", deleted=True))
        assert store.queue.progress(generation) == Progress(0, 3, 0)
        claim(store, generation, limit=1)
        assert store.queue.progress(generation) == Progress(0, 3, 0)
        embed(store, generation, one, UP, unit(0, 1, 0, 0), UP)
        assert store.queue.progress(generation) == Progress(2, 1, 0)

    def test_tells_what_is_left_by_document(self, store: Stores, generation: int) -> None:
        """Documents with passages to embed are listed with their number, failed ones included."""
        one, two = prepared("a", "ant\n\nbee\n\nant"), prepared("b", "ant\n\ncat")
        put(store, one, two, prepared("c", "dog", encrypted=True))
        assert store.queue.progress(generation, detail=True).waiting == {"a": 2, "b": 2}
        store.queue.fail(generation, two.chunks[1].content_hash, "no answer", retry_in=9)
        embed(store, generation, one, UP, UP, UP)
        assert store.queue.progress(generation, detail=True).waiting == {"b": 1}

    def test_a_new_title_asks_for_a_new_vector(self, store: Stores, generation: int) -> None:
        """A passage under a new title is pending: its vector was made with the old one."""
        old = prepared("a", "ant", title="Old")
        put(store, old)
        embed(store, generation, old, UP)
        put(store, prepared("a", "ant", title="New"))
        assert store.queue.progress(generation) == Progress(0, 1, 0)
        assert claim(store, generation) == ["ant"]

    def test_vectors_follow_a_rename(self, store: Stores, generation: int) -> None:
        """The same passage under another id needs no new vector."""
        old = prepared("a", "ant", title="Same")
        put(store, old)
        embed(store, generation, old, UP)
        store.documents.apply(
            Batch("notes", upserts=[prepared("b", "ant", title="Same")], deletes=["a"])
        )
        assert store.queue.progress(generation) == Progress(1, 0, 0)
        assert [
            each.id for each in store.vectors.nearest(generation, UP, Scope(), limit=9, floor=0)
        ] == ["b"]

    def test_counts_the_passages_of_each_language(self, store: Stores, generation: int) -> None:
        """Distinct passages that can be found, whether they have vectors or not."""
        put(store, prepared("a", "ant\n\nbee\n\nant", languages=("en", "ru", "en")))
        put(store, prepared("b", "cat", languages=("ru",)), prepared("c", "dog", deleted=True))
        put(store, prepared("d", "elk", languages=()))
        assert store.queue.progress(generation).languages == {"en": 1, "ru": 2}

    def test_the_rate_is_remembered(self, store: Stores, generation: int) -> None:
        """How fast a generation is filled is known to whoever asks, until it is told anew."""
        assert store.queue.progress(generation).rate is None
        store.queue.complete(generation, [], rate=12.5)
        store.queue.complete(generation, ["unknown"])
        assert store.queue.progress(generation).rate == 12.5

    def test_is_seen_by_all_after_any_change(self, store: Stores, generation: int) -> None:
        """What was counted before is counted anew when documents or vectors change."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        assert store.queue.progress(generation).missing == 2
        embed(store, generation, held, UP, UP)
        assert store.queue.progress(generation).missing == 0
        put(store, prepared("a", "cat"))
        assert store.queue.progress(generation) == Progress(0, 1, 0)


def claimed(store: Stores, generation: int, worker: str = "w", **options: object) -> list[str]:
    """The texts of what the worker gets."""
    found = store.queue.claim(generation, worker=worker, limit=9, seconds=60, **options)  # type: ignore[arg-type]
    return [one.text for one in found]


class TestTries:
    """How often a passage is tried, and when again."""

    def test_tries_are_counted(self, store: Stores, generation: int, clock: Clock) -> None:
        """Each failure counts, the next try is known, and whoever claims it learns of both."""
        held = prepared("a", "ant")
        put(store, held)
        key = held.chunks[0].content_hash
        store.queue.fail(generation, key, "no", retry_in=30)
        store.queue.fail(generation, key, "still no", retry_in=60)
        assert store.queue.progress(generation, detail=True).failures == {
            "a": Failure("still no", 2, clock.now + 60)
        }
        assert claimed(store, generation) == []
        clock.pass_time(61)
        (again,) = store.queue.claim(generation, worker="w", limit=9, seconds=60)
        assert again.tries == 2

    def test_giving_up(self, store: Stores, generation: int, clock: Clock) -> None:
        """What is given up is never due by itself, and is counted."""
        held = prepared("a", "ant")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "never", retry_in=None)
        clock.pass_time(10**9)
        assert claimed(store, generation) == []
        assert store.queue.jobs(generation).due is None
        assert store.queue.progress(generation) == Progress(0, 0, 1, 1)
        assert store.queue.progress(generation, detail=True).failures["a"].next_try is None

    def test_retrying(self, store: Stores, generation: int) -> None:
        """Asked to, everything that failed is due at once, as if it had never been tried."""
        held = prepared("a", "ant\n\nbee\n\ncat")
        put(store, held)
        ant, bee, _ = (chunk.content_hash for chunk in held.chunks)
        store.queue.fail(generation, ant, "never", retry_in=None)
        store.queue.fail(generation, bee, "later", retry_in=900)
        store.queue.release(generation)
        found = store.queue.claim(generation, worker="w", limit=9, seconds=60)
        assert [(one.text, one.tries) for one in found] == [("ant", 0), ("bee", 0), ("cat", 0)]

    def test_the_first_passage_speaks_for_its_document(
        self, store: Stores, generation: int
    ) -> None:
        """Of several failures of a document, that of its first passage is told."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        for chunk, reason in zip(held.chunks, ("z", "a"), strict=True):
            store.queue.fail(generation, chunk.content_hash, reason, retry_in=9)
        assert store.queue.progress(generation, detail=True).failures["a"].reason == "z"


class TestDue:
    """When there is something to do again."""

    def test_nothing_is_waited_for(self, store: Stores, generation: int) -> None:
        """Without leases and failures nobody waits."""
        put(store, prepared("a", "ant"))
        assert store.queue.jobs(generation).due is None

    def test_the_soonest_counts(self, store: Stores, generation: int, clock: Clock) -> None:
        """A lease and a failure end at their times; what is over is due now."""
        held = prepared("a", "ant\n\nbee")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "no", retry_in=100)
        assert store.queue.jobs(generation).due == pytest.approx(100)
        store.queue.claim(generation, worker="w", limit=1, seconds=40)
        assert store.queue.jobs(generation).due == pytest.approx(40)
        clock.pass_time(150)
        assert store.queue.jobs(generation).due == 0

    def test_what_is_gone_is_not_waited_for(self, store: Stores, generation: int) -> None:
        """A failure of a passage that no document holds any more is nobody's business."""
        held = prepared("a", "ant")
        put(store, held)
        store.queue.fail(generation, held.chunks[0].content_hash, "no", retry_in=100)
        put(store, prepared("a", "bee"))
        assert store.queue.jobs(generation).due is None


def test_claiming_for_some_documents(store: Stores, generation: int) -> None:
    """Only passages of the named documents are handed out."""
    put(store, prepared("a", "ant"), prepared("b", "bee"), prepared("c", "cat"))
    assert claimed(store, generation, ids=["c", "a", "none"]) == ["ant", "cat"]
    assert claimed(store, generation, ids=[]) == []
    assert claimed(store, generation) == ["bee"]


class TestClocks:
    """Hosts whose clocks disagree."""

    def test_a_lease_from_the_future_binds_nobody(
        self, store: Stores, generation: int, clock: Clock
    ) -> None:
        """What a host leased whose clock runs a day ahead is free, and due at once."""
        put(store, prepared("a", "ant"))
        clock.pass_time(86_400)
        assert claimed(store, generation, "ahead") == ["ant"]
        clock.pass_time(-86_400)
        assert store.queue.jobs(generation).due == 0
        assert claimed(store, generation, "w") == ["ant"]
        assert claimed(store, generation, "another") == []

    def test_a_try_from_the_future_is_due(
        self, store: Stores, generation: int, clock: Clock
    ) -> None:
        """What a host put off whose clock runs a month ahead is tried now."""
        held = prepared("a", "ant")
        put(store, held)
        clock.pass_time(30 * 86_400)
        store.queue.fail(generation, held.chunks[0].content_hash, "later", retry_in=60)
        clock.pass_time(-30 * 86_400)
        assert store.queue.jobs(generation).due == 0
        assert claimed(store, generation) == ["ant"]
