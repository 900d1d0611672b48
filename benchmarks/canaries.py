"""Several owners in one library, each with words that nobody else may ever read.

A world is a server, run in this process, over a library of three owners and of files that are
nobody's; every place where a text can stand holds a canary: a word that is there and nowhere else.
Requests are made at random, from a seed, for every endpoint and every tool for agents, and ask for
pieces and slips of others' canaries, for their ids, names and cursors, or for something harmless.
An answer leaks if it holds a canary of somebody else that its request did not hold, or if it names
the folder on the server's disk to somebody who does not look after the server.
A reranker and a chat model take part in searches; their server fails more often than not,
and repeats then what it was sent.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote

import httpx

from twolane import Draft, Kind, Library, Scope, Settings
from twolane.interfaces.http.app import Application
from twolane.interfaces.http.auth import Auth
from twolane.interfaces.http.judging import judgments_path
from twolane.interfaces.http.routes import ENDPOINTS
from twolane.interfaces.mcp.tools import TOOLS
from twolane.model.scope import ANYWHERE, Capability
from twolane.ports.documents import Part
from twolane.ports.generations import serving
from twolane.text.spelling import in_cyrillic, other_layout, rough

OWNERS = ("first", "second", "third")
NOBODY = "nobody"

# A canary is known by its beginning: stems and snippets may cut its end.
ROOT = 8

# Words that documents of all owners hold.
_COMMON = ("minutes", "budget", "garden", "review", "travel", "recipe")

_PASSAGE = (
    "The meeting went over the budget of the garden and the review of the travel plans, "
    "and everybody agreed to write down the recipe before the next minutes are read."
)

MAY: Mapping[str, tuple[Capability, ...]] = {
    "words": (Capability.SEARCH,),
    "reads": (Capability.SEARCH, Capability.SEMANTIC),
    "writes": (Capability.SEARCH, Capability.WRITE),
    "admin": (Capability.SEARCH, Capability.ADMIN),
    "all": tuple(Capability),
}


def syllables(dice: Random, count: int = 5) -> str:
    """A word of no language, far from every other."""
    return "".join(dice.choice("bdfgklmnprtvz") + dice.choice("aeiou") for _ in range(count))


class Canaries:
    """New words that share their beginning with no other word, by whose they are."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self.of: dict[str, list[str]] = {name: [] for name in (*OWNERS, NOBODY)}
        self._roots: set[str] = set()

    def new(self, owner: str, spelled: Callable[[str], str] = str) -> str:
        """A canary of this owner's, in letters of another script if `spelled` says so."""
        while (word := spelled(syllables(self._dice)))[:ROOT] in self._roots:
            continue
        self._roots.add(word[:ROOT])
        self.of[owner].append(word)
        return word

    def others(self, owner: str) -> re.Pattern[str]:
        """Finds the canaries of everybody else."""
        roots = [one[:ROOT] for name, held in self.of.items() if name != owner for one in held]
        return re.compile("|".join(roots))


@dataclass(frozen=True, slots=True)
class Names:
    """What others may try to name of an owner's things."""

    ids: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    collections: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def all(self) -> list[str]:
        """Every name that a document may be asked for by."""
        return [*self.ids, *self.paths, *self.titles]


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a token; `owner` is one of ours, `name` what the library calls them."""

    owner: str
    name: str | None
    may: str
    header: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and what it is a case of."""

    what: str
    method: str
    address: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """All that the request says, as an answer may repeat it."""
        said = json.dumps(self.body, ensure_ascii=False) if self.body is not None else ""
        return unquote(f"{self.address} {said}").casefold()


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary in an answer to somebody whose it is not."""

    canary: str
    caller: Caller
    asked: Asked
    told: str


@dataclass(slots=True)
class Report:
    """What became of the requests: how many of which kind, and every leak."""

    cases: int = 0
    leaks: list[Leak] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    own: int = 0


class World:
    """The library, its server, the canaries, and everybody who may ask."""

    def __init__(self, folder: Path, library: Library, settings: Settings, dice: Random) -> None:
        self.library = library
        self.folder = str(folder).casefold()
        self.canaries = Canaries(dice)
        self.names = {owner: Names() for owner in (*OWNERS, NOBODY)}
        self.called = {owner: self.canaries.new(owner) for owner in OWNERS}
        self.cursors: list[str] = []
        for owner in OWNERS:
            self._fill(owner)
        self._fill_nobody(folder)
        self._embed()
        self.callers = [
            self._caller(owner, self.called[owner], may) for owner in OWNERS for may in MAY
        ]
        self.anybody = self._caller(NOBODY, None, "all")
        self.auth = Auth(settings, library)
        self.application = Application(library, self.auth, settings)

    def _caller(self, owner: str, name: str | None, may: str) -> Caller:
        _, secret = self.library.add_token(f"{owner} {may}", owner=name, capabilities=MAY[may])
        return Caller(owner, name, may, {"Authorization": f"Bearer {secret}"})

    def _fill(self, owner: str) -> None:
        """Documents of every kind and state, each with canaries of its own."""
        for number in range(4):
            self._save(owner, number, Kind.NOTE)
        self._save(owner, 4, Kind.BOOKMARK)
        self._save(owner, 5, Kind.PROMPT)
        self._save(owner, 6, Kind.NOTE, archived=True)
        self._save(owner, 7, Kind.NOTE, searchable=False)
        self._save(owner, 8, Kind.NOTE, encrypted=True)
        self.library.delete(self._save(owner, 9, Kind.NOTE), scope=self._scope(owner))

    def _save(self, owner: str, number: int, kind: Kind, **fields: Any) -> str:
        def canary() -> str:
            return self.canaries.new(owner)

        names = self.names[owner]
        shared = number % 2 == 0
        collection = "shared" if shared else canary()
        id = f"shared/{canary()}" if shared else canary()
        # Every second title is that of others, too, so that a name stands for several documents.
        title = f"Common minutes {number % 3}" if shared else f"{canary().title()} of the budget"
        key = canary()
        tag, below = canary(), f"work/{canary()}"
        cyrillic = self.canaries.new(owner, in_cyrillic)
        body = (
            f"# {title}\n\n{_PASSAGE}\n\n## {canary()} review\n\nThe {canary()} was seen in the "
            f"garden with [[{canary()}]].\n\nЗаметка о том, как {cyrillic} пошёл в сад.\n"
        )
        draft = Draft(
            id,
            kind=kind,
            collection=collection,
            title=title,
            body=body,
            url=f"https://{canary()}.example/{canary()}" if kind == Kind.BOOKMARK else None,
            description=f"About the {canary()}.",
            summary=f"In short, {canary()}.",
            arguments=(canary(),) if kind == Kind.PROMPT else (),
            aliases=(canary(),),
            tags=(tag, below, "common"),
            properties={key: canary(), "status": canary()},
            path=f"{canary()}/{canary()}.md",
            **fields,
        )
        self.library.save(draft, scope=self._scope(owner))
        if not shared:
            self.library.describe_collection(collection, description=f"What {canary()} wrote.")
        names.ids.append(id)
        names.paths.append(draft.path or "")
        names.titles.append(title)
        names.collections.append(collection)
        names.properties.append(key)
        names.tags.extend((tag, below))
        return id

    def _scope(self, owner: str) -> Scope:
        return Scope(owner=self.called[owner])

    def _fill_nobody(self, folder: Path) -> None:
        """A folder with files that were indexed, left out and refused."""

        def canary() -> str:
            return self.canaries.new(NOBODY)

        names = self.names[NOBODY]
        vault = folder / canary()
        for number in range(4):
            key, tag, title = canary(), canary(), f"Common minutes {number % 3}"
            path = f"{canary()}/{canary()}.md"
            file = vault / path
            file.parent.mkdir(parents=True)
            file.write_text(
                f"---\n{key}: {canary()}\naliases: [{canary()}]\ntags: [{tag}]\n---\n# {title}\n\n"
                f"{_PASSAGE}\n\nNobody's {canary()} is here.\n",
                "utf-8",
            )
            names.ids.append(f"{vault.name}/{path}")
            names.paths.append(path)
            names.titles.append(title)
            names.properties.append(key)
            names.tags.append(tag)
        (vault / f"{canary()}.md").write_bytes(b"\x00\x01" * 2000)
        (vault / f"{canary()}.md").write_text(f"---\nsearch: false\n---\n{canary()}\n", "utf-8")
        (vault / f"{canary()}.md").symlink_to(folder / "outside.md")
        (folder / "outside.md").write_text(canary(), "utf-8")
        self.library.index(vault)
        self.library.describe_collection(vault.name, description=f"Files about {canary()}.")
        names.collections.append(vault.name)

    def _embed(self) -> None:
        """Vectors for what is there; then two documents each that have none.

        The passages of one of them could not be embedded, and the reason for that is a text, too.
        """
        self.library.embed()
        store = self.library._stores  # noqa: SLF001 - there is no other way to a failure at will
        generation = serving(store)
        assert generation is not None
        embedding = self.library
        with Library.open(
            settings=embedding.settings.changed(embedding={"embedder": "none"})
        ) as self.library:
            for owner in OWNERS:
                self._save(owner, 11, Kind.NOTE)
                id = self._save(owner, 13, Kind.NOTE)
                held = store.documents.get([id], ANYWHERE, frozenset({Part.CHUNKS}))
                for chunk in held[id].chunks:
                    reason = f"the server said {self.canaries.new(owner)}"
                    store.queue.fail(generation.number, chunk.content_hash, reason, retry_in=None)
        self.library = embedding


@contextmanager
def world(
    folder: Path, seed: int, db: str | None = None, *, stages: bool = True
) -> Iterator[World]:
    """A world in a folder that is empty, or in an empty database that a server keeps.

    Without `stages` the same request is answered alike every time.
    """
    with _echoing() as address:
        model = {"url": address, "model": "echo"}
        settings = Settings(
            db=db or folder / "canaries.db",
            embedding={"embedder": "hashing"},
            server={"requests_per_minute": 0},
            rerank={"reranker": "http" if stages else "none", **model},
            expand={"enabled": stages, "confident": 1, **model},
            stages={"pause_seconds": 0.05},
            feedback={"enabled": True},
        )
        with Library.open(settings=settings) as library:
            made = World(folder, library, settings, Random(seed))
            with closing(made.auth), closing(made.application):
                yield made


class _Echo(BaseHTTPRequestHandler):
    """A reranker and a chat model that fail five times in a row, repeating what they were sent."""

    server: _EchoServer

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(sent)
        self.server.asked += 1
        if self.server.asked % 8 < 5:
            answer, status = {"error": {"message": f"this is wrong: {sent.decode()}"}}, 400
        elif self.path.endswith("/rerank"):
            scores = [{"index": at, "relevance_score": 0.5} for at in range(asked["top_n"])]
            answer, status = {"results": scores}, 200
        else:
            wordings = json.dumps({"rephrased_query": asked["messages"][-1]["content"]})
            answer, status = {"choices": [{"message": {"content": wordings}}]}, 200
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Tell nobody."""


class _EchoServer(ThreadingHTTPServer):
    asked = 0


@contextmanager
def _echoing() -> Iterator[str]:
    """The address of such a server on loopback."""
    with _EchoServer(("127.0.0.1", 0), _Echo) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


class Prober:
    """Makes requests of one caller at random."""

    def __init__(self, world: World, dice: Random) -> None:
        self._world = world
        self._dice = dice
        self._made: Mapping[str, Callable[[Caller], Asked]] = {
            "search": self._search,
            "similar": self._similar,
            "why": self._why,
            "readDocument": self._read,
            "readExcerpt": self._excerpt,
            "createDocument": self._create,
            "putDocument": self._put,
            "changeDocument": self._patch,
            "deleteDocument": self._delete,
            "bulk": self._bulk,
            "renameTag": self._rename,
            "judge": self._judge,
            "forgetJudgment": self._forget,
            "noteOpened": self._opened,
        }
        # Searches say the most, and so does `why`.
        self._endpoints = [*ENDPOINTS, *[one for one in ENDPOINTS if one.heavy] * 6]

    def request(self, caller: Caller) -> Asked:
        """A request of the caller's to an endpoint or to a tool."""
        if self._dice.random() < 0.3:
            return self._agent(caller)
        asked = self._ask_endpoint(caller)
        # Every endpoint has two addresses.
        path = re.sub(r"^/api/(v1/)?", self._dice.choice(["/api/", "/api/v1/"]), asked.address)
        return replace(asked, address=path)

    def _ask_endpoint(self, caller: Caller) -> Asked:
        endpoint = self._dice.choice(self._endpoints)
        made = self._made.get(endpoint.name)
        if made is not None:
            return made(caller)
        path = re.sub(r"\{.*\}", lambda _: quote(self._name(caller), safe=""), endpoint.path)
        if endpoint.name == "status":
            path += f"?files={self._dice.choice(['true', 'false'])}"
        if endpoint.name == "measures":
            path += f"?mode={self._mode()}"
        return Asked(endpoint.name, endpoint.method, path)

    # --------------------------------------------------------------------------------- texts

    def _foreign(self, caller: Caller) -> str:
        """A word that only somebody else has."""
        other = self._dice.choice([name for name in (*OWNERS, NOBODY) if name != caller.owner])
        return self._dice.choice(self._world.canaries.of[other])

    def _piece(self, caller: Caller) -> str:
        """Something near to a foreign word that does not hold its beginning."""
        word, at = self._foreign(caller), self._dice.randrange(1, ROOT - 1)
        made = self._dice.choice(
            [
                word[: self._dice.randrange(3, ROOT)],
                word[1 : ROOT + 2],
                word[4:],
                word[:at] + self._dice.choice("xyw") + word[at + 1 :],
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                f"{word[:at]} {word[at:]}",
                in_cyrillic(word),
                rough(word),
                other_layout(word),
            ]
        )
        return made if word[:ROOT] not in made else word[: ROOT - 2]

    def _word(self, caller: Caller) -> str:
        roll = self._dice.random()
        if roll < 0.5:
            return self._piece(caller)
        if roll < 0.65:
            return self._foreign(caller)
        if roll < 0.8:
            return self._dice.choice(self._world.canaries.of[caller.owner])
        return self._dice.choice([*_COMMON, "nothing", syllables(self._dice), "зам", "🌱", "->"])

    def _name(self, caller: Caller) -> str:
        """What a document may be called: one of somebody's, or almost."""
        owner = self._dice.choice([*OWNERS, NOBODY, caller.owner])
        return self._dice.choice([*self._world.names[owner].all(), self._word(caller)])

    def _query(self, caller: Caller) -> str:
        if self._dice.random() < 0.25:
            # A sentence is what optional stages are asked about.
            return f"what did the {self._word(caller)} say about the budget of our garden"
        parts = []
        for _ in range(self._dice.randint(1, 3)):
            word = self._word(caller)
            parts.append(
                self._dice.choice(
                    [
                        *[word] * 5,
                        f"{word}*",
                        f'"{word}"',
                        f"-{word}",
                        f"tag:{word}",
                        f"collection:{word}",
                        f"path:{word}*",
                        f"has:{word}",
                        f"lang:{word}",
                        f"title:{word}",
                        f"{word}:{self._word(caller)}",
                        f"{self._property(caller)}:{word}",
                    ]
                )
            )
        return " ".join(parts)

    def _property(self, caller: Caller) -> str:
        other = self._dice.choice([*OWNERS, NOBODY, caller.owner])
        return self._dice.choice(self._world.names[other].properties)

    def _mode(self) -> str:
        return self._dice.choice(["hybrid", "lexical", "lexical", "semantic", "exact"])

    def _filters(self, caller: Caller) -> dict[str, str]:
        if self._dice.random() < 0.6:
            return {}
        other = self._world.names[self._dice.choice([*OWNERS, NOBODY, caller.owner])]
        return self._dice.choice(
            [
                {"tag": self._dice.choice([*other.tags, self._word(caller)])},
                {"any_tag": self._piece(caller)},
                {"collection": self._dice.choice([*other.collections, self._piece(caller)])},
                {"not_collection": self._piece(caller)},
                {"path": f"{self._piece(caller)}*"},
                {"has": self._dice.choice([*other.properties, self._piece(caller)])},
                {"where": f"{self._piece(caller)}:{self._word(caller)}"},
                {"where": f"{self._property(caller)}:{self._piece(caller)}"},
                {"lang": self._dice.choice(["ru", "en", "de", "zz"])},
                {"archived": "true"},
                {"only_archived": "true"},
            ]
        )

    def _address(self, path: str, given: Mapping[str, str]) -> str:
        return f"{path}?{httpx.QueryParams(dict(given))}"

    # ----------------------------------------------------------------------------- questions

    def _search(self, caller: Caller) -> Asked:
        given = {"q": self._query(caller), "mode": self._mode(), **self._filters(caller)}
        if self._dice.random() < 0.15:
            given.pop("mode")
            given["q"] = self._dice.choice(["", "common", "tag:common", given["q"]])
            given["sort"] = self._dice.choice(["updated", "title", "created", "used"])
        if self._dice.random() < 0.4:
            given["n"] = self._dice.choice(["1", "2", "100"])
        if self._dice.random() < 0.3:
            given["typing"] = "true"
        if self._dice.random() < 0.2:
            given["min_relevance"] = self._dice.choice(["0", "0.01", "0.9"])
        if self._world.cursors and self._dice.random() < 0.1:
            given["cursor"] = self._dice.choice(self._world.cursors)
        return Asked("search", "GET", self._address("/api/search", given))

    def _similar(self, caller: Caller) -> Asked:
        given = {"doc": self._name(caller), **self._filters(caller)}
        return Asked("similar", "GET", self._address("/api/similar", given))

    def _why(self, caller: Caller) -> Asked:
        given = {"q": self._query(caller), "doc": self._name(caller), "mode": self._mode()}
        return Asked("why", "GET", self._address("/api/why", {**given, **self._filters(caller)}))

    def _document(self, name: str) -> str:
        return f"/api/documents/{quote(name, safe='')}"

    def _read(self, caller: Caller) -> Asked:
        return Asked("readDocument", "GET", self._document(self._name(caller)))

    def _excerpt(self, caller: Caller) -> Asked:
        part = {"section": self._word(caller)} if self._dice.random() < 0.5 else {"lines": "1-9"}
        given = {"doc": self._name(caller), **part}
        return Asked("readExcerpt", "GET", self._address("/api/excerpt", given))

    # ------------------------------------------------------------------------------- changes

    def _id(self, caller: Caller) -> str:
        """An id to write to: one of the caller's few for this, or somebody else's."""
        if self._dice.random() < 0.5:
            return f"scratch {caller.owner} {self._dice.randrange(8)}"
        other = self._dice.choice([name for name in (*OWNERS, NOBODY) if name != caller.owner])
        return self._dice.choice(self._world.names[other].ids)

    def _draft(self, caller: Caller) -> dict[str, Any]:
        """What may be saved; nothing of others', or later answers would rightly hold it."""
        return {
            "title": f"Scratch {self._piece(caller)}",
            "text": f"{_PASSAGE}\n\n{self._piece(caller)} {self._piece(caller)}",
            "tags": [f"scratch/{caller.owner}"],
            "collection": self._dice.choice(["shared", f"scratch {caller.owner}"]),
            "properties": {"status": "scratch"},
        }

    def _matching(self) -> dict[str, str]:
        roll = self._dice.choice(["", "", "match", "new"])
        if roll == "match":
            return {"If-Match": f'"{self._dice.randint(1, 3)}"'}
        return {"If-None-Match": "*"} if roll == "new" else {}

    def _create(self, caller: Caller) -> Asked:
        body = {"id": self._id(caller), **self._draft(caller)}
        return Asked("createDocument", "POST", "/api/documents", body, self._once())

    def _once(self) -> dict[str, str]:
        """The keys of requests are few, and everybody uses the same ones."""
        roll = self._dice.randrange(20)
        return {"Idempotency-Key": f"key {roll}"} if roll < 10 else {}

    def _put(self, caller: Caller) -> Asked:
        address = self._document(self._id(caller))
        return Asked("putDocument", "PUT", address, self._draft(caller), self._matching())

    def _patch(self, caller: Caller) -> Asked:
        body = self._dice.choice(
            [{"archived": True}, {"deleted": False}, {"deleted": True}, {"add_tags": ["scratch"]}]
        )
        address = self._document(self._id(caller))
        return Asked("changeDocument", "PATCH", address, body, self._matching())

    def _delete(self, caller: Caller) -> Asked:
        purge = self._dice.choice(["", "?purge=true"])
        return Asked("deleteDocument", "DELETE", self._document(self._id(caller)) + purge)

    def _bulk(self, caller: Caller) -> Asked:
        verb = self._dice.choice(["save", "delete", "restore", "archive", "unarchive", "touch"])
        id = self._id(caller)
        body = {verb: [{"id": id, **self._draft(caller)}] if verb == "save" else [id]}
        return Asked("bulk", "POST", "/api/bulk", body, self._once())

    def _rename(self, caller: Caller) -> Asked:
        other = self._dice.choice([name for name in (*OWNERS, NOBODY) if name != caller.owner])
        tag = self._dice.choice([*self._world.names[other].tags, "scratch"])
        return Asked("renameTag", "PATCH", f"/api/tags/{quote(tag, safe='')}", {"name": "scratch"})

    def _judge(self, caller: Caller) -> Asked:
        body: dict[str, Any] = {"query": f"{self._dice.choice(_COMMON)} of {caller.owner}"}
        own = self._world.names[caller.owner].ids[1:6:2]
        body["relevant"] = [self._dice.choice([*own, self._name(caller)])]
        return Asked("judge", "POST", "/api/judgments", body)

    def _opened(self, caller: Caller) -> Asked:
        body = {"query": self._dice.choice(_COMMON), "id": self._name(caller)}
        return Asked("noteOpened", "POST", "/api/opened", body)

    def _forget(self, caller: Caller) -> Asked:
        path = judgments_path(self._world.library.settings, self._dice.choice([None, caller.name]))
        name = f"{path.stem}-00{self._dice.randint(1, 4)}"
        return Asked("forgetJudgment", "DELETE", f"/api/judgments/{name}")

    # -------------------------------------------------------------------------------- agents

    def _agent(self, caller: Caller) -> Asked:
        method, params = self._dice.choice(
            [
                *[("tools/call", None)] * 8,
                ("initialize", _HELLO),
                ("tools/list", {}),
                ("resources/list", {}),
                ("resources/templates/list", {}),
                ("resources/read", {"uri": self._uri(caller)}),
                ("prompts/list", {}),
                ("prompts/get", {"name": self._name(caller), "arguments": {"text": "this"}}),
            ]
        )
        what = method
        if method == "tools/call":
            tool = self._dice.choice(TOOLS)
            params = {"name": tool.name, "arguments": self._arguments(caller, tool.name)}
            what = f"tool {tool.name}"
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return Asked(what, "POST", "/mcp", body, {"Accept": _ACCEPTED})

    def _uri(self, caller: Caller) -> str:
        if self._dice.random() < 0.5:
            return f"twolane://search/{quote(self._query(caller))}"
        return f"twolane://document/{quote(self._name(caller), safe='/')}"

    def _arguments(self, caller: Caller, tool: str) -> dict[str, Any]:
        if tool == "search":
            filter = " ".join(
                f"{name.removeprefix('not_')}:{text}"
                for name, text in self._filters(caller).items()
            )
            given = {"query": self._query(caller), "mode": self._mode(), "filter": filter}
            if self._dice.random() < 0.3:
                given["rephrased_query"] = self._query(caller)
            return given
        if tool == "why":
            return {"query": self._query(caller), "doc": self._name(caller)}
        return {} if tool == "status" else {"doc": self._name(caller)}


_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "prober", "version": "1"},
}
_ACCEPTED = "application/json, text/event-stream"


def expected() -> set[str]:
    """Every kind of request that a run must have made."""
    protocol = ["initialize", "tools/list", "resources/list", "resources/templates/list"]
    protocol += ["prompts/list", "prompts/get"]
    tools = (f"tool {one.name}" for one in TOOLS)
    return {one.name for one in ENDPOINTS} | {*protocol, "resources/read", *tools}


async def probe(
    world: World, seed: int, cases: int, callers: Sequence[Caller] | None = None
) -> Report:
    """Make so many requests and look through every answer."""
    dice = Random(seed)
    prober = Prober(world, dice)
    report = Report()
    transport = httpx.ASGITransport(world.application)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        await _judgments(world, client)
        others = {owner: world.canaries.others(owner) for owner in (*OWNERS, NOBODY)}
        own = {
            owner: re.compile("|".join(one[:ROOT] for one in held))
            for owner, held in world.canaries.of.items()
        }
        for _ in range(cases):
            caller = dice.choice(callers or world.callers)
            asked = prober.request(caller)
            status, told = await ask(client, caller, asked)
            report.cases += 1
            report.asked[asked.what] += 1
            report.statuses[asked.what, status] += 1
            report.own += bool(own[caller.owner].search(told))
            world.cursors += _cursors(told)[: max(0, 200 - len(world.cursors))]
            said = asked.text()
            report.leaks += [
                Leak(canary, caller, asked, told)
                for canary in sorted(set(others[caller.owner].findall(told)))
                if canary not in said
            ]
            if world.folder in told and "admin" not in MAY[caller.may]:
                report.leaks.append(Leak(world.folder, caller, asked, told))
    return report


async def ask(client: httpx.AsyncClient, caller: Caller, asked: Asked) -> tuple[int, str]:
    """The status of the answer, and all that it says, in small letters."""
    answer = await client.request(
        asked.method,
        asked.address,
        json=asked.body,
        headers={**caller.header, **asked.headers},
    )
    text = answer.text
    if answer.headers.get("content-type", "").endswith("json"):
        # Other scripts may be escaped.
        text = json.dumps(answer.json(), ensure_ascii=False)
    said = [unquote(value) for value in answer.headers.values()]
    told = " ".join([text, *said, *map(_decoded, _cursors(text))]).casefold()
    return int(answer.status_code), told


async def _judgments(world: World, client: httpx.AsyncClient) -> None:
    """Everybody who may has judged something."""
    judges = [one for one in world.callers if one.may == "all"]
    for caller in (*judges, world.anybody):
        body = {
            "query": f"where is {world.canaries.new(caller.owner)}",
            "relevant": [world.names[caller.owner].ids[1]],
        }
        answer = await client.post("/api/judgments", json=body, headers=caller.header)
        assert answer.status_code == 201, answer.text


def _cursors(text: str) -> list[str]:
    return re.findall(r'"next": ?"([^"]+)"', text)


def _decoded(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("utf-8", "replace")


def described(leaks: Iterable[Leak], most: int = 5) -> str:
    """A few leaks for whoever has to mend them."""
    lines = []
    for one in [*leaks][:most]:
        at = one.told.index(one.canary)
        lines.append(
            f"{one.canary} told to {one.caller.owner} ({one.caller.may}) by {one.asked.method} "
            f"{unquote(one.asked.address)} {one.asked.body}: …{one.told[max(0, at - 80) : at + 80]}"
        )
    return "\n".join(lines)
