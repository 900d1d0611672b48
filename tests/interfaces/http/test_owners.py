"""Several owners on one server: nobody reads a word of anybody else's, in any answer."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest
from benchmarks.canaries import (
    NOBODY,
    OWNERS,
    ROOT,
    Asked,
    Caller,
    World,
    described,
    expected,
    probe,
    syllables,
    world,
)

from twolane import Draft, Library, Scope, Settings
from twolane.interfaces.http.app import Application
from twolane.interfaces.http.auth import Auth
from twolane.interfaces.http.judging import judgments_path
from twolane.model.errors import BadInput, EmbedderUnavailable, NotYours
from twolane.model.scope import Capability

ANN, BOB = Scope(owner="ann"), Scope(owner="bob")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world of owners for tests that change nothing which matters to others."""
    with world(tmp_path_factory.mktemp("owners"), seed=11, stages=False) as made:
        yield made


@pytest.mark.parametrize("seed", [1, 2])
def test_no_answer_holds_a_word_of_others(tmp_path: Path, seed: int) -> None:
    """Random requests to every endpoint and tool are answered without one foreign canary."""
    with world(tmp_path, seed) as made:
        report = asyncio.run(probe(made, seed, 600))
        assert not report.leaks, described(report.leaks)
        assert set(report.asked) == expected()
        assert not [key for key in report.statuses if key[1] >= 500]
        # Answers are not empty: people do read their own words.
        assert report.own > 100
        # And who may see everything is told canaries, so that they would be noticed.
        whole = asyncio.run(probe(made, seed, 150, [made.anybody]))
        assert len({leak.asked.what for leak in whole.leaks}) > 8


def test_nor_does_one_from_postgresql(tmp_path: Path, postgres_url: str) -> None:
    """The same requests to a library that a server keeps."""
    with world(tmp_path, 3, postgres_url) as made:
        report = asyncio.run(probe(made, 3, 400))
        assert not report.leaks, described(report.leaks)
        assert not [key for key in report.statuses if key[1] >= 500]
        assert report.own > 60


def told(made: World | Application, caller: Caller, asked: Asked) -> tuple[int, Any]:
    """The status and the JSON of an answer."""
    application = made.application if isinstance(made, World) else made

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(
                asked.method,
                asked.address,
                json=asked.body,
                headers={**caller.header, **asked.headers},
            )

    answer = asyncio.run(ask())
    return int(answer.status_code), answer.json()


def caller_of(made: World, owner: str = "first", may: str = "all") -> Caller:
    """Somebody's token."""
    return next(caller for caller in made.callers if (caller.owner, caller.may) == (owner, may))


def at(pattern: str) -> Callable[[str], Asked]:
    """A question with a name in its address."""
    return lambda name: Asked("", "GET", pattern.format(quote(name, safe="")))


def tool(name: str, **given: str) -> Callable[[str], Asked]:
    """A tool called with a name in an argument."""
    headers = {"Accept": "application/json, text/event-stream"}

    def asked(word: str) -> Asked:
        arguments = {key: value.format(word) for key, value in given.items()}
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return Asked("", "POST", "/mcp", body, headers)

    return asked


def change(method: str, body: Any = None, **headers: str) -> Callable[[str], Asked]:
    """A change of the document with a name."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda name: replace(
        at("/api/documents/{}")(name), method=method, body=body, headers=named
    )


NAMING = {
    "read": at("/api/documents/{}"),
    "similar": at("/api/similar?doc={}"),
    "why": at("/api/why?q=garden&doc={}&mode=lexical"),
    "change": change("PATCH", {"archived": True}),
    "restore": change("PATCH", {"deleted": False}),
    "delete": change("DELETE"),
    "replace": change("PUT", {"title": "x"}, If_Match='"1"'),
    "touch": lambda name: Asked("", "POST", "/api/bulk", {"touch": [name]}),
    "judge": lambda name: Asked("", "POST", "/api/judgments", {"query": "x", "relevant": [name]}),
    "get": tool("get", doc="{}"),
    "outline": tool("outline", doc="{}"),
    "tool why": tool("why", doc="{}", query="garden"),
}
WORDING = {
    "words": at("/api/search?q={}&mode=lexical"),
    "letters": at("/api/search?q={}&mode=exact"),
    "tag": at("/api/search?q=garden&mode=lexical&tag={}"),
    "collection": at("/api/search?q=garden&mode=lexical&collection={}"),
    "has": at("/api/search?q=garden&mode=lexical&has={}"),
    "where": at("/api/search?q=garden&mode=lexical&where={}:1"),
    "typed property": at("/api/search?q=garden {}:1&mode=lexical"),
    "typed tag": at("/api/search?q=garden tag:{}&mode=lexical"),
    "tool filter": tool("search", query="garden", filter="has:{}", mode="lexical"),
    "tool search": tool("search", query="{}", mode="lexical"),
}


def bare(said: Any, name: str) -> str:
    """An answer without the name that was asked for, and without what differs every time."""
    text = json.dumps(said, ensure_ascii=False).replace(name, "NAME")
    return re.sub(r'"(request_id|took_ms|ms)": [^,}]+', "", text)


@pytest.mark.parametrize("how", sorted(NAMING))
def test_what_is_not_theirs_is_as_good_as_not_there(two: World, how: str) -> None:
    """A document of somebody else is answered word by word like one that does not exist."""
    ann = caller_of(two)
    free = "nobody has this"
    expected_status, expected_said = told(two, ann, NAMING[how](free))
    for owner in (*OWNERS[1:], NOBODY):
        names = two.names[owner]
        for name in (names.ids[0], names.ids[1], names.ids[-1]):
            status, said = told(two, ann, NAMING[how](name))
            assert status == expected_status
            assert bare(said, name) == bare(expected_said, free)


@pytest.mark.parametrize("how", sorted(WORDING))
def test_a_word_that_only_others_have_is_as_good_as_unknown(two: World, how: str) -> None:
    """Words, tags, properties and collections of others are answered like those of nobody."""
    ann = caller_of(two)
    free = syllables(Random(5))
    expected_status, expected_said = told(two, ann, WORDING[how](free))
    for owner in (*OWNERS[1:], NOBODY):
        names = two.names[owner]
        for word in (names.tags[0], names.properties[1], names.collections[-1]):
            status, said = told(two, ann, WORDING[how](word))
            assert status == expected_status
            assert bare(said, word) == bare(expected_said, free)


def test_slips_are_repaired_by_ones_own_words(tmp_path: Path) -> None:
    """The beginning of a word that only somebody else wrote is repaired into nothing."""
    with Library.open(
        settings=Settings(db=tmp_path / "x.db", embedding={"embedder": "none"})
    ) as library:
        library.save(Draft("a", title="Key", body="correcthorsebattery42"), scope=ANN)
        library.save(Draft("b", title="Correctness", body="of proofs"), scope=BOB)
        for text in ("corr", "correcthorse", "correcthorsebattery43"):
            answer = library.search(text, scope=BOB, mode="lexical")
            terms = [term for one in answer.repairs for term in one.terms]
            assert not [term for term in terms if "horse" in term]
        assert library.search("corectness", scope=BOB, mode="lexical").repairs[0].terms
        # What others wrote does not make a slip a word, either.
        library.save(Draft("c", title="Note", body="corectness"), scope=ANN)
        (repair,) = library.search("corectness", scope=BOB, mode="lexical").repairs
        assert repair.terms == ("correct",) or "correctness" in repair.terms


def test_status_counts_what_is_theirs(two: World) -> None:
    """Files, vectors, failures and collections in a status are the caller's own."""
    status, said = told(two, caller_of(two), Asked("", "GET", "/api/status?files=true"))
    assert status == 200
    mine = two.names["first"]
    assert {file["path"] for file in said["files"]} <= set(mine.paths)
    assert {collection["name"] for collection in said["collections"]} <= {
        *mine.collections,
        "scratch first",
    }
    _, whole = told(two, two.anybody, Asked("", "GET", "/api/status?files=true"))
    for counted in ("documents", "chunks", "embedded", "pending", "failed_chunks"):
        assert 0 < said[counted] < whole[counted], counted
    assert said["skipped"] + said["failed"] == 0 < whole["skipped"] + whole["failed"]
    assert said["bytes"] == 0 < whole["bytes"]


def test_judgments_are_kept_apart(tmp_path: Path) -> None:
    """Who judges for an owner neither reads nor drops what others judged."""
    with world(tmp_path, seed=3) as made:
        for owner in ("first", "second"):
            body = {"query": f"query of {owner}", "relevant": [made.names[owner].ids[1]]}
            judged = Asked("", "POST", "/api/judgments", body)
            status, said = told(made, caller_of(made, owner), judged)
            assert status == 201
        _, mine = told(made, caller_of(made), Asked("", "GET", "/api/judgments"))
        assert [judgment["query"] for judgment in mine["judgments"]] == ["query of first"]
        dropped = Asked("", "DELETE", f"/api/judgments/{said['id']}")
        assert told(made, caller_of(made), dropped)[0] == 404
        _, measured = told(made, caller_of(made), Asked("", "GET", "/api/measures"))
        assert [one["query"] for one in measured["each"]] == ["query of first"]
        _, nobodys = told(made, made.anybody, Asked("", "GET", "/api/judgments"))
        assert nobodys["judgments"] == []
        settings = made.library.settings
        assert judgments_path(settings, "a/b") != judgments_path(settings, "a b")


def test_opened_results_are_noted_apart(tmp_path: Path) -> None:
    """Nobody notes, counts or deletes what others opened; switched off, nothing is noted."""
    with world(tmp_path, seed=4, stages=False) as made:
        first, second = caller_of(made), caller_of(made, "second")
        own, others = made.names["first"].ids[1], made.names["second"].ids[1]

        def opened(id: str) -> tuple[int, Any]:
            body = {"query": "tea", "id": id}
            return told(made, first, Asked("", "POST", "/api/v1/opened", body))

        assert opened(own) == (200, {"noted": True})
        assert opened(others)[0] == 404
        forget = Asked("", "DELETE", "/api/v1/opened")
        assert told(made, second, forget) == (200, {"forgotten": 0})
        assert told(made, first, forget) == (200, {"forgotten": 1})
        made.library.settings = made.library.settings.changed(feedback={"enabled": False})
        assert opened(own) == (200, {"noted": False})


def test_an_id_that_is_not_free_is_refused_alike(tmp_path: Path) -> None:
    """An owner who saves under an id of others or of a file hears the same, and no more."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("ant")
    with Library.open(
        settings=Settings(db=tmp_path / "x.db", embedding={"embedder": "none"})
    ) as library:
        library.index(tmp_path / "vault")
        library.save(Draft("taken", title="Ant"), scope=ANN)
        said = []
        for id in ("taken", "vault/a.md", "vault/new.md"):
            with pytest.raises(NotYours) as refused:
                library.save(Draft(id, title="Bee"), scope=BOB)
            said.append(str(refused.value).replace(id, "ID"))
        assert len(set(said)) == 1
        with pytest.raises(NotYours):
            library.save(Draft("new", title="Bee", collection="vault"), scope=BOB)
        with pytest.raises(BadInput, match="holds the files"):
            library.save(Draft("new", title="Bee", collection="vault"))
        assert library.document("taken").title == "Ant"
        report = library.import_notes(tmp_path / "vault", collection="vault", scope=BOB)
        assert (report.added, report.failed) == (0, 1)
        assert "folder" not in str(report.problems)


@pytest.mark.parametrize("method", ["PUT", "POST", "bulk"])
def test_an_id_of_others_is_not_called_taken(two: World, method: str) -> None:
    """Over HTTP it is not permitted, in the same words for a file's id: never a conflict."""
    first, second = caller_of(two), two.names["second"]
    said = []
    for id in (second.ids[0], second.ids[1], "vault/no such file.md"):
        asked = {
            "PUT": change("PUT", {"title": "x"})(id),
            "POST": Asked("", "POST", "/api/documents", {"id": id, "title": "x"}),
            "bulk": Asked("", "POST", "/api/bulk", {"save": [{"id": id, "title": "x"}]}),
        }[method]
        status, problem = told(two, first, asked)
        said.append((status, problem.get("detail", "").replace(id, "ID")))
    assert {status for status, _ in said[:2]} == {403}
    assert len(set(said[:2])) == 1
    assert "taken" not in said[0][1]


def test_canaries_are_told_apart_by_their_beginning(two: World) -> None:
    """No two canaries share what they are known by, so that each leak has one owner."""
    roots = [word[:ROOT] for held in two.canaries.of.values() for word in held]
    assert len(roots) == len(set(roots)) > 400


def test_a_database_that_does_not_answer_holds_nobody_up(postgres_url: str) -> None:
    """While nobody can look up a token, others are answered, and this caller is told to wait."""
    settings = Settings(db=postgres_url, index={"busy_seconds": 2}, embedding={"embedder": "none"})
    with (
        Library.open(settings=settings) as library,
        closing(Auth(settings, library)) as auth,
        psycopg.connect(postgres_url) as other,
    ):
        application = Application(library, auth, settings)
        caller = Caller("first", None, "all", {"Authorization": "Bearer tl_a_b"})
        other.execute("LOCK TABLE twolane.tokens IN ACCESS EXCLUSIVE MODE")

        async def at_once() -> tuple[int, float]:
            transport = httpx.ASGITransport(application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                waiting = asyncio.create_task(http.get("/api/tags", headers=caller.header))
                started = time.perf_counter()
                await asyncio.sleep(0.1)
                assert (await http.get("/healthz")).status_code == 200
                took = time.perf_counter() - started
                refused = await waiting
                assert "Retry-After" in refused.headers
                return refused.status_code, took

        status, took = asyncio.run(at_once())
        application.close()
    assert status == 503
    assert took < 1.8


def test_nobody_is_told_where_models_and_servers_are(tmp_path: Path) -> None:
    """Neither a folder on the disk nor an address, by any answer that tells what is missing."""
    addresses = ("search?q=a+cup+of+tea", "why?q=a+cup+of+tea&doc=a", "status?files=true")
    addresses += ("why?q=tea&doc=vault/link.md",)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "link.md").symlink_to(tmp_path / "on the disk" / "note.md")
    folder, nowhere = tmp_path / "on the disk" / "model", "http://127.0.0.1:1/v1"
    onnx = {"embedder": "onnx", "model": str(folder)}
    openai = {"embedder": "openai", "model": "m", "url": nowhere, "dimensions": 8}
    for number, embedding in enumerate((onnx, {**openai, "request_tries": 1})):
        settings = Settings(
            db=tmp_path / f"{number}.db", embedding=embedding, server={"requests_per_minute": 0}
        )
        with Library.open(settings=settings) as library:
            library.save(Draft("a", title="Tea", body="Green tea."))
            library.index(vault)
            with suppress(EmbedderUnavailable):
                library.embed()
            may = (Capability.SEARCH, Capability.SEMANTIC)
            _, secret = library.add_token("reader", capabilities=may)
            caller = Caller(NOBODY, None, "reads", {"Authorization": f"Bearer {secret}"})
            with closing(Auth(settings, library)) as auth:
                application = Application(library, auth, settings)
                asking = [Asked("", "GET", f"/api/{address}") for address in addresses]
                asking.append(tool("status")(""))
                asking.append(tool("why", doc="vault/link.md", query="tea")(""))
                asking.append(tool("search", query="a cup of tea")(""))
                said = [str(told(application, caller, one)) for one in asking]
                application.close()
        assert "warning: " in said[-1] and "degraded" in said[0]
        assert all("leads out of the folder" in said[at] for at in (2, 3, -2))
        for one in said:
            assert "on the disk" not in one and "127.0.0.1" not in one, one
