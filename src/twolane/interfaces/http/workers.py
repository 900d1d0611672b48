"""Processes that answer searches, each with the library open: two cores do twice the work."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from twolane.interfaces.http.dispatch import Answered, Job, answered
from twolane.interfaces.http.log import log_json
from twolane.interfaces.http.problems import HttpProblem
from twolane.library import Library
from twolane.settings import Settings

log = logging.getLogger("twolane.http")


class Workers:
    """A pool of processes that outlives the death of any of them."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self._count = count
        self._lock = threading.Lock()
        self._pool = self._fresh()

    def submit(self, job: Job) -> Future[Answered | HttpProblem]:
        """Have a job answered by the next process that is free."""
        with self._lock:
            try:
                return self._pool.submit(_answer, job)
            except BrokenProcessPool:
                log.warning("a search process died; starting new ones")
                self._pool = self._fresh()
                return self._pool.submit(_answer, job)

    def close(self) -> None:
        """Let jobs that have begun end, and the processes with them."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fresh(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(
            self._count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_open,
            initargs=(self._settings, logging.getLogger("twolane").getEffectiveLevel()),
        )
        for _ in range(self._count):
            # A process is started when there is something to do for it.
            pool.submit(_warm)
        return pool


class _Here:
    """What a worker process holds between its jobs; the pool has no other place for it."""

    library: Library


def _open(settings: Settings, level: int) -> None:
    log_json(level)
    # Ctrl-C reaches every process of a terminal; the server tells its workers when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    _Here.library = Library.open(settings=settings)


def _warm() -> None:
    """Load the model and the vectors before anybody waits for them."""
    _Here.library.search("twolane", limit=1)


def _answer(job: Job) -> Answered | HttpProblem:
    from twolane.interfaces.http.routes import BY_NAME

    return answered(job, BY_NAME[job.endpoint], _Here.library)


def _end_with_the_server() -> None:
    """A worker whose server was killed has nobody to work for."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)
