"""Every endpoint of the server, by address and by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twolane.interfaces.http import describing, documents, health, judging, searching, writing
from twolane.interfaces.http.endpoints import Endpoint
from twolane.interfaces.http.problems import NOT_FOUND, Refused

# What is there even where the API is not: for whoever looks after the server.
UPKEEP: tuple[Endpoint, ...] = tuple(
    one for one in health.ENDPOINTS if not one.path.startswith("/api/")
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *searching.ENDPOINTS,
    *documents.ENDPOINTS,
    *writing.ENDPOINTS,
    *judging.ENDPOINTS,
    *health.ENDPOINTS,
    *describing.endpoints(),
)

BY_NAME: Mapping[str, Endpoint] = {one.name: one for one in ENDPOINTS}


def by_path(endpoints: Iterable[Endpoint] = ENDPOINTS) -> dict[str, dict[str, Endpoint]]:
    """The methods of each address."""
    table: dict[str, dict[str, Endpoint]] = {}
    for one in endpoints:
        table.setdefault(one.path, {})[one.method] = one
    return table


def looked_up(
    table: Mapping[str, Mapping[str, Endpoint]], path: str
) -> tuple[Mapping[str, Endpoint], dict[str, str]]:
    """The methods of an address, and the parameter that the rest of it is."""
    if path in table and "{" not in path:
        return table[path], {}
    for pattern, methods in table.items():
        stem, _, name = pattern.partition("{")
        if name and path.startswith(stem) and len(path) > len(stem):
            return methods, {name.rstrip("}"): path[len(stem) :]}
    raise Refused(NOT_FOUND, "there is nothing at this address")
