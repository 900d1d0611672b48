"""One request answered over a library: in the server itself or in a worker process.

What goes in and what comes out are plain values; a failure comes out as one, too.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from twolane import __version__
from twolane.interfaces.http.endpoints import Call, Caller, Endpoint, Measured
from twolane.interfaces.http.problems import INTERNAL, HttpProblem, problem_of
from twolane.interfaces.wire.shape import encode
from twolane.library import Library
from twolane.model.document import digest
from twolane.model.errors import TwolaneError
from twolane.model.values import dataclass
from twolane.settings import Settings

if TYPE_CHECKING:
    from twolane.interfaces.http.metrics import Metrics


class JsonLines(logging.Formatter):
    """A record as one line of JSON; what was logged as `told` stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": at,
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "told", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_json(level: int) -> None:
    """Send the log, from this level up, to standard error as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    # What the HTTP library says of its own well-being is told by us already; its warnings are not.
    for name, least in (("twolane", level), ("uvicorn", max(level, logging.WARNING))):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least)
        logger.propagate = False


log = logging.getLogger("twolane.http")


@dataclass(frozen=True, slots=True)
class Job:
    """All that answering a request needs beside the library.

    `inputs` are the parameters and the body; `address` is path and query as they came;
    `seen` are the ETags that the client has.
    """

    endpoint: str
    request_id: str
    caller: Caller
    inputs: Mapping[str, Any]
    address: str = ""
    seen: tuple[str, ...] = ()
    if_match: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, ready to be sent."""

    status: int
    content: bytes | None
    etag: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None


def answered(
    job: Job, endpoint: Endpoint, library: Library, metrics: Metrics | None = None
) -> Answered | HttpProblem:
    """The answer to a request, or why there is none; never raises."""
    call = Call(library, job.caller, job.if_match, metrics, new="*" in job.seen, key=job.key)
    try:
        return _answered(job, endpoint, call)
    except HttpProblem as problem:
        return problem
    except TwolaneError as error:
        told = problem_of(error)
        if told.problem.status >= 500:
            # The caller is not told where the file lies that this is about; who runs it must know.
            log.warning("request %s: %s", job.request_id, error)
        return told
    # Whatever a request brings to light, the next one must be answered.
    except Exception:
        log.exception("request %s failed", job.request_id)
        return failed()


def failed() -> HttpProblem:
    """What the caller is told of a mistake of ours."""
    return HttpProblem(INTERNAL, "the server's log has more under the request id")


def known(etag: str, seen: tuple[str, ...]) -> bool:
    """Whether the client has this already; comparison is weak, as reading wants it."""
    return "*" in seen or etag.removeprefix("W/") in [one.removeprefix("W/") for one in seen]


def _answered(job: Job, endpoint: Endpoint, call: Call) -> Answered:
    etag = None
    if endpoint.state is not None:
        etag = _weak(endpoint.state(call), job)
        if known(etag, job.seen):
            return Answered(304, None, etag)
    reply = endpoint.answer(call, **job.inputs)
    if reply.etag is not None and not endpoint.writes and known(reply.etag, job.seen):
        return Answered(304, None, reply.etag)
    content = reply.body.encode() if isinstance(reply.body, str) else encode(reply.body)
    etag = reply.etag or (etag if reply.keep else None)
    return Answered(reply.status, content, etag, reply.headers, reply.measured)


def _weak(state: str, job: Job) -> str:
    """A name for an answer that may differ in its timings and in nothing else."""
    may = ",".join(sorted(job.caller.capabilities))
    parts = (__version__, state, job.caller.owner or "", may, job.address)
    return f'W/"{digest(chr(10).join(parts))}"'


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
