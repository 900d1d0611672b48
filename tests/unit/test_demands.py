"""Queries of nothing but demands: a document meets them or does not, never in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Answer, Library, Mode


@pytest.fixture
def library(tmp_path: Path) -> Library:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bread.md").write_text("# Bread\n\nBread, then more bread, and bread again.\n")
    (notes / "trip.md").write_text("# A trip\n\nOn the way we had soup with bread by the lake.\n")
    (notes / "lake.md").write_text("# The lake\n\nWe swam, and slept in the grass.\n")
    opened = open_library(tmp_path / "library.db", "none")
    opened.index(notes)
    return opened


def test_one_of_two_is_enough(library: Library) -> None:
    """A document with one alternative has all that was asked for, like one with both."""
    found = library.search("soup OR bread", mode=Mode.LEXICAL)
    assert covered(found) == {"trip.md": 1.0, "bread.md": 1.0}


def test_words_without_operators_count_by_share(library: Library) -> None:
    """The same words without an operator are all wanted, so that one of them is a part."""
    found = covered(library.search("soup bread", mode=Mode.LEXICAL))
    assert found["trip.md"] == 1.0
    assert found["bread.md"] < 0.6


def covered(answer: Answer) -> dict[str | None, float]:
    """The share of the query that each result holds."""
    return {one.path: one.signs.coverage for one in answer.results if one.signs}
