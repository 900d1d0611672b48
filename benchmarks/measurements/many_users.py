"""Many users on PostgreSQL: 200,000 documents of 500 owners, searched and saved by owners.

The server is the one of the tests, with fsync on and the memory of a server with 8 GB.
Owners have between 118 and 3,067 documents of one passage each, with vectors of 512 dimensions
(unit vectors in clusters), written through `apply` and `add`.
Queries go through `Library.search`, hybrid, with the default settings, each for one owner; the
query's vector is prepared beforehand, because embedding is measured apart.
They are two to four words of medium frequency, and questions of six to ten words, by turns.
The baseline is what an engineer writes by hand: one SQL statement over the same tables with the
words of the query (any of them) by `ts_rank_cd`, the nearest vectors, both of the same owner, and
reciprocal rank fusion; it returns ids alone, has no row-level security to obey, and is asked by
turns with the library.
One client is a loop in one process; sixteen clients are two processes with eight threads each, as
two workers of `twolane serve` would be.
CPU time is that of clients and server together, with sixteen clients.
A save is `Library.save` of one note with a worker in the background whose embedder is down.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median, percentile

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.postgres_server import Server, running

from twolane import Draft, Library, Settings
from twolane.library import LOCAL
from twolane.model.document import Batch, Collection, Prepared
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.query import parse
from twolane.stores.postgres import open_stores
from twolane.stores.postgres.lexemes import asked as tsquery

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# What a server with eight gigabytes of memory has: a quarter of it for pages, which all tables that
# a search reads fit into (1.6 GB, and .5 GB for the index of vectors).
OPTIONS = {
    "shared_buffers": "2GB",
    "maintenance_work_mem": "1GB",
    "effective_cache_size": "4GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
}

_PATH = os.pathsep.join([str(Path(__file__).resolve().parents[1]), os.environ["PYTHONPATH"]])

_RRF = """
WITH lexical AS (
    SELECT w.document, row_number() OVER (ORDER BY ts_rank_cd(w.words, q.query) DESC) AS rank
    FROM twolane.words AS w, CAST(%(query)s AS tsquery) AS q(query)
    WHERE w.owner = %(owner)s AND w.words @@ q.query
    ORDER BY rank LIMIT 50),
dense AS (
    SELECT v.document, row_number() OVER (ORDER BY v.embedding <#> %(vector)s) AS rank
    FROM twolane.vectors AS v JOIN twolane.documents AS d ON d.row = v.document
    WHERE d.owner = %(owner)s AND d.listed ORDER BY rank LIMIT 50)
SELECT d.id, coalesce(1.0 / (60 + l.rank), 0) + coalesce(1.0 / (60 + s.rank), 0) AS score
FROM lexical AS l FULL JOIN dense AS s USING (document)
JOIN twolane.documents AS d ON d.row = document ORDER BY score DESC LIMIT 10"""


def measure(room: Room) -> Outcome:
    """Fill a server, ask it by one client and by sixteen, then save into it."""
    count, owners = room.size(200_000, 4_000), room.size(500, 20)
    with running(OPTIONS) as server, server.database() as url:
        started = time.perf_counter()
        names = _filled(url, count, owners)
        filled = time.perf_counter() - started
        alone, _ = _clients(server, url, names, clients=1, seconds=room.size(60, 5))
        many, cpu = _clients(server, url, names, clients=16, seconds=room.size(60, 5))
        saves = _saves(url, names, room.size(300, 40))
    rows = [
        *({"clients": 1, **row} for row in alone),
        *({"clients": 16, **row} for row in many),
        *({"save": ms} for ms in saves),
    ]
    ours, plain = _of(alone, "library"), _of(alone, "plain SQL")
    crowd, plain_crowd = _of(many, "library"), _of(many, "plain SQL")
    return Outcome(
        goals=[
            Goal(
                "Search of one owner, one client, p50",
                median(ours),
                "ms",
                cpu["library"],
                at_most=25.0,
            ),
            Goal(
                "Search of one owner, 16 clients, p95", percentile(crowd, 0.95), "ms", at_most=250.0
            ),
            Goal("Saving with the embedder down, p50", median(saves), "ms", at_most=15.0),
        ],
        tables=[
            Table(
                f"{count:,} documents of {owners} owners, filled in {filled:.0f} s",
                ("what", "clients", "asked", "p50 ms", "p95 ms", "ms of CPU"),
                [
                    _shown("library, hybrid", 1, ours),
                    _shown("plain SQL with RRF", 1, plain),
                    _shown("library, hybrid", 16, crowd, cpu["library"]),
                    _shown("plain SQL with RRF", 16, plain_crowd, cpu["plain SQL"]),
                    _shown("save, embedder down", 1, saves),
                ],
            )
        ],
        rows=rows,
        facts={**corpus.facts(), "documents": count, "owners": owners, "server": OPTIONS},
    )


def _of(rows: Sequence[dict[str, Any]], side: str) -> list[float]:
    return [row["ms"] for row in rows if row["side"] == side]


def _shown(
    what: str, clients: int, ms: Sequence[float], cpu: float | None = None
) -> tuple[str | float, ...]:
    half, most = round(median(ms), 1), round(percentile(ms, 0.95), 1)
    return what, clients, len(ms), half, most, "" if cpu is None else round(cpu, 1)


def _owners(count: int, owners: int) -> Iterator[str]:
    """Whose each document is: some have many, most have few."""
    names = [f"user-{number:03}" for number in range(owners)]
    weights = [1 / (number + 20) for number in range(owners)]
    yield from random.Random(corpus.SEED).choices(names, weights, k=count)


def _filled(url: str, count: int, owners: int) -> list[str]:
    """Write the library; the names of its owners."""
    settings, space = Settings(), synthetic_library.space()
    store = open_stores(url)
    store.documents.apply(PutCollection(Collection(synthetic_library.COLLECTION)))
    generation = store.vectors.open_generation(space).number
    vectors = synthetic_library.vectors(count, space.dimensions)
    whose = list(_owners(count, owners))
    first = 0
    for batch in synthetic_library.batches(synthetic_library.prepared(count, settings), 1000):
        owned: list[Prepared] = [
            replace(one, document=replace(one.document, owner=whose[first + at]))
            for at, one in enumerate(batch)
        ]
        store.documents.apply(Batch(synthetic_library.COLLECTION, owned))
        store.vectors.add(
            generation,
            [
                NewVector(
                    one.chunks[0].content_hash,
                    vectors[first + at],
                    synthetic_library.codes(vectors[first + at], first + at),
                )
                for at, one in enumerate(owned)
            ],
        )
        first += len(batch)
        if first % 20_000 == 0:
            print(f"{first:,} documents", file=sys.stderr, flush=True)
    store.maintenance.settle()
    store.maintenance.close()
    return sorted(set(whose))


def _clients(
    server: Server, url: str, owners: Sequence[str], *, clients: int, seconds: int
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Every answer's time, and the CPU time that one took, of both sides.

    The clients are in processes of their own.
    """
    plain = url.replace("twolane@", "postgres@")
    words = [sys.executable, __file__, url, plain, json.dumps(owners)]
    found: list[dict[str, Any]] = []
    taken: dict[str, float] = {}
    threads = 1 if clients == 1 else clients // 2
    # One after the other where there are many, so that neither waits for the other's processes.
    for sides in ["both"] if clients == 1 else ["library", "plain SQL"]:
        before, own = _server_cpu(server), resource.getrusage(resource.RUSAGE_CHILDREN)
        asked = len(found)
        started = [
            subprocess.Popen(
                [*words, sides, str(threads), str(seconds), str(seed)],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": _PATH},
            )
            for seed in range(clients // threads)
        ]
        for one in started:
            told, _ = one.communicate(timeout=seconds * 10 + 120)
            if one.returncode:
                raise RuntimeError("a client failed")
            found += json.loads(told)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds_of_cpu = after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime
        seconds_of_cpu += _server_cpu(server) - before
        taken[sides] = seconds_of_cpu * 1e3 / max(1, len(found) - asked)
    return found, taken


def _server_cpu(server: Server) -> float:
    """The seconds of CPU that the server and all its processes have used so far."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    total = 0
    for one in (str(pid), *children):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text("ascii").rpartition(")")[2].split()
            # Its own, and those of processes of its own that have ended.
            total += sum(map(int, fields[11 : 15 if one == str(pid) else 13]))
    return total / os.sysconf("SC_CLK_TCK")


def _client(arguments: Sequence[str]) -> None:
    """What one process of clients does: ask for so many seconds, and print every time."""
    url, plain, owners, sides, threads, seconds, seed = arguments
    embedder = PreparedEmbedder()
    names: list[str] = json.loads(owners)
    rows: list[dict[str, Any]] = []
    with Library(open_stores(url, connections=20), Settings(), embedder) as library:
        work = [
            _Client(library, embedder, plain, names, sides, int(seed) * 100 + number)
            for number in range(int(threads))
        ]
        for one in work:
            one.ask(5.0 if float(seconds) > 10 else 1.0)
            one.rows.clear()
        running_threads = [threading.Thread(target=one.ask, args=(float(seconds),)) for one in work]
        for thread in running_threads:
            thread.start()
        for thread in running_threads:
            thread.join()
        for one in work:
            rows += one.rows
            one.connection.close()
    json.dump(rows, sys.stdout)


class PreparedEmbedder:
    """Stands for an embedder that takes no time; what it does not know it cannot embed."""

    def __init__(self) -> None:
        self.space = synthetic_library.space()
        self.known: dict[str, Vector] = {}

    def embed_query(self, text: str) -> Vector:
        """The vector that was prepared for this text."""
        return self.known[text]

    def embed_passages(self, texts: Sequence[str]) -> Matrix:  # noqa: ARG002
        """Nothing: the server of this embedder is gone."""
        raise ConnectionError("the embedder is down")


class _Client:
    """Asks one thing after the other, each for an owner of its own."""

    def __init__(
        self,
        library: Library,
        embedder: PreparedEmbedder,
        plain: str,
        owners: Sequence[str],
        sides: str,
        seed: int,
    ) -> None:
        from pgvector.psycopg import register_vector

        self._library = library
        self._embedder = embedder
        self._owners = owners
        self._sides = ("library", "plain SQL") if sides == "both" else (sides,)
        self._dice = random.Random(seed)
        self._vectors = synthetic_library.vectors(500, embedder.space.dimensions, seed=seed)
        self._texts = [text for _, text in corpus.queries(500, seed=seed)]
        self.rows: list[dict[str, Any]] = []
        self.connection = psycopg.connect(plain, autocommit=True)
        register_vector(self.connection)

    def ask(self, seconds: float) -> None:
        """Ask for so many seconds."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            number = self._dice.randrange(500)
            text, vector = self._texts[number], self._vectors[number]
            self._embedder.known[text] = vector
            owner = self._dice.choice(self._owners)
            words = parse(text).words
            for side in self._sides:
                started = time.perf_counter()
                if side == "library":
                    found = len(
                        self._library.search(text, scope=replace(LOCAL, owner=owner)).results
                    )
                else:
                    query = tsquery(words, every=False, owner=None)
                    bound = {"query": query, "owner": owner, "vector": vector}
                    found = len(self.connection.execute(_RRF, bound).fetchall())
                ms = (time.perf_counter() - started) * 1e3
                self.rows.append({"side": side, "ms": round(ms, 2), "found": found})


def _saves(url: str, owners: Sequence[str], count: int) -> list[float]:
    dice = random.Random(corpus.SEED + 1)
    notes = corpus.notes(count + 20, seed=corpus.SEED + 1)
    times = []
    with Library(open_stores(url), Settings(), PreparedEmbedder()) as library:
        library.start_worker()
        for number, note in enumerate(notes):
            scope = replace(LOCAL, owner=dice.choice(owners))
            draft = Draft(f"saved-{number}", title=note.title, body=note.body(), tags=note.tags)
            started = time.perf_counter()
            library.save(draft, scope=scope)
            if number >= 20:
                times.append(round((time.perf_counter() - started) * 1e3, 2))
    return times


if __name__ == "__main__":
    _client(sys.argv[1:])
