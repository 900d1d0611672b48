"""How many of our functions, in how many files, one search and one note pass through.

A function counts once, however often it is called, in whichever thread, with functions inside of
functions, without expressions such as comprehensions and lambdas.
The library holds three notes in two languages; the search is hybrid, by the real model, through
the command line's own way, and was asked once before, so that what happens only at the start does
not count.
The note is indexed beside the three, with its vectors.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Self

import twolane
from outcome import Goal, Outcome, Room, Table
from twolane import Library

_PACKAGE = str(Path(twolane.__file__).parent)
_NOTES = {
    "Tea.md": "# Green tea\n\nSteep the leaves for two minutes.\n\n## Water\n\nNot boiling.\n",
    "Bread.md": "# Sourdough\n\nFeed the starter every day, and bake in a hot pot.\n",
    "Чай.md": "# Зелёный чай\n\nЗаваривайте листья две минуты.\n",
}
_QUERY = "how long should green tea steep"


def measure(room: Room) -> Outcome:
    """Trace both walks."""
    vault = room.folder / "walk"
    vault.mkdir(exist_ok=True)
    for name, text in _NOTES.items():
        (vault / name).write_text(text, "utf-8")
    with _Traced() as traced, Library.open(room.folder / "walk.db", create=True) as library:
        library.index(vault)
        library.embed()
        library.search(_QUERY)
        search = traced.walked(lambda: library.search(_QUERY))
        (vault / "Coffee.md").write_text("# Coffee\n\nGrind it fine, pour slowly.\n", "utf-8")
        note = traced.walked(lambda: (library.index(vault), library.embed()))
    walks = {"a search": search, "an indexed note": note}
    return Outcome(
        goals=[
            goal
            for name, walked in walks.items()
            for goal in (
                Goal(f"Functions of {name}", len(walked), "functions", at_most=150),
                Goal(f"Files of {name}", len({file for file, _ in walked}), "files", at_most=40),
            )
        ],
        tables=[
            Table(
                f"{name}, by room",
                ("room", "functions", "files"),
                [
                    (
                        one,
                        sum(file.split("/")[0] == one for file, _ in walked),
                        len({file for file, _ in walked if file.split("/")[0] == one}),
                    )
                    for one in dict.fromkeys(file.split("/")[0] for file, _ in sorted(walked))
                ],
            )
            for name, walked in walks.items()
        ],
        rows=[
            {"walk": name, "file": file, "function": function}
            for name, walked in walks.items()
            for file, function in sorted(walked)
        ],
    )


class _Traced:
    """Notes what of ours is called, in every thread that is started meanwhile."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def walked(self, work: Callable[[], Any]) -> set[tuple[str, str]]:
        """(file, function) of everything of ours that the work calls."""
        self._seen.clear()
        work()
        return set(self._seen)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(_PACKAGE)
        if ours and not code.co_name.startswith("<"):
            self._seen.add((code.co_filename[len(_PACKAGE) + 1 :], code.co_qualname))
