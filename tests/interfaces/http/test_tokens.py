"""Tokens: who they let in, what they allow, and how they are kept."""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.http.conftest import Server, serving, serving_notes, token
from tests.waiting import eventually
from twolane import Library, Settings
from twolane.model.scope import Capability


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tokens."""
    with serving_notes(tmp_path_factory.mktemp("guarded") / "notes") as running:
        running.cli("token", "add", "first")
        yield running


class TestServer:
    """What a server with tokens answers."""

    def test_without_a_token_nothing_is_told(self, guarded: Server) -> None:
        """Every address that tells of the index asks for a token; health and the page do not."""
        for path in ("/api/search?q=tea", "/api/status", "/api/documents/x", "/metrics"):
            refused = guarded.client.get(path)
            assert refused.status_code == 401, path
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert refused.json()["type"] == "/problems/unauthenticated"
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs", "/problems/not-found"):
            assert guarded.client.get(path).status_code == 200, path

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "Bearer",
            "Bearer tl",
            "Bearer tl_a_b",
            "Basic abc",
            "Bearer " + "x" * 5000,
        ],
    )
    def test_a_wrong_token_is_refused(self, guarded: Server, header: str) -> None:
        """Whatever else is sent as a token lets nobody in."""
        refused = guarded.client.get("/api/search?q=tea", headers={"Authorization": header})
        assert refused.status_code == 401

    def test_a_token_lets_in(self, guarded: Server) -> None:
        """With its capabilities, and no more than those."""
        usual = token(guarded, "usual")
        assert guarded.client.get("/api/search?q=tea", headers=usual).json()["degraded"] == []
        refused = guarded.client.get("/metrics", headers=usual)
        assert refused.status_code == 403
        assert "admin" in refused.json()["detail"]
        status = guarded.client.get("/api/status", headers=usual).json()
        assert status["db"] == ""
        assert status["collections"][0]["root"] is None
        admin = token(guarded, "admin", "admin", "search.use")
        assert guarded.client.get("/metrics", headers=admin).status_code == 200
        assert guarded.client.get("/api/status", headers=admin).json()["db"]

    def test_meaning_can_be_reserved(self, guarded: Server) -> None:
        """Without `search.semantic` the words still answer, and the answer says so."""
        words = token(guarded, "words", "search.use")
        said = guarded.client.get("/api/search?q=green+tea", headers=words).json()
        assert said["results"][0]["title"] == "Green tea"
        assert [degradation["lane"] for degradation in said["degraded"]] == ["dense"]
        assert "search.semantic" in said["degraded"][0]["reason"]

    def test_an_owner_sees_their_own_documents(self, guarded: Server) -> None:
        """Documents of nobody, or of others, are in no answer."""
        mine = token(guarded, "mine", owner="ann")
        assert guarded.client.get("/api/search?q=tea", headers=mine).json()["results"] == []
        assert guarded.client.get("/api/documents/Green tea", headers=mine).status_code == 404
        assert guarded.client.get("/api/tags", headers=mine).json()["tags"] == []
        assert guarded.client.get("/api/status", headers=mine).json()["documents"] == 0

    def test_a_revoked_token_is_refused_at_once(self, guarded: Server) -> None:
        """The running server notices."""
        header = token(guarded, "short-lived")
        assert guarded.client.get("/api/tags", headers=header).status_code == 200
        guarded.cli("token", "revoke", "short-lived")
        assert guarded.client.get("/api/tags", headers=header).status_code == 401

    def test_what_one_may_see_is_not_sent_to_another(self, guarded: Server) -> None:
        """The ETag of an answer differs between callers who may see different things."""
        all_of_it, nothing = token(guarded, "all"), token(guarded, "none", owner="bob")
        first = guarded.client.get("/api/tags", headers=all_of_it)
        again = {**nothing, "If-None-Match": first.headers["etag"]}
        assert guarded.client.get("/api/tags", headers=again).status_code == 200


def test_tokens_that_cannot_be_read_let_nobody_in(twolane: Cli, vault: Path) -> None:
    """A database that is damaged is told without its path, and health is still answered."""
    twolane("index", vault)
    twolane("token", "add", "first")
    with serving(twolane, vault) as server:
        header = token(server, "second")
        assert server.client.get("/api/tags", headers=header).status_code == 200
        with closing(apsw.Connection(str(twolane.db))) as connection:
            connection.execute("ALTER TABLE tokens RENAME TO mislaid")
        for headers in (header, {}):
            refused = server.client.get("/api/tags", headers=headers)
            assert refused.status_code in (401, 503)
            assert twolane.db.name not in refused.text
        assert server.client.get("/api/tags", headers=header).status_code == 503
        assert server.client.get("/healthz").status_code == 200


class TestStarting:
    """When a server refuses to start."""

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
    def test_other_machines_need_tokens(self, indexed: Cli, host: str) -> None:
        """An address that others can reach is not served without tokens."""
        said = indexed("serve", "--host", host, "--port", "0", code=2).stderr
        assert "twolane token add" in said

    def test_another_name_needs_tokens(self, indexed: Cli) -> None:
        """A name that a proxy forwards makes the server reachable, too."""
        said = indexed("serve", "--port", "0", code=2, TWOLANE_SERVER_HOSTS="notes.example").stderr
        assert "twolane token add" in said

    def test_tokens_can_be_asked_for_always(self, indexed: Cli) -> None:
        """The setting makes a local server ask, too."""
        said = indexed("serve", "--port", "0", code=2, TWOLANE_SERVER_REQUIRE_TOKEN="always").stderr
        assert "twolane token add" in said

    def test_an_address_in_use_is_told(self, server: Server) -> None:
        """Two servers cannot have one port."""
        port = server.address.rpartition(":")[2]
        assert "cannot listen" in server.cli("serve", "--port", port, code=2).stderr


class TestCommand:
    """`twolane token`."""

    def test_add_list_revoke(self, twolane: Cli) -> None:
        """A token is shown once, listed without its secret, and gone when it is revoked."""
        made = json.loads(
            twolane(
                "token", "add", "phone", "--owner", "ann", "--may", "search.use", "--json"
            ).stdout
        )
        assert made["token"].startswith(f"tl_{made['id']}_")
        listed = twolane("token", "list", "--json").stdout
        assert "phone" in listed
        assert made["token"].split("_", 2)[2] not in listed
        assert "ann" in twolane("token", "list").stdout
        twolane("token", "add", "phone", code=2)
        twolane("token", "revoke", made["id"])
        assert twolane("token", "list").stderr == "no tokens\n"
        assert "phone" not in twolane("token", "revoke", "phone", code=2).stderr.partition(";")[2]

    def test_nonsense_is_refused(self, twolane: Cli) -> None:
        """Unknown capabilities and empty names make no token."""
        assert "search.use" in twolane("token", "add", "a", "--may", "all", code=2).stderr
        twolane("token", "add", " ", code=2)
        twolane("token", "add", "a", "--owner", "", code=2)


class TestKept:
    """Where tokens are kept, and what is known of them."""

    def test_no_secret_is_kept(self, twolane: Cli) -> None:
        """The database is for its owner's eyes, and even they learn nothing that lets them in."""
        secret = twolane("token", "add", "a", "-q").stdout.strip().split("_", 2)[2]
        assert stat.S_IMODE(twolane.db.stat().st_mode) == 0o600
        assert len(secret) > 40
        for file in twolane.db.parent.iterdir():
            assert secret.encode() not in file.read_bytes()

    def test_only_the_whole_token_counts(self, tmp_path: Path) -> None:
        """A token with another id, prefix or secret is nobody's."""
        with Library.open(
            tmp_path / "x.db", settings=Settings(embedding={"embedder": "none"})
        ) as library:
            made, text = library.add_token("a", owner="ann", capabilities=["admin"])
            other, _ = library.add_token("b", capabilities=["admin"])
            found = library.token_of(text)
            assert found == made
            assert (made.owner, made.capabilities) == ("ann", {Capability.ADMIN})
            for wrong in (text[:-1], text + "x", "xx" + text[2:], "", "tl__", made.id):
                assert library.token_of(wrong) is None
            assert library.token_of(text.replace(made.id, other.id)) is None
            library.revoke_token("a")
            assert library.token_of(text) is None
            assert library.token_of(f"tl_{made.id}_") is None

    def test_a_name_is_given_once(self, twolane: Cli) -> None:
        """Of many that make a token of one name at once, one succeeds."""

        def add(_: int) -> int:
            words = twolane.arguments("token", "add", "phone")
            done = subprocess.run(
                words, env=dict(twolane.environment), capture_output=True, check=False, timeout=60
            )
            return done.returncode

        twolane("token", "add", "first")
        with ThreadPoolExecutor(6) as many:
            assert sorted(many.map(add, range(6))) == [0, 2, 2, 2, 2, 2]

    def test_the_last_use_is_told(self, guarded: Server) -> None:
        """A list of tokens says when each was last sent, without a word in the log."""
        used = token(guarded, "used-once")
        assert guarded.client.get("/api/tags", headers=used).status_code == 200

        def listed() -> dict[str, str | None]:
            tokens = json.loads(guarded.cli("token", "list", "--json").stdout)["tokens"]
            (one,) = (one for one in tokens if one["name"] == "used-once")
            return one

        eventually(lambda: listed()["used"] is not None)
        one = listed()
        assert one["used"] >= one["created"]
        assert one["expires"] is None
        assert "used-once  all documents" in guarded.cli("token", "list").stdout


class TestStaying:
    """Who asked for tokens once is never open to everybody by accident."""

    def test_revoking_the_last_one_opens_nothing(self, twolane: Cli, vault: Path) -> None:
        """A running server and one that is started later let nobody in without a token."""
        twolane("index", vault)
        with serving(twolane, vault) as server:
            assert server.client.get("/api/tags").status_code == 200
            header = token(server, "only")
            assert server.client.get("/api/tags").status_code == 401
            twolane("token", "revoke", "only")
            assert twolane("token", "list").stderr == "no tokens\n"
            assert server.client.get("/api/tags", headers=header).status_code == 401
            assert server.client.get("/api/tags").status_code == 401
        with serving(twolane, vault) as server:
            assert server.client.get("/api/tags").status_code == 401
            again = token(server, "only")
            assert server.client.get("/api/tags", headers=again).status_code == 200

    def test_it_is_opened_on_purpose_only(self, twolane: Cli, vault: Path) -> None:
        """The setting `never` lets everybody on this machine in, and nobody else."""
        twolane("index", vault)
        twolane("token", "add", "only")
        with serving(twolane, vault, TWOLANE_SERVER_REQUIRE_TOKEN="never") as server:
            assert server.client.get("/api/tags").status_code == 200
        others = {"TWOLANE_SERVER_REQUIRE_TOKEN": "never", "TWOLANE_SERVER_HOSTS": "notes.example"}
        said = twolane("serve", "--port", "0", code=2, **others).stderr
        assert "can be reached by others" in said

    def test_a_token_ends_when_it_was_told_to(self, twolane: Cli, vault: Path) -> None:
        """After its time a token lets nobody in, and the answer says why."""
        twolane("index", vault)
        text = twolane("token", "add", "short", "--expires", "2099-12-31", "-q").stdout.strip()
        header = {"Authorization": f"Bearer {text}"}
        with serving(twolane, vault) as server:
            assert server.client.get("/api/tags", headers=header).status_code == 200
            # Nobody waits till then: the time comes to the token.
            with closing(apsw.Connection(str(twolane.db))) as connection:
                # The server may still note that the token was used.
                connection.set_busy_timeout(60_000)
                connection.execute("UPDATE tokens SET expires = 1")
            refused = server.client.get("/api/tags", headers=header)
            assert refused.status_code == 401
            assert refused.json()["detail"] == "the token has expired"
            assert server.client.get("/api/tags").status_code == 401
        assert "expired" in twolane("token", "list").stdout
        twolane("token", "add", "late", "--expires", "2001-01-01", code=2)

    def test_a_backup_brings_no_token_back(self, twolane: Cli, vault: Path, tmp_path: Path) -> None:
        """What was revoked after a backup stays revoked when that is restored."""
        twolane("index", vault)
        twolane("backup", tmp_path / "open.db")
        text = twolane("token", "add", "gone", "-q").stdout.strip()
        twolane("backup", tmp_path / "copy.db")
        twolane("token", "revoke", "gone")
        twolane("token", "add", "kept")
        for copy in ("copy.db", "open.db"):
            twolane("restore", tmp_path / copy)
            listed = json.loads(twolane("token", "list", "--json").stdout)["tokens"]
            assert [one["name"] for one in listed] == ["kept"]
            with serving(twolane, vault) as server:
                header = {"Authorization": f"Bearer {text}"}
                assert server.client.get("/api/tags", headers=header).status_code == 401
                assert server.client.get("/api/tags").status_code == 401
        assert twolane("doctor").returncode == 0


# A file of tokens as earlier versions wrote it, and the one token in it.
OLD_TOKEN = "tl_0123456789ab_old-secret"
OLD_FILE: dict[str, Any] = {
    "format": "twolane-tokens-1",
    "tokens": [
        {
            "id": "0123456789ab",
            "name": "old",
            "owner": None,
            "capabilities": ["search.use"],
            "created": "2024-05-01T12:00:00+00:00",
            "sha256": hashlib.sha256(b"old-secret").hexdigest(),
        }
    ],
}


class TestEarlierFile:
    """The file in which earlier versions kept tokens."""

    def test_it_is_taken_over_once(self, twolane: Cli, vault: Path) -> None:
        """Its tokens are as good as before, and one that is revoked never comes back."""
        twolane("index", vault)
        file = twolane.db.with_suffix(".tokens.json")
        file.write_text(json.dumps(OLD_FILE))
        header = {"Authorization": f"Bearer {OLD_TOKEN}"}
        with serving(twolane, vault) as server:
            assert server.client.get("/api/tags").status_code == 401
            assert server.client.get("/api/tags", headers=header).status_code == 200
            assert not file.exists()
            twolane("token", "revoke", "old")
            file.write_text(json.dumps(OLD_FILE))
            assert twolane("token", "list").stderr == "no tokens\n"
            assert server.client.get("/api/tags", headers=header).status_code == 401

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{}",
            '{"format": "other", "tokens": []}',
            json.dumps({**OLD_FILE, "tokens": [{**OLD_FILE["tokens"][0], "capabilities": ["x"]}]}),
            json.dumps({**OLD_FILE, "tokens": [{**OLD_FILE["tokens"][0], "created": "never"}]}),
            json.dumps({**OLD_FILE, "tokens": [{**OLD_FILE["tokens"][0], "name": 7}]}),
        ],
    )
    def test_a_damaged_one_lets_nobody_in(self, twolane: Cli, vault: Path, text: str) -> None:
        """What is no file of tokens is an error for whoever starts the server, not an open door."""
        twolane("index", vault)
        file = twolane.db.with_suffix(".tokens.json")
        file.write_text(text)
        for words in (("serve", "--port", "0"), ("token", "list")):
            assert "not a file of tokens" in twolane(*words, code=2).stderr
        assert file.read_text() == text

    def test_a_running_server_does_not_look_at_it(self, guarded: Server) -> None:
        """A file that appears later neither opens nor stops a server, and no answer names it."""
        file = guarded.cli.db.with_suffix(".tokens.json")
        header = token(guarded, "before-damage")
        file.write_text("{")
        try:
            assert guarded.client.get("/api/tags", headers=header).status_code == 200
            refused = guarded.client.get("/api/tags")
            assert refused.status_code == 401
            assert file.name not in refused.text
        finally:
            file.unlink()


def test_the_library_checks_capabilities_itself(indexed: Cli) -> None:
    """What a scope may not do is refused by the library, whatever interface made the scope."""
    from twolane import Library, Scope
    from twolane.model.errors import NotPermitted

    nothing = Scope(capabilities=frozenset())
    with Library.open(indexed.db) as library:
        for ask in (
            lambda: library.search("tea", scope=nothing),
            lambda: library.similar("Green tea", scope=nothing),
            lambda: library.why("tea", "Green tea", scope=nothing),
            lambda: library.document("Green tea", scope=nothing),
            lambda: library.facets(scope=nothing),
            lambda: library.status(scope=nothing),
            lambda: library.index(".", scope=nothing),
            lambda: library.embed(scope=nothing),
        ):
            with pytest.raises(NotPermitted):
                ask()


def test_cross_site_pages_can_be_allowed(indexed: Cli, tmp_path: Path) -> None:
    """A site in `origins` may ask and read; every other one stays out."""
    origin = "https://notes.example"
    with serving(indexed, tmp_path, TWOLANE_SERVER_ORIGINS=origin) as running:
        client: httpx.Client = running.client
        ask = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        preflight = client.options("/api/documents", headers=ask)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == origin
        said = client.get("/api/tags", headers={"Origin": origin})
        assert said.headers["access-control-allow-origin"] == origin
        other = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
        assert client.options("/api/documents", headers=other).status_code == 403
