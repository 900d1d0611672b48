"""The pipeline: everything is embedded once, what is bad fails alone, and nobody waits for long."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import Clock, prepared, put
from tests.embedders import Counting, Hanging, Lying, Poisoned, Shaky
from tests.waiting import PATIENCE
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.embedders.use import UseEmbedder
from twolane.embedding.pipeline import fill
from twolane.embedding.pipeline.batches import batches
from twolane.embedding.pipeline.leases import LONGEST_WAIT_SECONDS, retry_in
from twolane.model.document import Collection
from twolane.model.space import Pending, Progress
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.embedder import Parallel
from twolane.settings import Settings
from twolane.stores.memory import memory_stores
from twolane.stores.sqlite import open_stores

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix

SETTINGS = Settings()


@pytest.fixture
def store(tmp_path: Path) -> Stores:
    """Two passages to embed."""
    opened = open_stores(tmp_path / "x.db")
    opened.documents.apply(PutCollection(Collection("notes")))
    put(opened, prepared("a", "ant"), prepared("b", "bee"))
    return opened


@pytest.fixture
def clock() -> Clock:
    """The clock that `many` goes by."""
    return Clock()


@pytest.fixture
def many(clock: Clock) -> Stores:
    """A hundred passages to embed, one of them bad for some."""
    opened = memory_stores(clock=clock)
    opened.documents.apply(PutCollection(Collection("notes")))
    notes = [prepared(f"n{number:03}", f"text {number}") for number in range(99)]
    put(opened, *notes, prepared("bad", "poison"))
    return opened


class TestLeases:
    """Who works on what."""

    def test_the_work_of_a_dead_process_is_taken_over(self, store: Stores) -> None:
        """What a killed process had claimed is embedded by the next one at once."""
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        embedder = HashingEmbedder()
        generation = store.vectors.open_generation(embedder.space).number
        store.queue.claim(
            generation, worker=f"{platform.node()}:{gone.pid}:1", limit=9, seconds=600
        )
        assert fill(store, embedder).embedded == 2

    @pytest.mark.parametrize(
        "worker", [f"{platform.node()}:{os.getppid()}:1", "elsewhere:1:1", "nonsense"]
    )
    def test_the_work_of_others_is_left_to_them(self, store: Stores, worker: str) -> None:
        """A process that lives, or one of another machine, keeps its lease."""
        embedder = HashingEmbedder()
        generation = store.vectors.open_generation(embedder.space).number
        store.queue.claim(generation, worker=worker, limit=9, seconds=600)
        assert fill(store, embedder).embedded == 0

    def test_some_documents_only(self, store: Stores) -> None:
        """Work can be limited to documents, and to a number of passages."""
        embedder = Counting()
        assert fill(store, embedder, ids=["b"]).embedded == 1
        assert [text.rpartition("\n")[2] for text in embedder.texts] == ["bee"]
        put(store, prepared("c", "cat"))
        assert fill(store, embedder, most=1).embedded == 1
        assert fill(store, embedder).embedded == 1
        assert set(embedder.texts.values()) == {1}


class TestFailures:
    """Embedders that do not do as they should."""

    def test_a_poisonous_passage_fails_alone(self, many: Stores) -> None:
        """The others are embedded, and finding the bad one takes few calls."""
        embedder = Poisoned()
        filled = fill(many, embedder)
        assert (filled.embedded, filled.failed, filled.stopped) == (99, 1, None)
        assert (
            many.queue.progress(1, detail=True).failures["bad"].reason
            == "RuntimeError: it tastes bad"
        )
        assert len(embedder.sizes) < 60

    def test_a_failure_is_tried_again_later_and_later(self, many: Stores, clock: Clock) -> None:
        """The wait doubles, tries are counted, at last it is given up; a retry starts anew."""
        embedder = Poisoned()
        settings = SETTINGS.changed(embedding={"retry_seconds": 100.0, "passage_tries": 3})
        waits = []
        for _ in range(3):
            assert fill(many, embedder, settings=settings).failed == 1
            assert fill(many, embedder, settings=settings).failed == 0, "it is not due yet"
            due = many.queue.jobs(1).due
            if due is not None:
                waits.append(due)
                clock.pass_time(due)
        assert 75 <= waits[0] <= 125
        assert 150 <= waits[1] <= 250
        assert many.queue.progress(1) == Progress(99, 0, 1, 1)
        embedder.word = None
        many.queue.release(1)
        assert fill(many, embedder, settings=settings).embedded == 1

    def test_the_wait_has_an_end(self) -> None:
        """However often it failed, the wait is no longer than an hour, give or take."""
        settings = SETTINGS.changed(embedding={"passage_tries": 100})
        wait = retry_in(90, settings)
        assert wait is not None and wait <= 1.25 * LONGEST_WAIT_SECONDS
        assert retry_in(100, settings) is None

    @pytest.mark.parametrize(
        "lie",
        [
            lambda made: made[:, :-1],
            lambda made: made[:-1],
            lambda made: made * np.nan,
            lambda made: made * 2,
            lambda made: made[:0],
        ],
        ids=["wrong dimension", "too few", "NaN", "not of unit length", "none"],
    )
    def test_a_liar_is_not_believed(self, many: Stores, lie) -> None:  # type: ignore[no-untyped-def]
        """Not one bad vector is stored; the run stops instead of blaming every passage."""
        filled = fill(many, Lying(lie))
        assert filled.embedded == 0
        assert filled.stopped is not None and "16 times in a row" in filled.stopped
        assert many.queue.progress(1).ready == 0
        assert many.queue.progress(1).failed <= 16

    def test_what_fails_at_random_is_embedded_in_the_end(self, many: Stores, clock: Clock) -> None:
        """With three of ten calls failing, everything gets its vector, and only once."""
        embedder = Shaky(0.3)
        for _ in range(20):
            fill(many, embedder)
            clock.pass_time(3600)
        assert many.queue.progress(1) == Progress(100, 0, 0)
        assert set(embedder.texts.values()) == {1}


class TestStopping:
    """An end at any moment."""

    def test_a_call_that_hangs_is_left_behind(self, store: Stores) -> None:
        """Asked to stop, a run is over soon although the embedder is not; its leases are gone."""
        embedder = Hanging()
        stop = threading.Event()
        done = threading.Event()

        def run() -> None:
            fill(store, embedder, stop=stop.is_set)
            done.set()

        threading.Thread(target=run, daemon=True).start()
        assert embedder.asked.wait(PATIENCE)
        started = time.perf_counter()
        stop.set()
        assert done.wait(PATIENCE)
        # It hangs for half a minute.
        assert time.perf_counter() - started < 15
        assert list(store.queue.jobs(1).workers) == []
        embedder.released.set()


class TestSideBySide:
    """An embedder that gains from it is called from several threads."""

    def test_two_calls_are_under_way_at_a_time(self, many: Stores) -> None:
        """Batches meet inside the embedder, and every passage is still embedded once."""
        embedder = Meeting()
        assert fill(many, embedder, parallel=2).embedded == 100
        assert not embedder.barrier.broken
        assert set(embedder.texts.values()) == {1}

    def test_the_default_model_is_such_an_embedder(self) -> None:
        """The default model is called from several threads, if there are cores for them."""
        assert UseEmbedder().parallel > 1
        assert isinstance(UseEmbedder(), Parallel)


class Meeting(Counting):
    """Its first two calls wait for each other."""

    parallel = 2

    def __init__(self) -> None:
        super().__init__()
        self.barrier = threading.Barrier(2)
        self._calls = count()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """The vectors, once another thread is here, too."""
        if next(self._calls) < 2:
            self.barrier.wait(PATIENCE)
        return super().embed_passages(texts)


class TestBatches:
    """What is embedded together."""

    def test_batches_are_sized_by_tokens(self) -> None:
        """Long passages come in small batches, short ones in large, like with like, none lost."""
        passages = [
            Pending(f"h{number}", "d", 0, "", (), "word " * (400 if number % 2 else 10))
            for number in range(200)
        ]
        made = batches(passages, 4096)
        assert sorted(one.content_hash for batch in made for one in batch) == sorted(
            one.content_hash for one in passages
        )
        lengths = [sorted({len(one.text) for one in batch}) for batch in made]
        assert sum(len(one) > 1 for one in lengths) <= 1
        assert max(len(batch) for batch in made) == 64
        assert max(len(batch) for batch in made if len(batch[0].text) > 100) < 16

    def test_a_passage_larger_than_a_batch_goes_alone(self) -> None:
        """No passage is too long to be tried."""
        passages = [Pending(f"h{number}", "d", 0, "", (), "word " * 5000) for number in range(3)]
        assert [len(batch) for batch in batches(passages, 10)] == [1, 1, 1]

    def test_the_rate_is_kept(self, many: Stores) -> None:
        """After a run the generation knows how fast it was filled."""
        fill(many, Counting())
        rate = many.queue.progress(1).rate
        assert rate is not None and rate > 0


def test_the_first_passages_are_told_soon(many: Stores) -> None:
    """Also where the speed is known and batches could be large, the first ones are small."""
    embedder = HashingEmbedder()
    generation = many.vectors.open_generation(embedder.space)
    many.queue.complete(generation.number, (), rate=1e6)
    told: list[int] = []
    fill(
        many,
        embedder,
        generation,
        settings=SETTINGS,
        progress=lambda progress: told.append(progress.ready),
    )
    assert told[0] == 0
    assert 0 < told[1] <= 8
    assert told[-1] == 100
