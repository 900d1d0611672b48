"""The most memory that a process ever holds (peak resident set, in MB of a million bytes).

Searches are `python -m twolane search` over the library of the query measurement: 100,000 notes of
one chunk with vectors of 512 dimensions, the query embedded by the real model.
What a hybrid search may take is one float32 matrix of the vectors and 300 MB.
Indexing is `python -m twolane index --no-wait` over folders of different sizes.
One batch is what 200 notes take beyond two notes; the peak may not grow by more than that
between the middle and the large folder.
That is the process which reads and writes; those that prepare notes on other cores for it are
shown by the largest of them.
Pages of mapped files count as far as they were read.
The baseline is an empty Python process, and one that imports NumPy and apsw.
"""

from __future__ import annotations

import os
from pathlib import Path

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median
from processes import environment, peaks_mb
from twolane.settings import Settings

_REPETITIONS = 3
_ROOM_MB = 300
_QUERY = "how do I keep the kitchen chain clean"


def measure(room: Room) -> Outcome:
    """Run processes of each kind and ask each for its peak."""
    chunks = room.size(100_000, 5_000)
    middle, large = room.size(2_000, 400), room.size(10_000, 1_000)
    library = synthetic_library.library(room.folder, chunks)
    nothing = room.folder / "nothing.py"
    nothing.write_text("", "utf-8")
    imports = room.folder / "imports.py"
    imports.write_text("import apsw, numpy\n", "utf-8")
    searching = ["twolane", "search", "--db", str(library), "--json", _QUERY]
    kinds: dict[str, list[str]] = {
        "python": ["nothing"],
        "python with NumPy and apsw": ["imports"],
        "lexical search": [*searching, "--mode", "lexical"],
        "hybrid search, first ever": searching,
        "hybrid search": searching,
    }
    for size in (2, Settings().index.batch, middle, large):
        vault = corpus.write_vault(room.folder, size)
        kinds[f"indexing {size:,} notes"] = [
            "twolane", "index", "--no-wait", "--quiet", "--db", "DB", str(vault),
        ]  # fmt: skip
    raw = []
    for repetition in range(room.size(_REPETITIONS, 1)):
        for kind, words in kinds.items():
            # Large folders take long, and their peaks hardly differ from run to run.
            if str(corpus.write_vault(room.folder, large)) in words and repetition:
                continue
            own, largest = _peaks(room.folder, kind, words, repetition)
            raw.append(
                {
                    "repetition": repetition,
                    "kind": kind,
                    "peak MB": own,
                    "largest child MB": largest,
                }
            )
    peaks = {
        kind: median(float(str(row["peak MB"])) for row in raw if row["kind"] == kind)
        for kind in kinds
    }
    matrix = chunks * synthetic_library.space().dimensions * 4 / 1e6
    largest_child = max(float(str(row["largest child MB"])) for row in raw)
    batch = peaks[f"indexing {Settings().index.batch:,} notes"] - peaks["indexing 2 notes"]
    growth = peaks[f"indexing {large:,} notes"] - peaks[f"indexing {middle:,} notes"]
    return Outcome(
        goals=[
            Goal(
                f"Peak memory, lexical search over {chunks:,} notes",
                peaks["lexical search"],
                "MB",
                at_most=120,
            ),
            Goal(
                f"Peak memory, hybrid search over {chunks:,} chunks",
                peaks["hybrid search"],
                "MB",
                at_most=round(matrix + _ROOM_MB, 1),
            ),
            Goal(
                f"Growth of peak memory, indexing {large:,} notes instead of {middle:,}",
                growth,
                "MB",
                at_most=round(batch, 1),
            ),
        ],
        tables=[
            Table(
                "Peak memory, MB, median",
                ("process", "peak"),
                [
                    *((kind, round(peak, 1)) for kind, peak in peaks.items()),
                    ("a process that prepares notes, the largest", round(largest_child, 1)),
                    (f"one float32 matrix of {chunks:,} × 512", round(matrix, 1)),
                    ("one batch while indexing", round(batch, 1)),
                ],
            )
        ],
        rows=raw,
        facts={**corpus.facts(), "chunks": chunks},
    )


def _peaks(folder: Path, kind: str, words: list[str], repetition: int) -> tuple[float, float]:
    db = folder / f"memory-{repetition}-{kind.replace(' ', '-')}.db"
    cache = folder / ("memory-cache" if "first" not in kind else f"memory-cache-{repetition}")
    variables = environment(folder, TWOLANE_CACHE=str(cache))
    variables["PYTHONPATH"] += f"{os.pathsep}{folder}"
    if kind == "hybrid search" and not cache.exists():
        peaks_mb(words, variables, folder / "peak")
    return peaks_mb(
        [str(db) if word == "DB" else word for word in words], variables, folder / "peak"
    )
