"""A cross-encoder that was exported to ONNX, from a folder: it reads query and passage as one text.

The folder is what sentence-transformers or optimum write: `onnx/model.onnx` (or `model.onnx`),
`tokenizer.json` and `config.json`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from twolane.embedding.embedders.cutting import encodable
from twolane.embedding.embedders.onnx_files import read_model
from twolane.embedding.embedders.onnx_model import OnnxModel
from twolane.model.errors import EmbedderError, StageError


class OnnxReranker:
    """Reads passages on this machine; making one costs nothing, the first query loads the model."""

    def __init__(self, folder: str, *, threads: int = 0) -> None:
        self._folder = Path(folder).expanduser()
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _CrossEncoder | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"onnx {self._folder.name}"

    def log_odds(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage the model's own logit, in order."""
        if not passages:
            return []
        try:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _CrossEncoder(self._folder, self._threads)
            return self._loaded.logits(query, passages)
        except EmbedderError as error:
            raise StageError(str(error)) from error


class _CrossEncoder:
    """A model that reads pairs; may be used from several threads."""

    def __init__(self, folder: Path, threads: int) -> None:
        files = read_model(folder)
        self._model = OnnxModel(folder, files.graph, padding=files.padding, threads=threads)
        self._longest_query = files.longest // 2
        self._words = self._model.tokenizer
        self._words.no_truncation()
        self._pairs = type(self._words).from_str(self._words.to_str())
        # Of a pair that is too long the passage loses its end, never the query.
        self._pairs.enable_truncation(files.longest, strategy="only_second")

    def logits(self, query: str, passages: Sequence[str]) -> list[float]:
        """One number for each passage: a single logit, or how much the last of two outweighs."""
        import numpy as np

        front = self._front(encodable(query))
        encoded = self._pairs.encode_batch([(front, encodable(one)) for one in passages])
        logits = np.empty(len(passages), np.float64)
        for places, rows, _ in self._model.run(encoded, self._model.outputs[0]):
            if rows.ndim != 2 or rows.shape[0] != len(places) or rows.shape[1] not in (1, 2):
                raise StageError(f"the model answers {rows.shape}, and a reranker with one score")
            logits[places] = rows[:, -1] - (rows[:, 0] if rows.shape[1] > 1 else 0.0)
        if not np.isfinite(logits).all():
            raise StageError("the model gave a score that is no number")
        return [float(one) for one in logits]

    def _front(self, query: str) -> str:
        """The query, or its front: one that fills the window would leave no room for a passage."""
        offsets = self._words.encode(query, add_special_tokens=False).offsets
        if len(offsets) <= self._longest_query:
            return query
        return query[: offsets[self._longest_query - 1][1]]
