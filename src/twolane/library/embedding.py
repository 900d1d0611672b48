"""Vectors of a library: making them, now, at once after a save, or beside everything else."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from twolane.embedding.spaces import Background, Embedders
from twolane.model.errors import EmbedderUnavailable, TwolaneError
from twolane.model.space import Generation, GenerationState, Progress
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.embedder import Embedder
from twolane.ports.generations import revision
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.embedding.pipeline import Filled
    from twolane.embedding.pipeline.summarizing import Summarizing
    from twolane.embedding.pipeline.switching import Gate, Settled
    from twolane.embedding.pipeline.worker import Turn, Worker

log = logging.getLogger("twolane")

# Without being told to wait for every space, a run completes a slow one only if little is missing.
_FEW_PASSAGES = 200

# The worker turns to the fast spaces this often while it fills a slow one.
_SLICE_SECONDS = 5.0

# How often a run that goes on until all is done looks for new work.
_LOOK_SECONDS = 1.0
_LEAST_WAIT = 0.05

# How often passages that were given up are tried again.
_REVIVED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Embedded:
    """What embedding came to over all generations.

    `generation` is the one that new text gets its meaning from;
    `took_over` is one that serves from now on, `refused` is why one does not.
    """

    generation: int
    embedded: int
    failed: int
    pending: int
    stopped: str | None
    seconds: float
    took_over: int | None = None
    refused: str | None = None

    @property
    def rate(self) -> float | None:
        """Passages a second, where there were any."""
        return self.embedded / self.seconds if self.embedded and self.seconds else None


class Embedding:
    """The way from passages to vectors: in a run, right after a save, or in a worker."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        embedders: Embedders,
        summarizing: Summarizing | None = None,
    ) -> None:
        self._stores = stores
        self._settings = settings
        self._embedders = embedders
        self._summarizing = summarizing
        self._worker: Worker | None = None
        self._listening = False
        self._gate: Gate | None = None
        self._warned_of_gate = False
        # When what was given up in a generation was last tried again.
        self._revived: dict[int, float] = {}
        # Generations whose embedder failed when it was last asked.
        self._ailing: set[int] = set()
        self._background = Background(1, name="twolane-save")
        self._saved_lock = threading.Lock()
        self._saved: Future[bool] | None = None
        # Whether the embedder was quick enough the last time that somebody saved.
        self._in_time = True

    def embed(
        self,
        *,
        all_spaces: bool,
        backfill: bool,
        retry_failed: bool,
        gate: Gate | None,
        progress: Callable[[Progress], None],
    ) -> Embedded:
        """Give every passage its vector; returns when nothing is free or the embedder is gone."""
        if self._embedders.first is None:
            raise EmbedderUnavailable(self._embedders.missing)
        from twolane.ingest.boilerplate_detection import detect_boilerplate

        detect_boilerplate(self._stores, self._settings)
        target = self._stores.vectors.open_generation(self._embedders.first.space)
        if retry_failed:
            for generation in self._stores.vectors.generations():
                self._stores.queue.release(generation.number)
        if backfill and self._summarizing:
            self._summarizing.run(lambda: False)
        total = Embedded(target.number, 0, 0, 0, None, 0.0)
        while True:
            filled = []
            for duty in self._duties(all_spaces=all_spaces, held_back=gate is not None):
                if self._is_too_much(duty):
                    continue
                total = _added(total, self._fill(duty, progress=progress))
                if total.stopped is not None:
                    return self._left(total)
                filled.append(duty.generation.number)
            wait = self._wait(filled) if backfill else None
            if wait is None:
                break
            time.sleep(wait)
        if total.embedded:
            # There may be so many vectors by now that a store of its own accord indexes them.
            self._stores.maintenance.settle()
        settled = self._settle(gate or self._gate, again=gate is not None)
        return replace(self._left(total), took_over=settled.took_over, refused=settled.refused)

    def guard(self, gate: Gate) -> None:
        """Let new vectors take over only if the gate says so, whoever makes them from now on."""
        self._gate = gate

    def start_worker(self) -> Worker:
        """Embed beside everything else, at low priority; the worker that is there, or a new one."""
        from twolane.embedding.pipeline.leases import LONGEST_WAIT_SECONDS
        from twolane.embedding.pipeline.worker import Worker

        if self._worker is None or not self._worker.is_running:
            self._worker = Worker(
                self._turn,
                partial(revision, self._stores),
                first_wait=self._settings.embedding.retry_seconds,
                longest_wait=LONGEST_WAIT_SECONDS,
            )
            self._worker.start()
            if not self._listening:
                self._listening = True
                self._stores.queue.listen(self._wake)
        return self._worker

    def stop_worker(self) -> None:
        """Stop the worker, if there is one; what it was at is left to others."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def close(self) -> None:
        """Stop what runs in threads of its own."""
        self.stop_worker()
        self._background.close()

    def embed_saved(self, ids: Collection[str]) -> bool:
        """Embed what was just saved, if that takes no longer than a save may; whether it did.

        Nothing that goes wrong here reaches the caller: the text is saved, and its vectors
        follow when somebody embeds what is left.
        Nobody waits for an embedder that was down or too slow the last time.
        """
        if self._embedders.first is None or not ids:
            return False
        if not self._settings.embedding.save_seconds:
            self._wake()
            return False
        with self._saved_lock:
            busy = self._saved is not None and not self._saved.done()
            if not busy:
                self._saved = self._background.submit(lambda: self._embed_in_time(frozenset(ids)))
            waiting = None if busy or not self._in_time else self._saved
        done = False
        if waiting is not None:
            with suppress(TimeoutError):
                done = waiting.result(timeout=self._settings.embedding.save_seconds)
        self._wake()
        return done

    def _embed_in_time(self, ids: Collection[str]) -> bool:
        started = time.monotonic()
        done = self._embed_now(ids)
        self._in_time = done and time.monotonic() - started <= self._settings.embedding.save_seconds
        return done

    def _embed_now(self, ids: Collection[str]) -> bool:
        try:
            # The first is the one that searches turn to while others lack this text.
            duty = next(self._duties(all_spaces=False), None)
            if duty is None:
                return False
            filled = self._fill(duty, ids=ids, parallel=1)
        except TwolaneError as error:
            log.info("what was saved is embedded later: %s", error)
            return False
        except Exception:
            # The text is saved, whatever befell the vectors; whoever saved it is told so.
            log.exception("what was saved is embedded later")
            return False
        return filled.stopped is None and not filled.failed

    def _wake(self) -> None:
        if self._worker is not None:
            self._worker.wake()

    def _duties(self, *, all_spaces: bool, held_back: bool = False) -> Iterator[_Duty]:
        """The generations to fill, those that are ready soonest first.

        What stands by comes before what serves, and that before what is on its way.
        A slow space that nobody waits for is completed only if little is missing.
        """
        wanted = list(self._embedders.wanted)
        opened = wanted if all_spaces else wanted[:1]
        numbers = {self._stores.vectors.open_generation(one.space).number for one in opened}
        order = [GenerationState.STANDBY, GenerationState.SERVING, GenerationState.FILLING]
        if held_back:
            order.append(GenerationState.HELD)
        generations = self._stores.vectors.generations()
        # Where everything wanted is held back, what serves is all that there is.
        coming = any(
            generation.number in numbers and generation.state != GenerationState.HELD
            for generation in generations
        )
        for state in order:
            for generation in generations:
                embedder = self._embedders.of(generation.space)
                if (
                    generation.state != state
                    or embedder is None
                    or embedder.space != generation.space
                ):
                    continue
                if generation.number in numbers:
                    yield _Duty(generation, embedder)
                elif state in (GenerationState.SERVING, GenerationState.STANDBY):
                    yield _Duty(generation, embedder, _FEW_PASSAGES if coming else None)

    def _is_too_much(self, duty: _Duty) -> bool:
        if duty.most is None:
            return False
        return self._stores.queue.progress(duty.generation.number).pending > duty.most

    def _fill(
        self,
        duty: _Duty,
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
        ids: Collection[str] | None = None,
        parallel: int | None = None,
    ) -> Filled:
        from twolane.embedding.pipeline import fill

        number = duty.generation.number
        self._revive(number)
        filled = fill(
            self._stores,
            duty.embedder,
            duty.generation,
            settings=self._settings,
            progress=progress,
            stop=stop,
            ids=ids,
            parallel=parallel,
        )
        if filled.failed or filled.stopped is not None:
            self._ailing.add(number)
        elif filled.embedded and number in self._ailing:
            # It is well again, so what was given up is tried again with the next turn.
            self._ailing.discard(number)
            self._revived.pop(number, None)
        return filled

    def _revive(self, generation: int) -> None:
        """Let passages that were given up be tried again: at first, and then every hour.

        Often it was the server that was ill, and not the passage; nobody tells when it is well.
        """
        last = self._revived.get(generation)
        if last is not None and time.monotonic() - last < _REVIVED_SECONDS:
            return
        self._revived[generation] = time.monotonic()
        if self._stores.queue.jobs(generation).abandoned:
            self._stores.queue.release(generation)

    def _wait(self, generations: Iterable[int]) -> float | None:
        """How long to wait before the rest of these can be embedded; None if there is none."""
        due = [self._stores.queue.jobs(number).due for number in generations]
        waits = [wait for wait in due if wait is not None]
        return min(_LOOK_SECONDS, max(_LEAST_WAIT, min(waits))) if waits else None

    def _left(self, total: Embedded) -> Embedded:
        return replace(total, pending=self._stores.queue.progress(total.generation).pending)

    def _settle(self, gate: Gate | None, *, again: bool = False) -> Settled:
        from twolane.embedding.pipeline.switching import settle

        # Whoever asked for a gate in the settings must not be served what it has not seen.
        missing = gate is None and self._settings.embedding.gate is not None
        if missing and not self._warned_of_gate:
            self._warned_of_gate = True
            log.warning("new vectors do not take over: `gate` is set, and this program has none")
        return settle(
            self._stores,
            self._embedders.spaces,
            keep=self._settings.embedding.keep_generations,
            gate=gate,
            again=again,
            switch=not missing,
        )

    def _turn(self, stop: Callable[[], bool]) -> Turn:
        """One turn of the worker: all of the fast spaces, a slice of the slow ones."""
        from twolane.embedding.pipeline.worker import Turn
        from twolane.ingest.boilerplate_detection import detect_boilerplate

        detect_boilerplate(self._stores, self._settings)
        embedded = 0
        visited: list[int] = []
        for duty in self._duties(all_spaces=True):
            deadline = time.monotonic() + _SLICE_SECONDS if visited else None
            until = stop if deadline is None else _by(deadline, stop)
            # One core is left to whoever is waiting for an answer.
            filled = self._fill(duty, stop=until, parallel=1)
            visited.append(duty.generation.number)
            embedded += filled.embedded
            if filled.stopped is not None:
                return Turn(None, filled.stopped)
            if stop():
                return Turn(None)
        self._settle(self._gate)
        if self._summarizing:
            # What was summarised is embedded in the next turn, before anything else is.
            embedded += self._summarizing.run(_by(time.monotonic() + _SLICE_SECONDS, stop))
        wait = self._wait(visited)
        given_up = any(self._stores.queue.jobs(number).abandoned for number in visited)
        if given_up:
            wait = _REVIVED_SECONDS if wait is None else min(wait, _REVIVED_SECONDS)
        return Turn(0.0 if embedded else wait)


@dataclass(frozen=True, slots=True)
class _Duty:
    """A generation to fill, by whom, and how many passages may be missing at most."""

    generation: Generation
    embedder: Embedder
    most: int | None = None


def _by(deadline: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """Whether to stop: because somebody says so, or because the time is up."""
    return lambda: stop() or time.monotonic() >= deadline


def _added(total: Embedded, filled: Filled) -> Embedded:
    return replace(
        total,
        embedded=total.embedded + filled.embedded,
        failed=total.failed + filled.failed,
        stopped=filled.stopped,
        seconds=total.seconds + filled.seconds,
    )
