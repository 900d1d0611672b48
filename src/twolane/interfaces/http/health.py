"""`/api/v1/status`, `/healthz`, `/readyz` and `/metrics`: how the server and the index are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING

from twolane import __version__
from twolane.interfaces.failures import for_strangers, stranger_text
from twolane.interfaces.http.endpoints import Call, Reply, endpoint
from twolane.interfaces.http.parameters import StatusParameters
from twolane.interfaces.wire import indexing as wire
from twolane.interfaces.wire.server import Health
from twolane.library.completeness import FileStatus, StagesStanding
from twolane.model.errors import TwolaneError
from twolane.model.scope import Capability

if TYPE_CHECKING:
    from twolane.library import Library

_light = partial(endpoint, tag="server", light=True)


@endpoint("GET", "/api/v1/status", "status", tag="server", gives=wire.Status)
def status(call: Call, given: StatusParameters) -> Reply:
    """Say how complete the index is."""
    found = call.library.status(scope=call.scope)
    files = call.library.files(scope=call.scope) if given.files else None
    collections = call.library.collections(scope=call.scope)
    if call.caller.owner is not None:
        # The size of the whole database tells how much others keep.
        found = replace(found, stats=replace(found.stats, bytes=0))
    if call.caller.owner is not None or not call.may(Capability.ADMIN):
        # What a stage failed at may repeat anybody's query.
        found = replace(found, stages=StagesStanding())
    if not call.may(Capability.ADMIN):
        # Where things lie on the server's disk is nobody else's business.
        found = replace(found, location="", lag=None, degraded=for_strangers(found.degraded))
        files = files and [_discreet(one) for one in files]
        collections = [replace(one, root=None) for one in collections]
    return Reply(wire.status(found, files, collections))


def _discreet(file: FileStatus) -> FileStatus:
    """The same, without where a link leads or a model is."""
    record = replace(file.record, reason=stranger_text(file.record.reason))
    failure = file.failure and replace(file.failure, reason=stranger_text(file.failure.reason))
    return replace(file, record=record, failure=failure)


@_light("GET", "/healthz", "healthy", gives=Health, capability=None)
def healthy(call: Call) -> Reply:  # noqa: ARG001 - the index is not asked
    """Say that the server runs."""
    return Reply(Health(version=__version__))


@_light("GET", "/readyz", "ready", gives=Health, capability=None)
def ready(call: Call) -> Reply:
    """Say whether the index can be asked."""
    call.library.revision()
    return Reply(Health(version=__version__))


@_light("GET", "/metrics", "metrics", gives=str, media="text/plain", capability=Capability.ADMIN)
def metrics(call: Call) -> Reply:
    """Tell what the server counted, for Prometheus."""
    return Reply(
        call.metrics.text() if call.metrics else "",
        headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
    )


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


def outbox(library: Library, part: int) -> float:
    """What waits for Qdrant: changes (0) or seconds (1); none at all (NaN) where nothing can."""
    try:
        lag = library.lag()
    except TwolaneError:
        return nan
    return nan if lag is None else lag[part]


ENDPOINTS = (status, healthy, ready, metrics)
