"""Reading a file takes no more memory the longer it is."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from itertools import repeat

import pytest

from tests.bookmark_files import HEAD
from twolane.ingest.exchange.json_rows import read_json
from twolane.ingest.exchange.netscape import Folders, read_bookmarks
from twolane.ingest.exchange.rows import Row, Rows, Text
from twolane.model.document import Kind

ROWS = 6_000
FILLER = "some words that fill a page " * 40


class Endless:
    """A text that is made while it is read."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._rest = ""

    def read(self, size: int, /) -> str:
        """The next characters."""
        while len(self._rest) < size and (piece := next(self._pieces, "")):
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def lines() -> Iterator[str]:
    """One object a line."""
    for number in range(ROWS):
        yield f'{{"id": "{number}", "body": "{FILLER}"}}\n'


def array() -> Iterator[str]:
    """One array of objects."""
    yield "["
    for number in range(ROWS):
        yield f'{{"id": "{number}", "body": "{FILLER}"}},'
    yield "{}]"


def bookmarks() -> Iterator[str]:
    """Links with large pictures."""
    yield HEAD
    for number in range(ROWS):
        yield f'<DT><A HREF="https://a.org/{number}" ICON="{FILLER}">Title</A>\n'


def _json(text: Text) -> Rows:
    return read_json(text, collection="c", kind=Kind.NOTE, longest=100_000)


def _html(text: Text) -> Rows:
    return read_bookmarks(text, collection="c", folders=Folders.TAGS)


@pytest.mark.parametrize(("pieces", "reader"), [(lines, _json), (array, _json), (bookmarks, _html)])
def test_memory_does_not_grow_with_the_file(
    pieces: Callable[[], Iterator[str]], reader: Callable[[Text], Rows]
) -> None:
    """Seven megabytes pass through less than three."""
    tracemalloc.start()
    try:
        found = sum(isinstance(row, Row) for row in reader(Endless(pieces())))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ROWS
    assert peak < 3_000_000


def test_a_line_without_an_end_is_bounded() -> None:
    """A row that never ends is given up, and costs no more than its limit allows."""
    tracemalloc.start()
    try:
        (row,) = _json(Endless(repeat("x" * 1_000, 10_000)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not isinstance(row, Row)
    assert peak < 3_000_000
