"""One request answered over a library, in whichever thread or process that happens.

What goes in and what comes out are plain values; a failure comes out as one, too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twolane import __version__
from twolane.errors import TwolaneError
from twolane.interfaces.http.endpoints import Call, Caller, Endpoint, Measured, Reply
from twolane.interfaces.http.messages import json_bytes
from twolane.interfaces.http.problems import INTERNAL, Refused, refusal
from twolane.model import digest

if TYPE_CHECKING:
    from twolane.interfaces.http.metrics import Metrics
    from twolane.library import Library

log = logging.getLogger("twolane.http")


@dataclass(frozen=True, slots=True)
class Job:
    """All that answering a request needs beside the library.

    `address` is path and query as they came; `seen` are the ETags that the client has.
    """

    endpoint: str
    request_id: str
    caller: Caller
    given: Mapping[str, Any]
    body: Any = None
    address: str = ""
    seen: tuple[str, ...] = ()
    if_match: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, ready to be sent."""

    status: int
    content: bytes | None
    etag: str | None = None
    media: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None


def answered(
    job: Job, endpoint: Endpoint, library: Library, metrics: Metrics | None = None
) -> Answered | Refused:
    """The answer to a request, or why there is none; never raises."""
    call = Call(
        library, job.caller, job.given, job.body, job.if_match, metrics, new="*" in job.seen
    )
    try:
        return _answered(job, endpoint, call)
    except Refused as refused:
        return refused
    except TwolaneError as error:
        return refusal(error)
    # Whatever a request brings to light, the next one must be answered.
    except Exception:
        log.exception("request %s failed", job.request_id)
        return Refused(INTERNAL, "the server's log has more under the request id")


def _answered(job: Job, endpoint: Endpoint, call: Call) -> Answered:
    etag = None
    if endpoint.state is not None:
        etag = _weak(endpoint.state(call), job)
        if known(etag, job.seen):
            return Answered(304, None, etag)
    reply = endpoint.answer(call)
    if reply.etag is not None and endpoint.method == "GET" and known(reply.etag, job.seen):
        return Answered(304, None, reply.etag)
    return Answered(
        reply.status,
        _content(reply),
        reply.etag or (etag if reply.keep else None),
        reply.media,
        reply.headers,
        reply.measured,
    )


def known(etag: str, seen: tuple[str, ...]) -> bool:
    """Whether the client has this already; comparison is weak, as reading wants it."""
    return "*" in seen or etag.removeprefix("W/") in [one.removeprefix("W/") for one in seen]


def _content(reply: Reply) -> bytes | None:
    if reply.body is None:
        return None
    return reply.body.encode() if isinstance(reply.body, str) else json_bytes(reply.body)


def _weak(state: str, job: Job) -> str:
    """A name for an answer that may differ in its timings and in nothing else."""
    may = ",".join(sorted(job.caller.capabilities))
    parts = (__version__, state, job.caller.owner or "", may, job.address)
    return f'W/"{digest(chr(10).join(parts))}"'
