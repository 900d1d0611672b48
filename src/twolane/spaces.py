"""Spaces in use: which embedder and which generation give a query its meaning.

The embedder may be missing, broken or slow; here that becomes a reason, never a crash.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from twolane.centring import block, centred_query
from twolane.counterparts import Bounds
from twolane.errors import EmbedderError, EmbedderUnavailable
from twolane.model import Generation, GenerationState, Space
from twolane.ports import Embedder, Vectors

if TYPE_CHECKING:
    from twolane.ports import Vector

T = TypeVar("T")


# Similarity of the best passage at which a space is at a loss, and at which it is sure.
# Measured on the development sets; a space that is not here is always believed.
_CONFIDENCE: dict[str, tuple[float, float]] = {
    "use": (0.10, 0.35),
    "e5": (0.15, 0.40),
    "ensemble": (0.12, 0.35),
}

# Even a lane at a loss is heard a little: its guess is better than none.
_LEAST_CONFIDENCE = 0.1


# Translations of one paragraph are .83 similar in `use` (median; 1 in 100 is below .62), two
# others on like subjects .50 (1 in 20 is above .65); with the second model beside it, this
# model's half still tells them apart best, for it has no accent.
_BOUNDS: dict[str, Bounds] = {
    "use": Bounds(slice(0, 512), unlike=0.60, alike=0.75),
    "ensemble": Bounds(slice(0, 512), unlike=0.60, alike=0.75),
}


def confidence(space: Space) -> Callable[[float], float]:
    """How sure the space is of a query whose best passage is this similar, from 0 to 1."""
    if space.embedder not in _CONFIDENCE:
        return lambda similarity: 1.0
    lost, sure = _CONFIDENCE[space.embedder]
    return lambda similarity: min(1.0, max(_LEAST_CONFIDENCE, (similarity - lost) / (sure - lost)))


def bounds(space: Space) -> Bounds | None:
    """When two passages of this space say the same in two languages; None where nobody knows."""
    return _BOUNDS.get(space.embedder)


def serving(vectors: Vectors) -> Generation | None:
    """The generation that answers searches, or None before the first one."""
    for generation in vectors.generations():
        if generation.state == GenerationState.SERVING:
            return generation
    return None


def embed_query(
    embedder: Embedder,
    generation: Generation,
    text: str,
    languages: Collection[str],
    vectors: Vectors,
) -> Vector:
    """The query's vector in the generation's space; vectors of different spaces never meet.

    Where the space is centred, so is the query: by the mean of its language if that is clear.
    """
    if embedder.space != generation.space:
        raise EmbedderUnavailable(
            f"the vectors were made by {generation.space.embedder!r} and the embedder is now "
            f"{embedder.space.embedder!r}; run `twolane index` to fill the new space"
        )
    try:
        vector = embedder.embed_query(text)
    except EmbedderError:
        raise
    except Exception as error:
        # An embedder is foreign code: whatever it raises, the other lanes must answer.
        raise EmbedderError(f"{type(error).__name__}: {error}") from error
    # Most spaces have no accent; their searches need not ask for means that do not exist.
    means = {} if block(generation.space) is None else vectors.means(generation.number)
    return centred_query(vector, languages, means, generation.space)


class Background:
    """A few daemon threads that run calls beside the caller.

    A call that hangs holds its thread, not the program:
    daemon threads do not keep the interpreter from ending.
    """

    def __init__(self, threads: int = 2) -> None:
        self._threads = threads
        self._started = 0
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[tuple[Future[object], Callable[[], object]] | None]
        self._calls = queue.SimpleQueue()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run the call in a thread of ours."""
        future: Future[T] = Future()
        with self._lock:
            if self._started < self._threads:
                self._started += 1
                threading.Thread(target=self._run, daemon=True, name="twolane-lane").start()
        self._calls.put((future, call))  # type: ignore[arg-type]
        return future

    def close(self) -> None:
        """Let the threads end once they have nothing to do."""
        for _ in range(self._started):
            self._calls.put(None)

    def _run(self) -> None:
        while (work := self._calls.get()) is not None:
            future, call = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - it is raised again where the result is read
                future.set_exception(error)
