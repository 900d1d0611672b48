"""The way in: a known name, an allowed page, a token where one is needed, and not too often.

Nothing of the index is touched before a request has come through here.
"""

from __future__ import annotations

import ipaddress

from twolane.errors import BadInput, TwolaneError
from twolane.interfaces.http.endpoints import LOCAL, Caller, Endpoint
from twolane.interfaces.http.guard import LOOPBACK, Guard
from twolane.interfaces.http.limits import Rates
from twolane.interfaces.http.messages import Request
from twolane.interfaces.http.places import tokens_path
from twolane.interfaces.http.problems import (
    NOT_PERMITTED,
    UNAUTHENTICATED,
    Refused,
    refusal,
)
from twolane.interfaces.http.tokens import Tokens
from twolane.settings import Settings

# What a page of an allowed site may send beside what every page may; the last three are agents'.
_ASKED_WITH = (
    "Authorization",
    "Content-Type",
    "If-Match",
    "If-None-Match",
    "X-Request-Id",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
)


class Entrance:
    """Decides who a request is from, and whether it is let in."""

    def __init__(self, settings: Settings) -> None:
        self._guard = Guard.of(settings.host, settings.hosts, settings.origins)
        self._tokens = Tokens(tokens_path(settings))
        self._rates = Rates(settings.requests_per_minute)
        asked = settings.require_token == "always"  # noqa: S105 - a choice, not a secret
        self._always = asked or reachable(settings)
        if self._always and not self._tokens.all():
            raise BadInput(
                f"{', '.join((settings.host, *settings.hosts))} can be reached by others, "
                "and there is no token yet; make one with: twolane token add NAME"
                if reachable(settings)
                else "there is no token yet; make one with: twolane token add NAME"
            )

    def preflight(self, request: Request) -> dict[str, str] | None:
        """What a browser is told that asks whether a page of another site may ask; else None."""
        origin = request.headers.get("origin")
        if request.method != "OPTIONS" or not self._guard.shared(origin):
            return None
        return {
            **self._guard.shared(origin),
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
            "Access-Control-Allow-Headers": ", ".join(_ASKED_WITH),
            "Access-Control-Max-Age": "600",
        }

    def guard(self, request: Request) -> None:
        """Raise Refused for a request by another name or from another site's page."""
        self._guard.check(request.method, request.path, request.headers)

    def shared(self, request: Request) -> dict[str, str]:
        """The headers that let a page of an allowed site read the answer."""
        return self._guard.shared(request.headers.get("origin"))

    def count(self, request: Request) -> None:
        """Count a request that needs no caller; Refused if there were too many."""
        self._rates.count(request.client)

    def admit(self, request: Request, endpoint: Endpoint) -> Caller:
        """Who is asking; Refused if that is unknown, too often, or not allowed here."""
        caller = self._caller(request)
        self._rates.count(caller.name if caller and caller is not LOCAL else request.client)
        if endpoint.capability is None:
            return caller or Caller("nobody", None, frozenset())
        if caller is None:
            told = "the token is not known" if _bearer(request) else "there is no token"
            raise Refused(UNAUTHENTICATED, told, {"WWW-Authenticate": 'Bearer realm="twolane"'})
        if endpoint.capability not in caller.capabilities:
            raise Refused(NOT_PERMITTED, f"this needs the capability {endpoint.capability}")
        return caller

    def _caller(self, request: Request) -> Caller | None:
        try:
            if "authorization" in request.headers:
                return self._tokens.caller(_bearer(request))
            return None if self._always or self._tokens.all() else LOCAL
        except TwolaneError as error:
            raise refusal(error) from error


def reachable(settings: Settings) -> bool:
    """Whether others than this machine's own users can reach the server, directly or by a proxy."""
    return not is_loopback(settings.host) or any(one not in LOOPBACK for one in settings.hosts)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
