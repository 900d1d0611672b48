"""Measure one engine in its own environment, and print what was measured as JSON.

    python worker.py ENGINE TASK FOLDER [--cold]

TASK is a folder with `passages.jsonl` (id, title, text), `vectors.npy`, `queries.jsonl` (id, text)
and `query_vectors.npy`; FOLDER is where the engine keeps its index.
An engine is a module of `engines/` with a class `Engine`: `index`, `open`, `search`, `close`, and
the numbers of processes of its own whose memory counts.
With `--cold` an index that is there is opened and asked once.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = 30
_SECONDS = 5.0

# So many queries are timed, each so often; for quality all are asked.
_TIMED = 100
_TIMES = 3


def main(arguments: list[str]) -> None:
    """Measure the engine, or open its index and ask it once."""
    name, task, folder = arguments[0], Path(arguments[1]), Path(arguments[2])
    sys.path.insert(0, str(Path(__file__).parent / "engines"))
    engine = import_module(name).Engine(folder)
    queries = [json.loads(line) for line in (task / "queries.jsonl").open(encoding="utf-8")]
    vectors = np.load(task / "query_vectors.npy")
    if "--cold" in arguments:
        engine.open()
        engine.search(queries[0]["text"], vectors[0], RESULTS)
        print(json.dumps({"answered": time.time()}))
        engine.close()
        return
    print(json.dumps(_measured(engine, task, folder, queries, vectors)))


def _measured(
    engine: Any, task: Path, folder: Path, queries: list[dict[str, str]], vectors: Any
) -> dict[str, Any]:
    passages = [json.loads(line) for line in (task / "passages.jsonl").open(encoding="utf-8")]
    started, cpu = time.perf_counter(), time.process_time()
    engine.index(passages, np.load(task / "vectors.npy"))
    indexing, indexing_cpu = time.perf_counter() - started, time.process_time() - cpu
    del passages
    engine.open()
    asked = list(zip((one["text"] for one in queries), vectors, strict=True))
    for text, vector in asked[:20]:
        engine.search(text, vector, RESULTS)
    timed = asked[:_TIMED]
    # Other work on the machine only adds: of each query the quickest of several answers counts.
    taken = [float("inf")] * len(timed)
    cpu = _cpu(engine.processes())
    for _ in range(_TIMES):
        for number, (text, vector) in enumerate(timed):
            started = time.perf_counter()
            engine.search(text, vector, RESULTS)
            taken[number] = min(taken[number], time.perf_counter() - started)
    cpu = _cpu(engine.processes()) - cpu
    rankings = {
        one["id"]: engine.search(one["text"], vector, RESULTS)
        for one, vector in zip(queries, vectors, strict=True)
    }
    outcome = {
        "index seconds": indexing,
        "index CPU seconds": indexing_cpu,
        "disk bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        "ms": [round(seconds * 1000, 3) for seconds in taken],
        "CPU ms": cpu * 1000 / len(timed) / _TIMES,
        "answers a second": _throughput(engine, asked),
        "peak bytes": _peak(engine.processes()),
        "rankings": rankings,
    }
    engine.close()
    return outcome


def _throughput(engine: Any, asked: list[tuple[str, Any]]) -> float:
    """Answers a second to two callers at once."""
    until = time.perf_counter() + _SECONDS

    def ask(first: int) -> int:
        count = 0
        while time.perf_counter() < until:
            text, vector = asked[(first + count) % len(asked)]
            engine.search(text, vector, RESULTS)
            count += 1
        return count

    with ThreadPoolExecutor(2) as callers:
        return sum(callers.map(ask, (0, len(asked) // 2))) / _SECONDS


def _cpu(processes: list[int]) -> float:
    """The processor seconds that this process and the engine's own have used."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _peak(processes: list[int]) -> int:
    """The most memory that this process and the engine's own had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for process in processes:
        status = Path(f"/proc/{process}/status").read_text("ascii")
        most += int(status.split("VmHWM:")[1].split()[0]) * 1024
    return most


if __name__ == "__main__":
    main(sys.argv[1:])
