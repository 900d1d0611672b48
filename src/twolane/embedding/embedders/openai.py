"""Any server that speaks the `/v1/embeddings` protocol: hosted, shared or on this machine.

Vectors are made elsewhere, so everything that can go wrong on the way is expected here:
a server that is down, slow, busy, or that answers with something else than was asked.
"""

from __future__ import annotations

import base64
import binascii
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from twolane.embedding.embedders.cutting import Cutter
from twolane.embedding.embedders.endpoint import Endpoint
from twolane.ingest.chunking import estimate_tokens
from twolane.model.errors import BadVectors, EmbedderUnavailable
from twolane.model.space import Space
from twolane.model.values import dataclass

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

# The lengths of vectors that are known; any other model says its own by a setting.
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}

# What the protocol's first server accepts: texts in a request, tokens in a request and in a text.
_MOST_TEXTS = 2048
_MOST_TOKENS = 250_000
_LONGEST_TEXT = 8191

# What an answer can have at most: a number written out and indented, what is said of a vector
# beside its numbers, and what is said beside the vectors.
_NUMBER_BYTES = 64
_VECTOR_BYTES = 1024
_ANSWER_BYTES = 64 * 1024

# So much of the name that a server gives its model is looked at.
_MODEL_NAME = 100


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What to ask of the server: which model, how long its vectors are, how texts are dressed.

    `dimensions` 0 means the model's own length, if that is known.
    `revision` tells vectors from those that the server made by the same name before.
    `input_type` tells the server whether a text is a query or a passage, where it wants to know.
    Passages wait for a minute that has room for them; 0 is no limit.
    """

    model: str
    dimensions: int = 0
    query_prompt: str = ""
    passage_prompt: str = ""
    longest: int = 0
    encoding: str = "base64"
    input_type: bool = False
    texts: int = _MOST_TEXTS
    revision: str = ""
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class OpenAiEmbedder:
    """Asks a server for vectors, in as few requests as its limits allow; safe to share."""

    def __init__(self, endpoint: Endpoint, options: RequestOptions, *, chunker: str = "") -> None:
        """`chunker` is the version of what cuts the passages; it becomes part of the space."""
        self._endpoint = endpoint
        self._options = options
        self._chunker = chunker
        self._cutter = Cutter(options.longest or _LONGEST_TEXT)
        self._limiter = RateLimiter(options.requests_per_minute, options.tokens_per_minute)
        self._lock = threading.Lock()
        # What the server calls the model that answers; it may be known from an earlier process.
        self.answered_by = ""

    @property
    def space(self) -> Space:
        """The identity of the vectors; asks nothing of the server."""
        options = self._options
        dimensions = options.dimensions or DIMENSIONS.get(options.model, 0)
        if not options.model:
            raise EmbedderUnavailable(
                "the embedder 'openai' needs the name of a model; set `embedding.model`, "
                'for example model = "text-embedding-3-small"'
            )
        if not dimensions:
            raise EmbedderUnavailable(
                f"how long the vectors of {options.model!r} are is not known; "
                "set `embedding.dimensions`"
            )
        return Space(
            embedder="openai",
            model=options.model,
            # The server may be moved; its vectors stay what they are.
            revision=options.revision,
            dimensions=dimensions,
            chunker=self._chunker,
            query_prompt=options.query_prompt,
            passage_prompt=options.passage_prompt,
            pooling="input_type" if options.input_type else "model",
        )

    @property
    def truncated(self) -> int:
        """How many texts were longer than the model reads, and lost their end."""
        return self._cutter.count

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in order."""
        import numpy as np

        dressed = [self._options.passage_prompt + self._cutter.cut(text) for text in texts]
        rows = [self._asked(batch, "passage") for batch in self._batches(dressed)]
        return np.vstack(rows) if rows else np.empty((0, self.space.dimensions), np.float32)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query; a server that is down is asked twice, not five times."""
        dressed = self._options.query_prompt + self._cutter.cut(text)
        row: Vector = self._asked([dressed], "query")[0]
        return row

    def _asked(self, texts: Sequence[str], role: str) -> Matrix:
        options = self._options
        body: dict[str, Any] = {
            "model": options.model,
            # The protocol has no empty input; a blank is the least text that every server takes.
            "input": [text or " " for text in texts],
            "encoding_format": options.encoding,
        }
        if options.dimensions:
            body["dimensions"] = options.dimensions
        if options.input_type:
            body["input_type"] = role
        dimensions = self.space.dimensions
        most = _ANSWER_BYTES + len(texts) * (_VECTOR_BYTES + dimensions * _NUMBER_BYTES)
        patient = role == "passage"
        self._limiter.acquire(sum(map(estimate_tokens, texts)), patient=patient)
        answer = self._endpoint.post("embeddings", body, patient=patient, most=most)
        matrix = _matrix(answer, len(texts), dimensions)
        self._require_same_model(answer.get("model"))
        return matrix

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts in order, in groups that stay within a request's limits."""
        most = min(self._options.texts, _MOST_TEXTS)
        largest = min(self._options.tokens_per_minute or _MOST_TOKENS, _MOST_TOKENS)
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = estimate_tokens(text)
            if batch and (len(batch) >= most or tokens + size > largest):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def _require_same_model(self, told: Any) -> None:
        """Raise EmbedderUnavailable once the server says that another model answers than before.

        Servers call a model by names of their own, so that the first one is taken as it is.
        """
        if not isinstance(told, str) or not told:
            return
        # It is stored and shown, and not every store takes every sign.
        name = "".join(sign if sign.isprintable() else "?" for sign in told[:_MODEL_NAME])
        with self._lock:
            known = self.answered_by = self.answered_by or name
        if name != known:
            raise EmbedderUnavailable(
                f"the server answers with the model {name!r} now, and answered with {known!r} "
                "before; vectors of two models must not meet: let the server answer with the "
                "former, or set `embedding.revision` to a new text, which makes all vectors anew"
            )

    def close(self) -> None:
        """Let go of the connections."""
        self._endpoint.close()


def _matrix(answer: Any, count: int, dimensions: int) -> Matrix:
    """The vectors of an answer, by their index, at unit length; raises BadVectors for any other."""
    import numpy as np

    try:
        items = {int(item["index"]): item["embedding"] for item in answer["data"]}
        rows = [_row(items[index]) for index in range(count)]
    except (KeyError, TypeError, ValueError, OverflowError, binascii.Error) as error:
        raise BadVectors(
            f"the server's answer does not hold {count} vectors ({type(error).__name__}: {error})"
        ) from error
    if len(items) != count or any(row.shape != (dimensions,) for row in rows):
        lengths = sorted({len(row) for row in rows})
        raise BadVectors(
            f"asked for {count} vectors of {dimensions} numbers, got {len(items)} of "
            f"{', '.join(map(str, lengths))}; `embedding.dimensions` must be what the model gives"
        )
    matrix: Matrix = np.stack(rows)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise BadVectors("the server's answer holds a vector without a direction")
    matrix /= norms
    return matrix


def _row(embedding: Any) -> Vector:
    import numpy as np

    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    if not isinstance(embedding, list):
        raise TypeError(f"an embedding is {type(embedding).__name__}")
    row: Vector = np.array(embedding, np.float32)
    if row.ndim != 1:
        # Servers that pool nothing answer with a vector for each token.
        raise TypeError("an embedding is a list of lists")
    return row


# How long a limit of requests or tokens is for.
_MINUTE = 60.0


class RateLimiter:
    """Makes callers wait until their request fits into the last minute; safe to share.

    0 is no limit. What is larger than a whole minute's share waits for an empty minute.
    """

    def __init__(
        self,
        requests: int = 0,
        tokens: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        # When the requests of the last minute were made, and the tokens of each.
        self._made: deque[tuple[float, int]] = deque()

    def acquire(self, tokens: int, *, patient: bool) -> None:
        """Wait until a request of so many tokens may be made, and count it.

        Whoever is not patient is waiting for a search: they are counted, and do not wait.
        """
        if not self._requests and not self._tokens:
            return
        while True:
            with self._lock:
                now = self._clock()
                wait = self._wait(tokens, now) if patient else 0.0
                if wait <= 0:
                    self._made.append((now, tokens))
                    return
            self._sleep(wait)

    def _wait(self, tokens: int, now: float) -> float:
        """How long until the requests that are in the way are a minute old."""
        while self._made and now - self._made[0][0] >= _MINUTE:
            self._made.popleft()
        count, total, free = len(self._made), sum(size for _, size in self._made), now
        for at, size in self._made:
            if self._fits(count, total + tokens):
                break
            count, total, free = count - 1, total - size, at + _MINUTE
        return free - now

    def _fits(self, count: int, total: int) -> bool:
        few = not self._requests or count < self._requests
        return few and (not self._tokens or total <= self._tokens)
