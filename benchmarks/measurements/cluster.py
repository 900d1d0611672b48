"""A hybrid query that a Qdrant node answers, against the same query over one file.

The library is that of the measurement of queries: one-passage notes with vectors of 512 numbers in
clusters; queries go through `Library.search` with prepared vectors.
The node runs on this machine, one shard, and is filled from the file by `reindex`: with vectors as
they are and every one compared (`exact`), and with a byte a number and an index (`scalar`, the
default).
It is asked when its optimisers are done.
Each query is asked of the file and of the node by turns, with and without a filter that leaves one
document in a hundred; a query counts with its median.
Candidates of the lexical lane are the 100 documents that each offers for any of a query's words;
the order is compared by the first ten results.
Memory is what the process of the node holds, disk what its folder takes; CPU time is that of the
process that asks, without the node's.
"""

from __future__ import annotations

import shutil
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median, percentile, timed
from twolane.library import LOCAL, Library
from twolane.model.scope import Scope, Word
from twolane.model.space import Space
from twolane.query import parse
from twolane.settings import Settings
from twolane.stores.qdrant import Cluster, Shape, with_qdrant
from twolane.stores.qdrant.follower import Follower
from twolane.stores.sqlite import open_stores

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tests.qdrant_server import Node, running

_REPETITIONS = 2
_SHAPES = {
    "exact": Shape(exact=True, quantisation="none"),
    "scalar": Shape(quantisation="scalar"),
}


def measure(room: Room) -> Outcome:
    """Fill a node in each way, and ask it and the file by turns."""
    count = room.size(20_000, 2_000)
    path = synthetic_library.library(room.folder, count)
    space = synthetic_library.space()
    embedder = _PreparedEmbedder(space, synthetic_library.vectors(count, space.dimensions))
    queries = [text for _, text in corpus.queries(room.size(20, 6))]
    rows: list[dict[str, Any]] = []
    facts: dict[str, Any] = {**corpus.facts(), "documents": count}
    goals, table = [], []
    for name, shape in _SHAPES.items():
        own = path.with_suffix(f".{name}.db")
        shutil.copy(path, own)
        with running() as (node,), Library(open_stores(own), Settings(), embedder) as file:
            stores = with_qdrant(open_stores(own), Cluster([node.url], seconds=30), shape)
            with Library(stores, Settings(), embedder) as library:
                follower = library._stores.follower  # noqa: SLF001
                assert isinstance(follower, Follower)
                _, taken = timed(library.reindex)
                settled = _settled(node)
                asked = _by_turns(name, file, library, queries)
                shares = [_share(file, library, text) for text in queries]
            facts[name] = {
                "passages/s": round(count / taken.seconds),
                "seconds until optimised": round(settled, 1),
                "MB in memory": _resident(node),
                "MB on disk": _on_disk(node),
                "lexical candidates shared": round(sum(shares) / len(shares), 4),
                "first ten shared": round(_p(asked, "overlap", mean=True), 4),
            }
        own.unlink()
        rows += asked
        usual, filtered = _p(asked, "qdrant"), _p(asked, "qdrant filtered")
        table.append(
            (
                name,
                *facts[name].values(),
                round(_p(asked, "file"), 1),
                round(usual, 1),
                round(_p(asked, "qdrant", 0.95), 1),
                round(_p(asked, "qdrant CPU"), 1),
                round(filtered / usual, 2),
            )
        )
        where = f"{count:,} passages on a Qdrant node, {name}"
        goals += [
            Goal(
                f"Passages written a second, {where}",
                count / taken.seconds,
                "",
                count / taken.cpu,
                at_least=2000,
            ),
            Goal(f"Hybrid query, p50, {where}", usual, "ms", _p(asked, "qdrant CPU"), at_most=40),
            Goal(
                f"Filtered to 1 % against unfiltered, {where}", filtered / usual, "×", at_most=1.5
            ),
            Goal(
                f"Lexical candidates shared with the file, {where}",
                sum(shares) / len(shares),
                "",
                at_least=0.99,
            ),
        ]
    columns = (
        "vectors",
        *facts["exact"],
        "file p50 ms",
        "p50 ms",
        "p95 ms",
        "CPU ms",
        "1 % filter",
    )
    return Outcome(goals, [Table(f"{count:,} passages, one node", columns, table)], rows, facts)


class _PreparedEmbedder:
    """Stands for an embedder that takes no time: each text has one of the library's vectors."""

    def __init__(self, space: Space, matrix: Any) -> None:
        self.space = space
        self._matrix = matrix

    def embed_query(self, text: str) -> Any:
        """The vector that stands for this text."""
        return self._matrix[zlib.crc32(text.encode()) % len(self._matrix)]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One row per text."""
        return np.stack([self.embed_query(text) for text in texts])


def _by_turns(
    shape: str, file: Library, library: Library, queries: Sequence[str]
) -> list[dict[str, Any]]:
    scopes = {"": LOCAL, " filtered": Scope(paths=("000", "001"))}
    for text in queries[:3]:
        for each in (file, library):
            each.search(text)
    rows = []
    for repetition in range(_REPETITIONS):
        for text in queries:
            row: dict[str, Any] = {"shape": shape, "repetition": repetition, "query": text}
            for name, scope in scopes.items():
                here, by_file = timed(file.search, text, scope=scope)
                there, by_node = timed(library.search, text, scope=scope)
                if there.degraded:
                    raise RuntimeError(f"a lane did not run: {there.degraded}")
                row[f"file{name}"] = round(by_file.seconds * 1000, 2)
                row[f"qdrant{name}"] = round(by_node.seconds * 1000, 2)
                row[f"qdrant{name} CPU"] = round(by_node.cpu * 1000, 2)
                if not name:
                    first = [{one.id for one in each.results[:10]} for each in (here, there)]
                    row["overlap"] = len(first[0] & first[1]) / max(1, len(first[0]))
            rows.append(row)
    return rows


def _share(file: Library, library: Library, text: str) -> float:
    """How much of the file's pool of 100 by words the node offers, too."""
    words = [Word(one.text, one.terms) for one in parse(text).words]
    pools = [
        {
            one.id
            for one in each._stores.searched.lexical.candidates(  # noqa: SLF001
                words, LOCAL, every=False, limit=100
            )
        }
        for each in (file, library)
    ]
    return len(pools[0] & pools[1]) / max(1, len(pools[0]))


def _settled(node: Node) -> float:
    """Seconds until the node has nothing left to optimise."""
    from qdrant_client import QdrantClient

    client = QdrantClient(url=node.url, check_compatibility=False, timeout=30)
    began = time.monotonic()
    while any(
        client.get_collection(one.name).status != "green"
        for one in client.get_collections().collections
    ):
        time.sleep(0.5)
    client.close()
    return time.monotonic() - began


def _resident(node: Node) -> int:
    assert node.process is not None
    status = Path(f"/proc/{node.process.pid}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def _on_disk(node: Node) -> int:
    files = [one for one in node.folder.rglob("*") if one.is_file()]
    return sum(one.stat().st_blocks * 512 for one in files) // 1_000_000


def _p(
    rows: Sequence[dict[str, Any]], column: str, share: float = 0.5, *, mean: bool = False
) -> float:
    by_query: dict[str, list[float]] = {}
    for row in rows:
        by_query.setdefault(row["query"], []).append(row[column])
    values = [median(each) for each in by_query.values()]
    return sum(values) / len(values) if mean else percentile(values, share)
