"""The model's forward pass, in which what repeats is computed once, against the package's own."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolane.embedding.embedders.use import WINDOW, UseEmbedder
from twolane.embedding.embedders.use_encoder import _TOKENS, _different
from twolane.settings.machine import one_thread

CRUMB = "Tea house > The garden > Spring"
SENTENCES = [
    f"In week {week} the gardener cuts the {plant} and waters what is left of it."
    for week, plant in enumerate("mint sage thyme fennel basil chervil dill lovage".split())
]
PASSAGE = f"{CRUMB}\n\n{' '.join(SENTENCES)}"


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> UseEmbedder:
    """An embedder that starts from its picture and knows all its words."""
    embedder = UseEmbedder(tmp_path_factory.mktemp("cache"))
    embedder.embed_passages(["word " * 600])
    return embedder


WORDS = st.sampled_from("tea house garden Spring чай сад 緑茶 ½ the of".split())
TEXT = st.lists(WORDS, max_size=12).map(" ".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=12))
def test_any_texts_get_the_packages_vectors(
    embedder: UseEmbedder, plain: Any, texts: list[str]
) -> None:
    """Whatever texts have in common, each has the vector that the package gives it."""
    assert np.abs(embedder.embed_passages(texts) - plain.encode(texts)).max() < 2e-6


def test_more_texts_than_are_taken_together(embedder: UseEmbedder, plain: Any) -> None:
    """Texts beyond one group, and one that is longer than a group, keep their order and vectors."""
    signs = "".join(map(chr, range(0x4E00, 0x4E00 + WINDOW - 1)))
    assert len(plain._sp.encode(signs)) > _TOKENS
    texts = [*SENTENCES * 30, signs, PASSAGE]
    assert np.abs(embedder.embed_passages(texts) - plain.encode(texts)).max() < 2e-6


def test_together_is_the_same_as_apart(embedder: UseEmbedder) -> None:
    """Passages read along with their sentences have the vectors of each alone."""
    texts, sentences = [PASSAGE, "short", PASSAGE[:90]], [SENTENCES, [], SENTENCES[:2]]
    rows, of_sentences = embedder.embed_together(texts, sentences)
    assert np.abs(rows - embedder.embed_passages(texts)).max() < 2e-6
    apart = embedder.embed_sentences([*SENTENCES, *SENTENCES[:2]])
    assert np.abs(of_sentences - apart).max() < 2e-6


def test_what_repeats_is_computed_once(embedder: UseEmbedder, plain: Any) -> None:
    """A passage with its sentences under their breadcrumb costs far less than each for itself."""
    texts, sentences = [PASSAGE] * 4, [[f"{CRUMB}\n\n{one}" for one in SENTENCES]] * 4
    texts = [f"{text} {number}" for number, text in enumerate(texts)]
    apart = [one for text, own in zip(texts, sentences, strict=True) for one in (text, *own)]
    taken: list[float] = []
    with one_thread():
        for _ in range(5):
            began = time.thread_time()
            embedder.embed_together(texts, sentences)
            middle = time.thread_time()
            plain.encode(apart)
            taken.append((middle - began) / (time.thread_time() - middle))
    assert median(taken) < 0.6, taken


@pytest.mark.parametrize("base", [8, 2**40])
def test_different_rows_are_told_apart(base: int) -> None:
    """Equal rows are one and others are not, also where a row does not fit into one number."""
    rows = np.random.default_rng(7).integers(0, 8, (500, 3)) * (base // 8)
    first, which = _different(rows, base)
    assert np.array_equal(rows[first][which], rows)
    assert len(first) == len({tuple(row) for row in rows.tolist()})
