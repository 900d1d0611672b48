"""Centring: the accent leaves, the meaning stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.builders import passages_of
from twolane import Library, Settings
from twolane.embedding.centring import (
    EVERY,
    FEWEST,
    block,
    centred,
    centred_query,
    means_of,
    outgrown,
    uncentred,
)
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.pipeline import fill
from twolane.model.space import Space
from twolane.ports import Stores
from twolane.ports.vectors import Mean, NewVector
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Neighbour

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
    means = {
        "en": Mean(np.float32([0.5, 0, 0, 0]), 9),
        EVERY: Mean(np.float32([0, 0.5, 0, 0]), 20),
    }
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
    mean = Mean(vector[0], 9)
    assert np.array_equal(centred(vector, ["en"], {"en": mean, EVERY: mean}, slice(0, 4)), vector)


@pytest.mark.parametrize("part", [slice(0, 8), slice(3, 8)])
def test_centring_loses_nothing(part: slice) -> None:
    """The vectors as they were follow from the centred ones and their means."""
    vectors, languages = accented()
    languages[5] = None
    means = means_of(vectors, languages, part)
    back = uncentred(centred(vectors, languages, means, part), languages, means, part)
    assert np.abs(back - vectors).max() < 1e-5
    assert uncentred(vectors, languages, {}, part) is vectors


def test_when_means_are_outgrown() -> None:
    """A language that came, or has four times its passages, asks for new means; a few do not."""
    means = {"en": Mean(np.zeros(4, np.float32), 100)}
    assert not outgrown(means, {"en": 399, "ru": FEWEST - 1})
    assert outgrown(means, {"en": 400})
    assert outgrown(means, {"en": 100, "ru": FEWEST})


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
    store = open_stores(tmp_path / "x.db")
    with Library(store, Settings(), Accented()) as library:
        library.index(vault)
        generation = library.embed().generation
        means = store.vectors.means(generation)
        assert "en" in means
        raw = Accented().embed_passages(["# N3\n\nthe walrus number 3"])
        _, fourth = list(passages_of(store, generation).values())[3]
        assert not np.allclose(fourth, raw[0])
        (vault / "new.md").write_text("# New\n\nsomething about the narwhal", "utf-8")
        library.index(vault)
        library.embed()
        again = store.vectors.means(generation)
        assert {name: one.vector.tolist() for name, one in again.items()} == {
            name: one.vector.tolist() for name, one in means.items()
        }
        assert library.search("narwhal", mode="semantic").results[0].path == "new.md"
        assert library.check() == []


class Counted(Accented):
    """Counts the passages that it embeds."""

    made = 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.made += len(texts)
        return super().embed_passages(texts)


def write(vault: Path, name: str, text: str, count: int) -> None:
    """Notes in one language."""
    vault.mkdir(exist_ok=True)
    for number in range(count):
        (vault / f"{name}{number:02}.md").write_text(f"{text} {number}", "utf-8")


def test_a_language_that_comes_later_gets_its_mean(tmp_path: Path) -> None:
    """The vectors are those of a library made in one go, and no passage is embedded twice."""
    vault = tmp_path / "vault"
    write(vault, "en", "the walrus swims in the cold sea, number", 12)
    store, embedder = open_stores(tmp_path / "x.db"), Counted()
    with Library(store, Settings(), embedder) as library:
        library.index(vault)
        generation = library.embed().generation
        write(vault, "ru", "морж плывёт в холодном море, номер", 12)
        library.index(vault)
        library.embed()
        assert {"en", "ru", EVERY} == set(store.vectors.means(generation))
        assert embedder.made == 24
        assert library.check() == []
        grown = passages_of(store, generation)
        taken = store.vectors.means(generation)
        library.embed()
        assert all(
            np.array_equal(taken[one].vector, store.vectors.means(generation)[one].vector)
            for one in taken
        )
    other = open_stores(tmp_path / "y.db")
    with Library(other, Settings(), Accented()) as library:
        library.index(vault)
        whole = passages_of(other, library.embed().generation)
    assert [(key, one[0]) for key, one in grown.items()] == [
        (key, one[0]) for key, one in whole.items()
    ]
    assert max(np.abs(grown[key][1] - whole[key][1]).max() for key in grown) < 1e-3


class Recentring(SqliteVectors):
    """Takes new means at the worst moment: while a query or a batch is on its way."""

    at = ""
    asked = 0
    stores: Stores

    def _shift(self, generation: int) -> None:
        self.at = ""
        held = passages_of(self.stores, generation)
        means = {EVERY: Mean(np.eye(256, dtype=np.float32)[0] / 2, 3)}
        rows = [one for _, one in held.values()]
        languages = [language for language, _ in held.values()]
        moved = centred(np.stack(rows), languages, means, slice(0, 256)) if rows else []
        self.add(
            generation,
            [NewVector(key, row) for key, row in zip(held, moved, strict=True)],
            means=means,
        )

    def nearest(self, generation: int, *args: Any, **options: Any) -> list[Neighbour]:
        self.asked += 1
        if self.at == "query":
            self._shift(generation)
        return super().nearest(generation, *args, **options)

    def add(self, generation: int, *args: Any, **options: Any) -> None:
        if self.at == "batch":
            self._shift(generation)
        super().add(generation, *args, **options)


def recentring(path: Path) -> tuple[Stores, Recentring]:
    """Stores whose vectors are centred anew when they are told to."""
    stores = open_stores(path)
    stores.vectors.__class__ = Recentring
    vectors = stores.vectors
    assert isinstance(vectors, Recentring)
    vectors.stores = stores
    return stores, vectors


def test_a_query_is_never_compared_by_other_means_than_its_own(tmp_path: Path) -> None:
    """A query whose means were replaced on its way is asked again."""
    write(tmp_path / "vault", "en", "the walrus swims in the cold sea, number", 3)
    store, vectors = recentring(tmp_path / "x.db")
    with Library(store, Settings(), Accented()) as library:
        library.index(tmp_path / "vault")
        fill(store, Accented())
        vectors.at = "query"
        disturbed = library.search("a walrus", mode="semantic").results
        assert vectors.asked == 2
        calm = library.search("a walrus", mode="semantic").results
        assert [(one.id, one.score) for one in disturbed] == [(one.id, one.score) for one in calm]


def test_a_batch_is_never_kept_by_other_means_than_those_in_force(tmp_path: Path) -> None:
    """Vectors whose means were replaced on their way are centred by the new ones."""
    write(tmp_path / "vault", "en", "the walrus swims in the cold sea, number", 3)
    store, vectors = recentring(tmp_path / "x.db")
    with Library(store, Settings(), Accented()) as library:
        library.index(tmp_path / "vault")
        vectors.at = "batch"
        generation = fill(store, Accented()).generation
        kept = list(passages_of(store, generation).values())
        means = store.vectors.means(generation)
        assert means and len(kept) == 3
        rows = np.stack([one for _, one in kept])
        again = uncentred(rows, [language for language, _ in kept], means, slice(0, 256))
        plain = open_stores(tmp_path / "y.db")
        with Library(plain, Settings(), Accented()) as other:
            other.index(tmp_path / "vault")
            number = fill(plain, Accented()).generation
            expected = np.stack([one for _, one in passages_of(plain, number).values()])
        assert np.abs(again - expected).max() < 1e-5
