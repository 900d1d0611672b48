"""What SIGKILL does to every command: two hundred of them, at random moments.

Each command is first run to its end over a copy of the database, which tells how long it takes and
what it would have changed; then it is run over the database itself and killed at a moment drawn
evenly from that time.
After each kill the database must be sound, and each document, collection and token must be as it
was before the command or as it is after it, and nothing between; a command that makes one change
has made all of it or nothing.
A backup, an export or a copy that is there must be whole.
`serve` is killed while documents are sent to it: those that it acknowledged must be there.
In the end one `backup` and one `restore` run undisturbed, and nothing may be left in the folder but
the database, the copies that were asked for, and the copies that `restore` says it keeps.
The embedder is `hashing`, so that the time goes into the work and not into a model.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import httpx

import commands
from outcome import Goal, Outcome, Room, Table
from processes import environment
from twolane import Library, Settings

_FILES, _SAVED = 60, 20
_WORDS = "water green leaves bread salt rye flour fern shade moss stone river apple honey".split()

# Everything that a person could miss, read without our own code.
_SNAPSHOT = {
    "document": "SELECT d.id, t.title, t.body, d.archived, d.deleted, (SELECT group_concat(name,"
    " ' ') FROM (SELECT g.name FROM document_tags AS m JOIN tags AS g ON g.row = m.tag"
    " WHERE m.document = d.row ORDER BY g.name)), c.name FROM documents AS d"
    " JOIN texts AS t ON t.row = d.row JOIN collections AS c ON c.row = d.collection",
    "collection": "SELECT name, description, root FROM collections",
    "token": "SELECT name, revoked FROM tokens",
}
State = dict[tuple[str, str], tuple[Any, ...]]


def measure(room: Room) -> Outcome:
    """Kill one command after the other until there were enough kills."""
    run = _Kills(room.folder / "kills", random.Random(20_260_303))
    run.prepare()
    wanted = room.size(200, 20)
    names = [*_COMMANDS, "serve"]
    number = 0
    while sum(run.killed.values()) < wanted:
        run.suffer(names[number % len(names)], number)
        number += 1
    run.end()
    return Outcome(
        goals=[
            Goal("Kills", sum(run.killed.values()), "", at_least=wanted),
            Goal("Commands that were killed", len(run.killed), "", at_least=room.size(25, 5)),
            *(Goal(what, run.wrong[what], "", at_most=0) for what in _WRONG),
        ],
        tables=[
            Table(
                "Kills by command",
                ("command", "killed", "ended before", "had changed nothing", "had changed all"),
                [
                    (name, run.killed[name], run.ended[name], run.none[name], run.whole[name])
                    for name in names
                ],
            )
        ],
        rows=run.rows,
        facts={"files": _FILES, "saved documents": _SAVED},
    )


_DAMAGED = "Databases damaged"
_BETWEEN = "Documents, collections and tokens neither as before nor as after"
_HALF = "Single changes half done"
_LOST = "Acknowledged documents lost"
_COPIES = "Copies that are not whole"
_TRACEBACK = "Tracebacks"
_LEFT = "Files left over"
_WRONG = (_DAMAGED, _BETWEEN, _HALF, _LOST, _COPIES, _TRACEBACK, _LEFT)


@dataclass(slots=True)
class _Kills:
    """A library, the commands that change it, and what their deaths did."""

    folder: Path
    dice: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    none: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def db(self) -> Path:
        return self.folder / "library.db"

    @property
    def twin(self) -> Path:
        return self.folder / "twin" / "library.db"

    @property
    def targets(self) -> Path:
        return self.folder / "targets"

    def prepare(self) -> None:
        """A folder of files and a library of them and of saved documents."""
        for name in ("vault", "twin", "targets", "given"):
            (self.folder / name).mkdir(parents=True)
        self.edit()
        self.run(["index", self.folder / "vault", "--db", self.db])
        rows = [{"id": f"saved{number}", "text": self.text()} for number in range(_SAVED)]
        given = self.folder / "given" / "rows.jsonl"
        given.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        self.run(["import", "jsonl", given, "--db", self.db])

    def text(self) -> str:
        """Some words, never the same."""
        return " ".join([*self.dice.choices(_WORDS, k=80), str(self.dice.random())])

    def edit(self) -> None:
        """Write a third of the files anew, or all that are not there."""
        for number in range(_FILES):
            file = self.folder / "vault" / f"note{number}.md"
            if not file.exists() or self.dice.random() < 0.3:
                file.write_text(f"# Note {number}\n\n{self.text()}\n", "utf-8")

    def suffer(self, name: str, number: int) -> None:
        """Kill a command, and look at what it left behind."""
        if name == "serve":
            self._serve(number)
            return
        command = _COMMANDS[name]
        words = command.words(self, number)
        before = _snapshot(self.db)
        for old in (self.twin, *self.twin.parent.glob("library.db-*")):
            old.unlink(missing_ok=True)
        shutil.copyfile(self.db, self.twin)
        started = time.perf_counter()
        self.run([*words, "--db", self.twin])
        took = time.perf_counter() - started
        after = _snapshot(self.twin)
        for target in self.targets.iterdir():
            _remove(target)
        running = commands.start([*words, "--db", self.db], self._variables(), self.folder)
        time.sleep(self.dice.uniform(0, took))
        alive = running.process.is_alive()
        if alive:
            os.killpg(_group(running), signal.SIGKILL)
        self._blame(running, words)
        (self.killed if alive else self.ended)[name] += 1
        now = self._now()
        between = [
            key
            for key in {*before, *now, *after}
            if now.get(key) not in (before.get(key), after.get(key))
        ]
        self.wrong[_BETWEEN] += len(between)
        self.wrong[_HALF] += command.single and now not in (before, after)
        if alive and before != after:
            self.none[name] += now == before
            self.whole[name] += now == after
        self.wrong[_COPIES] += sum(not self._is_whole(one, now) for one in self.targets.iterdir())
        self.rows.append({"command": name, "seconds": round(took, 3), "killed": alive})

    def _serve(self, number: int) -> None:
        """Send documents to a server until it is killed."""
        running = commands.start(
            ["serve", "--port", "0", "--processes", "0", "--db", self.db],
            self._variables(),
            self.folder,
        )
        address = None
        until = time.monotonic() + 30
        while address is None and time.monotonic() < until:
            address = re.search(r"serving on (http://\S+)", running.complained)
            time.sleep(0.02)
        assert address is not None, running.complained
        until = time.monotonic() + self.dice.uniform(0.05, 0.5)
        acknowledged = {}
        with httpx.Client(base_url=address[1], timeout=10) as client:
            while time.monotonic() < until:
                id, text = f"sent{number}-{len(acknowledged)}", self.text()
                done = client.post("/api/v1/documents", json={"id": id, "text": text})
                assert done.status_code == 201, done.text
                acknowledged[id] = text
        os.killpg(_group(running), signal.SIGKILL)
        self._blame(running, ["serve"])
        self.killed["serve"] += 1
        now = self._now()
        lost = [
            id
            for id, text in acknowledged.items()
            if now.get(("document", id), ("", "", ""))[2] != text
        ]
        self.wrong[_LOST] += len(lost)
        self.rows.append({"command": "serve", "acknowledged": len(acknowledged), "killed": True})

    def end(self) -> None:
        """One copy and one restore that nobody disturbs; nothing else may be left over."""
        for target in self.targets.iterdir():
            _remove(target)
        self.run(["backup", self.targets / "last.db", "--db", self.db])
        self.run(["restore", self.targets / "last.db", "--force", "--db", self.db])
        kept = re.compile(
            r"library\.db|library\.db\.before-\S+|std(out|err)|vault|twin|targets|given"
            r"|config|data|cache|library\.db-(wal|shm)|library\.db\.stages\S*"
        )
        left = [one.name for one in self.folder.iterdir() if not kept.fullmatch(one.name)]
        left += [one.name for one in self.targets.iterdir() if one.name != "last.db"]
        self.wrong[_LEFT] += len(left)
        if left:
            print("left over:", left)

    def _now(self) -> State:
        with Library.open(settings=Settings(db=self.db, embedding={"embedder": "hashing"})) as one:
            self.wrong[_DAMAGED] += bool(one.check())
        return _snapshot(self.db)

    def _is_whole(self, target: Path, now: State) -> bool:
        """Whether what a command wrote is all of it; what has a name of passage is not one."""
        if target.name == "rows.jsonl":
            count = sum(1 for line in target.read_text("utf-8").splitlines() if json.loads(line))
            return count >= sum(
                kind == "document" and not said[4] for (kind, _), said in now.items()
            )
        if target.name in ("backup.db", "copy.db"):
            try:
                held = _snapshot(target)
            except apsw.Error:
                return False
            documents = {key: said for key, said in now.items() if key[0] == "document"}
            return {key: said for key, said in held.items() if key[0] == "document"} == documents
        return True

    def run(self, words: Sequence[str | Path]) -> None:
        """Let a command come to its end."""
        done = commands.run(words, self._variables(), self.folder)
        self._blame(done, words)

    def _blame(self, command: commands.Command, words: Sequence[str | Path]) -> None:
        command.process.join()
        if "Traceback" in command.complained:
            self.wrong[_TRACEBACK] += 1
            print(*words, command.complained[-1500:])

    def _variables(self) -> dict[str, str]:
        return environment(
            self.folder,
            TWOLANE_EMBEDDING_EMBEDDER="hashing",
            TWOLANE_INDEX_BATCH="10",
            TWOLANE_INDEX_CORES="1",
        )

    # --------------------------------------------------------------------- what commands need

    def file(self, name: str, text: str) -> Path:
        """A file to read from."""
        path = self.folder / "given" / name
        path.write_text(text, "utf-8")
        return path

    def some(self, kind: str = "document", where: Callable[[tuple[Any, ...]], bool] = bool) -> str:
        """The name of something that is there."""
        held = [
            key[1] for key, said in _snapshot(self.db).items() if key[0] == kind and where(said)
        ]
        return self.dice.choice(held) if held else "nothing"


def _group(command: commands.Command) -> int:
    """The group of processes that a command leads, once it does."""
    pid = command.process.pid
    assert pid is not None
    until = time.monotonic() + 5
    while os.getpgid(pid) != pid and time.monotonic() < until:
        time.sleep(0.005)
    return pid


def _snapshot(db: Path) -> State:
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        return {
            (kind, row[0]): tuple(row)
            for kind, statement in _SNAPSHOT.items()
            for row in connection.execute(statement)
        }


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@dataclass(frozen=True, slots=True)
class _Command:
    """How a command is called; whether it makes one change."""

    words: Callable[[_Kills, int], list[str | Path]]
    single: bool = True


def _index(kills: _Kills, _: int) -> list[str | Path]:
    kills.edit()
    return ["index", kills.folder / "vault"]


def _import(kills: _Kills, number: int) -> list[str | Path]:
    rows = [{"id": f"row{number}-{at}", "text": kills.text()} for at in range(60)]
    return ["import", "jsonl", kills.file("rows.jsonl", "\n".join(map(json.dumps, rows)))]


def _bookmarks(kills: _Kills, number: int) -> list[str | Path]:
    links = "".join(
        f'<DT><A HREF="https://x{number}.example/{at}">{kills.text()}</A>\n' for at in range(40)
    )
    page = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{links}</DL><p>\n"
    return ["import", "bookmarks", kills.file("marks.html", page)]


def _notes(kills: _Kills, number: int) -> list[str | Path]:
    folder = kills.folder / "given" / f"notes{number}"
    folder.mkdir()
    for at in range(30):
        (folder / f"{at}.md").write_text(f"# N{at}\n\n{kills.text()}\n", "utf-8")
    return ["import", "notes", folder, "--collection", f"notes{number}"]


def _prompts(kills: _Kills, number: int) -> list[str | Path]:
    file = kills.file(f"prompt{number}.md", f"---\ntitle: P{number}\n---\n{kills.text()}\n")
    return ["import", "prompts", file]


def _save(kills: _Kills, number: int) -> list[str | Path]:
    return ["save", kills.file("note.txt", kills.text()), "--id", f"note{number}"]


def _restore(kills: _Kills, _: int) -> list[str | Path]:
    copy = kills.folder / "given" / "copy.db"
    copy.unlink(missing_ok=True)
    kills.run(["backup", copy, "--db", kills.db])
    return ["restore", copy, "--force"]


def _of(verb: str, where: Callable[[tuple[Any, ...]], bool], *more: str) -> _Command:
    return _Command(lambda kills, _: [verb, kills.some(where=where), *more])


def _is_saved(said: tuple[Any, ...]) -> bool:
    return str(said[0]).startswith(("saved", "row", "sent", "note")) and not said[4]


def _is_deleted(said: tuple[Any, ...]) -> bool:
    return bool(said[4]) and str(said[0]).startswith(("saved", "row", "sent", "note"))


_COMMANDS: dict[str, _Command] = {
    "index": _Command(_index, single=False),
    "save": _Command(_save),
    "import jsonl": _Command(_import, single=False),
    "import bookmarks": _Command(_bookmarks, single=False),
    "import notes": _Command(_notes, single=False),
    "import prompts": _Command(_prompts, single=False),
    "embed": _Command(lambda kills, _: ["embed", "--backfill"]),
    "delete": _of("delete", _is_saved),
    "undelete": _of("undelete", _is_deleted),
    "archive": _of("archive", _is_saved),
    "touch": _of("touch", _is_saved),
    "purge": _of("purge", _is_deleted),
    "tag add": _Command(lambda kills, n: ["tag", "add", f"t{n}", kills.some(where=_is_saved)]),
    "tag rename": _Command(
        lambda kills, n: ["tag", "rename", f"t{kills.dice.randrange(n + 1)}", f"r{n}"]
    ),
    "collection describe": _Command(
        lambda kills, n: ["collection", "describe", kills.some("collection"), f"Words {n}."]
    ),
    "collection rename": _Command(
        lambda kills, n: ["collection", "rename", kills.some("collection"), f"named{n}"]
    ),
    "token add": _Command(lambda kills, n: ["token", "add", f"token{n}"], single=False),
    "token revoke": _Command(lambda kills, n: ["token", "revoke", kills.some("token")]),
    "export": _Command(lambda kills, _: ["export", kills.targets / "rows.jsonl"]),
    "backup": _Command(lambda kills, _: ["backup", kills.targets / "backup.db"]),
    "restore": _Command(_restore, single=False),
    "db copy": _Command(lambda kills, _: ["db", "copy", kills.targets / "copy.db"]),
    "db check": _Command(lambda kills, _: ["db", "check"]),
    "db upgrade": _Command(lambda kills, _: ["db", "upgrade"]),
    "doctor --fix": _Command(lambda kills, _: ["doctor", "--fix"]),
    "search": _Command(lambda kills, _: ["search", "green leaves"]),
    "similar": _of("similar", _is_saved),
    "why": _Command(lambda kills, _: ["why", "green", kills.some(where=_is_saved)]),
    "get": _of("get", _is_saved),
    "outline": _of("outline", _is_saved),
    "status": _Command(lambda kills, _: ["status", "--files"]),
}
