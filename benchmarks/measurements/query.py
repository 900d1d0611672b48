"""A warm hybrid query over 100,000 chunks, against bare FTS5 and bare NumPy.

The library holds one-passage notes: 100,000 documents, each with one chunk and one vector of 512
dimensions (unit vectors in clusters), written through `apply` and `add`.
Queries go through `Library.search` with the default settings; the query's vector is prepared
beforehand, because embedding is measured apart.
Half of the queries are two to four words of medium frequency, half are questions of six to ten
words with function words, in English and Russian by turns.
The baseline answers with row numbers alone: the MATCH expressions that the lexical lane issued for
this query, with the same weights, order and limit, on a bare FTS5 table of the same streams, and
then a float32 dot product over the same matrix with `argpartition` for the dense lane's pool.
It runs one after the other.
`Library.search` runs its two lanes beside each other, which pays only while a second core is free;
it is therefore also asked with its lanes one after the other ("in line"), by turns with the rest.
Every query is asked once by each side in every repetition, after a warm-up with other queries;
a query counts with its median.
Stages are timed inside `Library.search` in a pass of their own, with the lanes one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from unittest.mock import patch

import apsw
import numpy as np

import bare
import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median, percentile, timed
from twolane.embedding.spaces import Background
from twolane.library import Library
from twolane.model.candidate import DocumentTerms
from twolane.model.scope import Scope, Word
from twolane.model.space import Space
from twolane.ports import Stores
from twolane.query import parse
from twolane.ranking import search
from twolane.ranking.lanes import DenseLane, LexicalLane
from twolane.ranking.search import Searcher
from twolane.results import paging
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.conditions import match_any
from twolane.stores.sqlite.lexical import SqliteLexical

if TYPE_CHECKING:
    from synthetic_library import Vectors
    from twolane.ports.vectors import Matrix, Vector

T = TypeVar("T")

_REPETITIONS = 3
_CANDIDATES = 200

# Stage → the function that does it.
_STAGES = {
    "analysis": (Searcher, "analyze"),
    "lexical": (LexicalLane, "candidates"),
    "identity": (search, "named_candidates"),
    "dense": (DenseLane, "candidates"),
    "features": (Searcher, "_measured"),
    "model": (Searcher, "_scored"),
    "results": (paging, "answer_of"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with what both sides need to answer it."""

    kind: str
    text: str
    vector: Vector
    expressions: Sequence[tuple[str, int]]


def measure(room: Room) -> Outcome:
    """Ask both sides by turns, then look at the stages."""
    count = room.size(100_000, 5_000)
    path = synthetic_library.library(room.folder, count)
    baseline = _Baseline.over(path, count)
    embedder = PreparedEmbedder(synthetic_library.space())
    store = open_stores(path, create=False)
    store.lexical.__class__ = _Listening
    listening: Any = store.lexical
    settings = Settings()
    with Library(store, settings, embedder) as library:
        asked = _asked(library, listening, embedder, baseline.matrix, room.size(200, 40))
        _warm_up(library, baseline, embedder)
        raw = _by_turns(library, baseline, asked)
        stages = [_staged(library, store, one) for one in asked]
    baseline.close()
    return _outcome(count, raw, stages)


class PreparedEmbedder:
    """Stands for an embedder that takes no time: it knows the vectors of its queries."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.known: dict[str, Vector] = {}
        self._read: Any = None

    def embed_query(self, text: str) -> Vector:
        """The vector that was prepared for this text, else that of the text before."""
        # A query is also read by its words that count, right after it was read as typed.
        self._read = self.known.get(text, self._read)
        return self._read

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One prepared row per text."""
        return np.stack([self.known[text] for text in texts])


class _Baseline:
    """Bare FTS5 and bare NumPy over the library's own streams and vectors."""

    def __init__(self, words: apsw.Connection, matrix: Vectors, pool: int) -> None:
        self._words = words
        self.matrix = matrix
        self._pool = pool

    @classmethod
    def over(cls, library: Path, count: int) -> _Baseline:
        path = library.with_name(f"bare-{count}.db")
        if not path.exists():
            source = apsw.Connection(str(library), flags=apsw.SQLITE_OPEN_READONLY)
            rows = source.execute(
                "SELECT row, title, aliases, tags, headings, description, url, stems"
                " FROM texts ORDER BY row"
            )
            bare.fill(path, synthetic_library.batches(rows, Settings().index.batch))
            source.close()
        dimensions = synthetic_library.space().dimensions
        return cls(
            bare.connect(path), synthetic_library.vectors(count, dimensions), Settings().search.pool
        )

    def answer(self, asked: Asked) -> tuple[list[Any], Any]:
        found = [
            self._words.execute(bare.MATCH, expression).fetchall()
            for expression in asked.expressions
        ]
        similarities = self.matrix @ asked.vector
        best = np.argpartition(similarities, -self._pool)[-self._pool :]
        return found, best[np.argsort(-similarities[best])]

    def close(self) -> None:
        self._words.close()


class _Listening(SqliteLexical):
    """The index itself; it remembers which words the lexical lane asked for, and how."""

    expressions: list[tuple[str, int]] | None = None

    def candidates(
        self, words: Sequence[Word], scope: Scope, *, every: bool, limit: int, **how: Any
    ) -> list[DocumentTerms]:
        if self.expressions is not None:
            self.expressions.append((match_any(words, every=every), limit))
        return super().candidates(words, scope, every=every, limit=limit, **how)


def _asked(
    library: Library,
    listening: _Listening,
    embedder: PreparedEmbedder,
    matrix: Vectors,
    count: int,
) -> list[Asked]:
    dice = np.random.default_rng(corpus.SEED + 2)
    found = []
    for kind, text in corpus.queries(count):
        vector = _near(matrix[dice.integers(len(matrix))], dice)
        embedder.known[parse(text).meaning] = vector
        listening.expressions = []
        answer = library.search(text)
        if answer.degraded:
            raise RuntimeError(f"a lane did not run: {answer.degraded}")
        found.append(Asked(kind, text, vector, listening.expressions))
        listening.expressions = None
    return found


def _near(passage: Vector, dice: np.random.Generator) -> Vector:
    noise = dice.standard_normal(len(passage), np.float32) / np.sqrt(np.float32(len(passage)))
    vector = passage + noise
    unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit


def _warm_up(library: Library, baseline: _Baseline, embedder: PreparedEmbedder) -> None:
    vector = baseline.matrix[0]
    for _, text in corpus.queries(20, seed=corpus.SEED + 100):
        embedder.known[parse(text).meaning] = vector
        answer = library.search(text)
        if answer.degraded:
            raise RuntimeError(f"a lane did not run: {answer.degraded}")
        baseline.answer(Asked("", text, vector, [('"a"', _CANDIDATES)]))


def _by_turns(
    library: Library, baseline: _Baseline, asked: Sequence[Asked]
) -> list[dict[str, Any]]:
    raw = []
    for repetition in range(_REPETITIONS):
        for number, one in enumerate(asked):
            turns: list[tuple[str, Callable[[Any], Any], Any]] = [
                ("library", library.search, one.text),
                ("bare", baseline.answer, one),
                ("in line", _in_line(library), one.text),
            ]
            first = (number + repetition) % len(turns)
            turns = turns[first:] + turns[:first]
            row: dict[str, Any] = {"repetition": repetition, "kind": one.kind, "query": one.text}
            for side, ask, what in turns:
                answer, taken = timed(ask, what)
                row[f"{side} ms"] = round(taken.seconds * 1000, 3)
                row[f"{side} CPU ms"] = round(taken.cpu * 1000, 3)
                if side == "library":
                    row["results"] = len(answer.results)
                    row["lanes"] = {lane.lane: round(lane.ms, 3) for lane in answer.lanes}
            row["expressions"] = len(one.expressions)
            raw.append(row)
    return raw


def _staged(library: Library, store: Stores, asked: Asked) -> dict[str, Any]:
    """The stages of one search in milliseconds, with the lanes one after the other."""
    spent = dict.fromkeys((*_STAGES, "documents", "total"), 0.0)

    def watched(stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            result, taken = timed(work, *args, **kwargs)
            spent[stage] += taken.seconds * 1000
            return result

        return run

    with ExitStack() as watching:
        watching.enter_context(patch.object(Background, "submit", _at_once))
        for stage, (place, name) in _STAGES.items():
            run = watched(stage, getattr(place, name))
            watching.enter_context(patch.object(place, name, run))
        for name in ("get",):
            run = watched("documents", getattr(store.documents, name))
            watching.enter_context(patch.object(store.documents, name, run))
        watched("total", library.search)(asked.text)
    return {
        "kind": asked.kind,
        "query": asked.text,
        **{stage: round(ms, 3) for stage, ms in spent.items()},
    }


def _in_line(library: Library) -> Callable[[str], Any]:
    """A search with the lanes one after the other."""

    def run(text: str) -> Any:
        with patch.object(Background, "submit", _at_once):
            return library.search(text)

    return run


def _at_once(self: Background, call: Callable[[], T]) -> Future[T]:  # noqa: ARG001 - as a method
    future: Future[T] = Future()
    future.set_result(call())
    return future


def _outcome(
    count: int,
    raw: Sequence[dict[str, Any]],
    stages: Sequence[dict[str, Any]],
) -> Outcome:
    kinds = ("all", *sorted({row["kind"] for row in raw}))
    rows = []
    for kind in kinds:
        ours, theirs, in_line = (
            _medians(raw, kind, f"{side} ms") for side in ("library", "bare", "in line")
        )
        rows.append(
            (
                kind,
                *(
                    round(percentile(one, share), 1)
                    for one in (ours, theirs)
                    for share in (0.5, 0.95)
                ),
                round(percentile(ours, 0.5) / percentile(theirs, 0.5), 2),
                round(percentile(in_line, 0.5), 1),
                round(percentile(in_line, 0.5) / percentile(theirs, 0.5), 2),
            )
        )
    ratio = float(rows[0][5])
    first = [row["library ms"] for row in raw if row["repetition"] == 0]
    shown = {
        "analysis": "parsing and repair",
        "lexical": "lexical lane",
        "identity": "identity lane",
        "dense": "dense lane",
        "features": "features of all candidates",
        "model": "model, order and explanation",
        "documents": "reading documents and chunks",
        "results": "making results",
        "total": "whole search, lanes one after the other",
    }
    timing = [(name, [row[stage] for row in stages]) for stage, name in shown.items()]
    judging = [row["features"] + row["model"] for row in stages]
    return Outcome(
        goals=[
            Goal(
                f"Hybrid query over {count:,} chunks, p50 against bare FTS5 + NumPy",
                ratio,
                "×",
                percentile(_medians(raw, "all", "library CPU ms"), 0.5)
                / percentile(_medians(raw, "all", "bare CPU ms"), 0.5),
                at_most=0.5,
            ),
            Goal(
                f"Hybrid query over {count:,} chunks, p50, its embedding left out",
                float(rows[0][1]),
                "ms",
                percentile(_medians(raw, "all", "library CPU ms"), 0.5),
                at_most=12.0,
            ),
            Goal(
                "Features and model for two pools of 100, p50",
                percentile(judging, 0.5),
                "ms",
                at_most=2.0,
            ),
        ],
        tables=[
            Table(
                f"{count:,} notes of one chunk, {len(stages)} queries, ms",
                (
                    "queries",
                    "p50",
                    "p95",
                    "bare p50",
                    "bare p95",
                    "p50 against bare",
                    "in line p50",
                    "in line against bare",
                ),
                rows,
            ),
            Table(
                "Stages one after the other, ms",
                ("stage", "p50", "p95"),
                [
                    (stage, round(percentile(ms, 0.5), 2), round(percentile(ms, 0.95), 2))
                    for stage, ms in timing
                    if ms
                ],
            ),
        ],
        rows=[*raw, *({"pass": "stages", **row} for row in stages)],
        facts={
            **corpus.facts(),
            "notes": count,
            "chunks per note": 1,
            "dimensions": synthetic_library.space().dimensions,
            "p50 at first sight, ms": percentile(first, 0.5),
        },
    )


def _medians(raw: Sequence[dict[str, Any]], kind: str, column: str) -> list[float]:
    by_query: dict[str, list[float]] = {}
    for row in raw:
        if kind in ("all", row["kind"]):
            by_query.setdefault(row["query"], []).append(row[column])
    return [median(values) for values in by_query.values()]
