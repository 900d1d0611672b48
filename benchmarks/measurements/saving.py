"""Importing a library of bookmarks, notes and prompts, and saving one document into it.

Of the documents 70 % are bookmarks, 25 % notes of about 150 words and 5 % prompts.
They are read from a file of JSON lines by `Library.import_jsonl`, without embeddings, with the
trigrams of bodies that exact search needs and without; everything is included, from reading the
file to closing the database, but not what a process does once (importing modules and loading
the language detector, by an import of twenty documents beforehand).
What the processes that prepare documents on other cores do once is included; beside that, the same
imports in one process (the setting `index.cores` is 1) tell what these processes are worth.
By CPU time, the busiest of the processes decides.
A save is `Library.save` of one document into the library that holds them all, new ones and
changed ones by turns; it is searchable when the call returns.
Substring queries are `Library.search` in the mode `exact`, the best twenty with their highlights:
pieces of 6 to 14 characters that begin anywhere in a title, an address, a description or a text,
every other one in capitals; each must find something, and counts with its median of three.
Encrypting is a save that leaves nothing of a document in the file: the indexes are written anew.
"""

from __future__ import annotations

import random
import resource
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import corpus
import saved_documents
from outcome import Goal, Outcome, Room, Table, Taken, median, percentile, timed
from twolane import Draft, Library, Settings
from twolane.ingest.parallel import MOST_CORES
from twolane.settings.machine import cores as processors

_SAVES = 400


def measure(room: Room) -> Outcome:
    """Import with and without trigrams of bodies, then save one by one."""
    count = room.size(100_000, 4_000)
    file = saved_documents.write(room.folder / f"saved-{count}.jsonl", count)
    _warm(room.folder)
    ways = {"trigrams of bodies": _settings(exact=True), "no trigrams": _settings(exact=False)}
    raw, imports, goals = [], [], []
    for way, settings in ways.items():
        for cores in dict.fromkeys((min(processors(), MOST_CORES), 1)):
            db = room.folder / f"saving-{count}-{cores}-{way.replace(' ', '-')}.db"
            before = _others_cpu()
            _, taken = timed(_imported, db, file, settings.changed(index={"cores": cores}))
            others = _others_cpu() - before
            size = db.stat().st_size
            imports.append(_row(way, cores, count, taken, others, size))
            raw.append(
                {
                    "way": way,
                    "cores": cores,
                    "seconds": taken.seconds,
                    "cpu": taken.cpu,
                    "cpu of others": others,
                    "bytes": size,
                }
            )
            if cores == 1 and processors() > 1:
                continue
            least = 1_000.0 if way != "no trigrams" else 2_000.0
            rate, on_cpu = count / taken.seconds, count / _busiest(taken, others, cores)
            goals.append(Goal(f"Importing, {way}", rate, "documents/s", on_cpu, at_least=least))
    db = room.folder / f"saving-{count}-1-trigrams-of-bodies.db"
    saves = _saves(db, ways, count)
    raw += [{"save": at, "ms": one.seconds * 1e3, "cpu": one.cpu} for at, one in enumerate(saves)]
    asked = _asked(db, ways, count, room.size(200, 40))
    raw += asked
    substrings = [row["ms"] for row in asked]
    substrings_cpu = median(row["cpu"] for row in asked)
    hidden = _encrypted(db, ways)
    raw += [{"encrypted": at, "ms": one.seconds * 1e3} for at, one in enumerate(hidden)]
    ms = [one.seconds * 1e3 for one in saves]
    on_cpu = median(one.cpu * 1e3 for one in saves)
    goals.append(Goal("Saving one document, p50", median(ms), "ms", on_cpu, at_most=5.0))
    what = "Substring query, p50"
    goals.append(Goal(what, median(substrings), "ms", substrings_cpu, at_most=60.0))
    return Outcome(
        goals=goals,
        tables=[
            Table(
                f"Importing {count:,} documents",
                (
                    "way",
                    "cores",
                    "seconds",
                    "documents/s",
                    "by CPU time",
                    "ms of CPU a document, writer",
                    "others",
                    "database, MB",
                ),
                imports,
            ),
            Table(
                f"{len(saves)} saves into {count:,} documents",
                ("p50 ms", "p95 ms", "p50 ms of CPU"),
                [(round(median(ms), 2), round(percentile(ms, 0.95), 2), round(on_cpu, 2))],
            ),
            Table(
                f"{len(asked)} substring queries of {count:,} documents",
                ("p50 ms", "p95 ms", "p50 ms of CPU"),
                [
                    (
                        round(median(substrings), 2),
                        round(percentile(substrings, 0.95), 2),
                        round(substrings_cpu, 2),
                    )
                ],
            ),
            Table(
                f"{len(hidden)} documents of {count:,} encrypted, one by one",
                ("p50 ms",),
                [(round(median(one.seconds * 1e3 for one in hidden), 1),)],
            ),
        ],
        rows=raw,
        facts={
            **corpus.facts(),
            "documents": count,
            "bytes of JSON": file.stat().st_size,
            "cores": processors(),
        },
    )


def _settings(*, exact: bool) -> Settings:
    return Settings(embedding={"embedder": "none"}, index={"exact_bodies": exact})


def _warm(folder: Path) -> None:
    small = saved_documents.write(folder / "saved-20.jsonl", 20)
    _imported(folder / "saving-warm.db", small, _settings(exact=True))


def _imported(db: Path, file: Path, settings: Settings) -> None:
    with Library.open(db, settings=settings) as library:
        report = library.import_jsonl(file)
    if report.failed or report.skipped:
        raise RuntimeError(f"{report.failed + report.skipped} documents were not imported")


def _row(
    way: str, cores: int, count: int, taken: Taken, others: float, size: int
) -> tuple[str | float, ...]:
    return (
        way,
        cores,
        round(taken.seconds, 1),
        round(count / taken.seconds),
        round(count / _busiest(taken, others, cores)),
        round(taken.cpu / count * 1e3, 3),
        round(others / count * 1e3, 3),
        round(size / 1e6, 1),
    )


def _others_cpu() -> float:
    """The CPU time of processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _busiest(taken: Taken, others: float, cores: int) -> float:
    return max(taken.cpu, others / max(1, cores - 1))


def _saves(db: Path, ways: dict[str, Settings], count: int) -> list[Taken]:
    rows = islice(saved_documents.rows(count, seed=corpus.SEED + 1), _SAVES)
    taken = []
    with Library.open(db, settings=ways["trigrams of bodies"]) as library:
        for number, row in enumerate(rows):
            # Every other one replaces a document that is there.
            id = row["id"] if number % 2 else f"new-{number}"
            given = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in row.items()
                if name not in ("created", "updated")
            }
            draft = replace(Draft(**given), id=id)
            taken.append(timed(library.save, draft)[1])
    return taken


def _asked(db: Path, ways: dict[str, Settings], count: int, queries: int) -> list[dict[str, Any]]:
    """Substring queries, each with the median of its times in milliseconds."""
    texts = list(_pieces(count, queries))
    found = []
    with Library.open(db, settings=ways["trigrams of bodies"]) as library:
        for text in texts[:10]:
            library.search(text, mode="exact")
        for text in texts:
            answers, times = zip(
                *(timed(library.search, text, mode="exact") for _ in range(3)), strict=True
            )
            if not answers[0].results:
                raise RuntimeError(f"nothing holds {text!r}")
            ms, cpu = (median(getattr(one, of) * 1e3 for one in times) for of in ("seconds", "cpu"))
            found.append({"piece": text, "ms": ms, "cpu": cpu})
    return found


def _pieces(count: int, queries: int) -> Iterator[str]:
    """Pieces of the documents' texts, from one end of the library to the other."""
    dice = random.Random(corpus.SEED + 5)
    chosen = set(range(_SAVES, count, (count - _SAVES) // queries))
    for number, row in enumerate(saved_documents.rows(count)):
        if number not in chosen:
            continue
        texts = [row[name] for name in ("title", "description", "body") if name in row]
        if "url" in row:
            texts.append(row["url"].partition("//")[2])
        text = dice.choice(texts)
        length = dice.randint(6, 14)
        start = dice.randrange(max(1, len(text) - length))
        piece = " ".join(text[start : start + length].split())
        yield piece.upper() if number % 2 else piece


def _encrypted(db: Path, ways: dict[str, Settings]) -> list[Taken]:
    with Library.open(db, settings=ways["trigrams of bodies"]) as library:
        return [
            timed(library.save, Draft(f"new-{number}", encrypted=True))[1] for number in (0, 2, 4)
        ]
