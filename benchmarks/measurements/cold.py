"""The first answer of a new process: `python -m twolane search` from start to exit.

The library holds 1,000 notes of one passage, each with a vector in the space of the default
embedder; the query is embedded by the real model.
"Without the model cache" is a search where no notes were embedded before: the cache folder is
empty, so the model is loaded from its package.
The baseline is `python -c pass`, the price of starting Python at all.
The kinds take turns, files are in the system's cache, and bytecode is compiled beforehand.
"""

from __future__ import annotations

import compileall
import json
import resource
import shutil
from pathlib import Path
from typing import Any

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median, timed
from processes import SOURCE, environment, run

_KINDS = ("python -c pass", "lexical", "hybrid, model cache", "hybrid, no model cache")
_QUERIES = ("how do I keep the kitchen chain clean", "как хранить книги на кухне")


def measure(room: Room) -> Outcome:
    """Start processes of each kind by turns."""
    count = room.size(1_000, 200)
    library = synthetic_library.library(room.folder, count)
    filled, empty = room.folder / "cold-cache", room.folder / "cold-no-cache"
    _fill(filled, room.folder)
    # As an installed package is, whatever this machine's environment says about writing bytecode.
    compileall.compile_dir(SOURCE, quiet=2)
    raw: list[dict[str, Any]] = []
    for repetition in range(room.size(7, 2)):
        query = _QUERIES[repetition % 2]
        for kind in _KINDS:
            shutil.rmtree(empty, ignore_errors=True)
            cache = empty if kind == _KINDS[-1] else filled
            spent = _children_cpu()
            _, taken = timed(_start, kind, library, cache, room.folder, query)
            raw.append(
                {
                    "repetition": repetition,
                    "kind": kind,
                    "seconds": taken.seconds,
                    "cpu": _children_cpu() - spent,
                }
            )
    seconds = {kind: [row["seconds"] for row in raw if row["kind"] == kind] for kind in _KINDS}
    cpu = {kind: median(row["cpu"] for row in raw if row["kind"] == kind) for kind in _KINDS}
    middle = {kind: median(values) for kind, values in seconds.items()}
    return Outcome(
        goals=[
            Goal(f"Cold search, {kind}", middle[kind], "s", cpu[kind], at_most=bound)
            for kind, bound in zip(_KINDS[1:], (0.35, 1.8, 1.8), strict=True)
        ],
        tables=[
            Table(
                f"{count:,} notes, {len(seconds[_KINDS[0]])} processes each, seconds",
                ("process", "median", "fastest", "slowest", "CPU", "beyond starting Python"),
                [
                    (
                        kind,
                        round(middle[kind], 3),
                        round(min(seconds[kind]), 3),
                        round(max(seconds[kind]), 3),
                        round(cpu[kind], 3),
                        round(middle[kind] - middle[_KINDS[0]], 3),
                    )
                    for kind in _KINDS
                ],
            )
        ],
        rows=raw,
        facts={**corpus.facts(), "notes": count},
    )


def _children_cpu() -> float:
    """Processor seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _start(kind: str, library: Path, cache: Path, folder: Path, query: str) -> None:
    if kind == _KINDS[0]:
        run(["-c", "pass"], environment(folder))
    else:
        _search(library, kind.partition(",")[0], cache, folder, query)


def _fill(cache: Path, folder: Path) -> None:
    """Leave a picture of the model in the cache, as whoever embeds notes does."""
    code = (
        "import sys, pathlib; from twolane.embedding.embedders.use import UseEmbedder;"
        "UseEmbedder(pathlib.Path(sys.argv[1]) / 'use').embed_passages(['fill'])"
    )
    run(["-c", code, cache], environment(folder))


def _search(library: Path, mode: str, cache: Path, folder: Path, query: str) -> None:
    printed = run(
        ["-m", "twolane", "search", "--db", library, "--mode", mode, "--json", query],
        environment(folder, TWOLANE_CACHE=str(cache)),
    )
    answer = json.loads(printed)
    if answer["degraded"] or not answer["results"]:
        raise RuntimeError(f"a search by {mode} was not answered in full: {printed[:500]}")
