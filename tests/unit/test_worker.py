"""The worker: embeds beside everything else, and never gets in the way."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.builders import write_notes
from tests.embedders import Counting, Hanging, Shaky
from tests.waiting import PATIENCE, eventually
from twolane import Library, Settings
from twolane.embedding.pipeline.switching import Verdict
from twolane.embedding.pipeline.worker import Turn, Worker
from twolane.embedding.spaces import Embedders
from twolane.model.draft import Draft
from twolane.model.errors import EmbedderUnavailable
from twolane.model.space import Generation
from twolane.ports.embedder import Embedder
from twolane.stores.sql.queue import SqlQueue
from twolane.stores.sqlite import open_stores

Opener = Callable[..., Library]

NOTES = {f"n{number}.md": f"# Note {number}\n\nText number {number}." for number in range(20)}


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[Opener]:
    """Opens libraries of one database, and closes them."""
    opened: list[Library] = []

    def open_one(*embedders: Embedder, **settings: object) -> Library:
        chosen = Settings(db=tmp_path / "x.db", embedding={"retry_seconds": 0.05}).changed(
            **settings
        )
        store = open_stores(tmp_path / "x.db")
        opened.append(Library(store, chosen, Embedders(*embedders)))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def settled(library: Library) -> bool:
    """Whether there are vectors, and nothing is pending in any generation."""
    held = library.generations()
    return bool(held) and all(not one.pending and not one.failed for _, one in held)


def test_it_embeds_what_is_there_and_what_comes(open_library: Opener, tmp_path: Path) -> None:
    """Notes that were there, and those that another process adds, get their vectors."""
    library = open_library(Counting())
    library.index(write_notes(tmp_path / "notes", NOTES))
    worker = library.start_worker()
    assert library.start_worker() is worker
    assert worker.wait_idle(PATIENCE)
    eventually(lambda: settled(library))
    other = open_library(Counting(), embedding={"save_seconds": 0.0})
    other.save(Draft("new", title="New", body="quite new"))
    assert other.status().progress.pending == 1
    eventually(lambda: settled(library))


def test_it_fills_the_better_space_and_lets_it_take_over(
    open_library: Opener, tmp_path: Path
) -> None:
    """Both spaces are filled, the better one serves in the end, and the first stands by."""
    library = open_library(Counting("fast"), Counting("good"))
    library.index(write_notes(tmp_path / "notes", NOTES))
    library.start_worker()
    eventually(lambda: library.search("text").generation == 2)
    states = [one.state.value for one, _ in library.generations()]
    assert states == ["standby", "serving"]


def test_an_embedder_that_is_gone_comes_back(open_library: Opener, tmp_path: Path) -> None:
    """The worker waits, tries again, and completes the work when the embedder is back."""

    class Away(Counting):
        away = True
        calls = 0

        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            self.calls += 1
            if self.away:
                raise EmbedderUnavailable("away")
            return super().embed_passages(texts)

    embedder = Away()
    library = open_library(embedder)
    library.index(write_notes(tmp_path / "notes", NOTES))
    worker = library.start_worker()
    eventually(lambda: embedder.calls >= 2)
    assert worker.is_running
    embedder.away = False
    worker.wake()
    eventually(lambda: settled(library))


def test_what_fails_is_tried_again(open_library: Opener, tmp_path: Path) -> None:
    """Failures of single passages come due and are embedded without anybody asking."""
    library = open_library(Shaky(0.4, seed=3))
    library.index(write_notes(tmp_path / "notes", NOTES))
    library.start_worker()
    eventually(lambda: settled(library))


def test_a_save_makes_nobody_count_the_library(
    open_library: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far all the rest is takes long to count, and is not asked to embed one new document."""
    library = open_library(Counting(), embedding={"save_seconds": 0.0})
    library.index(write_notes(tmp_path / "notes", NOTES))
    worker = library.start_worker()
    assert worker.wait_idle(15)
    counted = []
    count = SqlQueue.progress

    def noted(*asked: Any, **more: Any) -> Any:
        counted.append(asked)
        return count(*asked, **more)

    monkeypatch.setattr(SqlQueue, "progress", noted)
    library.save(Draft("new", title="New", body="quite new"))
    assert worker.wait_idle(15)
    assert not counted
    assert settled(library) and counted


def test_a_worker_that_finds_nothing_leaves_the_store_alone() -> None:
    """However often it is woken, it spends a tenth of its time on looking for work."""
    turns = []

    def turn(_: Callable[[], bool]) -> Turn:
        turns.append(time.monotonic())
        time.sleep(0.05)
        return Turn(None)

    worker = Worker(turn, lambda: "", first_wait=0.05, longest_wait=1.0)
    worker.start()
    until = time.monotonic() + 1.2
    while time.monotonic() < until:
        worker.wake()
        time.sleep(0.005)
    assert worker.stop()
    assert len(turns) >= 2
    assert all(after - before >= 0.45 for before, after in pairwise(turns))


def test_it_stops_promptly(open_library: Opener, tmp_path: Path) -> None:
    """Closing the library does not wait for an embedder that hangs."""
    embedder = Hanging()
    library = open_library(embedder)
    library.index(write_notes(tmp_path / "notes", NOTES))
    worker = library.start_worker()
    assert embedder.asked.wait(PATIENCE)
    started = time.perf_counter()
    library.close()
    # It hangs for half a minute.
    assert time.perf_counter() - started < 15
    assert not worker.is_running
    embedder.released.set()


def test_it_never_keeps_the_process_alive(tmp_path: Path) -> None:
    """A program that forgets to close its library ends all the same."""
    code = (
        "import time; from twolane import Library, Settings\n"
        "settings = Settings(embedding={'embedder': 'hashing'})\n"
        f"library = Library.open({str(tmp_path / 'x.db')!r}, settings=settings)\n"
        "library.start_worker(); time.sleep(0.2)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


class TestSaving:
    """A save embeds what it saved, if that is quick."""

    def test_at_once(self, open_library: Opener) -> None:
        """With a quick embedder the new document is found by meaning when the call returns."""
        library = open_library(Counting(), embedding={"save_seconds": 5.0})
        library.save(Draft("a", title="Bees", body="bees winter in a cluster"))
        answer = library.search("bees in winter", mode="semantic")
        assert [result.id for result in answer.results] == ["a"]

    def test_a_slow_embedder_delays_no_save(self, open_library: Opener) -> None:
        """Past its time a save returns, later ones do not wait at all; vectors follow."""
        embedder = Hanging()
        library = open_library(embedder, embedding={"save_seconds": 0.1})
        started = time.perf_counter()
        for number in range(5):
            library.save(Draft(f"n{number}", title=f"T{number}", body=f"text {number}"))
        # It hangs for half a minute.
        assert time.perf_counter() - started < 15
        assert library.status().progress.ready == 0
        assert len(library.search("text", mode="lexical").results) == 5
        embedder.released.set()
        library.start_worker()
        eventually(lambda: settled(library))

    @pytest.mark.parametrize("error", [EmbedderUnavailable("dead"), OSError("429"), ValueError()])
    def test_a_dead_embedder_fails_no_save(self, open_library: Opener, error: Exception) -> None:
        """Whatever the embedder raises, the text is saved and found."""

        class Dead(Counting):
            def embed_passages(self, texts):  # type: ignore[no-untyped-def]
                raise error

        library = open_library(Dead())
        library.save(Draft("a", title="Bees", body="bees winter in a cluster"))
        assert [result.id for result in library.search("bees").results] == ["a"]
        assert library.status().progress.ready == 0

    def test_nobody_waits_for_one_that_was_down(self, open_library: Opener) -> None:
        """After a failure saves return at once, until the embedder has been quick again."""

        class Failing(Hanging):
            down = True

            def embed_passages(self, texts):  # type: ignore[no-untyped-def]
                if self.down:
                    raise EmbedderUnavailable("down")
                return super().embed_passages(texts)

        embedder = Failing()
        library = open_library(embedder, embedding={"save_seconds": 30.0})
        library.save(Draft("a", title="Bees", body="bees winter in a cluster"))
        embedder.down = False
        started = time.monotonic()
        library.save(Draft("b", title="Ants", body="ants carry leaves"))
        # It hangs, so whoever waited for it would be here after half a minute.
        assert time.monotonic() - started < 15
        assert library.status().progress.ready == 0
        embedder.released.set()
        for number in range(100):
            library.save(Draft(f"c{number}", title="Moths", body=f"moths like lamps {number}"))
            if library.status().progress.ready > number:
                break
            time.sleep(0.02)
        assert library.search("moths like lamps", mode="semantic").results


def test_it_obeys_the_gate_once(open_library: Opener, tmp_path: Path) -> None:
    """Refused vectors are not judged again after each save; what serves goes on getting its own."""
    old = Counting("old")
    open_library(old).index(write_notes(tmp_path / "notes", NOTES))
    open_library(old).embed()
    library = open_library(old, Counting("new"))
    asked: list[int] = []

    def gate(candidate: Generation, serving: Generation) -> Verdict:
        asked.append(candidate.number)
        return Verdict(False, "worse")

    library.guard(gate)
    worker = library.start_worker()
    assert worker.wait_idle(PATIENCE)
    for number in range(3):
        library.save(Draft(f"x{number}", title="X", body=f"quite another thing {number}"))
        worker.wake()
        assert worker.wait_idle(PATIENCE)
    assert asked == [2]
    (_, served), (refused, _) = library.generations()
    assert (served.pending, refused.reason) == (0, "refused by the gate: worse")
