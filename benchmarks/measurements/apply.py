"""Writing analysed notes into the store, against a bare full-text table.

Notes of about 150 words, parsed and analysed beforehand, go through `DocumentStore.apply` in
batches of the default size.
The baseline inserts the same streams of stems into an FTS5 table as it comes, which keeps what it
indexes, with the same columns and tokenizer, on disk, in WAL mode with `synchronous = NORMAL`, in
the same batches.
A smaller yardstick is a contentless table, as the store has it, which keeps no text at all; a
larger one adds a plain table with the streams and the bodies: the least that can hold what the
store must give back.
Each repetition starts with new files, takes all by turns and includes closing the file.
The letters of names and texts, which exact search needs, are made by `settle` afterwards; that is
timed as a way of its own.
A run of its own tells what is written by which part.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import bare
import corpus
from measurements import apply_parts
from outcome import Goal, Outcome, Room, Table, Taken, median, timed
from synthetic_library import batches
from twolane.ingest.analysis import prepare
from twolane.ingest.parsing.markdown import parse_note
from twolane.model.document import Batch, Collection, Prepared
from twolane.ports.documents import PutCollection
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores

_REPETITIONS = 5
_WAYS = ("store", "store, letters settled", "bare", "bare, contentless", "bare with texts")


def measure(room: Room) -> Outcome:
    """Time the store and its yardsticks by turns."""
    count = room.size(10_000, 1_000)
    settings = Settings()
    notes = list(batches(_analysed(count, settings), settings.index.batch))
    rows = [
        [
            (bare.streams(number * settings.index.batch + place, one.stems), one.document.body)
            for place, one in enumerate(batch, start=1)
        ]
        for number, batch in enumerate(notes)
    ]

    def only(rows: Sequence[Sequence[tuple[bare.Row, str]]]) -> Iterator[list[bare.Row]]:
        return ([row for row, _ in batch] for batch in rows)

    # What was made so far stays; the collector need not look at it while the clock runs.
    gc.collect()
    gc.freeze()
    ways: dict[str, Callable[[Path], None]] = {
        "store": lambda path: _through_store(path, notes),
        "store, letters settled": lambda path: _through_store(path, notes, settled=True),
        "bare": lambda path: bare.fill(path, only(rows), contentless=False),
        "bare, contentless": lambda path: bare.fill(path, only(rows)),
        "bare with texts": lambda path: bare.fill_with_texts(path, rows),
    }
    taken: dict[str, list[Taken]] = {way: [] for way in _WAYS}
    raw = []
    for repetition in range(_REPETITIONS):
        for way in _WAYS:
            path = room.folder / f"apply-{repetition}-{_WAYS.index(way)}.db"
            _, one = timed(ways[way], path)
            taken[way].append(one)
            raw.append(
                {
                    "repetition": repetition,
                    "way": way,
                    "seconds": one.seconds,
                    "cpu": one.cpu,
                    "bytes": path.stat().st_size,
                }
            )
            path.unlink()
    seconds = {way: median(one.seconds for one in taken[way]) for way in _WAYS}
    pairs = list(zip(taken["store"], taken["bare"], strict=True))
    ratio = median(ours.seconds / theirs.seconds for ours, theirs in pairs)
    on_cpu = median(ours.cpu / theirs.cpu for ours, theirs in pairs)
    parts, parted = apply_parts.parts(room.folder / "apply-parts.db", notes, seconds["bare"])
    chunks = sum(len(one.chunks) for batch in notes for one in batch)
    return Outcome(
        goals=[Goal("Writing notes, store against bare FTS5", ratio, "×", on_cpu, at_most=2.0)],
        tables=[
            Table(
                f"{count:,} notes with {chunks:,} chunks, median of {_REPETITIONS}",
                ("way", "seconds", "CPU seconds", "ms per note", "against bare"),
                [
                    (
                        way,
                        round(seconds[way], 2),
                        round(median(one.cpu for one in taken[way]), 2),
                        round(seconds[way] / count * 1000, 3),
                        round(seconds[way] / seconds["bare"], 2),
                    )
                    for way in _WAYS
                ],
            ),
            parts,
        ],
        rows=[*raw, *parted],
        facts={**corpus.facts(), "notes": count, "chunks": chunks, "batch": settings.index.batch},
    )


def _analysed(count: int, settings: Settings) -> list[Prepared]:
    modified = datetime(2025, 1, 1, tzinfo=UTC)
    found = []
    for note in corpus.notes(count):
        parsed = parse_note(
            note.markdown().encode(), path=note.path, collection="notes", modified=modified
        )
        if parsed.document is not None:
            found.append(prepare(parsed.document, settings))
    return found


def _through_store(
    path: Path, notes: Sequence[Sequence[Prepared]], *, settled: bool = False
) -> None:
    store = open_stores(path)
    store.documents.apply(PutCollection(Collection("notes")))
    for batch in notes:
        store.documents.apply(Batch("notes", batch))
    if settled:
        store.maintenance.settle()
    store.maintenance.close()
