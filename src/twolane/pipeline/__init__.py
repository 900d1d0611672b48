"""Embedding behind the scenes: passages without a vector get one, a batch at a time.

Work is whatever the store says is missing, so that it can stop at any moment and go on later.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from twolane.centring import block, centred, same_means
from twolane.errors import EmbedderUnavailable
from twolane.machine import cores
from twolane.model import Generation, Pending, Progress
from twolane.pipeline.attempts import Attempt, Attempts, Known, batches
from twolane.pipeline.leases import release_the_dead, retry_in, worker_name
from twolane.ports import Embedder, Parallel, Reusing, Vectors
from twolane.settings import Settings
from twolane.spaces import Background

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
    vectors: Vectors,
    embedder: Embedder,
    generation: Generation | None = None,
    *,
    settings: Settings = _DEFAULTS,
    progress: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
    most: int | None = None,
    ids: Collection[str] | None = None,
    parallel: int | None = None,
) -> Filled:
    """Embed the passages that lack a vector in the generation, which is that of the embedder.

    At most `most` of them, and only those of the documents `ids`, if these are given.
    Returns when nothing is free and due, when `stop` says so, or when the embedder is gone.
    """
    chosen = generation or vectors.open_generation(embedder.space)
    release_the_dead(vectors, chosen.number)
    run = _Run(vectors, embedder, chosen, settings, progress, stop, parallel)
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
        vectors: Vectors,
        embedder: Embedder,
        generation: Generation,
        settings: Settings,
        progress: Callable[[Progress], None],
        stop: Callable[[], bool],
        parallel: int | None,
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._generation = generation
        self._settings = settings
        self._progress = progress
        self._stop = stop
        self._worker = worker_name()
        allowed = embedder.parallel if isinstance(embedder, Parallel) else 1
        self._threads = max(1, min(allowed, parallel or cores()))
        self._background = Background(self._threads, name="twolane-embed")
        self._attempts = Attempts(embedder, generation.space, settings.breadcrumb)
        self._lender = _lender(vectors, embedder)
        self._rate = generation.rate
        self._standing = Progress(0, 0, 0)
        self.embedded = 0
        self.failed = 0

    def work(self, most: int | None, ids: Collection[str] | None) -> None:
        """Claim and embed until there is nothing left."""
        self._standing = self._vectors.progress(self._generation.number)
        self._progress(self._standing)
        left = _MOST_CLAIM if most is None else most
        while left > 0 and not self._stop():
            claimed = self._vectors.claim(
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
        self._vectors.release(self._generation.number, self._worker)

    def _claim_size(self) -> int:
        if self._rate is None:
            return _FIRST_CLAIM
        return min(_MOST_CLAIM, max(_LEAST_CLAIM, round(self._rate * _CLAIM_SECONDS)))

    def _batch_size(self) -> int:
        if self._rate is None:
            return _FIRST_BATCH
        return max(1, round(self._rate / self._threads * _BATCH_SECONDS))

    def _measure(self, done: int, seconds: float) -> None:
        # A handful of passages says more about starting than about the speed.
        if done < _LEAST_CLAIM or seconds <= 0:
            return
        self._rate = done / seconds
        self._vectors.set_rate(self._generation.number, self._rate)

    def _embed(self, claimed: Sequence[Pending]) -> None:
        waiting: deque[tuple[Future[Attempt], Sequence[Pending]]] = deque()
        for batch in batches(claimed, self._settings.embed_batch_tokens, self._batch_size()):
            if len(waiting) > self._threads:
                self._keep(*waiting.popleft())
            if self._stop():
                raise _Stopped
            call = partial(self._attempts.embed, batch, self._known(batch))
            waiting.append((self._background.submit(call), batch))
        while waiting:
            self._keep(*waiting.popleft())

    def _known(self, batch: Sequence[Pending]) -> Known:
        """What another generation already knows of these passages, if the embedder can use it."""
        if self._lender is None:
            return Known()
        hashes = [one.content_hash for one in batch]
        lender = self._lender.number
        same = self._lender.space.sentences == self._generation.space.sentences
        return Known(
            self._vectors.known_vectors(lender, hashes),
            self._vectors.known_sentences(lender, hashes) if same else None,
        )

    def _keep(self, waiting: Future[Attempt], batch: Sequence[Pending]) -> None:
        """Store what was embedded and record what was not."""
        made = self._result(waiting)
        number = self._generation.number
        if made.rows:
            self._store(made)
        for one, reason in made.failures:
            wait = retry_in(one.tries + 1, self._settings)
            self._vectors.fail(number, one.content_hash, reason, retry_in=wait)
            log.warning("a passage of %r was not embedded: %s", one.title, reason)
        self.embedded += len(made.rows)
        self.failed += len(made.failures)
        standing = self._standing
        again = sum(one.tries > 0 for one in batch)
        self._standing = Progress(
            standing.ready + len(made.rows),
            max(0, standing.pending - len(batch) + again),
            max(0, standing.failed - again) + len(made.failures),
        )
        self._progress(self._standing)

    def _result(self, waiting: Future[Attempt]) -> Attempt:
        while True:
            try:
                return waiting.result(timeout=_GLANCE_SECONDS)
            except TimeoutError:
                if waiting.done():
                    raise
                if self._stop():
                    raise _Stopped from None

    def _store(self, made: Attempt) -> None:
        part, number = block(self._generation.space), self._generation.number
        passages = [one for one, _ in made.rows]
        # Another process may have centred the generation since the last batch, or do so now.
        means = {} if part is None else self._vectors.means(number)
        while True:
            matrix = made.matrix
            if part is not None:
                matrix = centred(matrix, [one.language for one in passages], means, part)
            self._vectors.add_vectors(
                number,
                [
                    (one.content_hash, one.text_hash, row)
                    for one, row in zip(passages, matrix, strict=True)
                ],
                made.sentences,
            )
            if part is None or same_means(means, now := self._vectors.means(number)):
                return
            means = now


def _lender(vectors: Vectors, embedder: Embedder) -> Generation | None:
    """The generation whose stored vectors are part of what the embedder makes."""
    if not isinstance(embedder, Reusing):
        return None
    held = [one for one in vectors.generations() if one.space == embedder.reuses]
    return held[-1] if held else None
