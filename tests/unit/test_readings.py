"""A query is read as it was typed and as its words that count, where that was measured to help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.unit.small_sets import quick, small_set
from twolane import Library
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.evaluation.indexes import bench
from twolane.ranking import search as module

SETTINGS = quick()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    file, golden = small_set(tmp_path)
    library = bench(golden, file, SETTINGS, tmp_path / "cache")
    yield library
    library.close()


def similarity(library: Library, text: str, title: str) -> float:
    """How similar the query's vector is to the note of this title."""
    ids = {one.id for one in library.documents() if one.title == title}
    found = {one.id: one.similarity for one in library.candidates(text)}
    return found[ids.pop()] or 0.0


def unit(*weighted: tuple[str, float]) -> np.ndarray:
    total = sum(weight * HashingEmbedder().embed_query(text) for text, weight in weighted)
    return total / np.linalg.norm(total)


QUERY = "how do I feed the starter with water"
CONTENT = "feed starter water"


@pytest.mark.parametrize(
    ("embedders", "weighted"),
    [
        (frozenset({"use"}), ((QUERY, 1.0),)),
        (frozenset({"hashing"}), ((QUERY, 1.0), (CONTENT, 0.5))),
    ],
    ids=["as typed", "as typed and as its words"],
)
def test_the_vector_of_a_query_lies_between_its_readings(
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    embedders: frozenset[str],
    weighted: tuple[tuple[str, float], ...],
) -> None:
    """As typed at full weight, its words that count at half; other embedders read it as typed."""
    monkeypatch.setattr(module, "_WITH_READINGS", embedders)
    passages = dict(library.vector_sample(100))
    ids = {one.title: one.id for one in library.documents()}
    expected = float(unit(*weighted) @ passages[ids["Bread"]])
    assert similarity(library, QUERY, "Bread") == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", ["starter", "feed starter water"])
def test_a_query_of_nothing_but_words_that_count_is_read_once(
    library: Library, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Without function words both readings are one, and nothing changes."""
    monkeypatch.setattr(module, "_WITH_READINGS", frozenset({"hashing"}))
    before = similarity(library, text, "Bread")
    monkeypatch.setattr(module, "_WITH_READINGS", frozenset())
    assert similarity(library, text, "Bread") == before


def test_an_evaluation_waits_for_every_lane(library: Library) -> None:
    """No figure depends on how busy the machine is."""
    assert library.settings.search.query_seconds == library.settings.search.embed_seconds == 3600
