"""Tokens: who they let in, what they allow, and how they are kept."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.interfaces.conftest import NOTES, Cli, write
from tests.interfaces.http.conftest import Server, serving
from twolane.errors import BadInput
from twolane.interfaces.http.tokens import Tokens
from twolane.scopes import Capability


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tokens."""
    from tests.interfaces.conftest import _at

    folder = tmp_path_factory.mktemp("guarded")
    cli = _at(folder / "home")
    vault = write(folder / "notes", NOTES)
    cli("index", vault)
    cli("token", "add", "first")
    with serving(cli, vault) as running:
        yield running


def token(server: Server, name: str, *may: str, owner: str | None = None) -> dict[str, str]:
    """The header of a new token."""
    options = [word for one in may for word in ("--may", one)]
    options += ["--owner", owner] if owner else []
    said = server.cli("token", "add", name, *options, "--quiet").stdout.strip()
    return {"Authorization": f"Bearer {said}"}


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
        assert [one["lane"] for one in said["degraded"]] == ["dense"]
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


class TestStarting:
    """When a server refuses to start."""

    @pytest.fixture
    def indexed(self, indexed: Cli, tmp_path: Path) -> Cli:
        """A library with no tokens, whatever other tests did with it."""
        return indexed.where(TWOLANE_TOKENS=str(tmp_path / "tokens.json"))

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
    def test_other_machines_need_tokens(self, indexed: Cli, host: str) -> None:
        """An address that others can reach is not served without tokens."""
        said = indexed("serve", "--host", host, "--port", "0", code=2).stderr
        assert "twolane token add" in said

    def test_another_name_needs_tokens(self, indexed: Cli) -> None:
        """A name that a proxy forwards makes the server reachable, too."""
        said = indexed("serve", "--port", "0", code=2, TWOLANE_HOSTS="notes.example").stderr
        assert "twolane token add" in said

    def test_tokens_can_be_asked_for_always(self, indexed: Cli) -> None:
        """The setting makes a local server ask, too."""
        said = indexed("serve", "--port", "0", code=2, TWOLANE_REQUIRE_TOKEN="always").stderr
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


class TestFile:
    """The file of tokens."""

    def test_nobody_else_can_read_it_and_it_holds_no_secret(self, tmp_path: Path) -> None:
        """The file is for its owner's eyes, and even they learn nothing that lets them in."""
        file = tmp_path / "deep" / "tokens.json"
        _, secret = Tokens(file).add("a", owner=None, capabilities=[Capability.SEARCH])
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        hidden = secret.split("_", 2)[2]
        assert len(hidden) > 40
        assert hidden not in file.read_text("utf-8")
        assert [one.name for one in file.parent.iterdir()] == ["tokens.json"]

    def test_only_the_whole_token_counts(self, tmp_path: Path) -> None:
        """A token with another id, prefix or secret is nobody's."""
        tokens = Tokens(tmp_path / "tokens.json")
        made, secret = tokens.add("a", owner="ann", capabilities=["admin"])
        other, _ = tokens.add("b", owner=None, capabilities=["admin"])
        caller = tokens.caller(secret)
        assert caller is not None
        assert (caller.owner, caller.capabilities) == ("ann", {Capability.ADMIN})
        for wrong in (secret[:-1], secret + "x", "xx" + secret[2:], "", "tl__", made.id):
            assert tokens.caller(wrong) is None
        assert tokens.caller(secret.replace(made.id, other.id)) is None

    def test_a_damaged_file_lets_nobody_in(self, tmp_path: Path) -> None:
        """What is no file of tokens is an error, not an open door."""
        file = tmp_path / "tokens.json"
        for text in ("", "[]", "{}", '{"format": "other", "tokens": []}'):
            file.write_text(text)
            with pytest.raises(BadInput, match="not a file of tokens"):
                Tokens(file).all()


def test_the_library_checks_capabilities_itself(indexed: Cli) -> None:
    """What a scope may not do is refused by the library, whatever interface made the scope."""
    from twolane import Library, Scope
    from twolane.errors import NotPermitted

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
    with serving(indexed, tmp_path, TWOLANE_ORIGINS=origin) as running:
        client: httpx.Client = running.client
        ask = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        preflight = client.options("/api/documents", headers=ask)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == origin
        said = client.get("/api/tags", headers={"Origin": origin})
        assert said.headers["access-control-allow-origin"] == origin
        other = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
        assert client.options("/api/documents", headers=other).status_code == 403
