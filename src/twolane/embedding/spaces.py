"""Spaces in use: which embedder and which generation give a query its meaning.

The embedder may be missing, broken or slow; here that becomes a reason, never a crash.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from twolane.embedding.centring import block, centred_query, same_means
from twolane.model.errors import EmbedderError, EmbedderUnavailable
from twolane.model.space import Generation, GenerationState, Space
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.embedder import Embedder, Named
from twolane.ports.generations import fullest, in_use
from twolane.ports.vectors import VectorIndex

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

T = TypeVar("T")


class Embedders:
    """The embedders in use, from the one that is ready first to the best, and all the others.

    `find` makes the embedder of a space that none of them has, or returns None:
    vectors that were made under other settings still answer while new ones are made.
    """

    def __init__(
        self,
        *wanted: Embedder,
        missing: str = "no embedder is configured",
        find: Callable[[Space], Embedder | None] = lambda space: None,
    ) -> None:
        self.wanted = wanted
        self.missing = missing
        self._find = find
        self._found: dict[Space, Embedder | None] = {}

    @property
    def first(self) -> Embedder | None:
        """The embedder that new text gets its meaning from."""
        return self.wanted[0] if self.wanted else None

    @property
    def spaces(self) -> list[Space]:
        """The wanted spaces, the best one last."""
        return [embedder.space for embedder in self.wanted]

    def of(self, space: Space) -> Embedder | None:
        """What embeds queries for vectors of this space; how they were cut does not matter."""
        for embedder in self.wanted:
            if _speaks(embedder, space):
                return embedder
        if space not in self._found:
            found = self._find(space)
            self._found[space] = found if found and _speaks(found, space) else None
        return self._found[space]

    def close(self) -> None:
        """Close those that hold connections; the others have nothing to close."""
        for one in (*self.wanted, *self._found.values()):
            close = getattr(one, "close", None)
            if close is not None:
                close()


def _speaks(embedder: Embedder, space: Space) -> bool:
    return replace(embedder.space, chunker=space.chunker) == space


@dataclass(frozen=True, slots=True)
class Served:
    """The generation that answers and its embedder; `remark` says if it is not the right one."""

    generation: Generation
    embedder: Embedder
    remark: str | None = None

    def steadily(self, vectors: VectorIndex, ask: Callable[[], T]) -> T:
        """What `ask` finds while the means stay the same; asked again if they change meanwhile.

        So a query is never compared with vectors that were centred by other means than its own.
        """
        if block(self.generation.space) is None:
            return ask()
        while True:
            means = vectors.means(self.generation.number)
            found = ask()
            if same_means(means, vectors.means(self.generation.number)):
                return found


def choose(stores: Stores, embedders: Embedders) -> Served:
    """The generation that answers searches, among those whose embedder is there.

    Raises EmbedderUnavailable if there is none.
    """
    candidates = in_use(stores.vectors)
    if not candidates:
        reason = "there are no vectors yet; run `twolane index`"
        raise EmbedderUnavailable(reason if embedders.first else embedders.missing)
    found = [(generation, embedders.of(generation.space)) for generation in candidates]
    usable = {one.number: embedder for one, embedder in found if embedder is not None}
    remark = None
    if not usable:
        retired = [
            (generation, embedder)
            for generation in reversed(stores.vectors.generations())
            if generation.state == GenerationState.RETIRED
            and (embedder := embedders.of(generation.space))
        ]
        if not retired:
            raise EmbedderUnavailable(_without(candidates[0], embedders))
        candidates, usable = [retired[0][0]], {retired[0][0].number: retired[0][1]}
        remark = found[0][0]
    elif candidates[0].number not in usable:
        remark = candidates[0]
    chosen = fullest(
        stores.queue, [generation for generation in candidates if generation.number in usable]
    )
    return Served(chosen, usable[chosen.number], _instead(remark, chosen) if remark else None)


def _without(generation: Generation, embedders: Embedders) -> str:
    made_by = generation.space.embedder
    now = embedders.first
    if now is None:
        return embedders.missing
    return (
        f"the vectors were made by {made_by!r}, which is not available, and the embedder is now "
        f"{now.space.embedder!r}; run `twolane index` to fill the new space"
    )


def _instead(missing: Generation, chosen: Generation) -> str:
    return (
        f"the embedder of generation {missing.number} ({missing.space.embedder}) is not "
        f"available; generation {chosen.number} ({chosen.space.embedder}) answers"
    )


def expect_model(embedder: Embedder, generation: Generation) -> None:
    """Let the embedder refuse what another model answers than the one that made these vectors."""
    if generation.answered_by and isinstance(embedder, Named):
        embedder.answered_by = generation.answered_by


def embed_query(
    served: Served,
    readings: Mapping[str, float],
    languages: Collection[str],
    vectors: VectorIndex,
) -> Vector:
    """The query's vector in the generation's space; vectors of different spaces never meet.

    `readings` are texts that say the query, with weights: several become their weighted mean.
    Where the space is centred, so is the query: by the mean of its language if that is clear.
    """
    generation = served.generation
    expect_model(served.embedder, generation)
    try:
        vector = _weighted_mean(served.embedder, readings)
    except EmbedderError:
        raise
    except Exception as error:
        # An embedder is foreign code: whatever it raises, the other lanes must answer.
        raise EmbedderError(f"{type(error).__name__}: {error}") from error
    # Most spaces have no accent; their searches need not ask for means that do not exist.
    means = {} if block(generation.space) is None else vectors.means(generation.number)
    return centred_query(vector, languages, means, generation.space)


def _weighted_mean(embedder: Embedder, readings: Mapping[str, float]) -> Vector:
    """The unit vector between those of the readings."""
    vectors = [weight * embedder.embed_query(text) for text, weight in readings.items()]
    total: Vector = sum(vectors[1:], start=vectors[0])
    unit: Vector = total / max(float(total @ total) ** 0.5, 1e-9)
    return unit


class Background:
    """A few daemon threads that run calls beside the caller.

    A call that hangs holds its thread, not the program:
    daemon threads do not keep the interpreter from ending.
    """

    def __init__(self, threads: int = 2, name: str = "twolane-lane") -> None:
        self._threads = threads
        self._name = name
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
                threading.Thread(target=self._run, daemon=True, name=self._name).start()
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
