"""Every endpoint of the server, by name."""

from __future__ import annotations

from collections.abc import Mapping

from twolane.interfaces.http import documents, health, judging, openapi, searching, writing
from twolane.interfaces.http.endpoints import Endpoint

DESCRIBED: tuple[Endpoint, ...] = (
    *searching.ENDPOINTS,
    *documents.ENDPOINTS,
    *writing.ENDPOINTS,
    *judging.ENDPOINTS,
    *health.ENDPOINTS,
)

ENDPOINTS: tuple[Endpoint, ...] = (*DESCRIBED, *openapi.endpoints(DESCRIBED))

_API = "/api/v1/"

# What is there even where the API is not: for whoever looks after the server.
UPKEEP: tuple[Endpoint, ...] = tuple(
    one for one in health.ENDPOINTS if not one.path.startswith(_API)
)

BY_NAME: Mapping[str, Endpoint] = {one.name: one for one in ENDPOINTS}


def addresses(path: str) -> tuple[str, ...]:
    """Where an endpoint answers: at its path and, as before there were versions, without one."""
    return (path, path.replace(_API, "/api/", 1)) if path.startswith(_API) else (path,)
