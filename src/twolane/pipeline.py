"""Embedding behind the scenes: passages without a vector get one, a batch at a time.

Work is whatever the store says is missing, so that it can stop at any moment and go on later.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twolane.centring import block, centred, means_of
from twolane.chunking import embedded_text
from twolane.errors import EmbedderError, EmbedderUnavailable
from twolane.model import Generation, GenerationState, Pending, Progress
from twolane.ports import Embedder, Vectors
from twolane.vector_checks import check_vectors

if TYPE_CHECKING:
    from twolane.ports import Matrix, Vector

log = logging.getLogger("twolane")

# One look at the store brings work for many batches; a lease outlives them all.
_CLAIM = 1024
_LEASE_SECONDS = 600.0

# Passages of like length embed together; larger batches gain nothing on a CPU.
_BATCH = 32

# A passage that failed alone is tried again by a later run, not by this one.
_RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Filled:
    """What a run of the pipeline did, and why it stopped early if it did."""

    generation: int
    embedded: int
    failed: int
    stopped: str | None = None


def fill(
    vectors: Vectors,
    embedder: Embedder,
    *,
    breadcrumb: bool = True,
    progress: Callable[[Progress], None] = lambda progress: None,
    stop: threading.Event | None = None,
) -> Filled:
    """Embed every passage that has no vector in the embedder's space.

    When nothing is left, a generation that was filling takes over and the old one goes.
    """
    generation = vectors.open_generation(embedder.space)
    worker = _worker()
    _release_the_dead(vectors, generation.number)
    means = vectors.means(generation.number)
    embedded = failed = 0
    standing = vectors.progress(generation.number)
    progress(standing)
    try:
        while not (stop and stop.is_set()):
            claimed = vectors.claim(
                generation.number, worker=worker, limit=_CLAIM, seconds=_LEASE_SECONDS
            )
            if not claimed:
                break
            for batch in _batches(claimed):
                if stop and stop.is_set():
                    break
                done = _embed(vectors, embedder, generation, batch, breadcrumb, means)
                embedded += done
                failed += len(batch) - done
                standing = Progress(
                    standing.ready + done,
                    max(0, standing.pending - len(batch)),
                    standing.failed + len(batch) - done,
                )
                progress(standing)
    except EmbedderUnavailable as error:
        log.warning("embedding stopped: %s", error)
        return Filled(generation.number, embedded, failed, str(error))
    finally:
        vectors.release(generation.number, worker)
    _centre(vectors, generation)
    _take_over(vectors, generation)
    return Filled(generation.number, embedded, failed)


def _worker() -> str:
    """A name that tells others on this machine which process is at work."""
    return f"{platform.node()}:{os.getpid()}:{threading.get_ident()}"


def _release_the_dead(vectors: Vectors, generation: int) -> None:
    """End the leases of processes of this machine that are gone: nobody will finish their work."""
    for worker in vectors.workers(generation):
        host, _, rest = worker.partition(":")
        pid = rest.partition(":")[0]
        if host == platform.node() and pid.isdecimal() and not _is_alive(int(pid)):
            vectors.release(generation, worker)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It belongs to another user, or the system does not tell: better to believe that it works.
        return True
    return True


def _embed(
    vectors: Vectors,
    embedder: Embedder,
    generation: Generation,
    batch: Sequence[Pending],
    breadcrumb: bool,
    means: Mapping[str, Vector],
) -> int:
    """Embed a batch and return how many went well; a bad passage fails alone."""
    try:
        made = _call(embedder, batch, breadcrumb)
        check_vectors(made, count=len(batch), dimensions=generation.space.dimensions)
        part = block(generation.space)
        if part is not None:
            made = centred(made, [one.language for one in batch], means, part)
        vectors.add_vectors(
            generation.number,
            [
                (one.content_hash, one.text_hash, vector)
                for one, vector in zip(batch, made, strict=True)
            ],
        )
    except EmbedderUnavailable:
        raise
    except EmbedderError as error:
        if len(batch) == 1:
            vectors.fail(
                generation.number, batch[0].content_hash, str(error), retry_in=_RETRY_SECONDS
            )
            log.warning("a passage of %r was not embedded: %s", batch[0].title, error)
            return 0
        return sum(_embed(vectors, embedder, generation, [one], breadcrumb, means) for one in batch)
    return len(batch)


def _call(embedder: Embedder, batch: Sequence[Pending], breadcrumb: bool) -> Matrix:
    texts = [
        embedded_text(one.title, one.headings if breadcrumb else (), one.text) for one in batch
    ]
    try:
        made = embedder.embed_passages(texts)
    except EmbedderError:
        raise
    except Exception as error:
        # An embedder is foreign code: whatever it raises, the text stays searchable.
        raise EmbedderError(f"{type(error).__name__}: {error}") from error
    return made


def _batches(claimed: Sequence[Pending]) -> list[Sequence[Pending]]:
    ordered = sorted(claimed, key=lambda one: len(one.text))
    return [ordered[at : at + _BATCH] for at in range(0, len(ordered), _BATCH)]


def _centre(vectors: Vectors, generation: Generation) -> None:
    """Centre a generation that is complete for the first time; after that its means are frozen."""
    part = block(generation.space)
    if part is None or vectors.progress(generation.number).pending:
        return
    if vectors.means(generation.number):
        return
    import numpy as np

    held = vectors.all_vectors(generation.number)
    if not held:
        return
    matrix = np.stack([vector for _, _, _, vector in held])
    languages = [language for _, _, language, _ in held]
    means = means_of(matrix, languages, part)
    moved = centred(matrix, languages, means, part)
    vectors.recentre(
        generation.number,
        means,
        [(one[0], one[1], row) for one, row in zip(held, moved, strict=True)],
    )


def _take_over(vectors: Vectors, generation: Generation) -> None:
    left = vectors.progress(generation.number)
    if left.pending or left.failed:
        return
    if generation.state == GenerationState.FILLING:
        vectors.activate(generation.number)
    for other in vectors.generations():
        if other.state == GenerationState.RETIRED:
            vectors.drop_generation(other.number)
    vectors.sweep()
