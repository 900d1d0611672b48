"""Any sentence-transformers model that was exported to ONNX, from a folder or a model hub.

How the model wants its texts (prompts, length, pooling) is read from its own files.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.cutting import Cutter
from twolane.embedding.embedders.onnx_files import Recipe, located, read_recipe
from twolane.model.errors import EmbedderUnavailable
from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# Texts of like length run together; larger groups only fill the memory.
_BATCH = 16


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
        self._folder: Path | None = None
        self._recipe: Recipe | None = None
        self._loaded: _Loaded | None = None
        self._cutter: Cutter | None = None

    @property
    def space(self) -> Space:
        """The identity of the vectors: read from the model's files, without loading it."""
        recipe = self._known()
        return Space(
            embedder="onnx",
            model=recipe.name,
            revision=recipe.revision,
            dimensions=recipe.dimensions,
            chunker=self._chunker,
            query_prompt=self._prompts[0] or recipe.query_prompt,
            passage_prompt=self._prompts[1] or recipe.passage_prompt,
            pooling=recipe.pooling,
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

        loaded = self._ready()
        encoded = loaded.tokenizer.encode_batch([prompt + encodable(text) for text in texts])
        if self._cutter is not None and (cut := sum(bool(one.overflowing) for one in encoded)):
            self._cutter.note(cut)
        rows = np.empty((len(texts), self.space.dimensions), np.float32)
        # Padding costs as much as text, so that neighbours in a batch are of like length.
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            rows[places] = loaded.run([encoded[place] for place in places])
        return rows

    def _known(self) -> Recipe:
        with self._lock:
            if self._recipe is None:
                self._folder = located(self._model)
                self._recipe = read_recipe(self._folder, self._model)
            return self._recipe

    def _ready(self) -> _Loaded:
        recipe = self._known()
        with self._lock:
            if self._loaded is None:
                assert self._folder is not None, "a recipe was read from a folder"
                self._cutter = Cutter(recipe.longest)
                self._loaded = _Loaded(self._folder, recipe, self._threads)
            return self._loaded


class _Loaded:
    """The tokenizer and the session of one model; sessions may be run from several threads."""

    def __init__(self, folder: Path, recipe: Recipe, threads: int) -> None:
        self.tokenizer, self._session = opened(folder, recipe.file, threads)
        self.tokenizer.enable_truncation(recipe.longest)
        self._recipe = recipe
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}
        self._output = _chosen([tensor.name for tensor in self._session.get_outputs()])

    def run(self, encoded: Sequence[Any]) -> Matrix:
        """One unit row per encoded text."""
        import numpy as np

        width = max(1, *(len(one.ids) for one in encoded))
        ids = np.zeros((len(encoded), width), np.int64)
        mask = np.zeros((len(encoded), width), np.int64)
        for place, one in enumerate(encoded):
            ids[place, : len(one.ids)] = one.ids
            mask[place, : len(one.ids)] = 1
        ids[mask == 0] = self._recipe.padding
        offered = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(width, dtype=np.int64), ids.shape),
        }
        unknown = self._inputs - offered.keys()
        if unknown:
            raise EmbedderUnavailable(
                f"the model asks for {', '.join(sorted(unknown))}; it is no text encoder"
            )
        given = {name: value for name, value in offered.items() if name in self._inputs}
        output = self._session.run([self._output], given)[0]
        return _unit(_pooled(np.asarray(output, np.float32), mask, self._recipe.pooling))


def opened(folder: Path, graph: Path, threads: int) -> tuple[Any, Any]:
    """The tokenizer of a folder, and a session of its graph."""
    runtime, tokenizers = _packages()
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        options = runtime.SessionOptions()
        # Threads that spin while they wait take the processor from whoever is working.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        # The runtime has no tree of errors; whatever it is, the model does not load.
        raise EmbedderUnavailable(
            f"the model in {folder} does not load ({type(error).__name__}: {error})"
        ) from error
    return tokenizer, session


def _packages() -> tuple[Any, Any]:
    # The runtime looks at this when it is loaded, and leaves files in the user's home otherwise.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    try:
        runtime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
    except ImportError as error:
        raise EmbedderUnavailable(
            "a model in ONNX needs packages that are not installed; "
            "install them with: pip install 'twolane[onnx]'"
        ) from error
    # It may have been loaded before by somebody else.
    runtime.disable_telemetry_events()
    return runtime, tokenizers


def _chosen(outputs: Sequence[str]) -> str:
    """The output to read: the finished embedding if the export has one, else the token rows."""
    for name in ("sentence_embedding", "last_hidden_state", "token_embeddings"):
        if name in outputs:
            return name
    return outputs[0]


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


def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which no tokenizer can read."""
    return text.encode("utf-8", "replace").decode("utf-8")
