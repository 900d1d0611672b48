"""Measure speed and memory, and keep each result whole.

    python benchmarks/run.py [NAMES...] [--quick] [--collections FOLDER]

Without names everything is measured, each measurement in a process of its own; `real_notes` only
if a folder of BEIR collections is given, which are no part of this project, and what takes an hour
(`cluster_300k`, `cluster_1m`) only if it is named.
A result goes to `benchmarks/results/NAME-COMMIT.json` with the command, the code, the versions, the
machine, the summary and every raw row; where the code is not that of a commit, the version stands
for it.
A quick run is small: it shows that everything works and roughly where it stands, and keeps nothing.
`python benchmarks/tables.py` then writes the page that shows the results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import machine
from outcome import Room
from processes import environment

if TYPE_CHECKING:
    from outcome import Outcome

NAMES = (
    "apply",
    "index",
    "saving",
    "query",
    "answering",
    "filtered",
    "guaranteed",
    "embedding",
    "pipeline",
    "real_notes",
    "cold",
    "memory",
    "page",
    "serve",
    "generated",
    "leaks",
    "hostile",
    "walk",
    "faults",
    "command_kills",
    "overload",
    "embedder_faults",
    "damage",
    "cluster",
    "cluster_300k",
    "cluster_1m",
    "cluster_parity",
    "many_users",
    "parity",
    "hnsw",
    "kills",
    "owners",
)
_LONG = ("cluster_300k", "cluster_1m")
RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: Sequence[str]) -> int:
    """Run the measurements that are named, or all; the exit code is that of the worst."""
    asked = _asked(arguments)
    if asked.folder is not None:
        where = Path(asked.collections).resolve() if asked.collections else None
        return _here(asked.names[0], Room(Path(asked.folder), asked.quick, where))
    worst = 0
    with tempfile.TemporaryDirectory(prefix="twolane-bench-") as folder:
        left_out = {*_LONG, *([] if asked.collections else ["real_notes"])}
        every = [name for name in NAMES if name not in left_out]
        more = [*(["--quick"] if asked.quick else [])]
        more += ["--collections", asked.collections] if asked.collections else []
        for name in asked.names or every:
            words = [sys.executable, __file__, name, "--folder", folder]
            # A process each: what one measurement leaves behind must not slow the next.
            code = subprocess.run(
                [*words, *more],
                env=environment(Path(folder)),
                check=False,
            ).returncode
            worst = max(worst, abs(code))
    return worst


def _asked(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure speed and memory.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is stored")
    parser.add_argument("--collections", help="a folder of BEIR folders, for real_notes")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    for name in asked.names:
        if name not in NAMES:
            parser.error(f"there is no measurement {name!r}; there are: {', '.join(NAMES)}")
    return asked


def _here(name: str, room: Room) -> int:
    """Take one measurement in this process, show it and keep it."""
    module = import_module(f"measurements.{name}")
    started, clock, before = datetime.now(UTC), time.perf_counter(), machine.load()
    outcome: Outcome = module.measure(room)
    seconds = time.perf_counter() - clock
    _show(name, outcome, seconds)
    if not room.quick:
        code = machine.code()
        result = {
            "name": name,
            "command": f"python benchmarks/run.py {name}"
            + (" --collections FOLDER" if name == "real_notes" else ""),
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "code": code,
            "versions": machine.versions(),
            "machine": machine.machine(),
            "load before": before,
            "load after": machine.load(),
            "environment": machine.threads_told(),
            "method": (module.__doc__ or "").strip(),
            "facts": outcome.facts,
            "goals": [{**asdict(goal), "met": goal.met} for goal in outcome.goals],
            "tables": [asdict(table) for table in outcome.tables],
            "rows": outcome.rows,
        }
        RESULTS.mkdir(exist_ok=True)
        committed = code["commit"] and not code["changed since"]
        file = RESULTS / f"{name}-{code['commit'] if committed else code['version']}.json"
        file.write_text(_json(result), "utf-8")
        print(f"kept in benchmarks/results/{file.name}\n", flush=True)
    return 0


def _show(name: str, outcome: Outcome, seconds: float) -> None:
    print(f"== {name} ({seconds:.0f} s)")
    for goal in outcome.goals:
        bound = f"<= {goal.at_most:g}" if goal.at_most is not None else f">= {goal.at_least:g}"
        verdict = "met" if goal.met else "NOT MET"
        on_cpu = f"; by CPU time {goal.on_cpu:.4g}" if goal.on_cpu is not None else ""
        print(f"{verdict:<8} {goal.what}: {goal.measured:.4g} {goal.unit} (goal {bound}{on_cpu})")
    for table in outcome.tables:
        print(f"\n{table.title}")
        cells = [table.columns, *([str(cell) for cell in row] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            shown = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  " + "  ".join(shown).rstrip())
    print(flush=True)


def _json(result: Mapping[str, Any]) -> str:
    """Indented JSON with one raw row per line, so that two results can be compared by eye."""
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in result["rows"])
    head = json.dumps({**result, "rows": []}, ensure_ascii=False, indent=1)
    opening = head.removesuffix("[]\n}")
    return f"{opening}[\n{rows}\n ]\n}}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
