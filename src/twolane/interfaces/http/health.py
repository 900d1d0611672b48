"""`/api/status`, `/healthz` and `/readyz`: how the server and the index are."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from twolane import __version__
from twolane.errors import TwolaneError
from twolane.interfaces import http_wire, wire
from twolane.interfaces.http import schemas
from twolane.interfaces.http.endpoints import Call, Endpoint, Parameter, Reply, Type
from twolane.scopes import Capability

if TYPE_CHECKING:
    from twolane.library import Library


def status(call: Call) -> Reply:
    """How complete the index is, as `twolane status --json` has it."""
    found = call.library.status(scope=call.scope)
    files = call.library.files(scope=call.scope) if call.given["files"] else None
    collections = call.library.collections()
    if not call.may(Capability.ADMIN):
        # Where things lie on the server's disk is nobody else's business.
        found = replace(found, location="")
        collections = [replace(one, root=None) for one in collections]
    return Reply(wire.status_json(found, files, collections))


def healthy(call: Call) -> Reply:  # noqa: ARG001
    """That the server runs; the index is not asked."""
    return Reply(http_wire.health_json(__version__))


def ready(call: Call) -> Reply:
    """That the index can be asked."""
    call.library.revision()
    return Reply(http_wire.health_json(__version__))


class Waiting:
    """How many passages wait for a vector, counted anew only when the index has changed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._counted: tuple[str, float] | None = None

    def __call__(self) -> float:
        """The number; none at all (NaN) while the index cannot be asked."""
        try:
            state = str(self._library.revision())
            if self._counted is None or self._counted[0] != state:
                self._counted = (state, self._library.status().progress.pending)
        except TwolaneError:
            return nan
        return self._counted[1]


def metrics(call: Call) -> Reply:
    """What the server counted, for Prometheus."""
    text = call.metrics.text() if call.metrics else ""
    return Reply(text, media="text/plain; version=0.0.4; charset=utf-8")


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/status",
        "status",
        "Say how complete the index is",
        status,
        parameters=(
            Parameter("files", "Whether to tell of each file.", Type.TRUTH, default=False),
        ),
        gives={200: schemas.STATUS},
    ),
    Endpoint(
        "GET",
        "/healthz",
        "healthy",
        "Say that the server runs",
        healthy,
        capability=None,
        gives={200: schemas.HEALTH},
        light=True,
    ),
    Endpoint(
        "GET",
        "/readyz",
        "ready",
        "Say whether the index can be asked",
        ready,
        capability=None,
        gives={200: schemas.HEALTH},
        light=True,
    ),
    Endpoint(
        "GET",
        "/metrics",
        "metrics",
        "Tell what the server counted, for Prometheus",
        metrics,
        capability=Capability.ADMIN,
        gives={200: schemas.TEXT},
        light=True,
        media="text/plain",
    ),
)
