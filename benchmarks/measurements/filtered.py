"""A filtered hybrid query against the same query without a filter, over 100,000 documents.

The library is that of the measurement of queries, with what filters ask for added: kinds (70 %
bookmarks, 25 % notes, 5 % prompts), and a tag, a property, a time of use and a folder that each
belong to about one document in a hundred.
Queries go through `Library.search` with the default settings; the query's vector is prepared
beforehand, because embedding is measured apart.
Every query is asked without a filter and with each filter in every repetition, by turns, after a
warm-up; a query counts with its median, and a filter with the ratio of the two p50.
Filters come again and again, as from somebody who keeps typing, so their rows are found once.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import corpus
import synthetic_library
from measurements.query import PreparedEmbedder
from outcome import Goal, Outcome, Room, Table, median, percentile, timed
from twolane.library import LOCAL, Library
from twolane.model.scope import Scope
from twolane.query import parse
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.functions import register

_REPETITIONS = 3

# Each leaves about one document in a hundred.
_FILTERS: dict[str, dict[str, object]] = {
    "tag": {"tag": "hundredth"},
    "property": {"where": "status:done"},
    "last used": {"used": "2024"},
    "has a URL": {"has": "url"},
    "folder": {"path": ["000", "001"]},
    "kind and tag": {"kind": "bookmark", "tag": "hundredth"},
    "not 99 %": {"not_has": "summary"},
}


def measure(room: Room) -> Outcome:
    """Ask with and without filters by turns."""
    count = room.size(100_000, 5_000)
    path = _library(room.folder, count)
    embedder = PreparedEmbedder(synthetic_library.space())
    matrix = synthetic_library.vectors(count, embedder.space.dimensions)
    with Library(open_stores(path, create=False), Settings(), embedder) as library:
        scopes = {"none": LOCAL, **{name: library.scope(one) for name, one in _FILTERS.items()}}
        kept = {name: library.status(scope=scope).stats.documents for name, scope in scopes.items()}
        queries = [text for _, text in corpus.queries(room.size(40, 12))]
        dice = np.random.default_rng(corpus.SEED + 5)
        for text in queries:
            embedder.known[parse(text).meaning] = matrix[dice.integers(len(matrix))]
        rows = _by_turns(library, queries, scopes)
    return _outcome(count, kept, rows)


def _library(folder: Path, count: int) -> Path:
    path = folder / f"filtered-{count}.db"
    if path.exists():
        return path
    shutil.copy(synthetic_library.library(folder, count), path)
    connection = apsw.Connection(str(path))
    register(connection)
    with connection:
        connection.execute(
            "UPDATE documents SET kind = CASE WHEN row % 20 < 14 THEN 'bookmark'"
            " WHEN row % 20 < 19 THEN 'note' ELSE 'prompt' END,"
            " used = CASE WHEN row % 100 = 11 THEN unixepoch('2024-05-01') END,"
            " url = CASE WHEN row % 100 = 23 THEN 'https://example.org/' || row END,"
            " summary = CASE WHEN row % 100 = 37 THEN '' ELSE 'a summary' END"
        )
        connection.execute(
            "INSERT INTO property_values(document, name, text)"
            " SELECT row, 'status', CASE WHEN row % 100 = 7 THEN 'done' ELSE 'open' END"
            " FROM documents WHERE row % 2"
        )
        connection.execute(
            "INSERT INTO tags(name, key, stems) VALUES ('hundredth', 'hundredth', '')"
        )
        tag = connection.last_insert_rowid()
        connection.execute(
            "INSERT INTO document_tags(document, position, tag)"
            " SELECT row, 99, ? FROM documents WHERE row % 100 = 3",
            (tag,),
        )
        connection.execute("UPDATE counters SET revision = revision + 1")
    connection.close()
    store = open_stores(path, create=False)
    store.maintenance.settle()
    store.maintenance.close()
    return path


def _by_turns(
    library: Library, queries: Sequence[str], scopes: dict[str, Scope]
) -> list[dict[str, Any]]:
    for text in queries[:5]:
        for scope in scopes.values():
            library.search(text, scope=scope)
    rows = []
    for repetition in range(_REPETITIONS):
        for number, text in enumerate(queries):
            row: dict[str, Any] = {"repetition": repetition, "query": text}
            names = list(scopes)
            first = (number + repetition) % len(names)
            for name in names[first:] + names[:first]:
                answer, taken = timed(library.search, text, scope=scopes[name])
                if answer.degraded:
                    raise RuntimeError(f"a lane did not run: {answer.degraded}")
                row[name] = round(taken.seconds * 1000, 3)
                row[f"{name} CPU"] = round(taken.cpu * 1000, 3)
            rows.append(row)
    return rows


def _outcome(count: int, kept: dict[str, int], rows: list[dict[str, Any]]) -> Outcome:
    usual, usual_cpu = _p50(rows, "none"), _p50(rows, "none CPU")
    table, goals = [("none", count, round(usual, 1), 1.0, 1.0)], []
    for name in _FILTERS:
        ratio, on_cpu = _p50(rows, name) / usual, _p50(rows, f"{name} CPU") / usual_cpu
        table.append(
            (name, kept[name], round(_p50(rows, name), 1), round(ratio, 2), round(on_cpu, 2))
        )
        what = f"Hybrid query filtered by {name}, p50 against no filter ({count:,} documents)"
        goals.append(Goal(what, ratio, "×", on_cpu, at_most=1.2))
    columns = ("filter", "documents left", "p50 ms", "against no filter", "by CPU time")
    title = f"{count:,} documents, {len({row['query'] for row in rows})} queries"
    return Outcome(
        goals=goals,
        tables=[Table(title, columns, table)],
        rows=rows,
        facts={**corpus.facts(), "documents": count, "left": kept},
    )


def _p50(rows: list[dict[str, Any]], column: str) -> float:
    by_query: dict[str, list[float]] = {}
    for row in rows:
        by_query.setdefault(row["query"], []).append(row[column])
    return percentile([median(values) for values in by_query.values()], 0.5)
