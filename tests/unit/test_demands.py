"""Queries of nothing but demands: a document meets them or does not, never in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library, Mode
from twolane.model.answer import Feature


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
    assert covered(library, "soup OR bread") == {"notes/trip.md": 1.0, "notes/bread.md": 1.0}


def test_words_without_operators_count_by_share(library: Library) -> None:
    """The same words without an operator are all wanted, so that one of them is a part."""
    found = covered(library, "soup bread")
    assert found["notes/trip.md"] == pytest.approx(1.0)
    assert found["notes/bread.md"] < 0.6


def covered(library: Library, query: str) -> dict[str, float]:
    """The share of the query that each document holds."""
    found = library.candidates(query, mode=Mode.LEXICAL)
    return {one.id: one.features[Feature.COVERAGE] for one in found}
