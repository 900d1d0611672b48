"""Many users on PostgreSQL while everything is killed: is anything lost that was acknowledged?

A database server with fsync on, `twolane serve` and `twolane embed --backfill`, all of the product
as it is started by hand; eight clients save new documents and change old ones over HTTP, each
waiting for its answer, and write down every answer that says that it was done.
Meanwhile, at random moments, the server, the worker or the database is killed with SIGKILL and
started again.
In the end everything is started once more: every document must be there as it was acknowledged
last (or as a later request made it whose answer was lost), the database must be sound, and every
passage must have its vector.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from outcome import Goal, Outcome, Room, Table
from processes import environment

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.postgres_server import Server, free_port, running

from twolane import Library, Settings

_CLIENTS = 8


@dataclass(slots=True)
class _Clients:
    """Who saves; `done` is the last acknowledged text of each document, `tried` all later ones."""

    port: int
    stopping: threading.Event = field(default_factory=threading.Event)
    done: dict[str, str] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def run(self, number: int) -> None:
        """Save until told to stop; every client has documents of its own."""
        dice = random.Random(number)
        own: list[str] = []
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=20) as client:
            while not self.stopping.is_set():
                new = not own or dice.random() < 0.7
                id = f"c{number}-{len(own)}" if new else dice.choice(own)
                if new:
                    own.append(id)
                text = f"words {dice.randrange(10**9)} of {id}"
                self.tried.setdefault(id, set()).add(text)
                try:
                    said = client.post("/api/documents", json={"id": id, "title": id, "text": text})
                except httpx.TransportError as error:
                    self.answers[type(error).__name__] += 1
                    time.sleep(0.05)
                    continue
                self.answers[str(said.status_code)] += 1
                if said.is_success:
                    self.done[id] = text
                    self.tried[id] = set()
                else:
                    time.sleep(0.05)


def measure(room: Room) -> Outcome:
    """Kill under load, then look."""
    kills = room.size(30, 6)
    with running({}) as server, server.database() as url:
        settings = Settings(embedding={"embedder": "hashing"})
        Library.open(url, settings=settings).close()
        clients = _Clients(free_port())
        killed = _killing(server, url, clients, room.folder, kills)
        with Library.open(url, settings=settings) as library:
            library.embed(backfill=True)
            progress = library.status().progress
            unsound = library.check()
            lost = [
                id
                for id, text in clients.done.items()
                if (body := _body(library, id)) != text and body not in clients.tried[id]
            ]
    missing = progress.pending + progress.failed
    rows = [{"killed": what, "times": times} for what, times in sorted(killed.items())]
    rows += [{"answer": what, "times": times} for what, times in sorted(clients.answers.items())]
    return Outcome(
        goals=[
            Goal("Kills under load", killed.total(), "kills", at_least=kills),
            Goal("Acknowledged documents", len(clients.done), "", at_least=room.size(100, 20)),
            Goal("Acknowledged and lost, or another text", len(lost), "", at_most=0),
            Goal("Things wrong with the database", len(unsound), "", at_most=0),
            Goal("Passages without a vector in the end", missing, "", at_most=0),
        ],
        tables=[
            Table("What was killed", ("what", "times"), sorted(killed.items())),
            Table("What clients were told", ("answer", "times"), sorted(clients.answers.items())),
        ],
        rows=rows,
        facts={"clients": _CLIENTS, "lost": lost[:20]},
    )


def _body(library: Library, id: str) -> str | None:
    try:
        return library.document(id).body
    except LookupError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, the document cannot be had.
        return f"{type(error).__name__}: {error}"


def _killing(server: Server, url: str, clients: _Clients, folder: Path, kills: int) -> Counter[str]:
    """Kill so often while clients save; how often each was killed."""
    variables = environment(folder, TWOLANE_DB=url, TWOLANE_EMBEDDING_EMBEDDER="hashing")

    def start(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "twolane", *words],
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    commands = {
        "server": ("serve", "--port", str(clients.port), "--quiet"),
        "worker": ("embed", "--backfill", "--quiet"),
    }
    running_now = {name: start(*words) for name, words in commands.items()}
    threads = [threading.Thread(target=clients.run, args=(n,)) for n in range(_CLIENTS)]
    dice, killed = random.Random(20_260_101), Counter[str]()
    for thread in threads:
        thread.start()
    try:
        while killed.total() < kills:
            before, deadline = len(clients.done), time.monotonic() + 60
            time.sleep(dice.uniform(0.2, 2.0))
            # Not again before clients were answered: a server that only starts loses nothing.
            while len(clients.done) == before:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"nobody was answered for a minute: {clients.answers}")
                time.sleep(0.05)
            what = dice.choice(("server", "worker", "database"))
            for name, process in running_now.items():
                # A worker ends when nothing is left to do, or when the database is gone.
                if process.poll() is not None:
                    running_now[name] = start(*commands[name])
            if what == "database":
                server.kill()
            else:
                running_now[what].send_signal(signal.SIGKILL)
                running_now[what].wait()
                running_now[what] = start(*commands[what])
            killed[what] += 1
    finally:
        clients.stopping.set()
        for thread in threads:
            thread.join()
        for process in running_now.values():
            process.kill()
            process.wait()
    return killed
