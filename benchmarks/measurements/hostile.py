"""What the worst query costs: ten thousand generated ones, each timed on the processor.

The library is larger than most people's notes: 5,000 notes of about 600 words each, in two
languages.
The queries are those of `hostile_queries.py`: up to 2,000 characters of quotations, operators,
prefixes, filters, scripts and signs, mixed and repeated.
Each is searched once, by turns with the limit of a page and with the usual one, one in three as if
it were being typed, with the model that comes with the package; one in fifty is asked `why` about a
note, too.
What is counted is the processor time of the whole process, so all lanes and threads are in it;
nothing is cut off before its end, as `query_seconds` is a minute here.
"""

from __future__ import annotations

from typing import Any

import corpus
import hostile_queries
import synthetic_library
from outcome import Goal, Outcome, Room, Table, percentile, timed
from twolane.library import Library
from twolane.settings import Settings

# Notes of the corpus that are put together as one.
_JOINED = 4

_SHOWN = 12
_PER_DIAGNOSIS = 50


_KEPT = 300


def measure(room: Room) -> Outcome:
    """Search with every query, and find the dearest."""
    path = synthetic_library.library(room.folder, room.size(5_000, 500), joined=_JOINED)
    known = [word for pair in zip(*_words(), strict=False) for word in pair]
    settings = Settings(db=path, cache=room.folder / "cache", search={"query_seconds": 60})
    rows: list[dict[str, Any]] = []
    with Library.open(settings=settings) as library:
        # The first search loads the model, the first unknown word the vocabulary.
        first = library.search("warm up xyzzyx").results[0].id
        library.why("warm up", first)
        for number, text in enumerate(hostile_queries.queries(room.size(10_000, 200), known)):
            limit = 10 if number % 2 else None
            answer, taken = timed(library.search, text, limit=limit, typing=number % 3 == 0)
            rows.append(_row(number, "search", text, taken.cpu, len(answer.degraded)))
            if number % _PER_DIAGNOSIS == 0:
                diagnosis, taken = timed(library.why, text, first)
                rows.append(_row(number, "why", text, taken.cpu, len(diagnosis.degraded)))
    return _outcome(rows)


def _words() -> list[tuple[str, ...]]:
    return [corpus.vocabulary(language).words for language in ("en", "ru")]


def _row(number: int, what: str, text: str, cpu: float, degraded: int) -> dict[str, Any]:
    # The generator gives the whole text again.
    return {
        "number": number,
        "what": what,
        "characters": len(text),
        "begins": text[:80],
        "cpu": round(cpu, 4),
        "degraded": degraded,
    }


def _outcome(rows: list[dict[str, Any]]) -> Outcome:
    searches = [row for row in rows if row["what"] == "search"]
    dearest = sorted(rows, key=lambda row: -row["cpu"])[:_SHOWN]
    goals = [
        Goal("Worst query, CPU time", max(row["cpu"] for row in searches), "s", at_most=1.0),
        Goal("Lanes that were cut off", sum(row["degraded"] for row in searches), "", at_most=0),
    ]
    spread = [
        (
            what,
            len(costs),
            *(round(1000 * percentile(costs, share), 1) for share in (0.5, 0.95, 0.99, 1.0)),
        )
        for what in ("search", "why")
        if (costs := [row["cpu"] for row in rows if row["what"] == what])
    ]
    return Outcome(
        goals=goals,
        tables=[
            Table(
                "CPU time of a generated query, in ms",
                ("what", "queries", "half of them within", "95 %", "99 %", "all"),
                spread,
            ),
            Table(
                "The dearest",
                ("what", "begins", "characters", "CPU, s"),
                [
                    (one["what"], f"`{_plain(one['begins'])}`", one["characters"], one["cpu"])
                    for one in dearest
                ],
            ),
        ],
        # All of them would be two megabytes; these are what somebody would want to look at.
        rows=sorted(rows, key=lambda row: -row["cpu"])[:_KEPT],
        facts={"corpus": corpus.facts(), "joined": _JOINED},
    )


def _plain(text: str) -> str:
    """Text that neither ends a cell of a table nor a piece of code."""
    return " ".join(text.replace("|", "¦").replace("`", "'").split())[:60]
