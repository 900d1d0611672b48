"""One request answered over a library, in whichever thread or process that happens.

What goes in and what comes out are plain values; a failure comes out as one, too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twolane import __version__
from twolane.interfaces.http.endpoints import Call, Caller, Endpoint, Measured
from twolane.interfaces.http.problems import INTERNAL, HttpProblem, problem_of
from twolane.interfaces.wire.shape import encode
from twolane.model.document import digest
from twolane.model.errors import TwolaneError

if TYPE_CHECKING:
    from twolane.interfaces.http.metrics import Metrics
    from twolane.library import Library

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
