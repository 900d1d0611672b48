"""A library that a Qdrant cluster searches: in step, through faults, and back again."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from tests.interfaces.conftest import Cli
from tests.qdrant_server import Node, running
from tests.waiting import eventually
from twolane import Draft, Library, Settings
from twolane.model.answer import Answer, Lane
from twolane.model.errors import BadInput, EngineTaken, EngineUnavailable
from twolane.ports.outbox import Lag
from twolane.stores.qdrant.follower import Follower
from twolane.stores.qdrant.points import words_id

_NAMES = (f"library{number}" for number in count())


@contextmanager
def opened(
    nodes: Sequence[Node], path: Path, name: str | None = None, **qdrant: Any
) -> Iterator[Library]:
    """A library in a file, which these nodes follow."""
    given = {"urls": [node.url for node in nodes], "name": name or next(_NAMES), **qdrant}
    settings = Settings(embedding={"embedder": "hashing", "save_seconds": 5}, qdrant=given)
    with Library.open(path, settings=settings) as library:
        yield library


@pytest.fixture
def library(qdrant: Node, tmp_path: Path) -> Iterator[Library]:
    """A library of three notes that one node follows."""
    with opened([qdrant], tmp_path / "a.db", seconds=10) as made:
        for id, text in TEXTS.items():
            save(made, id, text)
        made.embed()
        made.reindex()
        yield made


TEXTS = {
    "ants": "Ants carry leaves into the hill.",
    "bees": "Bees dance before they fly.",
    "cats": "Cats sleep on warm stones.",
}


def save(library: Library, id: str, text: str, **fields: Any) -> None:
    library.save(Draft(id, title=id.title(), body=text, **fields))


def follower(library: Library) -> Follower:
    found = library._stores.follower
    assert isinstance(found, Follower)
    return found


def in_step(library: Library) -> None:
    """Wait until nothing is left to bring over, and see that both hold the same."""
    eventually(lambda: follower(library).drain(10))
    assert library.lag() == Lag()
    assert follower(library).differences() == []


def found(answer: Answer) -> list[str]:
    return [one.id for one in answer.results]


def named(answer: Answer) -> set[Lane]:
    return {one.lane for one in answer.degraded}


def client_of(node: Node) -> QdrantClient:
    return QdrantClient(url=node.url, check_compatibility=False, timeout=30)


def test_a_save_is_found_in_a_moment(library: Library) -> None:
    """What is saved, changed or deleted is followed by itself, within a second or so."""
    save(library, "dogs", "Dogs bark at the moon.")
    eventually(lambda: found(library.search("moon", mode="lexical")) == ["dogs"])
    library.delete("dogs")
    eventually(lambda: not library.search("moon", mode="lexical").results)
    in_step(library)


def test_what_is_deleted_is_not_shown_before_it_is_followed(library: Library) -> None:
    """Qdrant may be behind; the database decides what may be seen."""
    follower(library).close()
    library.delete("bees")
    answer = library.search("bees dance", mode="lexical")
    assert found(answer) == []
    assert "bees" not in found(library.search("bees dance"))


def test_a_late_retry_never_overwrites(library: Library) -> None:
    """Whoever comes too late with what a document was leaves it as it is, gone or newer."""
    following = follower(library)
    builds = following.layout.builds()
    assert library._stores.outbox is not None
    early = library._stores.outbox.number()
    save(library, "ants", "Ants build bridges.")
    library.delete("cats")
    in_step(library)
    late = following._made(["ants"], early, builds, builds.all)
    for name, points in late.points.items():
        following._upsert(name, points, early)
    following._write(["ants", "cats"], early, builds, builds.all)
    assert library._stores.outbox.lag().changes == 2
    in_step(library)
    assert found(library.search("bridges", mode="lexical")) == ["ants"]
    assert "cats" not in found(library.search("cats on warm stones"))


def test_doctor_finds_and_mends_what_differs(library: Library, qdrant: Node) -> None:
    """Points that are lost, changed or too many are named by their documents, and made again."""
    assert library.check() == []
    client = client_of(qdrant)
    names = follower(library).layout.builds().asked
    words = next(name for alias, name in names.items() if alias.endswith("words"))
    dense = next(name for alias, name in names.items() if "-g" in alias)
    client.delete(words, [words_id("ants")], wait=True)
    of_bees = models.Filter(
        must=[models.FieldCondition(key="document", match=models.MatchValue(value="bees"))]
    )
    client.delete(dense, models.FilterSelector(filter=of_bees), wait=True)
    client.set_payload(words, {"digest": "other"}, points=[words_id("cats")], wait=True)
    stray = models.PointStruct(id=1, vector={}, payload={"document": "dogs", "version": 1})
    client.upsert(words, [stray], wait=True)
    assert {one.path for one in library.check()} == {"ants", "bees", "cats", "dogs"}
    assert any("4 documents" in one.reason for one in library.repair())
    client.delete(words, [1], wait=True)
    assert library.check() == []
    assert found(library.search("leaves", mode="lexical")) == ["ants"]


def test_a_new_build_while_documents_change(library: Library) -> None:
    """Searches and saves go on; the build that takes over has all of them, and so has the old."""
    stop = threading.Event()
    failures: list[object] = []

    def change() -> None:
        for number in count():
            if stop.is_set():
                return
            save(library, f"note{number % 7}", f"Dogs bark {number} times.")
            if number % 5 == 4:
                library.delete(f"note{number % 7}")

    def search() -> None:
        while not stop.is_set():
            answer = library.search("ants carry leaves")
            if found(answer)[:1] != ["ants"] or Lane.LEXICAL in named(answer):
                failures.append(answer)

    with ThreadPoolExecutor(2) as threads:
        tasks = [threads.submit(change), threads.submit(search)]
        try:
            for _ in range(3):
                library.reindex()
        finally:
            stop.set()
        for task in tasks:
            task.result()
    assert failures == []
    in_step(library)
    library.reindex(back=True)
    in_step(library)
    assert found(library.search("ants carry leaves"))[:1] == ["ants"]


def test_a_new_build_is_indexed_before_it_answers(tmp_path: Path) -> None:
    """Vectors are indexed when all are there, as the node does by itself, and not before."""
    few = {"STORAGE__OPTIMIZERS__INDEXING_THRESHOLD_KB": 1}
    with (
        running(settings=few) as (node,),
        opened([node], tmp_path / "a.db", seconds=10) as library,
    ):
        for number in range(40):
            save(library, f"note{number}", f"Dogs bark {number} times at the moon.")
        library.embed()
        library.reindex()
        name = next(one for one in follower(library).layout.builds().all if "-g" in one)
        held = client_of(node).get_collection(name)
        assert held.points_count == held.indexed_vectors_count == 40
        assert held.config.optimizer_config.indexing_threshold == 1
        assert len(found(library.search("dogs bark"))) == 20


def test_a_generation_that_is_lost_comes_back(library: Library, qdrant: Node) -> None:
    """The lane is named while its collection is missing, and the next change fills it again."""
    client = client_of(qdrant)
    name = next(one for one in follower(library).layout.builds().all if "-g" in one)
    client.delete_collection(name)
    answer = library.search("bees dance before they fly")
    assert found(answer)[:1] == ["bees"]
    assert named(answer) == {Lane.DENSE}
    save(library, "dogs", "Dogs bark at the moon.")
    in_step(library)
    assert named(library.search("bees dance before they fly")) == set()


def test_without_its_collections_the_command_is_named(qdrant: Node, tmp_path: Path) -> None:
    """Before the first build lanes say what to do, and there is nothing to go back to."""
    with opened([qdrant], tmp_path / "a.db", seconds=10) as library:
        save(library, "ants", TEXTS["ants"])
        answer = library.search("leaves")
        assert named(answer) >= {Lane.LEXICAL}
        assert all("db reindex --into qdrant" in one.reason for one in answer.degraded)
        assert [one.path for one in library.check()] == ["Qdrant"]
        library.reindex()
        with pytest.raises(BadInput, match="no other build"):
            library.reindex(back=True)


def test_two_databases_under_one_name(library: Library, qdrant: Node, tmp_path: Path) -> None:
    """The second is refused and told what to do; the first is searched and followed as before."""
    name = follower(library).layout.shape.name
    taken = "another database under the name .* set `qdrant.name` to another name"
    with opened([qdrant], tmp_path / "b.db", name, seconds=10) as other:
        save(other, "ants", "Ants of another house.")
        with pytest.raises(EngineTaken, match=taken):
            other.reindex()
        assert other.lag() is None  # nothing is kept for a cluster that is not ours
        answer = other.search("ants carry leaves")
        assert found(other.search("Ants")) == ["ants"]  # by its name, from the database
        assert named(answer) >= {Lane.LEXICAL}
        assert all(re.search(taken, one.reason) for one in answer.degraded)
        assert [one.path for one in other.check()] == ["Qdrant"]
    in_step(library)
    assert found(library.search("leaves", mode="lexical")) == ["ants"]
    with opened([qdrant], tmp_path / "b.db", seconds=10) as other:
        other.reindex()
        # Whoever had a name of their own, and is given this one, is refused, too.
        save(other, "bees", "Bees of another house.")
        in_step(other)
    with opened([qdrant], tmp_path / "b.db", name, seconds=10) as other:
        save(other, "cats", "Cats of another house.")
        lag = other.lag()
        assert lag is not None and lag.changes
        assert not follower(other).drain(1)
        assert re.search(taken, follower(other).trouble or "")
    in_step(library)
    assert library.check() == []


def test_owners_are_kept_apart(library: Library) -> None:
    """A tenant finds their own, by words and by meaning."""
    from twolane.model.scope import Scope

    for owner in ("ann", "bob"):
        save(library, f"{owner}-moon", "Dogs bark at the moon.", owner=owner)
    library.embed()
    in_step(library)
    for owner in ("ann", "bob"):
        assert found(library.search("dogs bark", scope=Scope(owner=owner))) == [f"{owner}-moon"]


def test_nothing_answers(tmp_path: Path) -> None:
    """Lanes are named, saves go on and wait, and all is found once a node is back."""
    with running() as (node,), opened([node], tmp_path / "a.db", lag_seconds=0) as library:
        for id, text in TEXTS.items():
            save(library, id, text)
        library.embed()
        library.reindex()
        node.send(signal.SIGKILL)
        answer = library.search("ants carry leaves")
        assert named(answer) == {Lane.LEXICAL, Lane.DENSE}
        assert all("Qdrant does not answer" in one.reason for one in answer.degraded)
        assert found(library.search("Bees")) == ["bees"]  # by its name, from the database
        with pytest.raises(EngineUnavailable):
            library.similar("ants")
        save(library, "dogs", "Dogs bark at the moon.")
        lag = library.lag()
        assert lag is not None and lag.changes
        eventually(
            lambda: any("changes wait" in one.reason for one in library.search("moon").degraded)
        )
        assert any("changes wait" in one.reason for one in library.status().degraded)
        node.start()
        in_step(library)
        assert found(library.search("moon", mode="lexical")) == ["dogs"]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk of its own takes root")
def test_a_full_disk(tmp_path: Path) -> None:
    """Searches go on, saves wait and are told of, and are found once there is space again."""
    with (
        running(disk_mb=160) as (node,),
        opened([node], tmp_path / "a.db", seconds=10, lag_seconds=0) as library,
    ):
        for id, text in TEXTS.items():
            save(library, id, text)
        library.embed()
        library.reindex()
        in_step(library)
        node.fill_disk()
        for number in range(20):
            save(library, f"dogs{number}", f"Dogs bark {number} times at the moon. " * 50)
        eventually(lambda: follower(library).trouble)
        assert "No space left" in (follower(library).trouble or "")
        # How far it is behind is looked up once a second.
        eventually(lambda: library.status().degraded)
        answer = library.search("ants carry leaves")
        assert found(answer)[:1] == ["ants"]
        assert all("changes wait" in one.reason for one in answer.degraded)
        lag = library.lag()
        assert lag is not None and lag.changes
        assert any("changes wait" in one.reason for one in library.status().degraded)
        node.free_disk()
        in_step(library)
        assert len(found(library.search("moon", mode="lexical"))) == 20


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [2, 3])
def test_no_quorum(tmp_path: Path, replicas: int) -> None:
    """One node of three is left: lanes answer from it or are named, and saves wait."""
    with (
        running(3) as nodes,
        opened(nodes, tmp_path / "a.db", seconds=1, shards=3, replicas=replicas) as library,
    ):
        for id, text in TEXTS.items():
            save(library, id, text)
        library.embed()
        library.reindex()
        in_step(library)
        for node in nodes[1:]:
            node.send(signal.SIGKILL)
        save(library, "dogs", "Dogs bark at the moon.")
        library.delete("cats")
        began = time.monotonic()
        answer = library.search("ants carry leaves")
        print(f"{time.monotonic() - began:.1f} s, {answer.degraded}")
        if replicas == 3:
            # The one that is left holds every shard.
            assert found(answer)[:1] == ["ants"]
            assert not [one for one in answer.degraded if "Qdrant" in one.reason]
        else:
            assert found(answer)[:1] == ["ants"] or named(answer) >= {Lane.LEXICAL}
        assert "cats" not in found(library.search("cats on warm stones"))
        for node in nodes[1:]:
            node.start()
        in_step(library)
        assert found(library.search("moon", mode="lexical")) == ["dogs"]
        assert library.check() == []


@pytest.mark.slow
def test_three_nodes_lose_one_under_load(tmp_path: Path) -> None:
    """With two replicas a node that stops, hangs or dies costs no search, and no write.

    No search takes longer than two seconds beyond what the machine is slow by, and once the node
    is back nothing is lost or doubled.
    """
    with (
        running(3) as nodes,
        opened(nodes, tmp_path / "a.db", seconds=1, shards=3, replicas=2) as library,
    ):
        for number in range(60):
            save(library, f"note{number}", f"Dogs bark {number} times at the moon.", tags=("dog",))
        library.embed()
        library.reindex()
        stop = threading.Event()
        slowest: list[float] = []
        # The first that goes is none of those that are searched for.
        written = count(61)

        def search() -> None:
            while not stop.is_set():
                began = time.monotonic()
                # None of these is deleted between ranking and showing.
                answer = library.search("dogs bark at the moon", tag="dog")
                slowest.append(time.monotonic() - began)
                assert len(answer.results) == 20, (answer.lanes, answer.degraded)
                assert not [one for one in answer.degraded if "Qdrant" in one.reason]

        def write() -> None:
            while not stop.is_set():
                number = next(written)
                save(library, f"note{number}", f"Cats sleep {number} hours.")
                if number % 3 == 0:
                    library.delete(f"note{number - 1}")
                time.sleep(0.05)

        with ThreadPoolExecutor(3) as threads:
            tasks = [threads.submit(one) for one in (search, search, write)]
            try:
                time.sleep(1)
                # The first address is the one that is asked first.
                nodes[0].send(signal.SIGKILL)
                time.sleep(2.5)
                nodes[0].start()
                time.sleep(1)
                nodes[1].send(signal.SIGSTOP)
                # Longer than an answer may take.
                time.sleep(2.5)
                nodes[1].send(signal.SIGCONT)
                time.sleep(1)
            finally:
                stop.set()
            for task in tasks:
                task.result()
        slowest.sort()
        print(f"{len(slowest)} searches, slowest {slowest[-3:]}, {next(written)} written")
        assert slowest[-1] < 4
        library.embed()
        in_step(library)
        assert library.check() == []


def test_the_command_line(twolane: Cli, vault: Path, qdrant: Node) -> None:
    """From a file to Qdrant and back, by commands; what is wrong is said."""
    twolane("index", vault)
    assert "qdrant.urls" in twolane("db", "reindex", "--into", "qdrant", code=2).stderr
    ours = {"TWOLANE_QDRANT_URLS": qdrant.url, "TWOLANE_QDRANT_NAME": "commands"}
    cli = twolane.where(TWOLANE_DB=str(twolane.db), TWOLANE_QDRANT_SECONDS="30", **ours)
    assert "serving" in cli("db", "reindex", "--into", "qdrant").stdout
    assert "in step" in cli("status").stdout
    assert cli.json("status", "--json")["outbox"] == {"changes": 0, "seconds": 0}
    here, there = (each.json("search", "shoots", "--json")["results"] for each in (twolane, cli))
    assert [one["id"] for one in there] == [one["id"] for one in here]
    assert "serving" in cli("db", "reindex", "--into", "qdrant").stdout
    assert "the collections before" in cli("db", "reindex", "--into", "qdrant", "--back").stdout
    assert cli.json("search", "shoots", "--json")["results"] == there
    assert "is sound" in cli("db", "check").stdout
