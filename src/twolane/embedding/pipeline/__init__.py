"""Embedding behind the scenes: passages without a vector get one, a batch at a time.

Work is whatever the store says is missing, so that it can stop at any moment and go on later.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from twolane.embedding.centring import block, centred, same_means
from twolane.embedding.pipeline.batches import BatchEmbedder, BatchResult, Reusable, batches
from twolane.embedding.pipeline.leases import release_the_dead, retry_in, worker_name
from twolane.embedding.spaces import Background, expect_model
from twolane.model.errors import EmbedderUnavailable
from twolane.model.space import Generation, Pending, Progress
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.embedder import Embedder, Named, Parallel, Reusing
from twolane.ports.vectors import NewVector, VectorIndex
from twolane.settings import Settings
from twolane.settings.machine import cores

log = logging.getLogger("twolane")

# A claim is worth this many seconds of work: long enough to hide the cost of claiming,
# short enough that two processes share the work to the end.
_CLAIM_SECONDS = 15.0
_FIRST_CLAIM = 64
_LEAST_CLAIM = 16
_MOST_CLAIM = 4096

# A batch takes about as long as this, or less: what is stopped half-way is embedded again.
_BATCH_SECONDS = 2.0
_FIRST_BATCH = 8

# Passages are embedded together up to about this many tokens: sixteen full windows of 512.
BATCH_TOKENS = 8192

# A lease outlives its claim by far, so that only the dead lose one.
_LEASE_SECONDS = 600.0

# How often a wait for the embedder looks up to see whether it should stop.
_GLANCE_SECONDS = 0.05

_DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Filled:
    """What a run of the pipeline did, and why it stopped early if it did."""

    generation: int
    embedded: int
    failed: int
    stopped: str | None = None
    seconds: float = 0.0

    @property
    def rate(self) -> float | None:
        """Passages a second, where there were any."""
        return self.embedded / self.seconds if self.embedded and self.seconds else None


def fill(
    stores: Stores,
    embedder: Embedder,
    generation: Generation | None = None,
    *,
    settings: Settings = _DEFAULTS,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    most: int | None = None,
    ids: Collection[str] | None = None,
    parallel: int | None = None,
) -> Filled:
    """Embed the passages that lack a vector in the generation, which is that of the embedder.

    At most `most` of them, and only those of the documents `ids`, if these are given.
    Returns when nothing is free and due, when `stop` says so, or when the embedder is gone.
    """
    chosen = generation or stores.vectors.open_generation(embedder.space)
    expect_model(embedder, chosen)
    jobs = stores.queue.jobs(chosen.number)
    release_the_dead(stores.queue, chosen.number, jobs.workers)
    run = _Run(stores, embedder, chosen, settings, progress, stop, parallel, jobs.rate)
    started = time.perf_counter()
    stopped = None
    try:
        run.work(most, ids)
    except EmbedderUnavailable as error:
        log.warning("embedding stopped: %s", error)
        stopped = str(error)
    finally:
        run.close()
    seconds = time.perf_counter() - started
    return Filled(chosen.number, run.embedded, run.failed, stopped, seconds)


class _Stopped(Exception):
    """Somebody asked for an end while the embedder was at work."""


class _Run:
    """One run over one generation: claims work, keeps the embedder busy, stores what comes back.

    The embedder works in threads of ours, so that the caller can be interrupted at any moment
    and the next batch is under way while this one is stored.
    """

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        generation: Generation,
        settings: Settings,
        progress: Callable[[Progress], None] | None,
        stop: Callable[[], bool],
        parallel: int | None,
        rate: float | None,
    ) -> None:
        self._vectors, self._queue = stores.vectors, stores.queue
        self._embedder = embedder
        self._generation = generation
        self._settings = settings
        self._progress = progress
        self._stop = stop
        self._worker = worker_name()
        allowed = embedder.parallel if isinstance(embedder, Parallel) else 1
        self._threads = max(1, min(allowed, parallel or cores()))
        self._background = Background(self._threads, name="twolane-embed")
        self._batch_embedder = BatchEmbedder(
            embedder, generation.space, settings.experiment.breadcrumb
        )
        self._reused = _reused(stores.vectors, embedder)
        self._rate = rate
        self._standing: Progress | None = None
        self.embedded = 0
        self.failed = 0

    def work(self, most: int | None, ids: Collection[str] | None) -> None:
        """Claim and embed until there is nothing left."""
        if self._progress is not None:
            # Counting takes long in a large library, so it is done where somebody watches.
            self._standing = self._queue.progress(self._generation.number)
            self._progress(self._standing)
        left = _MOST_CLAIM if most is None else most
        while left > 0 and not self._stop():
            claimed = self._queue.claim(
                self._generation.number,
                worker=self._worker,
                limit=min(left, self._claim_size()),
                seconds=_LEASE_SECONDS,
                ids=ids,
            )
            if not claimed:
                return
            left -= len(claimed) if most is not None else 0
            started = time.perf_counter()
            before = self.embedded
            try:
                self._embed(claimed)
            except _Stopped:
                return
            finally:
                self._measure(self.embedded - before, time.perf_counter() - started)

    def close(self) -> None:
        """End the leases and let the threads end."""
        self._background.close()
        self._queue.release(self._generation.number, self._worker)

    def _claim_size(self) -> int:
        if self._rate is None or not self.embedded:
            return _FIRST_CLAIM
        return min(_MOST_CLAIM, max(_LEAST_CLAIM, round(self._rate * _CLAIM_SECONDS)))

    def _batch_size(self) -> int:
        # Whoever watches sees the first passages soon.
        if self._rate is None or not self.embedded:
            return _FIRST_BATCH
        return max(1, round(self._rate / self._threads * _BATCH_SECONDS))

    def _measure(self, done: int, seconds: float) -> None:
        # A handful of passages says more about starting than about the speed.
        if done < _LEAST_CLAIM or seconds <= 0:
            return
        self._rate = done / seconds
        self._queue.complete(self._generation.number, (), rate=self._rate)

    def _embed(self, claimed: Sequence[Pending]) -> None:
        waiting: deque[tuple[Future[BatchResult], Sequence[Pending]]] = deque()
        for batch in batches(claimed, BATCH_TOKENS, self._batch_size()):
            if len(waiting) > self._threads:
                self._keep(*waiting.popleft())
            if self._stop():
                raise _Stopped
            call = partial(self._batch_embedder.embed, batch, self._known(batch))
            waiting.append((self._background.submit(call), batch))
        while waiting:
            self._keep(*waiting.popleft())

    def _known(self, batch: Sequence[Pending]) -> Reusable:
        """What another generation already knows of these passages, if the embedder can use it."""
        if self._reused is None:
            return Reusable()
        stored = self._vectors.get(self._reused.number, [passage.document for passage in batch])
        known = {
            passage.content_hash: vector
            for passage in batch
            for vector in stored.get(passage.document, ())
            if vector.position == passage.position
        }
        same = self._reused.space.sentences == self._generation.space.sentences
        return Reusable(
            {key: one.vector for key, one in known.items()},
            {key: one.sentences for key, one in known.items() if one.sentences} if same else None,
        )

    def _keep(self, waiting: Future[BatchResult], batch: Sequence[Pending]) -> None:
        """Store what was embedded and record what was not."""
        made = self._result(waiting)
        number = self._generation.number
        if made.rows:
            self._store(made)
        for one, reason in made.failures:
            wait = retry_in(one.tries + 1, self._settings)
            self._queue.fail(number, one.content_hash, reason, retry_in=wait)
            log.warning("a passage of %r was not embedded: %s", one.title, reason)
        self.embedded += len(made.rows)
        self.failed += len(made.failures)
        if self._progress is not None and self._standing is not None:
            self._standing = _further(self._standing, batch, made)
            self._progress(self._standing)

    def _result(self, waiting: Future[BatchResult]) -> BatchResult:
        while True:
            try:
                return waiting.result(timeout=_GLANCE_SECONDS)
            except TimeoutError:
                if waiting.done():
                    raise
                if self._stop():
                    raise _Stopped from None

    def _note_model(self) -> None:
        """Keep with the generation which model answers, so that any later process knows it."""
        embedder, generation = self._embedder, self._generation
        if generation.answered_by or not isinstance(embedder, Named) or not embedder.answered_by:
            return
        told = embedder.answered_by
        kept = self._vectors.note_model(generation.number, told)
        self._generation = replace(generation, answered_by=kept)
        expect_model(embedder, self._generation)
        if kept != told:
            raise EmbedderUnavailable(
                f"the server answers this process with the model {told!r}, and another process "
                f"that fills generation {generation.number} with {kept!r}"
            )

    def _store(self, made: BatchResult) -> None:
        self._note_model()
        part, number = block(self._generation.space), self._generation.number
        passages = [one for one, _ in made.rows]
        # Another process may have centred the generation since the last batch, or do so now.
        means = {} if part is None else self._vectors.means(number)
        while True:
            matrix = made.matrix
            if part is not None:
                matrix = centred(matrix, [passage.language for passage in passages], means, part)
            self._vectors.add(
                number,
                [
                    NewVector(one.content_hash, row, made.sentences.get(one.content_hash, b""))
                    for one, row in zip(passages, matrix, strict=True)
                ],
            )
            if part is None or same_means(means, now := self._vectors.means(number)):
                break
            means = now
        self._queue.complete(number, [passage.content_hash for passage in passages])


def _reused(vectors: VectorIndex, embedder: Embedder) -> Generation | None:
    """The generation whose stored vectors are part of what the embedder makes."""
    if not isinstance(embedder, Reusing):
        return None
    same = [known for known in vectors.generations() if known.space == embedder.reuses]
    return same[-1] if same else None


def _further(standing: Progress, batch: Sequence[Pending], made: BatchResult) -> Progress:
    """How far the generation is after one more batch."""
    again = sum(passage.tries > 0 for passage in batch)
    return Progress(
        standing.ready + len(made.rows),
        max(0, standing.pending - len(batch) + again),
        max(0, standing.failed - again) + len(made.failures),
    )
