"""The same library in SQLite and on a Qdrant node: is it ranked alike?

The first queries of the `dev` half of every golden set of ours, and of the public collections
`locomo`, `danetqa-ru` and `scifact` where OPEN_COLLECTIONS names their folder.
Documents are indexed and embedded (`use`) in SQLite, and brought to a node three times: `exact`
compares every vector; `scalar` and `binary` ask the index, over codes of a byte or of a bit for
each number, and compare those it finds by the vectors themselves.
These sets are small, so the node is told to build the index, and to ask it, however few vectors
there are.
Each is asked the same queries, hybrid; results are compared by nDCG@10 and by how many of the first
ten are the same, the dense lane by how many of its 100 candidates are.
R@100 is the recall of the 100 documents that either offers for any of a query's words, over the
queries that have relevant documents; what is given is the node's, divided by that of SQLite.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient

from measurements.parity import called_of, sources
from outcome import Goal, Outcome, Room, Table
from twolane import Library, Settings
from twolane.embedding.embedders.use import UseEmbedder
from twolane.evaluation.golden import GoldenQuery, Names, as_references
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench
from twolane.evaluation.metrics import ndcg, recall
from twolane.ingest.chunking import CHUNKER
from twolane.library import LOCAL
from twolane.model.scope import Word
from twolane.query import parse
from twolane.settings import cache_path
from twolane.stores.qdrant import Cluster, Shape, with_qdrant
from twolane.stores.sqlite import open_stores

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tests.qdrant_server import Node, running

_SHAPES = {
    "exact": Shape(exact=True, quantisation="none"),
    "scalar": Shape(quantisation="scalar"),
    "binary": Shape(quantisation="binary"),
}
# An index however small, and asked instead of all vectors.
_NODE = {
    "STORAGE__OPTIMIZERS__INDEXING_THRESHOLD_KB": 1,
    "STORAGE__HNSW_INDEX__FULL_SCAN_THRESHOLD_KB": 1,
}
# A machine that is busy must not make one of them answer in part.
_SETTINGS = Settings(
    embedding={"embedder": "use"}, search={"embed_seconds": 300.0, "query_seconds": 300.0}
)


@dataclass(slots=True)
class _Compared:
    """A node beside SQLite on one set: pairs of SQLite's figure and the node's."""

    ndcg: list[tuple[float, float]] = field(default_factory=list)
    recall: list[tuple[float, float]] = field(default_factory=list)
    same: list[float] = field(default_factory=list)
    near: list[float] = field(default_factory=list)

    @property
    def delta(self) -> float:
        """The difference of the means of nDCG@10."""
        return sum(there - here for here, there in self.ndcg) / max(1, len(self.ndcg))

    @property
    def recall_ratio(self) -> float:
        """The node's recall, divided by SQLite's."""
        ours, theirs = (sum(pair[end] for pair in self.recall) for end in (0, 1))
        return theirs / ours if ours else 1.0


def measure(room: Room) -> Outcome:
    """Ask both for everything."""
    rows: list[dict[str, Any]] = []
    embedder = UseEmbedder(cache_path(_SETTINGS) / "use", chunker=CHUNKER)
    with running(settings=_NODE) as (node,):
        for source in sources("scifact", quick=room.quick):
            golden = load_golden(source)
            queries = golden.queries[: room.size(60, 10)]
            with bench(golden, source, _SETTINGS, room.folder / "parity") as sqlite:
                names = Names(sqlite)
                called = {one.id: names.of(one) for one in sqlite.documents()}
                for vectors, shape in _SHAPES.items():
                    own = replace(shape, name=f"{called_of(golden, source)}-{vectors}")
                    stores = with_qdrant(
                        open_stores(Path(sqlite.location)), Cluster([node.url], seconds=60), own
                    )
                    with Library(stores, _SETTINGS, embedder) as library:
                        library.reindex()
                        _require_index(node, own.name)
                        compared = _Compared()
                        for query in queries:
                            _compare(query, (sqlite, library), called, compared)
                            vector = embedder.embed_query(query.query)
                            compared.near.append(_near((sqlite, library), vector))
                    rows.append(
                        {
                            "set": called_of(golden, source),
                            "vectors": vectors,
                            "queries": len(queries),
                            "delta nDCG@10": compared.delta,
                            "same of ten": sum(compared.same) / max(1, len(compared.same)),
                            "dense candidates shared": sum(compared.near) / len(compared.near),
                            "R@100 ratio": compared.recall_ratio,
                        }
                    )
                    print(rows[-1], file=sys.stderr, flush=True)
    return _outcome(rows)


def _require_index(node: Node, name: str) -> None:
    """All vectors of the library are in the index."""
    client = QdrantClient(url=node.url, check_compatibility=False, timeout=30)
    for one in client.get_collections().collections:
        if one.name.startswith(f"{name}-g"):
            held = client.get_collection(one.name)
            if held.indexed_vectors_count != held.points_count:
                raise RuntimeError(f"{one.name} has vectors that are not in the index: {held}")
    client.close()


def _compare(
    query: GoldenQuery,
    both: tuple[Library, Library],
    called: Mapping[str, str],
    compared: _Compared,
) -> None:
    here, there = ([one.id for one in each.candidates(query.query)[:10]] for each in both)
    if here:
        compared.same.append(len(set(here) & set(there)) / max(len(here), len(there)))
    if not query.grades:
        return
    grades = query.grades
    first, second = (as_references([called[id] for id in ids], grades) for ids in (here, there))
    compared.ndcg.append((ndcg(first, grades, 10), ndcg(second, grades, 10)))
    pools = [as_references([called[id] for id in _pool(each, query)], grades) for each in both]
    compared.recall.append((recall(pools[0], grades, 100), recall(pools[1], grades, 100)))


def _pool(library: Library, query: GoldenQuery) -> list[str]:
    """The documents that are offered for any of the query's words."""
    words = [Word(one.text, one.terms) for one in parse(query.query).words]
    lexical = library._stores.searched.lexical  # noqa: SLF001
    return [one.id for one in lexical.candidates(words, LOCAL, every=False, limit=100)]


def _near(both: tuple[Library, Library], vector: Any) -> float:
    """How many of SQLite's nearest documents the node gives, too."""
    here, there = (
        {
            one.id
            for one in stores.searched.vectors.nearest(
                stores.vectors.generations()[-1].number, vector, LOCAL, limit=100
            )
        }
        for stores in (each._stores for each in both)  # noqa: SLF001
    )
    return len(here & there) / max(1, len(here))


def _outcome(rows: Sequence[dict[str, Any]]) -> Outcome:
    goals = []
    for vectors in _SHAPES:
        own = [row for row in rows if row["vectors"] == vectors]
        most = 0.005 if vectors == "exact" else 0.01
        delta = max(abs(row["delta nDCG@10"]) for row in own)
        goals.append(
            Goal(f"Qdrant, {vectors}: largest |Δ nDCG@10| of a set", delta, "", at_most=most)
        )
    least = min(row["R@100 ratio"] for row in rows)
    goals.append(Goal("Qdrant: least R@100 by words against SQLite", least, "", at_least=0.99))
    table = Table(
        "A Qdrant node beside SQLite",
        ("set", "vectors", "queries", "Δ nDCG@10", "same of ten", "dense shared", "R@100 ratio"),
        [
            (
                row["set"],
                row["vectors"],
                row["queries"],
                round(row["delta nDCG@10"], 4),
                round(row["same of ten"], 4),
                round(row["dense candidates shared"], 4),
                round(row["R@100 ratio"], 4),
            )
            for row in rows
        ],
    )
    return Outcome(goals, [table], rows, {"embedder": "use"})
