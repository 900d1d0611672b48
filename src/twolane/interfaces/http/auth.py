"""Who may ask: known names for the server, pages that it served itself, and tokens.

Nothing of the index is touched before a request has come through here.
A page of another site can make a browser send requests here, and a name of that site can be made
to point here (DNS rebinding); neither may read or change anything.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from starlette.requests import Request

from twolane.embedding.spaces import Background
from twolane.interfaces.failures import discreet
from twolane.interfaces.http.admission import Rates
from twolane.interfaces.http.endpoints import LOCAL, Caller
from twolane.interfaces.http.problems import (
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    NOT_PERMITTED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    HttpProblem,
)
from twolane.library import Library
from twolane.model.errors import BadInput, DatabaseGone, StoreError
from twolane.model.scope import Capability
from twolane.model.tokens import Token
from twolane.model.values import dataclass
from twolane.settings import Settings

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
        return cls(LOOPBACK | own | {host.lower() for host in hosts}, frozenset(origins))

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


log = logging.getLogger("twolane.http")

T = TypeVar("T")

# A database that answers at once needs no more; while one does not, more would only wait as well.
_THREADS = 4

# The last use of a token is noted no more often than this.
_NOTED = timedelta(minutes=1)

# What a page of an allowed site may send beside what every page may; the last three are agents'.
_ASKED_WITH = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "X-Request-Id",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
)


class Auth:
    """Decides who a request is from, and whether it is let in."""

    def __init__(self, settings: Settings, library: Library) -> None:
        self._guard = Guard.of(settings.server.host, settings.server.hosts, settings.server.origins)
        self._library = library
        self._rates = Rates(settings.server.requests_per_minute)
        self._noted: dict[str, datetime] = {}
        self._notes = Background(1, name="twolane-tokens")
        self._threads = ThreadPoolExecutor(_THREADS, "twolane-auth")
        self._seconds = settings.server.request_seconds
        self._open = settings.server.require_token == "never"  # noqa: S105 - a choice, not a secret
        asked = settings.server.require_token == "always"  # noqa: S105 - a choice, not a secret
        self._required = asked or reachable(settings)
        _refuse_an_open_door(settings, library, required=self._required)

    def close(self) -> None:
        """Let nobody in and note nothing any more."""
        self._notes.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def preflight(self, request: Request) -> dict[str, str] | None:
        """What a browser is told that asks whether a page of another site may ask; else None."""
        if request.method != "OPTIONS" or not self.shared(request):
            return None
        return {
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
            "Access-Control-Allow-Headers": ", ".join(_ASKED_WITH),
            "Access-Control-Max-Age": "600",
        }

    def guard(self, request: Request) -> None:
        """Raise HttpProblem for a request by another name or from another site's page."""
        self._guard.check(request.method, request.scope["path"], request.headers)

    def shared(self, request: Request) -> dict[str, str]:
        """The headers that let a page of an allowed site read the answer."""
        return self._guard.shared(request.headers.get("origin"))

    def count(self, request: Request) -> None:
        """Count a request that needs no caller; HttpProblem if there were too many."""
        self._rates.count(_client(request))

    async def admit(self, request: Request, capability: Capability | None) -> Caller:
        """Who is asking; HttpProblem if that is unknown, too often, or not allowed here."""
        if capability is None:
            # Nothing of the index is told there, so it is not asked who may know it, either.
            self._rates.count(_client(request))
            return Caller("nobody", None, frozenset())
        caller = await self._caller(request)
        self._rates.count(caller.name if caller and caller is not LOCAL else _client(request))
        if caller is None:
            raise _unknown("the token is not known" if _bearer(request) else "there is no token")
        if capability not in caller.capabilities:
            raise HttpProblem(NOT_PERMITTED, f"this needs the capability {capability}")
        return caller

    async def _caller(self, request: Request) -> Caller | None:
        try:
            if "authorization" in request.headers:
                token = await self._looked_up(lambda: self._library.token_of(_bearer(request)))
                return None if token is None else self._let_in(token)
            return None if await self._asks_for_tokens() else LOCAL
        except (StoreError, TimeoutError) as error:
            # Why it cannot be read is for the log: it may tell where things are on the disk.
            log.error("tokens cannot be read: %s", error)  # noqa: TRY400 - it says enough
            told = "whether you may ask cannot be looked up now"
            if isinstance(error, DatabaseGone):
                # Only whoever runs the server can help, and has to know.
                told = discreet(error)
            raise HttpProblem(UNAVAILABLE, told, {"Retry-After": "1"}) from error

    async def _asks_for_tokens(self) -> bool:
        """Whether nobody is let in without a token; once that is so, it stays so."""
        if self._open:
            return False
        if not self._required and await self._looked_up(self._library.had_tokens):
            self._required = True
        return self._required

    async def _looked_up(self, look: Callable[[], T]) -> T:
        """What the library says, without holding up others; TimeoutError if it says nothing."""
        loop = asyncio.get_running_loop()
        return await asyncio.wait_for(loop.run_in_executor(self._threads, look), self._seconds)

    def _let_in(self, token: Token) -> Caller:
        now = datetime.now(UTC)
        if token.is_over(now):
            raise _unknown("the token has expired")
        last = self._noted.get(token.id, token.used)
        if last is None or now - last >= _NOTED:
            self._noted[token.id] = now
            self._notes.submit(lambda: self._library.use_token(token, now))
        return Caller(f"token {token.id}", token.owner, token.capabilities)


def _refuse_an_open_door(settings: Settings, library: Library, *, required: bool) -> None:
    """Raise BadInput if nobody could get in, or everybody could who should not."""
    names = ", ".join((settings.server.host, *settings.server.hosts))
    if settings.server.require_token == "never" and reachable(settings):  # noqa: S105
        raise BadInput(f"{names} can be reached by others; set require_token to auto or always")
    if required and not library.tokens():
        why = f"{names} can be reached by others, and " if reachable(settings) else ""
        raise BadInput(f"{why}there is no token yet; make one with: twolane token add NAME")


def _unknown(why: str) -> HttpProblem:
    return HttpProblem(UNAUTHENTICATED, why, {"WWW-Authenticate": 'Bearer realm="twolane"'})


def reachable(settings: Settings) -> bool:
    """Whether others than this machine's own users can reach the server, directly or by a proxy."""
    return not is_loopback(settings.server.host) or any(
        host not in LOOPBACK for host in settings.server.hosts
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _client(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
