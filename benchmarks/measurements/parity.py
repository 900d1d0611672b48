"""The same library in SQLite, PostgreSQL and memory: is it ranked alike?

The first queries of the `dev` half of every golden set of ours, and of the public collections
`locomo` and `danetqa-ru` where OPEN_COLLECTIONS names their folder.
Documents are indexed and embedded (`use`) in SQLite, and copied with their vectors into PostgreSQL
and memory; then each is asked the same queries, hybrid.
Candidates are compared by all their features, results by nDCG@10 and by how many of the first ten
are the same.
A document that one store alone offers is counted apart: pools have an end, and what is equal to
the last of them may be in or out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcome import Goal, Outcome, Room, Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.postgres_server import running

from twolane import Library, Settings
from twolane.embedding.embedders.use import UseEmbedder
from twolane.evaluation.golden import GoldenQuery, GoldenSet, Names, as_references
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench
from twolane.evaluation.metrics import ndcg
from twolane.ingest.chunking import CHUNKER
from twolane.settings import cache_path
from twolane.stores.memory import memory_stores

_GOLDEN = Path(__file__).resolve().parents[1] / "golden"
_COLLECTIONS = ("locomo", "danetqa-ru")
_ENDS = ("SQLite", "PostgreSQL", "memory")


# A machine that is busy must not make one of them answer in part.
_SETTINGS = Settings(
    embedding={"embedder": "use"}, search={"embed_seconds": 300.0, "query_seconds": 300.0}
)


@dataclass(slots=True)
class _Compared:
    """One store beside SQLite on one set, as far as it was asked."""

    store: str
    features: float = 0.0
    candidates: int = 0
    alone: int = 0
    ndcg: list[tuple[float, float]] = field(default_factory=list)
    overlap: list[float] = field(default_factory=list)

    @property
    def delta(self) -> float:
        """The difference of the means of nDCG@10."""
        if not self.ndcg:
            return 0.0
        return sum(theirs - ours for ours, theirs in self.ndcg) / len(self.ndcg)

    @property
    def same(self) -> float:
        """The mean share of the first ten that are the same."""
        return sum(self.overlap) / len(self.overlap) if self.overlap else 1.0


def measure(room: Room) -> Outcome:
    """Ask all stores for everything."""
    found: dict[str, list[_Compared]] = {}
    # The picture of the model that the others ask: as its package loads it, vectors of queries
    # differ by 1e-7, and features by 2e-6.
    embedder = UseEmbedder(cache_path(_SETTINGS) / "use", chunker=CHUNKER)
    with running() as server:
        for source in sources(quick=room.quick):
            golden = load_golden(source)
            queries = golden.queries[: room.size(60, 10)]
            print(f"{golden.name}: {len(queries)} queries", file=sys.stderr, flush=True)
            with (
                bench(golden, source, _SETTINGS, room.folder / "parity") as sqlite,
                server.database() as url,
                Library.open(url, settings=_SETTINGS) as postgres,
                Library(memory_stores(), _SETTINGS, embedder) as memory,
            ):
                for one in (postgres, memory):
                    sqlite.copy_to(one)
                compared = [_Compared(name) for name in _ENDS[1:]]
                references = Names(sqlite)
                names = {one.id: references.of(one) for one in sqlite.documents()}
                for query in queries:
                    _compare(query, sqlite, (postgres, memory), compared, names)
                found[called_of(golden, source)] = compared
    return _outcome(found)


def sources(*more: str, quick: bool) -> Iterator[Path]:
    """The sets that stores are compared on, and more of the public collections."""
    yield from sorted(_GOLDEN.glob("short.dev.json" if quick else "*.dev.json"))
    folder = os.environ.get("OPEN_COLLECTIONS")
    if folder and not quick:
        yield from (Path(folder) / name for name in (*_COLLECTIONS, *more))


def called_of(golden: GoldenSet, source: Path) -> str:
    """What a set is called in results."""
    return source.name.removesuffix(".json") if source.is_file() else golden.name


def _compare(
    query: GoldenQuery,
    first: Library,
    others: tuple[Library, ...],
    compared: list[_Compared],
    names: dict[str, str],
) -> None:
    ours, our_ranking = _asked(first, query)
    for other, row in zip(others, compared, strict=True):
        theirs, their_ranking = _asked(other, query)
        for id in ours.keys() & theirs.keys():
            pairs = ours[id].keys() | theirs[id].keys()
            gaps = [abs(ours[id].get(one, 9.0) - theirs[id].get(one, 9.0)) for one in pairs]
            row.features = max(row.features, *gaps, 0.0)
            row.candidates += 1
        row.alone += len(ours.keys() ^ theirs.keys())
        if our_ranking:
            shared = len(set(our_ranking) & set(their_ranking))
            row.overlap.append(shared / max(len(our_ranking), len(their_ranking)))
        if query.grades:
            scores = (
                ndcg(as_references([names[id] for id in ranking], query.grades), query.grades, 10)
                for ranking in (our_ranking, their_ranking)
            )
            row.ndcg.append((next(scores), next(scores)))


def _asked(library: Library, query: GoldenQuery) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The features of all candidates, and the first ten of them."""
    found = library.candidates(query.query)
    features = {one.id: {str(name): value for name, value in one.features.items()} for one in found}
    return features, [one.id for one in found[:10]]


def _outcome(found: dict[str, list[_Compared]]) -> Outcome:
    rows: list[dict[str, Any]] = [
        {
            "set": name,
            "store": one.store,
            "candidates": one.candidates,
            "largest difference of a feature": one.features,
            "offered by one store alone": one.alone,
            "delta nDCG@10": one.delta,
            "overlap@10": one.same,
            "queries": len(one.overlap),
        }
        for name, compared in found.items()
        for one in compared
    ]
    goals = []
    for store in _ENDS[1:]:
        own = [row for row in rows if row["store"] == store]
        features = max(row["largest difference of a feature"] for row in own)
        delta = max(abs(row["delta nDCG@10"]) for row in own)
        overlap = min(row["overlap@10"] for row in own)
        goals += [
            Goal(f"{store}: largest difference of a feature", features, "", at_most=1e-6),
            Goal(f"{store}: largest |Δ nDCG@10| of a set", delta, "", at_most=0.002),
            Goal(f"{store}: smallest overlap@10 of a set", overlap, "", at_least=0.98),
        ]
    columns = ("set", "store", "queries", "candidates", "Δ feature", "alone", "Δ nDCG@10", "same")
    table = Table(
        "Beside SQLite",
        columns,
        [
            (
                row["set"],
                row["store"],
                row["queries"],
                row["candidates"],
                f"{row['largest difference of a feature']:.1e}",
                row["offered by one store alone"],
                round(row["delta nDCG@10"], 4),
                round(row["overlap@10"], 4),
            )
            for row in rows
        ],
    )
    return Outcome(goals, [table], rows, {"stores": list(_ENDS), "embedder": "use"})
