"""The embedder for models in a folder, with a small real ONNX model that is built here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from tests.builders import open_library, write_notes
from twolane.embedding.embedders.onnx import OnnxEmbedder
from twolane.model.errors import EmbedderUnavailable

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "leaf", "green", "compiler", "loop", "query:"]
DIMENSIONS = 4
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
POOLINGS = ("mean", "cls", "max", "lasttoken")
KEYS = {
    "mean": "pooling_mode_mean_tokens",
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def export(folder: Path, pooling: str = "mean", **files: Any) -> Path:
    """A model folder as sentence-transformers writes it: each token has its row of a table."""
    (folder / "onnx").mkdir(parents=True)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "table",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "length", DIMENSIONS]
            )
        ],
        [numpy_helper.from_array(TABLE, "table")],
    )
    opset = [helper.make_opsetid("", 17)]
    save(
        helper.make_model(graph, opset_imports=opset, ir_version=9),
        str(folder / "onnx/model.onnx"),
    )
    tokenizer = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    written: Mapping[str, Any] = {
        "config.json": {"hidden_size": DIMENSIONS, "pad_token_id": 0},
        "modules.json": [
            {"path": "", "type": "sentence_transformers.models.Transformer"},
            {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": DIMENSIONS, KEYS[pooling]: True},
        "sentence_bert_config.json": {"max_seq_length": 12},
        "config_sentence_transformers.json": {"prompts": {"query": "query: "}},
        **files,
    }
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")
    return folder


def by_hand(text: str, pooling: str) -> Any:
    """The vector that the model should give, worked out without any of our code."""
    places = [WORDS.index(word) if word in WORDS else 1 for word in text.lower().split()]
    rows = TABLE[[2, *places, 3]]
    pooled = {
        "mean": rows.mean(axis=0),
        "cls": rows[0],
        "max": rows.max(axis=0),
        "lasttoken": rows[-1],
    }[pooling]
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_models_own_pooling_is_used(tmp_path: Path, pooling: str) -> None:
    """Vectors are what the model's files ask for, in any company and order."""
    embedder = OnnxEmbedder(str(export(tmp_path / "model", pooling)))
    texts = ["green tea leaf tea", "loop", "", "compiler " * 8, *["tea"] * 20]
    rows = embedder.embed_passages(texts)
    for row, text in zip(rows, texts, strict=True):
        assert np.allclose(row, by_hand(text, pooling), atol=1e-5)
    assert rows.dtype == np.float32
    assert embedder.embed_passages([]).shape == (0, DIMENSIONS)


def test_the_models_own_prompt_comes_before_a_query(tmp_path: Path) -> None:
    """A query is dressed as the model's files say, a passage is not; settings may replace both."""
    folder = str(export(tmp_path / "model"))
    embedder = OnnxEmbedder(folder)
    assert np.allclose(embedder.embed_query("tea"), by_hand("query: tea", "mean"), atol=1e-5)
    assert (embedder.space.query_prompt, embedder.space.passage_prompt) == ("query: ", "")
    own = OnnxEmbedder(folder, query_prompt="leaf ", passage_prompt="green ")
    assert np.allclose(own.embed_query("tea"), by_hand("leaf tea", "mean"), atol=1e-5)
    assert np.allclose(own.embed_passages(["tea"])[0], by_hand("green tea", "mean"), atol=1e-5)
    assert own.space != embedder.space


def test_a_text_beyond_the_window_keeps_its_front_and_is_counted(tmp_path: Path) -> None:
    """The model reads twelve tokens; what is longer loses its end, and somebody can see it."""
    embedder = OnnxEmbedder(str(export(tmp_path / "model")))
    row = embedder.embed_passages(["tea " * 10 + "loop " * 50, "tea"])[0]
    assert np.allclose(row, by_hand("tea " * 10, "mean"), atol=1e-5)
    assert embedder.truncated == 1


def test_the_space_is_known_without_the_runtime(tmp_path: Path) -> None:
    """The identity comes from files; other weights under the same name are another space."""
    folder = export(tmp_path / "model")
    code = (
        "import sys; from twolane.embedding.embedders.onnx import OnnxEmbedder;"
        f"print(OnnxEmbedder({str(folder)!r}).space.dimensions);"
        "sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(DIMENSIONS)
    before = OnnxEmbedder(str(folder)).space
    graph = folder / "onnx/model.onnx"
    graph.write_bytes(graph.read_bytes() + b"\0")
    assert OnnxEmbedder(str(folder)).space.fingerprint != before.fingerprint


def test_nothing_is_left_in_the_users_home(tmp_path: Path) -> None:
    """The runtime's telemetry is off before it is loaded: it leaves no file behind."""
    folder = export(tmp_path / "model")
    home = tmp_path / "home"
    home.mkdir()
    code = (
        "from twolane.embedding.embedders.onnx import OnnxEmbedder;"
        f"OnnxEmbedder({str(folder)!r}).embed_query('tea')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "HOME": str(home)})
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("missing", ["onnx/model.onnx", "tokenizer.json", "config.json"])
def test_what_a_folder_lacks_is_named(tmp_path: Path, missing: str) -> None:
    """A folder that is no export says which file is not there."""
    folder = export(tmp_path / "model")
    (folder / missing).unlink()
    with pytest.raises(EmbedderUnavailable, match=missing):
        _ = OnnxEmbedder(str(folder)).space


@pytest.mark.parametrize("model", ["", "/nowhere/at/all", "./nor/here", "just-a-name"])
def test_a_model_that_is_not_there_says_what_to_set(model: str) -> None:
    """An empty or wrong name points to the setting."""
    with pytest.raises(EmbedderUnavailable, match=r"`embedding\.model`"):
        _ = OnnxEmbedder(model).space


def test_a_hub_that_cannot_be_reached_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is neither here nor to be had says so, and what to do."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EmbedderUnavailable, match="could not be fetched"):
        _ = OnnxEmbedder("somebody/some-model").space


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "attention"}, "not supported"),
        ("modules.json", [{"path": "2_Dense", "type": "x.Dense"}], "2_Dense"),
    ],
)
def test_a_model_that_is_read_differently_is_refused(
    tmp_path: Path, name: str, content: Any, reason: str
) -> None:
    """A pooling or a layer that we do not have is refused, never guessed."""
    folder = export(tmp_path / "model", **{name: content})
    with pytest.raises(EmbedderUnavailable, match=reason):
        _ = OnnxEmbedder(str(folder)).space


def test_a_damaged_graph_is_an_embedder_that_is_not_there(tmp_path: Path) -> None:
    """A file that is no model is told, with the folder."""
    folder = export(tmp_path / "model")
    (folder / "onnx/model.onnx").write_bytes(b"nonsense")
    with pytest.raises(EmbedderUnavailable, match="does not load"):
        OnnxEmbedder(str(folder)).embed_query("tea")


def test_a_library_searches_with_the_model(tmp_path: Path) -> None:
    """Index and search through the settings alone."""
    notes = {"tea.md": "# Tea\n\nleaf leaf", "code.md": "# Compiler\n\nloop loop"}
    write_notes(tmp_path / "notes", notes)
    with open_library(
        tmp_path / "d.db", "onnx", embedding={"model": str(export(tmp_path / "model"))}
    ) as library:
        library.index(tmp_path / "notes")
        assert library.embed().embedded == 2
        answer = library.search("loop", mode="semantic")
        assert answer.results[0].title == "Compiler"
        assert not answer.degraded
