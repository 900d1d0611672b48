"""Any sentence-transformers model that was exported to ONNX, from a folder or a model hub.

How the model wants its texts (prompts, length, pooling) is read from its own files.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.cutting import Cutter, encodable
from twolane.embedding.embedders.onnx_files import EmbedderFiles, located, read_embedder
from twolane.embedding.embedders.onnx_model import OnnxModel
from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# What is read of a model: the finished embedding if the export has one, else the rows of tokens.
_OUTPUTS = ("sentence_embedding", "last_hidden_state", "token_embeddings")


class OnnxEmbedder:
    """Embeds passages and queries; making one costs nothing, the first text loads the model.

    `model` is a folder, or the id of a model on a hub, which is fetched once and kept.
    Prompts that are not empty replace the model's own.
    """

    def __init__(
        self,
        model: str,
        *,
        query_prompt: str = "",
        passage_prompt: str = "",
        threads: int = 0,
        chunker: str = "",
    ) -> None:
        """`chunker` is the version of what cuts the passages; it becomes part of the space."""
        self._model = model
        self._prompts = (query_prompt, passage_prompt)
        self._threads = threads
        self._chunker = chunker
        self._lock = threading.Lock()
        self._files: EmbedderFiles | None = None
        self._loaded: OnnxModel | None = None
        self._cutter: Cutter | None = None

    @property
    def space(self) -> Space:
        """The identity of the vectors: read from the model's files, without loading it."""
        files = self._known()
        return Space(
            embedder="onnx",
            model=files.name,
            revision=files.revision,
            dimensions=files.dimensions,
            chunker=self._chunker,
            query_prompt=self._prompts[0] or files.query_prompt,
            passage_prompt=self._prompts[1] or files.passage_prompt,
            pooling=files.pooling,
        )

    @property
    def truncated(self) -> int:
        """How many texts were longer than the model reads, and lost their end."""
        return self._cutter.count if self._cutter else 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in order."""
        return self._embedded(texts, self.space.passage_prompt)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query."""
        row: Vector = self._embedded([text], self.space.query_prompt)[0]
        return row

    def _embedded(self, texts: Sequence[str], prompt: str) -> Matrix:
        import numpy as np

        model, files = self._ready(), self._known()
        encoded = model.tokenizer.encode_batch([prompt + encodable(text) for text in texts])
        if self._cutter is not None and (cut := sum(bool(one.overflowing) for one in encoded)):
            self._cutter.note(cut)
        rows = np.empty((len(texts), files.dimensions), np.float32)
        output = next((name for name in _OUTPUTS if name in model.outputs), model.outputs[0])
        for places, found, mask in model.run(encoded, output):
            rows[places] = _unit(_pooled(np.asarray(found, np.float32), mask, files.pooling))
        return rows

    def _known(self) -> EmbedderFiles:
        with self._lock:
            if self._files is None:
                self._files = read_embedder(located(self._model), self._model)
            return self._files

    def _ready(self) -> OnnxModel:
        files = self._known()
        with self._lock:
            if self._loaded is None:
                self._cutter = Cutter(files.longest)
                loaded = OnnxModel(
                    files.folder, files.graph, padding=files.padding, threads=self._threads
                )
                loaded.tokenizer.enable_truncation(files.longest)
                self._loaded = loaded
            return self._loaded


def _pooled(output: Matrix, mask: Any, pooling: str) -> Matrix:
    """One row per text from the rows of its tokens, as the model was trained to be read."""
    import numpy as np

    if output.ndim == 2:
        return output
    weights = mask[:, :, None].astype(np.float32)
    rows: Matrix
    match pooling:
        case "cls":
            rows = output[:, 0]
        case "lasttoken":
            rows = output[np.arange(len(output)), mask.sum(axis=1) - 1]
        case "max":
            rows = np.where(weights > 0, output, -np.inf).max(axis=1)
        case _:
            counts = np.maximum(weights.sum(axis=1), np.float32(1))
            rows = ((output * weights).sum(axis=1) / counts).astype(np.float32)
    return rows


def _unit(rows: Matrix) -> Matrix:
    import numpy as np

    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1
    unit: Matrix = rows / norms
    return unit
