"""What can be asked over HTTP: the same answers as the command line gives."""

from __future__ import annotations

import httpx
import pytest

from tests.interfaces.http.conftest import Server


def without_times(answer: dict[str, object]) -> dict[str, object]:
    """An answer without what differs from one asking to the next, and without local files."""
    kept = {key: value for key, value in answer.items() if key not in ("took_ms", "facets", "file")}
    if isinstance(results := kept.get("results"), list):
        kept["results"] = [without_times(result) for result in results]
    lanes = kept.get("lanes")
    if isinstance(lanes, dict):
        kept["lanes"] = {name: one["hits"] for name, one in lanes.items()}
    return kept


class TestSearch:
    """`/api/search`."""

    def test_it_answers_as_the_command_line_does(self, server: Server) -> None:
        """The JSON is that of `twolane search --json`, with facets beside it."""
        over_http = server.client.get("/api/search", params={"q": "green tea", "n": 2})
        assert over_http.status_code == 200
        assert over_http.headers["content-type"] == "application/json"
        typed = server.cli.json("search", "green tea", "-n", "2")
        assert without_times(over_http.json()) == without_times(typed)

    def test_facets_count_all_that_was_found(self, client: httpx.Client) -> None:
        """Kinds, collections, tags and languages of everything the lanes brought."""
        said = client.get("/api/search", params={"q": "scissors", "mode": "lexical"}).json()
        assert said["facets"]["kinds"] == {"note": 1}
        assert said["facets"]["tags"] == {"garden": 1, "summer": 1}
        assert said["facets"]["languages"] == {"en": 1}
        said = client.get("/api/search", params={"q": "zzzz", "mode": "lexical"}).json()
        assert said["facets"]["kinds"] == {}
        said = client.get("/api/search", params={"q": "scissors", "facets": "false"}).json()
        assert said["facets"] is None

    def test_pages_and_order(self, client: httpx.Client) -> None:
        """Without a query documents are listed, in an order and page by page."""
        first = client.get("/api/search", params={"sort": "title", "n": 1}).json()
        both = client.get("/api/search", params={"sort": "title", "n": 2}).json()["results"]
        after = {"sort": "title", "n": 1, "cursor": first["next"]}
        assert [both[0]["id"]] == [result["id"] for result in first["results"]]
        second = client.get("/api/search", params=after).json()["results"]
        assert [both[1]["id"]] == [one["id"] for one in second]
        assert client.get("/api/search", params={"q": "tea", "cursor": "x"}).status_code == 400

    def test_filters_narrow_it(self, client: httpx.Client) -> None:
        """Parameters are named like the options of the command line."""
        found = client.get(
            "/api/search", params={"q": "scissors", "tag": ["garden", "summer"]}
        ).json()
        assert [result["path"] for result in found["results"]] == ["garden/Tomatoes.md"]
        found = client.get("/api/search", params={"q": "черви", "not_tag": "summer", "lang": "ru"})
        assert [result["path"] for result in found.json()["results"]] == ["garden/Компост.md"]

    @pytest.mark.parametrize(
        ("query", "told"),
        [
            ("q=a&q=b", "given 2 times"),
            ("q=a&n=0", "at least 1"),
            ("q=a&n=5000", "at most 1000"),
            ("q=a&n=ten", "must be a whole number"),
            ("q=a&mode=loud", "is 'loud', which is not one of"),
            ("q=a&archived=yes", "must be true or false"),
            ("q=a&after=someday", "is not a date"),
            ("q=a&collection=none", "there is no collection"),
            ("q=a&tga=b", "there is no parameter 'tga'"),
            ("q=%ff", "not UTF-8"),
            ("q=" + "a" * 2001, "at most 2000 characters"),
            ("&".join(f"tag=a{n}" for n in range(300)), "too many parameters"),
            ("&".join(f"tag=a{n}" for n in range(65)), "at most 64 values"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, client: httpx.Client, query: str, told: str
    ) -> None:
        """The problem names the parameter and what is wrong with it."""
        refused = client.get(f"/api/search?{query}")
        assert refused.status_code == 400
        assert refused.headers["content-type"] == "application/problem+json"
        problem = refused.json()
        assert told in problem["detail"]
        assert problem["type"] == "/problems/bad-request"
        assert problem["request_id"] == refused.headers["x-request-id"]


class TestOthers:
    """The other questions."""

    def test_similar(self, server: Server) -> None:
        """The JSON is that of `twolane similar --json`."""
        said = server.client.get("/api/similar", params={"doc": "garden/Tomatoes.md"}).json()
        assert without_times(said) == without_times(server.cli.json("similar", "Pruning tomatoes"))

    def test_why(self, server: Server) -> None:
        """The JSON is that of `twolane why --json`."""
        said = server.client.get("/api/why", params={"q": "tea", "doc": "Green tea"}).json()
        assert without_times(said) == without_times(server.cli.json("why", "tea", "Green tea"))

    def test_a_document(self, client: httpx.Client) -> None:
        """A document has its text, its headings and its passages, by id or any other name."""
        by_title = client.get("/api/documents/Pruning tomatoes")
        said = by_title.json()
        assert said["path"] == "garden/Tomatoes.md"
        assert said["text"].startswith("# Pruning tomatoes")
        assert [heading["text"] for heading in said["headings"]][1:] == [
            "Tools",
            "Cleaning",
            "When",
        ]
        cut = [said["text"][chunk["start"] : chunk["end"]] for chunk in said["chunks"]]
        assert "A pair of clean scissors." in cut[1]
        by_id = client.get("/api/documents/" + said["id"].replace("/", "%2F"))
        assert by_id.json() == said
        assert by_id.headers["etag"] == by_title.headers["etag"]

    @pytest.mark.parametrize("name", ["none", "..%2F..%2Fetc%2Fpasswd", "%00", "_templates/day.md"])
    def test_a_document_that_is_not_there(self, client: httpx.Client, name: str) -> None:
        """A name that no document has, and that of a hidden one, find nothing."""
        assert client.get(f"/api/documents/{name}").status_code == 404

    def test_collections_and_tags(self, client: httpx.Client) -> None:
        """Both come with counts of documents that can be found."""
        (collection,) = client.get("/api/collections").json()["collections"]
        assert (collection["name"], collection["documents"]) == ("Мои notes", 4)
        tags = client.get("/api/tags").json()["tags"]
        assert tags[0] == {"name": "garden", "documents": 2}

    def test_status(self, server: Server) -> None:
        """The JSON is that of `twolane status --json`."""
        assert server.client.get("/api/status").json() == server.cli.json("status")
        files = server.client.get("/api/status?files=true").json()["files"]
        assert files == server.cli.json("status", "--files")["files"]

    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_health(self, client: httpx.Client, path: str) -> None:
        """The server says that it is well."""
        assert client.get(path).json()["status"] == "ok"


def test_what_was_seen_is_not_sent_again(client: httpx.Client) -> None:
    """A client that names the ETag it has gets 304 and no body."""
    for path in ("/api/search?q=tea", "/api/tags", "/api/documents/Green%20tea"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    other = client.get("/api/search?q=teas", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_a_head_has_no_body(client: httpx.Client) -> None:
    """HEAD answers like GET, without the content."""
    head = client.head("/api/tags")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(client.get("/api/tags").content)


def test_other_methods_and_addresses(client: httpx.Client) -> None:
    """A wrong method is told which are right; an unknown address is a problem like any other."""
    refused = client.delete("/api/search")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    missing = client.get("/api/nothing")
    assert missing.status_code == 404
    assert missing.json()["type"] == "/problems/not-found"


def test_request_ids(client: httpx.Client) -> None:
    """A decent id of the client is used, any other is replaced."""
    assert (
        client.get("/healthz", headers={"X-Request-Id": "a-1.B"}).headers["x-request-id"] == "a-1.B"
    )
    for bad in ("", "a b", "x" * 65, "a\tb"):
        given = client.get("/healthz", headers={"X-Request-Id": bad}).headers["x-request-id"]
        assert given != bad
        assert len(given) == 16


class TestExcerpt:
    """`/api/excerpt`."""

    def test_the_lines_of_a_result_are_its_passage(self, client: httpx.Client) -> None:
        """What was shown can be read again, by lines in the name or beside it."""
        found = client.get("/api/search", params={"q": "scissors", "n": 1}).json()["results"][0]
        first, last = found["lines"]
        beside = {"doc": found["id"], "lines": f"{first}-{last}"}
        part = client.get("/api/excerpt", params=beside).json()
        assert "scissors" in part["text"]
        assert part["lines"] == found["lines"]
        named = client.get("/api/excerpt", params={"doc": f"{found['id']}:{first}-{last}"}).json()
        assert named == part

    def test_a_section_is_named_by_a_path_or_an_id(self, server: Server) -> None:
        """A repeated parameter is a path; the answer is that of `twolane get --json`."""
        doc = "garden/Tomatoes.md"
        by_path = {"doc": doc, "section": ["Tools", "Cleaning"]}
        part = server.client.get("/api/excerpt", params=by_path).json()
        assert "file" not in part
        assert part == without_times(server.cli.json("get", f"{doc}#cleaning"))
        by_id = {"doc": doc, "section": "cleaning"}
        assert server.client.get("/api/excerpt", params=by_id).json() == part

    def test_what_is_not_there_is_told(self, client: httpx.Client) -> None:
        """A document that is not there is 404, a part of one that is not there 400."""
        missing = client.get("/api/excerpt", params={"doc": "nothing"})
        assert missing.status_code == 404
        for part in ({"section": "Watering"}, {"lines": "900"}, {"lines": "x"}):
            refused = client.get("/api/excerpt", params={"doc": "garden/Tomatoes.md", **part})
            assert refused.status_code == 400
