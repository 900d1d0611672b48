"""A model in ONNX with its tokenizer: texts in, the rows of one output out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Texts of like length run together; larger groups only fill the memory.
_BATCH = 16


class OnnxModel:
    """One session and its tokenizer; both may be used from several threads."""

    def __init__(self, folder: Path, graph: Path, *, padding: int, threads: int) -> None:
        self._padding = padding
        self.tokenizer, self._session = _opened(folder, graph, threads)
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}
        self.outputs = [tensor.name for tensor in self._session.get_outputs()]

    def run(
        self, encoded: Sequence[Any], output: str
    ) -> Iterator[tuple[list[int], NDArray[Any], NDArray[np.int64]]]:
        """An output batch by batch: the places of its texts, their rows and their masks."""
        # Padding costs as much as text, so that neighbours in a batch are of like length.
        order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            given = self._given([encoded[place] for place in places])
            wanted = {name: given[name] for name in self._inputs}
            yield places, self._session.run([output], wanted)[0], given["attention_mask"]

    def _given(self, encoded: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        import numpy as np

        width = max(1, *(len(one.ids) for one in encoded))
        shape = (len(encoded), width)
        given = {
            "input_ids": np.full(shape, self._padding, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
            "position_ids": np.broadcast_to(np.arange(width, dtype=np.int64), shape),
        }
        if unknown := self._inputs - given.keys():
            raise EmbedderUnavailable(
                f"the model asks for {', '.join(sorted(unknown))}; it does not read texts alone"
            )
        for place, one in enumerate(encoded):
            given["input_ids"][place, : len(one.ids)] = one.ids
            given["attention_mask"][place, : len(one.ids)] = 1
            given["token_type_ids"][place, : len(one.ids)] = one.type_ids
        return given


def _opened(folder: Path, graph: Path, threads: int) -> tuple[Any, Any]:
    """The tokenizer of a folder, and a session of its graph."""
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
