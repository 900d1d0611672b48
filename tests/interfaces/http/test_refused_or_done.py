"""What is refused was not done, what was done is answered, and what is repeated is done once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from tests.interfaces.conftest import NOTES, Cli, _at, write
from tests.interfaces.http.conftest import Server, serving, token
from tests.waiting import PATIENCE
from twolane.interfaces.http.routes import ENDPOINTS


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A library with a token that may only write, and one that may read, too."""
    folder = tmp_path_factory.mktemp("refused")
    made = _at(folder / "home")
    made("index", write(folder / "notes", NOTES))
    return made


@pytest.fixture(scope="module")
def running(cli: Cli) -> Iterator[Server]:
    """A server over it."""
    with serving(cli, cli.home) as server:
        yield server


def client(server: Server, name: str, *may: str, owner: str | None = None) -> httpx.Client:
    """A client with a token of its own."""
    header = token(server, name, *may, owner=owner)
    return httpx.Client(base_url=server.address, headers=header, timeout=PATIENCE)


@pytest.fixture(scope="module")
def writer(running: Server) -> Iterator[httpx.Client]:
    """A client that may write and nothing else."""
    with client(running, "writer", "documents.write") as made:
        yield made


@pytest.fixture(scope="module")
def both(running: Server) -> Iterator[httpx.Client]:
    """A client that may read and write."""
    with client(running, "both", "documents.write", "search.use", "admin") as made:
        yield made


class TestCapabilities:
    """Whoever may write is not refused for lack of something else once it is written."""

    def test_who_may_only_write_is_told_what_was_done(
        self, writer: httpx.Client, both: httpx.Client
    ) -> None:
        """Every change is answered as done, with the ETag that a reader sees."""
        place = "/api/documents/w1"
        made = writer.post("/api/documents", json={"id": "w1", "title": "One", "tags": ["old"]})
        assert made.status_code == 201
        for change in (
            lambda: writer.put(place, json={"title": "Two", "tags": ["old"]}),
            lambda: writer.patch(place, json={"title": "Three"}),
            lambda: writer.patch(place, json={"archived": True}),
        ):
            done = change()
            assert done.status_code == 200, done.text
            assert done.headers["etag"] == both.get(place).headers["etag"]
        assert writer.patch("/api/tags/old", json={"name": "new"}).status_code == 200
        assert writer.delete(place).status_code == 200
        back = writer.patch(place, json={"deleted": False})
        assert back.status_code == 200, back.text
        assert back.headers["etag"] == both.get(place).headers["etag"]
        assert writer.delete(place).status_code == 200
        named = writer.patch(place, json={"deleted": False, "title": "Four"})
        assert named.status_code == 200, named.text
        assert named.headers["etag"] == both.get(place).headers["etag"]
        assert both.get(place).json()["title"] == "Four"
        assert both.get(place).json()["tags"] == ["new"]
        assert writer.post("/api/bulk", json={"delete": ["w1"]}).status_code == 200
        assert writer.get(place).status_code == 403

    def test_an_etag_of_a_writer_lets_it_write_again(self, writer: httpx.Client) -> None:
        """What a writer was told is what the next change may depend on."""
        first = writer.put("/api/documents/w2", json={"title": "One"})
        seen = {"If-Match": first.headers["etag"]}
        assert writer.patch("/api/documents/w2", json={"title": "a"}, headers=seen).is_success
        late = writer.patch("/api/documents/w2", json={"title": "b"}, headers=seen)
        assert late.status_code == 412

    def test_a_document_that_is_never_found_can_be_changed(self, both: httpx.Client) -> None:
        """It was saved so that nobody finds it, and its author can still name it."""
        place = "/api/documents/w3"
        made = both.put(place, json={"title": "Hidden", "searchable": False})
        assert made.status_code == 201
        seen = {"If-Match": made.headers["etag"]}
        assert both.patch(place, json={"searchable": True}, headers=seen).status_code == 200
        assert both.get(place).json()["title"] == "Hidden"

    def test_processes_of_their_own_only_read(self) -> None:
        """No address that changes something is left to a process that may die with the answer."""
        assert not [one.name for one in ENDPOINTS if one.writes and (one.heavy or one.light)]
        assert [one.name for one in ENDPOINTS if one.writes]


class TestWholes:
    """A request is done as a whole, or refused as a whole."""

    def test_a_restore_with_a_bad_part_restores_nothing(self, both: httpx.Client) -> None:
        """The document stays deleted when the change beside its restoring is refused."""
        place = "/api/documents/h1"
        both.put(place, json={"title": "One"})
        both.delete(place)
        bad = both.patch(place, json={"deleted": False, "collection": "notes"})
        assert bad.status_code == 400
        assert both.get(place).status_code == 404

    def test_deleting_and_changing_at_once_is_refused(self, both: httpx.Client) -> None:
        """A change that would be dropped silently is not taken."""
        place = "/api/documents/h2"
        both.put(place, json={"title": "One"})
        assert both.patch(place, json={"deleted": True, "title": "Two"}).status_code == 400
        assert both.get(place).json()["title"] == "One"

    @pytest.mark.parametrize("kind", ["delete", "restore", "archive", "unarchive", "touch"])
    def test_many_changes_are_made_or_none(self, both: httpx.Client, kind: str) -> None:
        """A last part that cannot be done undoes the first."""
        both.put("/api/documents/h3", json={"title": "Held"})
        before = both.get("/api/documents/h3").headers["etag"]
        saved = [{"id": f"new-{kind}", "title": "New", "collection": f"c-{kind}"}]
        body: dict[str, Any] = {"save": saved, "archive": ["h3"], kind: ["h3", "nobody"]}
        assert both.post("/api/bulk", json=body).status_code == 404
        assert both.get(f"/api/documents/new-{kind}").status_code == 404
        assert both.get("/api/documents/h3").headers["etag"] == before
        there = both.get("/api/collections").json()["collections"]
        assert f"c-{kind}" not in [one["name"] for one in there]

    def test_a_document_may_be_saved_and_changed_at_once(self, both: httpx.Client) -> None:
        """Later parts of a request see the earlier ones."""
        body = {"save": [{"id": "h4", "title": "Both"}], "archive": ["h4"], "touch": ["h4"]}
        done = both.post("/api/bulk", json=body).json()["documents"]
        assert [(one["id"], one["version"]) for one in done] == [("h4", 1), ("h4", 2), ("h4", 2)]
        assert both.get("/api/documents/h4").json()["archived"]


@contextmanager
def locked(db: Path, seconds: float) -> Iterator[None]:
    """Another process, as it seems, writes for so long."""
    connection = apsw.Connection(str(db))
    # The server may still note something of the request before.
    connection.set_busy_timeout(10_000)
    connection.execute("BEGIN IMMEDIATE")

    def end() -> None:
        time.sleep(seconds)
        connection.execute("ROLLBACK")

    thread = threading.Thread(target=end)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        connection.close()


@pytest.fixture
def alone(tmp_path: Path) -> Cli:
    """A library of one's own, whose server has little patience."""
    made = _at(tmp_path / "home")
    made("index", write(tmp_path / "notes", NOTES))
    return made.where(TWOLANE_SERVER_REQUEST_SECONDS="0.3", TWOLANE_INDEX_BUSY_SECONDS="15")


class TestTime:
    """A request that takes longer than a request may."""

    def test_a_write_that_began_is_answered(self, alone: Cli, tmp_path: Path) -> None:
        """It takes as long as it takes, and each kind of change is told as it was done."""
        with serving(alone, tmp_path) as server:
            ask = server.client.request
            ask("PUT", "/api/documents/t1", json={"title": "Old", "tags": ["old"]})
            changes: list[tuple[str, str, Any, int]] = [
                ("POST", "/api/documents", {"id": "t2", "title": "New"}, 201),
                ("PUT", "/api/documents/t1", {"title": "Newer", "tags": ["old"]}, 200),
                ("PATCH", "/api/documents/t1", {"title": "Newest"}, 200),
                ("PATCH", "/api/tags/old", {"name": "new"}, 200),
                ("POST", "/api/bulk", {"save": [{"id": "t3", "title": "Many"}]}, 200),
                ("DELETE", "/api/documents/t2", None, 200),
            ]
            for method, path, body, status in changes:
                with locked(alone.db, 0.8):
                    done = ask(method, path, **({} if body is None else {"json": body}))
                assert done.status_code == status, (method, path, done.text)
                assert [document["changed"] for document in done.json()["documents"]] == [True]

    def test_one_that_did_not_begin_never_does(self, alone: Cli, tmp_path: Path) -> None:
        """A write that waited for its turn in vain is refused, and not made later."""
        with (
            serving(alone, tmp_path, TWOLANE_SERVER_THREADS="1") as server,
            ThreadPoolExecutor(2) as many,
            locked(alone.db, 1.5),
        ):
            first = many.submit(server.client.put, "/api/documents/q1", json={"title": "One"})
            time.sleep(0.2)
            second = many.submit(server.client.put, "/api/documents/q2", json={"title": "Two"})
            assert second.result().status_code == 503
            assert second.result().headers["retry-after"]
            assert first.result().status_code == 201
            assert server.client.get("/api/documents/q2").status_code == 404

    def test_one_that_gave_up_left_nothing(self, alone: Cli, tmp_path: Path) -> None:
        """When another process writes for too long, nothing is saved, and the answer says so."""
        with serving(alone, tmp_path, TWOLANE_INDEX_BUSY_SECONDS="0.3") as server:
            with locked(alone.db, 1.5):
                refused = server.client.put("/api/documents/b1", json={"title": "One"})
            assert refused.status_code == 503
            assert refused.json()["type"] == "/problems/unavailable"
            assert server.client.get("/api/documents/b1").status_code == 404


class TestKeys:
    """`Idempotency-Key`: the same request again is answered, not done."""

    def test_the_first_answer_comes_again(self, both: httpx.Client) -> None:
        """One document, with the id and the ETag of the first time, whatever became of it since."""
        key = {"Idempotency-Key": "k-1"}
        body = {"title": "Once", "text": "platypus"}
        first = both.post("/api/documents", json=body, headers=key)
        assert first.status_code == 201
        both.delete(first.headers["location"])
        for _ in range(3):
            again = both.post("/api/documents", json=dict(reversed(body.items())), headers=key)
            assert (again.status_code, again.json()) == (201, first.json())
            for name in ("etag", "location"):
                assert again.headers[name] == first.headers[name]
        found = both.get("/api/search", params={"q": "platypus", "mode": "lexical"}).json()
        assert found["results"] == []

    def test_another_request_with_the_key_is_refused(self, both: httpx.Client) -> None:
        """Neither another body nor another address is done under a key that was used."""
        key = {"Idempotency-Key": "k-2"}
        assert both.post("/api/documents", json={"id": "k2"}, headers=key).status_code == 201
        for path, body in (
            ("/api/documents", {"id": "k3"}),
            ("/api/bulk", {"save": [{"id": "k3"}]}),
        ):
            refused = both.post(path, json=body, headers=key)
            assert refused.status_code == 422
            assert refused.json()["type"] == "/problems/key-reused"
            assert "another request" in refused.json()["detail"]
        assert both.get("/api/documents/k3").status_code == 404

    def test_what_was_refused_is_not_remembered(self, both: httpx.Client) -> None:
        """A request that failed may be mended and sent under its key again."""
        key = {"Idempotency-Key": "k-4"}
        both.put("/api/documents/k4", json={"title": "Held"})
        assert both.post("/api/documents", json={"id": "k4"}, headers=key).status_code == 409
        assert both.post("/api/documents", json={"id": "k5"}, headers=key).status_code == 201

    def test_many_changes_count_once(self, both: httpx.Client) -> None:
        """A use that is told twice under one key is one use."""
        both.put("/api/documents/k6", json={"title": "Used"})
        key = {"Idempotency-Key": "k-6"}
        for _ in range(3):
            assert both.post("/api/bulk", json={"touch": ["k6"]}, headers=key).status_code == 200
        assert both.get("/api/documents/k6").json()["uses"] == 1

    def test_owners_do_not_share_keys(self, running: Server) -> None:
        """The key of one owner says nothing to another."""
        places = set()
        for owner in ("ann", "bob"):
            with client(running, owner, "documents.write", owner=owner) as theirs:
                key = {"Idempotency-Key": "k-7"}
                made = theirs.post("/api/documents", json={"title": owner}, headers=key)
                assert made.status_code == 201
                places.add(made.headers["location"])
        assert len(places) == 2

    def test_at_once_it_is_done_once(self, both: httpx.Client) -> None:
        """Of many that come together one is done, and all are told the same."""

        def ask(body: dict[str, str], key: str) -> tuple[int, Any]:
            said = both.post("/api/documents", json=body, headers={"Idempotency-Key": key})
            return said.status_code, said.json()["documents"][0]["id"]

        with ThreadPoolExecutor(8) as many:
            for number in range(5):
                named = many.map(lambda _, n=number: ask({"id": f"k8-{n}"}, f"k-8-{n}"), range(8))
                assert set(named) == {(201, f"k8-{number}")}
                free = many.map(lambda _, n=number: ask({"title": "k9"}, f"k-9-{n}"), range(8))
                assert len(set(free)) == 1
        found = both.get("/api/search", params={"q": "title:k9", "mode": "lexical"}).json()
        assert len(found["results"]) == 5

    def test_a_day_later_it_is_a_new_request(self, both: httpx.Client, cli: Cli) -> None:
        """Keys are kept for a day and then forgotten."""
        key = {"Idempotency-Key": "k-10"}
        first = both.post("/api/documents", json={"title": "Daily"}, headers=key)
        connection = apsw.Connection(str(cli.db))
        connection.execute("UPDATE receipts SET at = at - 86500")
        second = both.post("/api/documents", json={"title": "Daily"}, headers=key)
        assert second.headers["location"] != first.headers["location"]
        assert connection.execute("SELECT count(*) FROM receipts").get == 1
        connection.close()

    @pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
    def test_a_key_is_a_short_word(self, both: httpx.Client, key: str) -> None:
        """Anything else is refused before it is done."""
        refused = both.post("/api/documents", json={"id": "k11"}, headers={"Idempotency-Key": key})
        assert refused.status_code == 400
        assert both.get("/api/documents/k11").status_code == 404

    def test_a_key_outlives_a_kill(self, alone: Cli, tmp_path: Path) -> None:
        """A server that was killed after it wrote answers the same request as it would have."""
        key, body = {"Idempotency-Key": "k-12"}, {"title": "Survivor"}
        with serving(alone, tmp_path) as server:
            first = server.client.post("/api/documents", json=body, headers=key)
            server.process.kill()
            server.process.wait(20)
        with serving(alone, tmp_path) as server:
            again = server.client.post("/api/documents", json=body, headers=key)
            assert (again.status_code, again.json()) == (201, first.json())
            listed = server.client.get("/api/search", params={"q": "Survivor", "mode": "lexical"})
            assert len(listed.json()["results"]) == 1
