"""What a Qdrant node takes to hold a library, and to answer hybrid queries over it.

Documents are synthetic: 150 words each, in five passages, with vectors of 512 numbers in clusters
of 33 and the codes of ten sentences to a passage.
So words cost for each document what they cost for a note, and vectors what they cost for a passage;
passages of real documents hold more words.
The node runs on this machine, one shard, beside the process that asks, and is filled from a SQLite
file by `reindex`: documents and vectors are read, turned into points and written, and then the
index is built.
`scalar` keeps a byte for each number of a vector beside the vector and is the default, `none` keeps
vectors alone; either asks the index.
Queries go through `Library.search` with prepared vectors, each one time; the filter is a span of
time that about one document in a hundred was updated in.
Recall is the share of the ten nearest documents by comparing every vector, on the same node, that
the index finds, too; shared are those of the first ten results that the file gives, too.
Memory is what the process of the node has of its own, and what it has of files in the memory that
the system can take back; disk is what its folder takes.
CPU time is given of the process that asks, and of the node.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, percentile, timed
from twolane.library import LOCAL, Library
from twolane.model.scope import Scope
from twolane.model.space import Space
from twolane.ports import Stores
from twolane.settings import Settings
from twolane.stores.qdrant import Cluster, Shape, with_qdrant
from twolane.stores.sqlite import open_stores

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tests.qdrant_server import Node, running

PASSAGES = 5
_SHAPES = {"scalar": Shape(quantisation="scalar"), "none": Shape(quantisation="none")}
# A machine that is busy must not make a lane answer in part.
_SETTINGS = Settings(search={"embed_seconds": 300.0, "query_seconds": 300.0})
# Of eleven years of twelve months of 28 days.
_ONE_IN_A_HUNDRED = Scope(
    updated_from=datetime(2020, 3, 1, tzinfo=UTC), updated_before=datetime(2020, 4, 10, tzinfo=UTC)
)


def measure(room: Room) -> Outcome:
    """A hundred thousand passages."""
    return measured(room, 20_000, tuple(_SHAPES))


def measured(room: Room, documents: int, shapes: Sequence[str]) -> Outcome:
    """Fill a node in each of these ways, and ask it and the file."""
    count = room.size(documents, 400)
    path = synthetic_library.library(room.folder, count, passages=PASSAGES)
    queries = [text for _, text in corpus.queries(room.size(40, 6))]
    rows: list[dict[str, Any]] = []
    held: dict[str, dict[str, Any]] = {}
    for name in shapes:
        own = path.with_suffix(f".{name}.db")
        shutil.copy(path, own)
        with running() as (node,):
            held[name], asked = _held(own, node, _SHAPES[name], queries)
        own.unlink()
        rows += [{"vectors": name, **row} for row in asked]
        print(f"{name}: {held[name]}", flush=True)
    passages = count * PASSAGES
    return Outcome(
        [goal for name, facts in held.items() for goal in _goals(passages, name, facts)],
        [
            Table(
                f"{passages:,} passages of {count:,} documents on one node",
                ("vectors", *next(iter(held.values()))),
                [(name, *facts.values()) for name, facts in held.items()],
            )
        ],
        rows,
        {**corpus.facts(), "documents": count, "passages": passages, **held},
    )


def _goals(passages: int, name: str, facts: dict[str, Any]) -> list[Goal]:
    where = f"{passages:,} passages on a Qdrant node, vectors {name}"
    on_cpu = 1e6 / (facts["µs of CPU a passage, writer"] + facts["µs of CPU a passage, node"])
    return [
        Goal(f"Passages a second, {where}", facts["passages/s"], "", on_cpu, at_least=2000),
        Goal(f"Hybrid query, p50, {where}", facts["p50 ms"], "ms", facts["CPU ms"], at_most=40),
        Goal(f"Filtered to 1 % against unfiltered, {where}", facts["1 % filter"], "×", at_most=1.5),
    ]


def _held(
    path: Path, node: Node, shape: Shape, queries: Sequence[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a node takes that holds the file, and what each query took."""
    cluster = Cluster([node.url], seconds=60)
    with Library(open_stores(path), _SETTINGS) as plain:
        prepared = [vector for _, vector in plain._stores.vectors.sample(1, size=500)]  # noqa: SLF001
    embedder = _PreparedEmbedder(synthetic_library.space(), prepared)
    stores = with_qdrant(open_stores(path), cluster, shape)
    with Library(stores, _SETTINGS, embedder) as library:
        filling = _Filling(node)
        _, taken = timed(library.reindex, on_batch=filling.note)
        indexed = _cpu(node, filling.began_on_node)
        # Then what the index replaced is gone.
        time.sleep(10)
        passages = PASSAGES * filling.documents
        memory, disk = _memory(node), _on_disk(node)
        rows, on_node = _asked(library, node, queries)
        recall = _recall(stores, cluster, shape, prepared[:: max(1, len(prepared) // 20)])
    with Library(open_stores(path), _SETTINGS, embedder) as file:
        _beside(file, rows)
    usual, filtered = (_p(rows, column) for column in ("ms", "filtered ms"))
    facts = {
        "passages/s": round(passages / filling.seconds),
        "µs of CPU a passage, writer": round(filling.cpu / passages * 1e6),
        "µs of CPU a passage, node": round(filling.on_node / passages * 1e6),
        "s for the index": round(taken.seconds - filling.seconds),
        "s of CPU for the index": round(indexed - filling.on_node),
        "MB of its own": memory[0],
        "MB of files": memory[1],
        "MB on disk": disk,
        "p50 ms": round(usual, 1),
        "p95 ms": round(_p(rows, "ms", 0.95), 1),
        "CPU ms": round(_p(rows, "CPU ms"), 1),
        "CPU ms, node": round(on_node / len(rows) / 2 * 1000, 1),
        "1 % filter": round(filtered / usual, 2),
        "recall@10": round(recall, 3),
        "shared": round(sum(row["shared"] for row in rows[:_BESIDE]) / len(rows[:_BESIDE]), 3),
        "file p50 ms": round(_p(rows[:_BESIDE], "file ms"), 1),
    }
    return facts, rows


class _Filling:
    """When the last documents were on their way, and what it took until then."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._began = time.perf_counter(), time.process_time()
        self.began_on_node = _cpu(node)
        self.documents = 0
        self.seconds = self.cpu = self.on_node = 0.0

    def note(self, done: int, total: int) -> None:
        """Remember how far it is."""
        self.documents = total
        if done == total:
            self.seconds = time.perf_counter() - self._began[0]
            self.cpu = time.process_time() - self._began[1]
            self.on_node = _cpu(self._node, self.began_on_node)


class _PreparedEmbedder:
    """Stands for an embedder that takes no time: each text has one of the library's vectors."""

    def __init__(self, space: Space, vectors: Sequence[Any]) -> None:
        self.space = space
        self._vectors = vectors

    def embed_query(self, text: str) -> Any:
        """The vector that stands for this text."""
        return self._vectors[zlib.crc32(text.encode()) % len(self._vectors)]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One row per text."""
        return np.stack([self.embed_query(text) for text in texts])


# The file compares every vector, so that it is asked fewer queries.
_BESIDE = 10


def _asked(
    library: Library, node: Node, queries: Sequence[str]
) -> tuple[list[dict[str, Any]], float]:
    """What each query took, and what all of them took the node."""
    for text in queries[:5]:
        library.search(text)
    rows = []
    before = _cpu(node)
    for text in queries:
        row: dict[str, Any] = {"query": text}
        for name, scope in (("", LOCAL), ("filtered ", _ONE_IN_A_HUNDRED)):
            answer, taken = timed(library.search, text, scope=scope)
            if answer.degraded:
                raise RuntimeError(f"a lane did not run: {answer.degraded}")
            row[f"{name}ms"] = round(taken.seconds * 1000, 2)
            row[f"{name}CPU ms"] = round(taken.cpu * 1000, 2)
            if not name:
                row["results"] = [one.id for one in answer.results[:10]]
        rows.append(row)
    return rows, _cpu(node, before)


def _beside(file: Library, rows: Sequence[dict[str, Any]]) -> None:
    """Ask the file the first of the queries."""
    file.search(rows[0]["query"])
    for row in rows[:_BESIDE]:
        answer, taken = timed(file.search, row["query"])
        row["file ms"] = round(taken.seconds * 1000, 2)
        first = [one.id for one in answer.results[:10]]
        row["shared"] = len(set(first) & set(row["results"])) / max(1, len(first))


def _recall(stores: Stores, cluster: Cluster, shape: Shape, vectors: Sequence[Any]) -> float:
    """How many of the ten nearest are found, where a query lies near one of the passages."""
    exactly = with_qdrant(stores, cluster, replace(shape, exact=True)).searched.vectors
    dice = np.random.default_rng(corpus.SEED)
    shares = []
    for vector in vectors:
        near = vector + dice.standard_normal(len(vector), np.float32) * vector.std()
        near /= np.linalg.norm(near)
        found, wanted = (
            {one.id for one in each.nearest(1, near, LOCAL, limit=10)}
            for each in (stores.searched.vectors, exactly)
        )
        shares.append(len(found & wanted) / len(wanted))
    return sum(shares) / len(shares)


def _memory(node: Node) -> tuple[int, int]:
    """MB that the process has of its own, and of files."""
    assert node.process is not None
    status = Path(f"/proc/{node.process.pid}/status").read_text("utf-8")
    own, files = (int(status.partition(f"{key}:")[2].split()[0]) for key in ("RssAnon", "RssFile"))
    return own * 1024 // 1_000_000, files * 1024 // 1_000_000


def _cpu(node: Node, before: float = 0.0) -> float:
    """Seconds of CPU time that the process of the node took since then."""
    assert node.process is not None
    stat = Path(f"/proc/{node.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") - before


def _on_disk(node: Node) -> int:
    """MB that its folder takes."""
    taken = 0
    for one in node.folder.rglob("*"):
        # What the index replaced is deleted meanwhile.
        with suppress(FileNotFoundError):
            taken += one.stat().st_blocks * 512
    return taken // 1_000_000


def _p(rows: Sequence[dict[str, Any]], column: str, share: float = 0.5) -> float:
    return percentile([row[column] for row in rows], share)
