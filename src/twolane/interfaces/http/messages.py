"""A request as it came in and a response as it goes out, over ASGI and nothing else."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from twolane.interfaces.http.problems import (
    BAD_REQUEST,
    TOO_LARGE,
    TOO_SLOW_REQUEST,
    WRONG_TYPE,
    Refused,
)

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST_PARAMETERS = 200


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent, without its body."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    client: str
    id: str
    head_bytes: int

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> Request:
        """The request of an ASGI scope; its id is the client's own if that is a decent one."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            # What is said twice is kept twice, so that nobody reads one and checks the other.
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        given = headers.get("x-request-id", "")
        return cls(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            headers=headers,
            client=scope["client"][0] if scope.get("client") else "unknown",
            id=given if _ID.fullmatch(given) else secrets.token_hex(8),
            head_bytes=sum(len(name) + len(value) for name, value in scope["headers"])
            + len(scope.get("raw_path") or scope["path"])
            + len(scope["query_string"]),
        )

    def listed(self, header: str) -> tuple[str, ...]:
        """The parts of a header that is a list."""
        parts = (one.strip() for one in self.headers.get(header, "").split(","))
        return tuple(one for one in parts if one)

    def parameters(self) -> list[tuple[str, str]]:
        """The pairs of the query string, which must be UTF-8."""
        try:
            return parse_qsl(
                self.query.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=_MOST_PARAMETERS,
            )
        except ValueError as error:
            said = "is not UTF-8" if isinstance(error, UnicodeError) else "has too many parameters"
            raise Refused(BAD_REQUEST, f"the query string {said}") from error


async def read_json(request: Request, receive: Receive, *, most: int, seconds: float) -> Any:
    """The JSON in a request's body; Refused if it is none, too large or too slow to come."""
    return _parsed(await read_body(request, receive, most=most, seconds=seconds))


async def read_body(request: Request, receive: Receive, *, most: int, seconds: float) -> bytes:
    """A request's body, said to be JSON; Refused if it is not, too large or too slow to come."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Refused(WRONG_TYPE, f"the Content-Type is {media[:80]!r}")
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise Refused(TOO_LARGE, f"a body may have {most} bytes")
    try:
        async with asyncio.timeout(seconds):
            return await _body(receive, most)
    except TimeoutError as error:
        raise Refused(TOO_SLOW_REQUEST, f"the body was not there after {seconds:g} s") from error


async def _body(receive: Receive, most: int) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts += message.get("body", b"")
        if len(parts) > most:
            raise Refused(TOO_LARGE, f"a body may have {most} bytes")
        if not message.get("more_body"):
            return bytes(parts)


def _parsed(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
        found = json.loads(text, parse_constant=_no_number)
        # Half a surrogate pair is JSON, but no text that anything here could keep.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Refused(BAD_REQUEST, f"the body is not JSON in UTF-8: {_first(error)}") from error
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


class Gone(Exception):
    """Whoever asked has left; nobody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent back."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, request: Request, send: Send) -> None:
        """Send it; the head alone if no more was asked for."""
        headers = {**self.headers, "X-Request-Id": request.id}
        if self.status != 304:
            headers["Content-Length"] = str(len(self.body))
        await send(
            {
                "type": "http.response.start",
                "status": self.status,
                "headers": [
                    (name.lower().encode("latin-1"), value.encode("latin-1"))
                    for name, value in headers.items()
                ],
            }
        )
        body = b"" if request.method == "HEAD" or self.status == 304 else self.body
        await send({"type": "http.response.body", "body": body})


def json_bytes(value: Any) -> bytes:
    """A value as JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
