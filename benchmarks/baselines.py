"""Compare the search with what one would build in an afternoon, on the golden sets' `test` halves.

    python benchmarks/baselines.py           measure and store, then write table and chart
    python benchmarks/baselines.py --pages   only write them from what is stored
    python benchmarks/baselines.py --check   exit with 1 if they are not what is stored

All get the same notes and, where they use meaning, the same model:
SQLite's full-text search with its own stemming and BM25, any word; the nearest note by its whole
text; both joined by reciprocal rank fusion (k = 60); and Twolane as it comes.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import machine
from pages import written_or_checked
from twolane import Library, Settings
from twolane.evaluation.golden import GoldenQuery, as_references
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.metrics import ndcg
from twolane.library.adapters import open_embedders

HERE = Path(__file__).resolve().parent
README = machine.ROOT / "README.md"
BEGIN, END = "<!-- peers -->", "<!-- /peers -->"
CHART = machine.ROOT / "docs" / "images" / "peers.svg"
SETS = ("help-en", "help-ru", "short", "long", "lexical", "typo")
PEERS = ("SQLite FTS5", "vectors", "both, rank fusion", "Twolane")
DEPTH = 10
POOL = 100
Ranker = Callable[[str], list[str]]


def main(arguments: list[str]) -> int:
    """Measure all peers on all sets, unless only the pages are wanted."""
    if not {"--pages", "--check"} & set(arguments):
        _store({name: _measured(name) for name in SETS})
    comparison = stored()
    text = README.read_text("utf-8")
    table = "\n\n".join((BEGIN, "\n".join(table_of(comparison)), END))
    text = text[: text.index(BEGIN)] + table + text[text.index(END) + len(END) :]
    script = "benchmarks/baselines.py --pages"
    return written_or_checked(README, text, script, arguments) | written_or_checked(
        CHART, chart(comparison), script, arguments
    )


def _store(rows: dict[str, Any]) -> None:
    code = machine.code()
    means = {peer: sum(rows[name]["ndcg"][peer] for name in SETS) / len(SETS) for peer in PEERS}
    comparison = {
        "name": "baselines",
        "command": "python benchmarks/baselines.py",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code,
        "versions": machine.versions(),
        "summary": {peer: round(mean, 4) for peer, mean in means.items()},
        "rows": rows,
    }
    for old in (HERE / "results").glob("baselines-*.json"):
        old.unlink()
    file = HERE / "results" / f"baselines-{code['commit']}.json"
    file.write_text(json.dumps(comparison, indent=1) + "\n", "utf-8")


def stored() -> dict[str, Any]:
    """The stored comparison."""
    (file,) = (HERE / "results").glob("baselines-*.json")
    comparison: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return comparison


def table_of(comparison: dict[str, Any]) -> list[str]:
    """The comparison as Markdown, one row for each peer."""
    lines = [f"| nDCG@10 | {' | '.join(SETS)} | mean |", f"|---|{'--:|' * (len(SETS) + 1)}"]
    for peer in PEERS:
        scores = [comparison["rows"][name]["ndcg"][peer] for name in SETS]
        figures = map(_figure, [*scores, comparison["summary"][peer]])
        lines.append(f"| {peer} | {' | '.join(figures)} |")
    return lines


def _figure(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _measured(name: str) -> dict[str, Any]:
    golden = load_golden(HERE / "golden" / f"{name}.test.json")
    vault = HERE / "golden" / str(golden.vault)
    with tempfile.TemporaryDirectory(prefix="twolane-peers-") as folder:
        settings = Settings().changed(embedding={"embedder": "use"})
        with Library.open(Path(folder, "notes.db"), settings=settings) as library:
            library.index(vault)
            library.embed()
            notes = {
                one.path: f"{one.title}\n{one.body}" for one in library.documents() if one.path
            }
            fts, vectors = _full_text(notes), _nearest(notes, settings)
            peers: tuple[Ranker, ...] = (
                fts,
                vectors,
                lambda query: _fused(fts(query), vectors(query)),
                lambda query: [
                    result.path or result.id
                    for result in library.search(query, limit=DEPTH).results
                ],
            )
            asked = [query for query in golden.queries if query.grades]
            return {
                "queries": len(asked),
                "notes": len(notes),
                "ndcg": {peer: _mean(rank, asked) for peer, rank in zip(PEERS, peers, strict=True)},
            }


def _mean(rank: Ranker, asked: Sequence[GoldenQuery]) -> float:
    scores = [
        ndcg(as_references(rank(query.query)[:DEPTH], query.grades), query.grades, DEPTH)
        for query in asked
    ]
    return sum(scores) / len(scores)


def _full_text(notes: dict[str, str]) -> Ranker:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE n USING fts5(path UNINDEXED, body, tokenize='porter')")
    db.executemany("INSERT INTO n VALUES (?, ?)", notes.items())

    def rank(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        sql = "SELECT path FROM n WHERE n MATCH ? ORDER BY rank LIMIT ?"
        return [path for (path,) in db.execute(sql, (words, POOL))] if words else []

    return rank


def _nearest(notes: dict[str, str], settings: Settings) -> Ranker:
    embedder = open_embedders(settings).first
    assert embedder is not None
    matrix = embedder.embed_passages(list(notes.values()))
    paths = np.array(list(notes))

    def rank(query: str) -> list[str]:
        order = np.argsort(-(matrix @ embedder.embed_query(query)), kind="stable")
        return [str(path) for path in paths[order[:POOL]]]

    return rank


def _fused(*rankings: list[str]) -> list[str]:
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, path in enumerate(ranking, start=1):
            scores[path] = scores.get(path, 0.0) + 1 / (60 + place)
    return sorted(scores, key=lambda path: -scores[path])


def chart(comparison: dict[str, Any]) -> str:
    """The means as bars, in colours that are read on light and dark ground."""
    colours = ("#9a6b4f", "#6b7bb8", "#8a8f98", "#2f6fdb")
    bars = []
    for row, peer in enumerate(PEERS):
        mean, top = comparison["summary"][peer], 12 + row * 34
        bars.append(
            f'<text x="150" y="{top + 16}" text-anchor="end">{peer}</text>'
            f'<rect x="160" y="{top}" width="{mean * 440:.0f}" height="22" rx="3" '
            f'fill="{colours[row]}"/>'
            f'<text x="{168 + mean * 440:.0f}" y="{top + 16}">{_figure(mean)}</text>'
        )
    height = 12 + len(PEERS) * 34
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {height}" width="660" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="14" fill="#808590" '
        f'role="img" aria-label="Mean nDCG@10 of six golden sets">{"".join(bars)}</svg>\n'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
