"""Twelve thousand random requests of several owners: does anybody read a word of somebody else's?

`canaries` makes the library, the server and the requests: three owners and files that are nobody's,
with a word of its own in every title, text, heading, tag, alias, path, URL, property, collection,
argument, judgment and failure; six worlds with other words each, and 2,000 requests in each.
Five of them are in a file, the last one is on a PostgreSQL server.
Every endpoint and every tool is asked, with tokens of all capabilities; what an answer says is its
body, its headers and its cursor.
The same requests by a token without an owner show that canaries are noticed where they may be read.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outcome import Goal, Outcome, Room, Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.canaries import described, expected, probe, world
from tests.postgres_server import running

_WORLDS = 6


@contextmanager
def _database(seed: int) -> Iterator[str | None]:
    """None for a file; the address of a database on a server for the last world."""
    if seed < _WORLDS:
        yield None
        return
    with running() as server, server.database() as url:
        yield url


def measure(room: Room) -> Outcome:
    """Ask, and look through every answer."""
    # A lane that is not permitted is told in the answer, and need not be told here.
    logging.getLogger("twolane").setLevel(logging.ERROR)
    each = room.size(2_000, 200)
    asked: Counter[str] = Counter()
    leaking: Counter[str] = Counter()
    told: Counter[str] = Counter()
    broken, unasked = 0, expected()
    for seed in range(1, _WORLDS + 1):
        folder = room.folder / f"leaks-{seed}"
        folder.mkdir()
        with _database(seed) as db, world(folder, seed, db) as made:
            report = asyncio.run(probe(made, seed, each))
            whole = asyncio.run(probe(made, seed, each // 10, [made.anybody]))
        if report.leaks:
            print(described(report.leaks), file=sys.stderr)
        asked += report.asked
        leaking += Counter(one.asked.what for one in report.leaks)
        told += Counter(one.asked.what for one in whole.leaks)
        broken += sum(count for (_, status), count in report.statuses.items() if status >= 500)
        unasked -= set(report.asked)
    return Outcome(
        goals=[
            Goal("Random requests of owners", asked.total(), "", at_least=_WORLDS * each),
            Goal("Words of others in their answers", leaking.total(), "", at_most=0),
            Goal("Endpoints and tools that were never asked", len(unasked), "", at_most=0),
            Goal("Answers with 5xx", broken, "", at_most=0),
            Goal("The same words, told to who may read them", told.total(), "", at_least=100),
        ],
        tables=[
            Table(
                "Requests by what they ask",
                ("endpoint or tool", "requests", "words of others", "told to who may read them"),
                [(what, asked[what], leaking[what], told[what]) for what in sorted(asked)],
            )
        ],
        rows=[
            {"asked": what, "requests": asked[what], "leaks": leaking[what], "may": told[what]}
            for what in sorted(asked)
        ],
        facts={"worlds": _WORLDS, "requests in each": each},
    )
