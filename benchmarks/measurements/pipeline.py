"""What the pipeline adds to embedding: filling a database, against calling the embedder in a loop.

Both embed the same passages with the default model in the same batches.
The pipeline claims the passages from a database, calls the embedder from as many threads as there
are cores, checks every vector and stores it with its sentences; the loop calls the embedder for the
same texts and sentences from one thread, and throws the vectors away.
Both take turns, each time with new passages, and the ratio is that of each pair.
"""

from __future__ import annotations

import corpus
from outcome import Goal, Outcome, Room, Table, median, timed
from synthetic_library import batches as pieces
from twolane.embedding.embedders.use import UseEmbedder
from twolane.embedding.pipeline import BATCH_TOKENS, fill
from twolane.embedding.pipeline.batches import batches
from twolane.ingest.chunking import embedded_sentences, embedded_text
from twolane.library import Library
from twolane.ports import Stores
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores

_REPETITIONS = 4


def measure(room: Room) -> Outcome:
    """Time both by turns."""
    count = room.size(250, 40)
    embedder = UseEmbedder(room.folder / "cache" / "use")
    embedder.embed_passages(["warm"])
    notes = list(corpus.notes(count * _REPETITIONS))
    raw = []
    for repetition, some in enumerate(pieces(notes, count)):
        vault = room.folder / f"pipeline-{repetition}"
        for note in some:
            path = vault / note.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(note.markdown(), "utf-8")
        db = room.folder / f"pipeline-{repetition}.db"
        settings = Settings(db=db, embedding={"embedder": "none"})
        with Library.open(settings=settings) as library:
            library.index(vault)
        store = open_stores(db)
        number = store.vectors.open_generation(embedder.space).number
        claimed = store.queue.claim(number, worker="loop", limit=10**6, seconds=600)
        store.queue.release(number, "loop")
        grouped = batches(claimed, BATCH_TOKENS)

        def loop(grouped: object = grouped) -> None:
            for batch in grouped:  # type: ignore[attr-defined]
                embedder.embed_together(
                    [embedded_text(one.title, one.headings, one.text) for one in batch],
                    [embedded_sentences(one.title, one.headings, one.text) for one in batch],
                )

        def pipeline(store: Stores = store) -> None:
            fill(store, embedder)

        taken = {}
        sides = [("loop", loop), ("pipeline", pipeline)]
        for name, side in sides if repetition % 2 else reversed(sides):
            _, taken[name] = timed(side)
        left = store.queue.progress(number)
        if left.pending or left.failed or left.ready != len(claimed):
            raise RuntimeError(f"the pipeline did not embed everything: {left}")
        store.maintenance.close()
        raw.append(
            {
                "repetition": repetition,
                "passages": len(claimed),
                **{f"{name} seconds": one.seconds for name, one in taken.items()},
                **{f"{name} CPU": one.cpu for name, one in taken.items()},
            }
        )
    ratio = median(row["pipeline seconds"] / row["loop seconds"] for row in raw)
    on_cpu = median(row["pipeline CPU"] / row["loop CPU"] for row in raw)
    return Outcome(
        goals=[Goal("The pipeline against a plain loop", ratio, "×", on_cpu, at_most=1.10)],
        tables=[
            Table(
                f"{sum(int(row['passages']) for row in raw):,} passages in {_REPETITIONS} turns",
                ("way", "passages/s", "CPU ms per passage"),
                [
                    (
                        name,
                        round(median(row["passages"] / row[f"{name} seconds"] for row in raw), 1),
                        round(
                            median(row[f"{name} CPU"] / row["passages"] for row in raw) * 1000, 2
                        ),
                    )
                    for name in ("loop", "pipeline")
                ],
            )
        ],
        rows=raw,
        facts=corpus.facts(),
    )
