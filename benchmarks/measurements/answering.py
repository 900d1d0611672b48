"""Everything of a search but its lanes: planning, fusion, relevance and results.

The library is that of the `query` measurement: notes of one passage each, in two languages.
Every query is searched once in full, with pools of 100 documents in each lane; what its lanes
brought is kept.
Then it is searched again with the lanes answering from what was kept, so that what remains is
parsing, repair, intent, fusion of the two pools, relevance, reading the documents to be shown and
making results of them with their snippets: 20, as many as a search gives by default, and 10.
The baseline reads the same 20 documents with one bare SQL statement, titles and bodies, and makes
nothing of them.
Every query is asked by both sides in every repetition, after a warm-up; it counts with its median.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import apsw
import numpy as np

import corpus
import synthetic_library
from measurements.query import PreparedEmbedder
from outcome import Goal, Outcome, Room, Table, Taken, median, percentile, timed
from twolane.library import Library
from twolane.model.answer import Answer
from twolane.query import parse
from twolane.ranking.search import Searcher
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores

_REPETITIONS = 5

# What a page holds, for those who ask for less than the default.
_HALF = 10

_READ = """
SELECT d.title, x.body FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.id IN (SELECT value FROM json_each(?))"""


def measure(room: Room) -> Outcome:
    """Search with kept lanes, and read the same documents with bare SQL, by turns."""
    count = room.size(100_000, 5_000)
    path = synthetic_library.library(room.folder, count)
    embedder = PreparedEmbedder(synthetic_library.space())
    bare = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    store = open_stores(path, create=False)
    with Library(store, Settings(), embedder) as library:
        queries = _prepared(embedder, count, room.size(200, 40))
        for text in queries[: room.size(40, 20)]:
            library.search(text)
        raw = [row for text in queries for row in _asked(library, bare, text)]
    bare.close()
    return _outcome(count, len(queries), raw)


def _prepared(embedder: PreparedEmbedder, count: int, queries: int) -> list[str]:
    """The texts of the queries, each with a vector that the embedder knows."""
    matrix = synthetic_library.vectors(count, embedder.space.dimensions)
    dice = np.random.default_rng(corpus.SEED + 3)
    texts = []
    for _, text in corpus.queries(queries):
        embedder.known[parse(text).meaning] = matrix[dice.integers(len(matrix))]
        texts.append(text)
    return texts


def _asked(library: Library, bare: apsw.Connection, text: str) -> list[dict[str, Any]]:
    kept: list[Any] = []
    run = vars(Searcher)["_run"]

    def keeping(self: Searcher, *args: Any, **kwargs: Any) -> Any:
        kept.append(run(self, *args, **kwargs))
        return kept[-1]

    with patch.object(Searcher, "_run", keeping):
        answer = library.search(text)
    if answer.degraded:
        raise RuntimeError(f"a lane did not run: {answer.degraded}")
    ids = [one.id for one in answer.results]
    rows = []
    with patch.object(Searcher, "_run", lambda *_, **__: kept[0]):
        library.search(text)
        for repetition in range(_REPETITIONS):
            again, ours = timed(library.search, text)
            _, half = timed(library.search, text, limit=_HALF)
            _, theirs = timed(_read, bare, ids)
            rows.append(_row(text, repetition, again, ours, half, theirs))
    return rows


def _read(bare: apsw.Connection, ids: Sequence[str]) -> list[Any]:
    return bare.execute(_READ, (json.dumps(ids),)).fetchall()


def _row(
    text: str, repetition: int, answer: Answer, ours: Taken, half: Taken, theirs: Taken
) -> dict[str, Any]:
    return {
        "query": text,
        "repetition": repetition,
        "hits": [lane.hits for lane in answer.lanes],
        "results": len(answer.results),
        "ms": round(ours.seconds * 1000, 3),
        "CPU ms": round(ours.cpu * 1000, 3),
        f"ms for {_HALF}": round(half.seconds * 1000, 3),
        "bare ms": round(theirs.seconds * 1000, 3),
    }


def _outcome(count: int, queries: int, raw: Sequence[dict[str, Any]]) -> Outcome:
    columns = ("ms", "CPU ms", f"ms for {_HALF}", "bare ms")
    ours, cpu, half, bare = (_medians(raw, column) for column in columns)
    ratio = percentile(ours, 0.5) / percentile(bare, 0.5)
    return Outcome(
        goals=[
            Goal(
                "Planning, fusion and 20 results for pools of 100, lanes excluded, p50",
                percentile(ours, 0.5),
                "ms",
                percentile(cpu, 0.5),
                at_most=3.0,
            )
        ],
        tables=[
            Table(
                f"{count:,} notes, {queries} queries, ms",
                (
                    *("p50", "p95", f"p50 for {_HALF}", f"p95 for {_HALF}", "bare p50", "bare p95"),
                    "p50 against bare",
                ),
                [
                    (
                        *(
                            round(percentile(one, share), 2)
                            for one in (ours, half, bare)
                            for share in (0.5, 0.95)
                        ),
                        round(ratio, 1),
                    )
                ],
            )
        ],
        rows=list(raw),
        facts={**corpus.facts(), "notes": count, "queries": queries},
    )


def _medians(raw: Sequence[dict[str, Any]], column: str) -> list[float]:
    by_query: dict[str, list[float]] = {}
    for row in raw:
        by_query.setdefault(row["query"], []).append(row[column])
    return [median(values) for values in by_query.values()]
