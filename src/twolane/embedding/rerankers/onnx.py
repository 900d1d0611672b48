"""A cross-encoder that was exported to ONNX, from a folder: it reads query and passage as one text.

The folder is what sentence-transformers or optimum write: `onnx/model.onnx` (or `model.onnx`),
`tokenizer.json` and `config.json`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.onnx import encodable, opened
from twolane.embedding.embedders.onnx_files import CrossEncoderFiles, read_cross_encoder
from twolane.model.errors import EmbedderError, StageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Pairs of like length run together; larger groups only fill the memory.
_BATCH = 16


class OnnxReranker:
    """Reads passages on this machine; making one costs nothing, the first query loads the model."""

    def __init__(self, folder: str, *, threads: int = 0) -> None:
        self._folder = Path(folder).expanduser()
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"onnx {self._folder.name}"

    def log_odds(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage the model's own logit, in order."""
        if not passages:
            return []
        try:
            loaded = self._ready()
            return loaded.logits(query, passages)
        except EmbedderError as error:
            raise StageError(str(error)) from error

    def _ready(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded(read_cross_encoder(self._folder), self._threads)
            return self._loaded


class _Loaded:
    """The tokenizer and the session of one model; sessions may be run from several threads."""

    def __init__(self, files: CrossEncoderFiles, threads: int) -> None:
        self._padding = files.padding
        self._longest_query = files.longest // 2
        self._words, self._session = opened(files.folder, files.graph, threads)
        self._words.no_truncation()
        self._tokenizer = type(self._words).from_str(self._words.to_str())
        # Of a pair that is too long the passage loses its end, never the query.
        self._tokenizer.enable_truncation(files.longest, strategy="only_second")
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}

    def logits(self, query: str, passages: Sequence[str]) -> list[float]:
        """One number for each passage: a single logit, or how much the last of two outweighs."""
        import numpy as np

        asked = self._cut(encodable(query))
        encoded = self._tokenizer.encode_batch([(asked, encodable(one)) for one in passages])
        found = np.empty(len(passages), np.float64)
        order = sorted(range(len(passages)), key=lambda place: len(encoded[place].ids))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            rows = self._run([encoded[place] for place in places])
            found[places] = rows[:, -1] - (rows[:, 0] if rows.shape[1] > 1 else 0.0)
        if not np.isfinite(found).all():
            raise StageError("the model gave a score that is no number")
        return [float(one) for one in found]

    def _cut(self, query: str) -> str:
        """The query, or its front: one that fills the window would leave no room for a passage."""
        offsets = self._words.encode(query, add_special_tokens=False).offsets
        if len(offsets) <= self._longest_query:
            return query
        return query[: offsets[self._longest_query - 1][1]]

    def _run(self, encoded: Sequence[Any]) -> NDArray[np.float64]:
        import numpy as np

        width = max(1, *(len(one.ids) for one in encoded))
        offered = {
            "input_ids": np.full((len(encoded), width), self._padding, np.int64),
            "attention_mask": np.zeros((len(encoded), width), np.int64),
            "token_type_ids": np.zeros((len(encoded), width), np.int64),
        }
        for place, one in enumerate(encoded):
            offered["input_ids"][place, : len(one.ids)] = one.ids
            offered["attention_mask"][place, : len(one.ids)] = 1
            offered["token_type_ids"][place, : len(one.ids)] = one.type_ids
        if unknown := self._inputs - offered.keys():
            raise StageError(f"the model asks for {', '.join(sorted(unknown))}; it is no reranker")
        given = {name: value for name, value in offered.items() if name in self._inputs}
        rows = np.asarray(self._session.run(None, given)[0], np.float64)
        if rows.ndim != 2 or rows.shape[0] != len(encoded) or rows.shape[1] not in (1, 2):
            raise StageError(f"the model answers with {rows.shape}, and a reranker with one score")
        return rows
