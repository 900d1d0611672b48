"""Who may speak to the server at all: known names for it, and pages that it served itself.

A page of another site can make a browser send requests here, and a name of that site can be made
to point here (DNS rebinding); neither may read or change anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twolane.interfaces.http.problems import FOREIGN_HOST, FOREIGN_ORIGIN, HttpProblem

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# What a browser may do with our answers: show our own page, and nothing from elsewhere.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """The names that the server goes by, and the sites whose pages may ask it."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, bound: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Guard:
        """The guard of a server that is bound to an address and known by further names."""
        own = {bound.strip("[]").lower()}
        return cls(LOOPBACK | own | {one.lower() for one in hosts}, frozenset(origins))

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Raise HttpProblem for a request that may not even be looked at."""
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            raise HttpProblem(FOREIGN_HOST, f"the header Host names {host[:100]!r}")
        origin = headers.get("origin")
        if origin is not None:
            if origin not in self.origins and _place(origin) != host.lower():
                raise HttpProblem(FOREIGN_ORIGIN, f"the request comes from {origin[:100]!r}")
        elif headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            # A link on another site may lead here, but only to the page itself.
            visit = method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
            if not visit or path.startswith("/api/"):
                raise HttpProblem(FOREIGN_ORIGIN, "the request comes from a page of another site")

    def shared(self, origin: str | None) -> dict[str, str]:
        """The headers that let a page of an allowed site read the answer."""
        if origin is None or origin not in self.origins:
            return {}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "ETag, Location, Retry-After, X-Request-Id",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "Vary": "Origin",
        }


# A name or an address, and a port: nothing that one program reads as a name and another as a
# password before it.
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


def _name(host: str) -> str:
    """The name in a Host header, without its port; empty for what is none."""
    found = _HOST.fullmatch(host)
    return found["name"].strip("[]").lower() if found else ""


def _place(origin: str) -> str | None:
    """Host and port of an origin as a Host header has them."""
    scheme, _, place = origin.partition("://")
    return place.lower() if scheme in ("http", "https") else None
