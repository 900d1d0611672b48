"""Writing over HTTP: documents, tags and judgments, each refused or done as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.http.conftest import Server, serving, serving_notes


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose documents may be changed."""
    with serving_notes(tmp_path_factory.mktemp("written") / "notes") as server:
        yield server


@pytest.fixture
def client(running: Server) -> httpx.Client:
    """A client of that server."""
    return running.client


def found(client: httpx.Client, query: str) -> list[str]:
    """Ids of what a search by words finds."""
    said = client.get("/api/search", params={"q": query, "mode": "lexical"}).json()
    return [result["id"] for result in said["results"]]


class TestDocuments:
    """Creating, replacing, changing, deleting."""

    def test_a_document_lives_and_dies(self, client: httpx.Client) -> None:
        """It can be found at once, is changed by parts, deleted, restored and purged."""
        made = client.post(
            "/api/documents",
            json={
                "id": "kiwi 1",
                "title": "Kiwi",
                "text": "A green ostrichlike bird.",
                "tags": ["b"],
            },
        )
        assert made.status_code == 201
        assert made.json()["documents"][0]["created"]
        place = made.headers["location"]
        assert place == "/api/v1/documents/kiwi%201"
        assert found(client, "ostrichlike") == ["kiwi 1"]
        read = client.get(place)
        assert read.headers["etag"] == made.headers["etag"]
        assert (read.json()["text"], read.json()["version"]) == ("A green ostrichlike bird.", 1)

        changed = client.patch(place, json={"title": "Apteryx", "add_tags": ["c"]})
        assert changed.json()["documents"][0]["version"] == 2
        now = client.get(place).json()
        assert (now["title"], now["tags"]) == ("Apteryx", ["b", "c"])
        assert now["text"] == "A green ostrichlike bird."
        assert now["updated"] >= read.json()["updated"]

        put = client.put(place, json={"title": "Apteryx", "text": "It cannot fly."})
        assert (put.status_code, put.json()["documents"][0]["created"]) == (200, False)
        assert client.get(place).json()["tags"] == []

        assert client.delete(place).status_code == 200
        assert client.get(place).status_code == 404
        assert client.patch(place, json={"deleted": False}).status_code == 200
        assert client.get(place).json()["text"] == "It cannot fly."
        assert client.delete(place, params={"purge": "true"}).status_code == 200
        assert client.patch(place, json={"deleted": False}).status_code == 404

    def test_an_id_is_made_up(self, client: httpx.Client) -> None:
        """A document without an id gets one."""
        made = client.post("/api/documents", json={"title": "Nameless"})
        assert client.get(made.headers["location"]).json()["title"] == "Nameless"

    @pytest.mark.parametrize("id", ["https://a.example//b/?q=1#c", "ends/", "ключ %2F"])
    def test_an_id_may_hold_anything(self, client: httpx.Client, id: str) -> None:
        """The address that an answer names leads to the very document, whatever its id is."""
        made = client.post("/api/documents", json={"id": id, "title": "Strange"})
        assert made.status_code == 201
        assert client.get(made.headers["location"]).json()["id"] == id
        assert client.delete(made.headers["location"]).status_code == 200

    def test_changes_can_be_conditional(self, client: httpx.Client) -> None:
        """With `If-Match` only what was seen is changed; without it the last one wins."""
        place = "/api/documents/shared"
        first = client.put(place, json={"title": "One"})
        assert first.status_code == 201
        seen = {"If-Match": first.headers["etag"]}
        assert client.put(place, json={"title": "Two"}, headers=seen).status_code == 200
        for late in (
            client.put(place, json={"title": "Three"}, headers=seen),
            client.patch(place, json={"title": "Three"}, headers=seen),
            client.delete(place, headers=seen),
            client.put(place, json={"title": "Three"}, headers={"If-Match": "nonsense"}),
        ):
            assert late.status_code == 412
            assert late.json()["type"] == "/problems/changed"
        assert client.get(place).json()["title"] == "Two"
        assert client.post("/api/documents", json={"id": "shared"}).status_code == 409

    def test_a_put_can_insist_on_being_first(self, client: httpx.Client) -> None:
        """With `If-None-Match: *` a document is made, and never replaced."""
        first = {"If-None-Match": "*"}
        made = client.put("/api/documents/first", json={"title": "One"}, headers=first)
        again = client.put("/api/documents/first", json={"title": "Two"}, headers=first)
        assert made.status_code == 201
        assert again.status_code == 412
        assert again.json()["type"] == "/problems/changed"
        assert client.get("/api/documents/first").json()["title"] == "One"

    def test_notes_of_a_vault_stay_as_their_files_are(self, client: httpx.Client) -> None:
        """What comes from a file is not changed here, nor by the title of another."""
        id = client.get("/api/documents/Green tea").json()["id"]
        refused = client.patch(f"/api/documents/{id}", json={"title": "Black tea"})
        assert refused.status_code == 400
        assert "file" in refused.json()["detail"]
        assert client.patch("/api/documents/Green tea", json={"title": "x"}).status_code == 404

    def test_many_at_once(self, client: httpx.Client) -> None:
        """Each kind of change is made for all of its documents or for none."""
        many = [{"id": f"m{n}", "title": f"Many {n}", "text": "quokka"} for n in range(5)]
        done = client.post("/api/bulk", json={"save": many}).json()["documents"]
        assert [one["id"] for one in done] == [f"m{n}" for n in range(5)]
        assert sorted(found(client, "quokka")) == [f"m{n}" for n in range(5)]
        bad = client.post("/api/bulk", json={"save": [{"id": "m9", "text": "quokka"}, {"id": ""}]})
        assert bad.status_code == 400
        client.post("/api/bulk", json={"delete": ["m0", "m1"], "archive": ["m2"]})
        assert sorted(found(client, "quokka")) == ["m3", "m4"]
        client.post("/api/bulk", json={"restore": ["m0"], "unarchive": ["m2"], "touch": ["m2"]})
        assert sorted(found(client, "quokka")) == ["m0", "m2", "m3", "m4"]

    def test_tags_get_other_names(self, client: httpx.Client) -> None:
        """Wherever a tag stands, and the tags below it."""
        client.put("/api/documents/t1", json={"title": "T", "tags": ["old", "old/sub"]})
        renamed = client.patch("/api/tags/old", json={"name": "new"})
        assert [document["id"] for document in renamed.json()["documents"]] == ["t1"]
        assert client.get("/api/documents/t1").json()["tags"] == ["new", "new/sub"]

    @pytest.mark.parametrize(
        ("body", "told"),
        [
            ([], "the body must be an object"),
            ({"titel": "x"}, "may not have 'titel', only: kind, title"),
            ({"title": 1}, "'title' in the body must be a text"),
            ({"tags": "a"}, "'tags' in the body must be a list"),
            ({"tags": [1]}, "'tags[0]' in the body must be a text"),
            ({"kind": "book"}, "is 'book', which is not one of bookmark, note"),
            ({"archived": 1}, "must be true or false"),
            ({"created": "yesterday"}, "must be a time with its zone"),
            ({"created": "2024-05-01"}, "must be a time with its zone"),
            ({"id": ""}, "is empty"),
            ({"id": "x" * 1001}, "at most 1000 characters"),
            ({"properties": []}, "must be an object"),
            ({}, "nothing names this document"),
            ({"tags": ["lonely"], "title": ""}, "nothing names this document"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, client: httpx.Client, body: Any, told: str
    ) -> None:
        """The problem names the part of the body."""
        refused = client.post("/api/documents", json=body)
        assert refused.status_code == 400
        assert told in refused.json()["detail"]

    @pytest.mark.parametrize(
        ("content", "status"),
        [
            (b"", 400),
            (b"{", 400),
            (b"\xff\xfe", 400),
            (b'{"title": "\\ud800"}', 400),
            (b'{"title": "\\udc00 and more"}', 400),
            (b'{"title": "\xed\xa0\x80"}', 400),
            (b'{"title": NaN}', 400),
            (b"[" * 100_000, 400),
            (b'{"title": "' + b"a" * 11_000_000 + b'"}', 413),
        ],
    )
    def test_hostile_bodies(self, client: httpx.Client, content: bytes, status: int) -> None:
        """What is no JSON, or too much of it, is refused."""
        refused = client.post(
            "/api/documents", content=content, headers={"Content-Type": "application/json"}
        )
        assert refused.status_code == status
        assert refused.headers["content-type"] == "application/problem+json"

    @pytest.mark.parametrize("media", ["", "text/plain", "application/x-www-form-urlencoded"])
    def test_forms_of_other_sites_cannot_write(self, client: httpx.Client, media: str) -> None:
        """Only JSON is taken, which a page cannot send elsewhere without asking."""
        refused = client.post("/api/documents", content=b"{}", headers={"Content-Type": media})
        assert refused.status_code == 415

    def test_another_sites_page_cannot_write(self, client: httpx.Client) -> None:
        """Neither by its origin nor by what the browser says of it."""
        for header in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            refused = client.post("/api/documents", json={"id": "evil"}, headers=header)
            assert refused.status_code == 403
        assert client.get("/api/documents/evil").status_code == 404


class TestJudgments:
    """Searches become golden queries."""

    def test_judging_and_measuring(self, client: httpx.Client, running: Server) -> None:
        """A judged query is kept, judged anew, measured and dropped."""
        assert client.get("/api/measures").json()["overall"] is None
        body = {"query": "pinch out shoots", "relevant": ["Pruning tomatoes"]}
        first = client.post("/api/judgments", json=body)
        assert first.status_code == 201
        assert first.json()["relevant"] == ["garden/Tomatoes.md"]
        again = client.post(
            "/api/judgments", json={**body, "partial": ["Green tea"], "category": "garden"}
        ).json()
        client.post("/api/judgments", json={"query": "who won", "unanswerable": True})
        listed = client.get("/api/judgments").json()["judgments"]
        assert [one["query"] for one in listed] == ["pinch out shoots", "who won"]
        measures = client.get("/api/measures", params={"mode": "lexical"}).json()
        assert measures["queries"] == 2
        assert measures["overall"]["mrr"]["estimate"] == 1.0
        assert measures["by_category"][0]["label"] == "garden"
        assert measures["each"][0]["query"] == "pinch out shoots"
        file = Path(str(running.cli.db).removesuffix(".db") + ".golden.json")
        running.cli("eval", "golden", "check", str(file), "--db", running.cli.db)
        left = client.delete(f"/api/judgments/{again['id']}").json()["judgments"]
        assert [one["query"] for one in left] == ["who won"]
        assert client.delete("/api/judgments/none").status_code == 404

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"query": ""}, 400),
            ({"relevant": []}, 400),
            ({"query": "a", "relevant": ["none such"]}, 404),
            ({"query": "b", "relevant": ["Green tea", "kitchen/green tea.md"]}, 400),
        ],
    )
    def test_nonsense(self, client: httpx.Client, body: Any, status: int) -> None:
        """A judgment must name a query, and documents that are there."""
        assert client.post("/api/judgments", json=body).status_code == status


def test_writing_needs_its_capability(twolane: Cli, vault: Path) -> None:
    """A token that may only search changes nothing; one that may write makes its owner's own."""
    twolane("index", vault)
    may = ("--may", "documents.write", "--may", "search.use", "--owner")
    reader = twolane("token", "add", "reader", "-q").stdout.strip()
    ann = twolane("token", "add", "ann", *may, "ann", "-q").stdout.strip()
    bob = twolane("token", "add", "bob", *may, "bob", "-q").stdout.strip()
    with serving(twolane, vault) as guarded:

        def ask(method: str, path: str, token: str, **more: Any) -> httpx.Response:
            header = {"Authorization": f"Bearer {token}"}
            return guarded.client.request(method, path, headers=header, **more)

        for method, path in (("POST", "/api/documents"), ("PUT", "/api/documents/x")):
            assert ask(method, path, reader, json={"title": "x"}).status_code == 403
        assert ask("DELETE", "/api/documents/x", reader).status_code == 403
        assert ask("GET", "/api/judgments", reader).status_code == 403
        assert ask("PUT", "/api/documents/hers", ann, json={"title": "Hers"}).status_code == 201
        assert ask("GET", "/api/documents/hers", ann).status_code == 200
        assert ask("GET", "/api/documents/hers", bob).status_code == 404
        assert ask("PUT", "/api/documents/hers", bob, json={"title": "His"}).status_code == 403
        assert ask("DELETE", "/api/documents/hers", bob).status_code == 404
        assert ask("GET", "/api/documents/hers", ann).json()["title"] == "Hers"
