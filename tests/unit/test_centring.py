"""Centring: the accent leaves, the meaning stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from twolane import Library, Settings
from twolane.centring import EVERY, FEWEST, block, centred, centred_query, means_of
from twolane.embedders.hashing import HashingEmbedder
from twolane.model import Space
from twolane.stores.sqlite import SqliteStore

SPACE = Space("x", "m", "1", 4, "1", centring="language 0:4")


def accented() -> tuple[np.ndarray, list[str | None]]:
    """Two languages that say the same things, each with its own accent."""
    chosen = np.random.default_rng(3)
    meanings = chosen.normal(size=(20, 8))
    accents = {"en": np.eye(8)[0] * 8, "ru": np.eye(8)[1] * 8}
    rows = [meanings + accents["en"], meanings + accents["ru"]]
    vectors = np.concatenate(rows).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, ["en"] * 20 + ["ru"] * 20


def test_translations_become_neighbours() -> None:
    """Before centring the nearest text is one of the same language, after it the translation."""
    vectors, languages = accented()
    part = slice(0, 8)

    def nearest_is_translation(rows: np.ndarray) -> float:
        similarities = rows[:20] @ rows.T
        similarities[np.arange(20), np.arange(20)] = -1
        return float(np.mean(similarities.argmax(axis=1) == np.arange(20, 40)))

    moved = centred(vectors, languages, means_of(vectors, languages, part), part)
    assert nearest_is_translation(vectors) < 0.2
    assert nearest_is_translation(moved) > 0.7
    assert np.allclose(np.linalg.norm(moved, axis=1), 1, atol=1e-5)


def test_a_language_of_few_passages_has_no_mean_of_its_own() -> None:
    """The mean of a handful of passages would erase what they say; the mean of all serves them."""
    vectors, languages = accented()
    few: list[str | None] = [*languages[: 40 - FEWEST + 1], *["de"] * (FEWEST - 1)]
    means = means_of(vectors, few, slice(0, 8))
    assert set(means) == {"en", "ru", EVERY}


def test_only_the_block_moves() -> None:
    """Of two models side by side only the accented half is centred, at its old weight."""
    vectors, languages = accented()
    part = slice(4, 8)
    moved = centred(vectors, languages, means_of(vectors, languages, part), part)
    assert np.allclose(moved[:, :4], vectors[:, :4], atol=1e-5)
    assert np.allclose(
        np.linalg.norm(moved[:, 4:], axis=1), np.linalg.norm(vectors[:, 4:], axis=1), atol=1e-5
    )


def test_a_query_of_no_clear_language_is_centred_by_all() -> None:
    """With one plausible language its mean counts, with several the mean of all."""
    means = {"en": np.float32([0.5, 0, 0, 0]), EVERY: np.float32([0, 0.5, 0, 0])}
    vector = np.float32([0.5, 0.5, 0.5, 0.5])
    one = centred_query(vector, {"en"}, means, SPACE)
    several = centred_query(vector, {"en", "ru"}, means, SPACE)
    assert one[0] == pytest.approx(0, abs=1e-6)
    assert several[1] == pytest.approx(0, abs=1e-6)
    assert np.array_equal(centred_query(vector, {"en"}, {}, SPACE), vector)
    assert np.array_equal(
        centred_query(vector, {"en"}, means, replace(SPACE, centring="none")), vector
    )


def test_what_equals_its_mean_stays() -> None:
    """A vector that is nothing but its mean does not become noise."""
    vector = np.float32([[1, 0, 0, 0]])
    assert np.array_equal(
        centred(vector, ["en"], {"en": vector[0], EVERY: vector[0]}, slice(0, 4)), vector
    )


def test_blocks() -> None:
    """The space says which dimensions are centred."""
    assert block(SPACE) == slice(0, 4)
    assert block(replace(SPACE, centring="none")) is None


class Accented(HashingEmbedder):
    """The hashing embedder, declared to have an accent."""

    @property
    def space(self) -> Space:
        return replace(super().space, centring="language 0:256")


def test_means_are_frozen_when_the_generation_is_complete(tmp_path: Path) -> None:
    """The first complete fill sets the means; notes that come later are centred by them."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(12):
        (vault / f"{number}.md").write_text(f"# N{number}\n\nthe walrus number {number}", "utf-8")
    store = SqliteStore.open(tmp_path / "x.db")
    with Library(store, Settings(), Accented()) as library:
        library.index(vault)
        generation = library.embed().generation
        means = store.means(generation)
        assert "en" in means
        raw = Accented().embed_passages(["# N3\n\nthe walrus number 3"])
        assert not np.allclose(store.all_vectors(generation)[3][3], raw[0])
        (vault / "new.md").write_text("# New\n\nsomething about the narwhal", "utf-8")
        library.index(vault)
        library.embed()
        again = store.means(generation)
        assert {name: row.tolist() for name, row in again.items()} == {
            name: row.tolist() for name, row in means.items()
        }
        assert library.search("narwhal", mode="semantic").results[0].path == "new.md"
        assert library.check() == []
