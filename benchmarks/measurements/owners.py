"""Ten thousand random operations of twenty owners, on SQLite and on PostgreSQL: does anything leak?

Every text, tag, alias, property, address and collection of an owner holds a word that names the
owner; owners save, take over ids, search in every mode, read, list, explain, delete, restore and
tag, also by ids and words of others.
Whatever the library answers, errors too, is looked through for words of other owners.
Vectors are made after every 500 operations (`hashing`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from outcome import Goal, Outcome, Room, Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.owner_operations import Operations
from tests.postgres_server import running

from twolane import Library, Settings


def measure(room: Room) -> Outcome:
    """Do them on both stores."""
    count = room.size(10_000, 500)
    settings = Settings(embedding={"embedder": "hashing"})
    found: dict[str, Operations] = {}
    with running() as server, server.database() as url:
        for store, place in (("SQLite", room.folder / "owners.db"), ("PostgreSQL", url)):
            with Library.open(place, settings=settings) as library:
                found[store] = Operations(library, owners=20, seed=1)
                for _ in range(count // 500):
                    found[store].run(500)
                    library.embed()
    goals = []
    for store, one in found.items():
        done = one.done.total()
        goals.append(Goal(f"{store}: operations", done, "", at_least=count))
        goals.append(Goal(f"{store}: words of others told", len(one.leaks), "", at_most=0))
    rows = [
        {"store": store, "operation": name, "times": times, "own words told": one.own[name]}
        for store, one in found.items()
        for name, times in sorted(one.done.items())
    ]
    table = Table(
        "What owners did",
        ("store", "operation", "times", "own words told"),
        [tuple(row.values()) for row in rows],
    )
    leaks = [leak for one in found.values() for leak in one.leaks]
    return Outcome(goals, [table], rows, {"owners": 20, "leaks": leaks[:20]})
