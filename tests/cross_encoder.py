"""A small real cross-encoder in ONNX, built from texts: it reads query and passage as one text.

Each token of the query looks for its nearest token of the passage, and the mean of how near these
are is the logit: a model of surface overlap, which is what rerankers are blamed for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
DIMENSIONS = 64


def export_cross_encoder(
    folder: Path, texts: Iterable[str], *, window: int = 64, vocabulary: int = 4000
) -> Path:
    """A folder as optimum writes it, with a tokenizer that is trained on the texts."""
    (folder / "onnx").mkdir(parents=True)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=50))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"pad_token_id": 0, "max_position_embeddings": window}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    save(_model(tokenizer.get_vocab_size()), str(folder / "onnx/model.onnx"))
    return folder


def _model(vocabulary: int) -> object:
    table = np.random.default_rng(3).normal(size=(vocabulary, DIMENSIONS))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[: len(SPECIAL)] = 0
    names = ("input_ids", "attention_mask", "token_type_ids")
    constants = {
        "table": table.astype(np.float32),
        "one": np.array(1, np.float32),
        "far": np.array(-9, np.float32),
        "slope": np.array(8, np.float32),
        "shift": np.array(-4, np.float32),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
    }
    steps = [
        ("Gather", ["table", "input_ids"], "rows"),
        ("Transpose", ["rows"], "turned", {"perm": [0, 2, 1]}),
        ("MatMul", ["rows", "turned"], "near"),
        ("Cast", ["token_type_ids"], "second", {"to": TensorProto.FLOAT}),
        ("Cast", ["attention_mask"], "there", {"to": TensorProto.FLOAT}),
        # Only tokens of the passage may be found: all others are far away.
        ("Sub", ["one", "second"], "first"),
        ("Mul", ["first", "far"], "away"),
        ("Unsqueeze", ["away", "middle"], "away_row"),
        ("Add", ["near", "away_row"], "reachable"),
        ("ReduceMax", ["reachable"], "nearest", {"axes": [2], "keepdims": 0}),
        # The query's tokens that say something: of length 1, unlike the special ones.
        ("Mul", ["rows", "rows"], "squares"),
        ("ReduceSum", ["squares", "last"], "says", {"keepdims": 0}),
        ("Mul", ["says", "first"], "asked"),
        ("Mul", ["asked", "there"], "counts"),
        ("Mul", ["nearest", "counts"], "met"),
        ("ReduceSum", ["met", "middle"], "sum", {"keepdims": 1}),
        ("ReduceSum", ["counts", "middle"], "count", {"keepdims": 1}),
        ("Max", ["count", "one"], "divisor"),
        ("Div", ["sum", "divisor"], "mean"),
        ("Mul", ["mean", "slope"], "steep"),
        ("Add", ["steep", "shift"], "logits"),
    ]
    nodes = [
        helper.make_node(step[0], step[1], [step[2]], **(step[3] if len(step) > 3 else {}))
        for step in steps
    ]
    graph = helper.make_graph(
        nodes,
        "cross-encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in names
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
