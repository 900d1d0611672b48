"""The page that shows how Twolane does beside its peers, written from the stored run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "peers.md"


def written(results: Path) -> Path:
    """Write the page from the newest stored run; where it is."""
    stored = max(results.glob("engines-*.json"), key=lambda path: path.stat().st_mtime)
    PAGE.write_text(page(json.loads(stored.read_text("utf-8")), stored.name), "utf-8")
    return PAGE


def page(result: Mapping[str, Any], name: str) -> str:
    """The whole page."""
    rows = result["rows"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    judged = [one for one in sets if any("ndcg@10" in row for row in rows if row["set"] == one)]
    parts = [_HEAD.format(started=result["started"][:10], name=name, load=_load(rows))]
    if judged:
        parts += ["## Quality", _QUALITY, _quality(rows, judged)]
    for one in [one for one in sets if one not in judged] + judged:
        own = [row for row in rows if row["set"] == one]
        parts += [f"## Speed and size: {one}", _size_of(own), _speed(own, result)]
    parts += ["## Where Twolane loses", _losses(rows, sets)]
    failed = _failures(result)
    if failed:
        parts += ["## What could not be measured", failed]
    parts += ["## What installing takes", _weights(result)]
    return "\n\n".join(parts) + "\n"


_HEAD = """# Beside its peers

`python benchmarks/peers/run.py` made this page from `benchmarks/results/{name}` ({started}).
Every engine ran on the same machine of two cores over the same passages, vectors and queries.
Nothing of it is written by hand.
The load of the machine was {load}: where that is above 2, other work took part of every figure.
Of each query the quickest of three answers counts.
Processor time of an answer, of the engine and its server, says more than the clock then.

Vectors are those of Twolane's default embedder, made beforehand: embedding is part of no figure.
Each engine ranks by its own default hybrid search.
One that has none (FTS5, tantivy, pgvector) is given reciprocal rank fusion with k = 60.
Twolane answers with results as they are shown, with snippets and explanations; others with ids."""

_QUALITY = """nDCG@10, a document counted by its best passage; best in bold.
Twolane's weights were fitted on open collections, maybe also on these.
[What it reaches on collections that were left out](../explanation/ranking-model.md) is measured."""


def _quality(rows: Sequence[Mapping[str, Any]], sets: Sequence[str]) -> str:
    by_peer: dict[str, dict[str, float]] = {}
    for row in rows:
        if "ndcg@10" in row:
            by_peer.setdefault(row["peer"], {})[row["set"]] = row["ndcg@10"]
    best = {one: max(found.get(one, 0.0) for found in by_peer.values()) for one in sets}
    lines = [["engine", *sets, "mean"]]
    means = {p: fmean(f.values()) for p, f in by_peer.items() if len(f) == len(sets)}
    for peer, found in by_peer.items():
        cells = [_bold(found.get(one), best[one], 3) for one in sets]
        lines.append([peer, *cells, _bold(means.get(peer), max(means.values()), 3)])
    return _table(lines)


def _speed(rows: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> str:
    lines = [
        [
            "engine",
            "scan",
            "warm p50 ms",
            "p95 ms",
            "CPU ms an answer",
            "first answer s",
            "answers/s, two callers",
            "index s",
            "disk MB",
            "peak MB",
        ]
    ]
    for row in rows:
        if "failed" in row:
            continue
        lines.append(
            [
                row["peer"],
                "exact" if result["exact"][row["peer"]] else "HNSW or like it",
                f"{row['p50 ms']:.1f}",
                f"{row['p95 ms']:.1f}",
                f"{row['CPU ms']:.1f}",
                f"{row['cold seconds']:.2f}",
                f"{row['answers a second']:.0f}",
                f"{row['index seconds']:.0f}",
                f"{row['disk bytes'] / 1e6:.0f}",
                f"{row['peak bytes'] / 1e6:.0f}",
            ]
        )
    return _table(lines)


def _size_of(rows: Sequence[Mapping[str, Any]]) -> str:
    return f"{rows[0]['passages']:,} passages, {rows[0]['queries']:,} queries, 30 results each."


def _losses(rows: Sequence[Mapping[str, Any]], sets: Sequence[str]) -> str:
    """Every figure in which another engine is ahead."""
    lower = {
        "p50 ms": ("warm p50", "ms", 1.0),
        "CPU ms": ("processor time of an answer", "ms", 1.0),
        "cold seconds": ("first answer", "s", 1.0),
        "index seconds": ("index", "s", 1.0),
        "disk bytes": ("disk", "MB", 1e6),
        "peak bytes": ("peak memory", "MB", 1e6),
    }
    said = []
    for one in sets:
        own = {row["peer"]: row for row in rows if row["set"] == one and "failed" not in row}
        ours = own.pop("Twolane", None)
        if ours is None:
            continue
        for key, (what, unit, size) in lower.items():
            ahead = sorted((row[key], peer) for peer, row in own.items() if row[key] < ours[key])
            if ahead:
                names = ", ".join(f"{peer} {value / size:.3g}" for value, peer in ahead)
                said.append(f"- {one}, {what}: {ours[key] / size:.3g} {unit}; {names}.")
        for key, what in (("answers a second", "answers a second"), ("ndcg@10", "nDCG@10")):
            ahead = sorted(
                (
                    (row[key], peer)
                    for peer, row in own.items()
                    if row.get(key, 0) > ours.get(key, 0)
                ),
                reverse=True,
            )
            if ahead:
                names = ", ".join(f"{peer} {value:.3g}" for value, peer in ahead)
                said.append(f"- {one}, {what}: {ours[key]:.3g}; {names}.")
    return "\n".join(said) or "Nowhere in this run."


def _failures(result: Mapping[str, Any]) -> str:
    said = [
        f"- {peer}: {made['failed']}."
        for peer, made in result["installed"].items()
        if "failed" in made
    ]
    said += [
        f"- {row['peer']} on {row['set']}: {row['failed']}."
        for row in result["rows"]
        if "failed" in row
    ]
    return "\n".join(said)


def _weights(result: Mapping[str, Any]) -> str:
    lines = [["engine", "installed MB", "brings a model"]]
    for peer, made in result["installed"].items():
        if "bytes" in made:
            model = "yes" if peer == "Twolane" else "no"
            lines.append([peer, f"{made['bytes'] / 1e6:.0f}", model])
    return _table(lines)


def _bold(value: float | None, best: float, digits: int) -> str:
    if value is None:
        return "–"
    shown = f"{value:.{digits}f}".lstrip("0")
    return f"**{shown}**" if value >= best else shown


def _load(rows: Sequence[Mapping[str, Any]]) -> str:
    loads = [row["load before"][0] for row in rows if row.get("load before")]
    return f"{min(loads):.1f} to {max(loads):.1f}" if loads else "unknown"


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *rest = lines
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *rest]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
