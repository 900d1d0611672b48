"""The reranker for models in a folder, with a small real cross-encoder that is built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cross_encoder import export_cross_encoder
from twolane.embedding.rerankers.onnx import OnnxReranker
from twolane.model.errors import StageError

TEXTS = ["green tea leaf", "compiler loop", "steep the tea with hot water", "a dark soil of worms"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder with a window of 24 tokens."""
    return export_cross_encoder(tmp_path_factory.mktemp("model") / "tiny", TEXTS * 20, window=24)


def test_query_and_passage_are_read_together(folder: Path) -> None:
    """A passage that holds the words is more likely than one that does not, in any company."""
    reranker = OnnxReranker(str(folder), threads=1)
    passages = ["compiler loop", "green tea leaf", *["a dark soil of worms"] * 20]
    scores = reranker.log_odds("green tea", passages)
    assert len(scores) == len(passages)
    assert scores[1] == pytest.approx(4.0, abs=1e-4) and max(scores) == scores[1]
    alone = [reranker.log_odds("green tea", [passage])[0] for passage in passages[:3]]
    assert scores[:3] == pytest.approx(alone, abs=1e-4)
    assert reranker.log_odds("green tea", []) == []
    assert reranker.name == "onnx tiny"


def test_a_pair_beyond_the_window_loses_the_end_of_its_passage(folder: Path) -> None:
    """The model's own tokenizer cuts: what comes late is not read, and the query stays whole."""
    reranker = OnnxReranker(str(folder), threads=1)
    early, late = reranker.log_odds(
        "green tea", ["green tea " + "loop " * 100, "loop " * 100 + "green tea"]
    )
    assert early > late
    long = "green tea " + "compiler " * 200
    met, not_met = reranker.log_odds(long, ["green tea compiler", "worms"])
    assert met > not_met


def test_odd_texts_are_read(folder: Path) -> None:
    """Nothing that can stand in a note or a query stops it."""
    reranker = OnnxReranker(str(folder), threads=1)
    for query in ("", " ", "\ud800", "\0", "🫖" * 50):
        assert len(reranker.log_odds(query, ["", "\udfff tea", "x" * 100_000])) == 3


@pytest.mark.parametrize("missing", ["tokenizer.json", "config.json", "onnx/model.onnx"])
def test_a_folder_that_is_no_model_says_what_is_missing(tmp_path: Path, missing: str) -> None:
    """The message names the file."""
    folder = export_cross_encoder(tmp_path / "tiny", TEXTS)
    (folder / missing).unlink()
    with pytest.raises(StageError, match=missing):
        OnnxReranker(str(folder)).log_odds("tea", ["tea"])


def test_a_model_that_is_no_reranker_is_refused(tmp_path: Path) -> None:
    """An encoder that gives a row for each token is not taken for one."""
    from tests.unit.test_onnx_embedder import export

    with pytest.raises(StageError, match="a reranker with one score"):
        OnnxReranker(str(export(tmp_path / "model"))).log_odds("tea", ["leaf"])


def test_broken_weights_are_a_stage_error(tmp_path: Path) -> None:
    """What does not load says so."""
    folder = export_cross_encoder(tmp_path / "tiny", TEXTS)
    (folder / "onnx/model.onnx").write_bytes(b"nonsense")
    with pytest.raises(StageError, match="does not load"):
        OnnxReranker(str(folder)).log_odds("tea", ["tea"])
