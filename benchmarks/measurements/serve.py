"""`twolane serve` over 100,000 chunks: throughput, latency at half of it, overload, and a soak.

The library is that of the measurement `query`; queries are embedded by the default model.
`Library.search` is first asked one query after the other in a process of its own, which gives the
CPU time of a query; what two cores could do at best is two divided by that, for searches by words
alone and for hybrid ones.
`twolane serve` then runs with two processes for searches, no limit of rate and its other settings
as they are, and is asked over loopback by a generator in a process of its own, which shares the two
cores with it and whose CPU time is told.
Throughput is that of eight clients who ask again as soon as they have their answer.
Half of the goal's rate is asked for at a steady pace; a request's time begins when it is due.
Overload is a hundred clients at once, three times what may wait and be worked on; the server must
refuse some of them quickly and answer as before when they have left.
The soak asks hybrid queries at half of the goal's rate (ten minutes, or `SOAK_SECONDS`) and looks
at the memory of all the server's processes.
Every answer has ten results and its facets.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus
import processes
import synthetic_library
from outcome import Goal, Outcome, Room, Table, percentile

LOAD = Path(__file__).resolve().parent.parent / "load.py"

_CORES = 2
_SHARE = 0.6
_AT_MOST_MS = 150
_MODES = ("lexical", "hybrid")

_IN_PROCESS = """
import json, sys, time
from twolane import Library
path, mode, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with Library.open(path) as library:
    for text in texts[:20]:
        library.search(text, mode=mode, limit=10)
    clock, cpu = time.perf_counter(), time.process_time()
    for text in texts[20:]:
        library.search(text, mode=mode, limit=10)
    count = len(texts) - 20
    print((time.perf_counter() - clock) / count, (time.process_time() - cpu) / count)
"""


def measure(room: Room) -> Outcome:
    """Measure the library alone, then the server in front of it."""
    count = room.size(100_000, 5_000)
    path = synthetic_library.library(room.folder, count)
    variables = processes.environment(
        room.folder, TWOLANE_EMBEDDING_EMBEDDER="use", TWOLANE_SERVER_REQUESTS_PER_MINUTE="0"
    )
    seconds = room.size(60, 6)
    rows: list[dict[str, Any]] = []
    goals: list[Goal] = []
    alone = {mode: _alone(path, mode, variables, room.size(200, 40)) for mode in _MODES}
    with serving(path, variables) as server:
        for mode in _MODES:
            server.load(mode, 1, "closed", 8, min(seconds, 10))
            possible = _CORES / alone[mode][1]
            goals += _rates(server, mode, possible, seconds, rows)
        rows.append(_overload(server, seconds))
        soak = float(os.environ.get("SOAK_SECONDS") or room.size(600, 10))
        rate = _SHARE / 2 * _CORES / alone["hybrid"][1]
        rows += _soak(server, rate, soak)
    over, memory = rows[_index(rows, "overload")], [one for one in rows if one["part"] == "memory"]
    first, last = memory[len(memory) // 5]["MB"], memory[-1]["MB"]
    goals += [
        Goal("Refusals under overload, p95", over["refused p95 ms"], "ms", at_most=250),
        Goal("Answers right after overload, share", over["recovered"], "", at_least=1),
        Goal(
            f"Memory after a soak of {soak:g} s, against a fifth of the way",
            last / first,
            "×",
            at_most=1.03,
        ),
    ]
    return Outcome(goals, _tables(alone, rows), rows, {**corpus.facts(), "chunks": count})


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a generator saw, and what both sides used for it."""

    statuses: Counter[int]
    times: dict[int, list[float]]
    seconds: float
    generator_cpu: float
    server_cpu: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.statuses[200] / self.seconds


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, its processes, and a way to ask it."""

    address: str
    pid: int
    variables: dict[str, str]

    def load(self, mode: str, seed: int, way: str, much: float, seconds: float) -> Loaded:
        """Have a generator ask for so long."""
        words = [LOAD, self.address, mode, seed, way, much, seconds]
        before = self.cpu()
        told = json.loads(processes.run([str(word) for word in words], self.variables))
        used = self.cpu() - before
        times: dict[int, list[float]] = {}
        for status, taken in told["answers"]:
            times.setdefault(status, []).append(taken * 1000)
        statuses = Counter(status for status, _ in told["answers"])
        return Loaded(statuses, times, told["seconds"], told["cpu"], used)

    def cpu(self) -> float:
        """Seconds of CPU time that the server's processes have used."""
        ticks = os.sysconf("SC_CLK_TCK")
        return sum(sum(map(int, _stat(pid)[11:13])) for pid in self.pids()) / ticks

    def megabytes(self) -> float:
        """The memory that the server's processes hold, in MB."""
        page = os.sysconf("SC_PAGE_SIZE")
        return sum(int(_stat(pid)[21]) for pid in self.pids()) * page / 1e6

    def pids(self) -> list[int]:
        """The server and its children."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii")
        return [self.pid, *map(int, children.split())]


def _stat(pid: int) -> list[str]:
    """The fields of a process's state, from the third on."""
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()


@contextmanager
def serving(path: Path, variables: dict[str, str], *words: str) -> Iterator[Server]:
    """A server over the library, with two processes for searches, that has warmed up."""
    command = [sys.executable, "-m", "twolane", "serve", "--port", "0", "--db", str(path)]
    command += ["--processes", str(_CORES), *words]
    log = path.with_suffix(".log")
    with (
        log.open("w", encoding="utf-8") as said,
        subprocess.Popen(command, env=variables, stderr=said, stdout=subprocess.DEVNULL) as process,
    ):
        try:
            yield Server(_address(log, process), process.pid, variables)
        finally:
            process.terminate()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        if found := re.search(r"serving on (http://\S+)", log.read_text("utf-8")):
            return found[1]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text('utf-8')}")


def _alone(path: Path, mode: str, variables: dict[str, str], count: int) -> tuple[float, float]:
    """Seconds by the clock and of CPU time for a query in process."""
    texts = json.dumps([text for _, text in corpus.queries(count + 20, seed=corpus.SEED + 7)])
    clock, cpu = processes.run(["-c", _IN_PROCESS, str(path), mode, texts], variables).split()
    return float(clock), float(cpu)


def _rates(
    server: Server, mode: str, possible: float, seconds: float, rows: list[dict[str, Any]]
) -> list[Goal]:
    most = server.load(mode, 2, "closed", 8, seconds)
    half = server.load(mode, 3, "open", _SHARE * possible / 2, seconds)
    rows += [
        _row("throughput", mode, most, wanted=_SHARE * possible, possible=possible),
        _row("half rate", mode, half, wanted=_SHARE * possible / 2),
    ]
    # What the server could do if it had both cores to itself, by what a request costs it.
    by_cpu = _CORES / (most.server_cpu / max(1, most.statuses.total()))
    return [
        Goal(
            f"Throughput of {mode} search, of what {_CORES} cores could do in process",
            most.rate / possible,
            "×",
            by_cpu / possible,
            at_least=_SHARE,
        ),
        Goal(
            f"{mode.capitalize()} search at half of the goal's rate, p95",
            percentile(half.times.get(200, [1e9]), 0.95),
            "ms",
            at_most=_AT_MOST_MS,
        ),
    ]


def _row(part: str, mode: str, load: Loaded, **more: float) -> dict[str, Any]:
    asked = max(1, load.statuses.total())
    fine = load.times.get(200, [0.0])
    return {
        "part": part,
        "mode": mode,
        "asked": asked,
        "statuses": {str(status): count for status, count in sorted(load.statuses.items())},
        "rate": round(load.rate, 2),
        "p50 ms": round(percentile(fine, 0.5), 1),
        "p95 ms": round(percentile(fine, 0.95), 1),
        "server CPU ms a request": round(load.server_cpu * 1000 / asked, 2),
        "generator CPU ms a request": round(load.generator_cpu * 1000 / asked, 2),
        "generator CPU share of a core": round(load.generator_cpu / load.seconds, 3),
        **{name: round(value, 2) for name, value in more.items()},
    }


def _overload(server: Server, seconds: float) -> dict[str, Any]:
    load = server.load("hybrid", 4, "closed", 100, seconds / 2)
    refused = [ms for status, times in load.times.items() if status != 200 for ms in times]
    after = server.load("hybrid", 5, "closed", 1, 3)
    return {
        **_row("overload", "hybrid", load),
        "refused p50 ms": round(percentile(refused, 0.5), 1) if refused else 0.0,
        "refused p95 ms": round(percentile(refused, 0.95), 1) if refused else 0.0,
        "recovered": after.statuses[200] / max(1, after.statuses.total()),
    }


def _soak(server: Server, rate: float, seconds: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    turns = max(5, int(seconds / 30))
    for number in range(turns):
        load = server.load("hybrid", 100 + number, "open", rate, seconds / turns)
        row = _row("memory", "hybrid", load)
        rows.append({**row, "turn": number, "MB": round(server.megabytes(), 1)})
    return rows


def _index(rows: Sequence[dict[str, Any]], part: str) -> int:
    return next(number for number, row in enumerate(rows) if row["part"] == part)


def _tables(alone: dict[str, tuple[float, float]], rows: Sequence[dict[str, Any]]) -> list[Table]:
    shown = (
        "part",
        "mode",
        "rate",
        "wanted",
        "possible",
        "p50 ms",
        "p95 ms",
        "server CPU ms a request",
        "generator CPU ms a request",
        "generator CPU share of a core",
    )
    main = [row for row in rows if row["part"] != "memory"]
    memory = [row for row in rows if row["part"] == "memory"]
    return [
        Table(
            "A query in process, one after the other",
            ("mode", "ms", "CPU ms", f"queries a second on {_CORES} cores"),
            [
                (mode, round(clock * 1000, 1), round(cpu * 1000, 1), round(_CORES / cpu, 1))
                for mode, (clock, cpu) in alone.items()
            ],
        ),
        Table("The server", shown, [tuple(row.get(name, "") for name in shown) for row in main]),
        Table(
            "The soak",
            ("turn", "rate", "p95 ms", "MB"),
            [tuple(row[name] for name in ("turn", "rate", "p95 ms", "MB")) for row in memory],
        ),
    ]
