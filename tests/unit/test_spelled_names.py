"""Names as one text: which documents hold some letters, and how much of it is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from twolane.stores.spelled_names import SpelledNames
from twolane.stores.sql.counting import Remembered

_LETTERS = some.text("ab\n\0", max_size=6)


def test_all_pieces_stand_in_the_names_of_one_document() -> None:
    """A group's pieces that only two documents together hold are held by none."""
    names = SpelledNames([(7, "\ngreen tea\n"), (3, "\nblack coffee\n"), (5, "\nblack tea\n")])
    assert names.rows_with([["tea"]]) == [7, 5]
    assert names.rows_with([["tea", "black"]]) == [5]
    assert names.rows_with([["coffee", "green"]]) == []
    assert names.rows_with([["\ngreen"], ["coffee\n"], ["milk"]]) == [7, 3]
    assert SpelledNames([]).rows_with([["tea"]]) == []


@given(some.lists(_LETTERS, max_size=6), some.lists(some.lists(_LETTERS, min_size=1, max_size=3)))
def test_it_tells_what_one_look_at_each_would(names: list[str], groups: list[list[str]]) -> None:
    """Whatever the letters are, also those that stand between two documents."""
    groups = [[piece for piece in group if piece] for group in groups]
    held = list(enumerate(names))
    assert SpelledNames(held).rows_with(groups) == [
        row
        for row, text in held
        if any(group and all(piece in text for piece in group) for group in groups)
    ]


def test_what_is_remembered_weighs_no_more_than_it_may() -> None:
    """The oldest go first; a value that takes the place of another weighs alone."""
    known: Remembered[str, str] = Remembered(5, len)
    for key, value in (("a", "xx"), ("b", "xx"), ("b", "xxx")):
        assert known.put(key, value) == value
    assert (known.get("a"), known.get("b")) == ("xx", "xxx")
    known.put("c", "x")
    assert (known.get("a"), known.get("b"), known.get("c")) == (None, "xxx", "x")
    assert known.put("d", "xxxxxx") == "xxxxxx"
    assert known.get("d") is None and known.get("c") is None
