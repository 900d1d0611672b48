"""Bringing a folder of notes into a new library, text only, and again when nothing changed.

`Library.index` over files of about 150 words, with the default settings and without an embedder,
in one process (the setting `index.cores` is 1); the rate with all cores is beside it.
The baseline of the first run reads the same files and inserts their text as it is into an FTS5
table, in the same batches; that of the second run walks the folder and looks at each file's
size and time.
Where the time goes comes from a run of its own under cProfile, which slows small Python functions
down more than large ones: its shares are a guide, not a measure.
"""

from __future__ import annotations

import cProfile
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bare
import corpus
from measurements import profiling
from outcome import Goal, Outcome, Room, Table, Taken, median, timed
from synthetic_library import batches
from twolane.library import Library
from twolane.settings import Settings

if TYPE_CHECKING:
    from twolane.ingest.indexing import Report

_SETTINGS = Settings(embedding={"embedder": "none"}, index={"cores": 1})

# The rate is taken over stretches of so many notes, to see whether it falls as the vault grows.
_STRETCH = 500
_SECOND_RUNS = 3


def measure(room: Room) -> Outcome:
    """Index, index again, and profile."""
    count = room.size(10_000, 1_000)
    vault = corpus.write_vault(room.folder, count)
    raw: list[dict[str, Any]] = []
    reading = _baseline(room.folder / "index-bare.db", vault)
    raw.append({"run": "bare", "seconds": reading})
    first = _first_run(room.folder / "index.db", vault, count, raw)
    several = _several(room.folder / "index-several.db", vault, count, raw)
    again, walking = _second_runs(room.folder / "index.db", vault, count, raw)
    profiled = _profiled(room.folder / "index-profiled.db", room)
    return Outcome(
        goals=[
            Goal(
                "Indexing files without vectors",
                count / first.seconds,
                "notes/s",
                count / first.cpu,
                at_least=300,
            ),
            Goal(f"Indexing {count:,} unchanged files", again.seconds, "s", again.cpu, at_most=2.0),
        ],
        tables=[
            _summary(count, first, several, reading, again.seconds, walking, raw),
            profiled.stages,
            profiled.modules,
        ],
        rows=[*raw, *profiled.rows],
        facts={**corpus.facts(), "notes": count},
    )


def _summary(
    count: int,
    first: Taken,
    several: Taken,
    reading: float,
    second: float,
    walking: float,
    raw: list[dict[str, Any]],
) -> Table:
    stretches = [row["notes per second"] for row in raw if row["run"] == "stretch"]
    return Table(
        f"{count:,} files",
        ("what", "value", "unit"),
        [
            ("first run", round(first.seconds, 2), "s"),
            ("first run, CPU time", round(first.cpu, 2), "s"),
            ("rate", round(count / first.seconds), "notes/s"),
            (f"median rate of {_STRETCH} notes", round(median(stretches)), "notes/s"),
            (f"rate of the first {_STRETCH} notes", round(stretches[0]), "notes/s"),
            (f"rate of the last {_STRETCH} notes", round(stretches[-1]), "notes/s"),
            (f"rate with {os.cpu_count()} cores", round(count / several.seconds), "notes/s"),
            ("reading files into a bare FTS5 table", round(reading, 2), "s"),
            ("first run against that", round(first.seconds / reading, 2), "×"),
            (f"nothing changed, median of {_SECOND_RUNS}", round(second, 3), "s"),
            ("walking the folder", round(walking, 3), "s"),
            ("nothing changed against walking", round(second / walking, 2), "×"),
        ],
    )


def _baseline(path: Path, vault: Path) -> float:
    def read() -> None:
        connection = bare.connect(path)
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, content='')")
        for batch in batches(sorted(vault.rglob("*.md")), _SETTINGS.index.batch):
            with connection:
                connection.executemany(
                    "INSERT INTO words(body) VALUES (?)",
                    [(file.read_text("utf-8"),) for file in batch],
                )
        connection.close()

    return timed(read)[1].seconds


def _first_run(path: Path, vault: Path, count: int, raw: list[dict[str, Any]]) -> Taken:
    marks = [time.perf_counter()]

    def progress(report: Report) -> None:
        if report.indexed == len(marks) * _STRETCH:
            marks.append(time.perf_counter())

    with Library.open(path, settings=_SETTINGS) as library:
        report, taken = timed(library.index, vault, progress=progress)
    if report.indexed != count or report.problems:
        raise RuntimeError(f"indexed {report.indexed} of {count} notes: {report.problems[:3]}")
    raw.append({"run": "first", "seconds": taken.seconds, "cpu": taken.cpu, "notes": count})
    for number in range(1, len(marks)):
        rate = _STRETCH / (marks[number] - marks[number - 1])
        raw.append({"run": "stretch", "up to": number * _STRETCH, "notes per second": rate})
    return taken


def _several(path: Path, vault: Path, count: int, raw: list[dict[str, Any]]) -> Taken:
    with Library.open(path, settings=_SETTINGS.changed(index={"cores": 0})) as library:
        report, taken = timed(library.index, vault)
    if report.indexed != count:
        raise RuntimeError(f"indexed {report.indexed} of {count} notes with all cores")
    raw.append({"run": "all cores", "seconds": taken.seconds, "cpu": taken.cpu, "notes": count})
    return taken


def _second_runs(
    path: Path, vault: Path, count: int, raw: list[dict[str, Any]]
) -> tuple[Taken, float]:
    again, walked = [], []
    for _ in range(_SECOND_RUNS):
        with Library.open(path, settings=_SETTINGS) as library:
            report, taken = timed(library.index, vault)
        if report.unchanged != count:
            raise RuntimeError(f"only {report.unchanged} of {count} notes were unchanged")
        again.append(taken)
        raw.append({"run": "second", "seconds": taken.seconds, "cpu": taken.cpu, "notes": count})
        walked.append(timed(_walk, vault)[1].seconds)
        raw.append({"run": "walk", "seconds": walked[-1]})
    middle = sorted(again, key=lambda one: one.seconds)[len(again) // 2]
    return middle, median(walked)


def _walk(vault: Path) -> int:
    total = 0
    folders = [str(vault)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                else:
                    total += entry.stat().st_size
    return total


def _profiled(path: Path, room: Room) -> profiling.Profiled:
    count = room.size(2_000, 500)
    vault = corpus.write_vault(room.folder, count)
    profile = cProfile.Profile()
    with Library.open(path, settings=_SETTINGS) as library:
        profile.runcall(library.index, vault)
    return profiling.grouped(profile, count)
