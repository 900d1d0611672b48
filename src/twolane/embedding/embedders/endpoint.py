"""Requests to a server that may be down, busy or slow: retries, waits and words for failures.

A key travels in one header and nowhere else: not in a log, a message or a stored run.
"""

from __future__ import annotations

import email.utils
import json
import logging
import math
import random
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from twolane.model.errors import EmbedderError, EmbedderUnavailable
from twolane.model.values import dataclass

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger(__name__)

# Nobody waits longer than this because a server asks for it.
_LONGEST_WAIT = 120.0
_FIRST_WAIT = 0.5

# An answer may have this many bytes if nobody knows better, and of a refusal this many are read.
_MOST_BYTES = 64 * 1024 * 1024
_TOLD_BYTES = 4096

# Answers that mean "later": the server is busy, restarting or behind a proxy that lost it.
_LATER = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# Answers that mean "never, as it is set up": no text is to blame.
_NEVER = frozenset({401, 403, 404, 405})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patiently a server is asked, and which group of settings names it."""

    seconds: float = 30.0
    tries: int = 5
    group: str = "embedding"


class Endpoint:
    """One server, its key, and the connections to it; safe to share between threads."""

    def __init__(self, url: str, key: str = "", policy: RetryPolicy | None = None) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._policy = policy or RetryPolicy()
        self._lock = threading.Lock()
        self._idle: list[_Line] = []
        self._closed = False

    def post(
        self, path: str, body: dict[str, Any], *, patient: bool, most: int = _MOST_BYTES
    ) -> Any:
        """The server's answer as JSON, which has at most `most` bytes.

        Raises EmbedderUnavailable if the server cannot be had or refuses us,
        EmbedderError if it refuses these texts.
        An impatient caller is waiting for a search: one more try and no long wait.
        """
        tries = self._policy.tries if patient else min(2, self._policy.tries)
        for attempt in range(1, tries + 1):
            refusal, wait = self._try(path, body, most)
            if not isinstance(refusal, EmbedderError | _Later):
                return refusal
            last = attempt == tries or not isinstance(refusal, _Later)
            if last or (not patient and (wait or 0) > 1):
                raise EmbedderUnavailable(str(refusal)) if isinstance(refusal, _Later) else refusal
            asked = wait if wait is not None else _FIRST_WAIT * 2 ** (attempt - 1)
            # Many clients that were refused together must not come back together.
            pause = min(_LONGEST_WAIT, asked) * random.uniform(1.0, 1.1)  # noqa: S311
            pause = min(_LONGEST_WAIT, pause)
            _log.info("%s; try %d of %d in %.1f s", refusal, attempt + 1, tries, pause)
            time.sleep(pause)
        raise AssertionError("the last try either answers or raises")

    def close(self) -> None:
        """Let go of the connections, for good; calling it twice is harmless."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for line in idle:
            line.client.close()

    def _try(self, path: str, body: dict[str, Any], most: int) -> tuple[Any, float | None]:
        """The answer, or the error to raise, with how long the server asks to wait."""
        httpx = _httpx()
        late = f"{self._url} did not answer within {self._policy.seconds:g} s"
        try:
            with self._line() as line, line.deadline(self._policy.seconds) as over:
                response, content = line.fetched(f"{self._url}/{path}", body, most)
        except httpx.TimeoutException:
            return _Later(late), None
        except httpx.InvalidURL as error:
            return EmbedderUnavailable(
                f"{self._url} is no address: {error}; set `{self._policy.group}.url`"
            ), None
        except _TooMuch as error:
            return EmbedderUnavailable(f"{self._url} answered with {error}"), None
        except httpx.HTTPError as error:
            if over.is_set():
                return _Later(late), None
            return _Later(f"{self._url} cannot be reached: {self._hidden(str(error))}"), None
        if response.status_code in _LATER:
            told = self._told(response.status_code, content)
            return _Later(told), _asked_to_wait(response.headers.get("retry-after"))
        if response.status_code in _NEVER:
            group = self._policy.group
            hint = f"check `{group}.url`, `{group}.model` and `{group}.key`"
            return EmbedderUnavailable(f"{self._told(response.status_code, content)}; {hint}"), None
        if response.status_code != httpx.codes.OK:
            return EmbedderError(self._told(response.status_code, content)), None
        try:
            return json.loads(content), None
        except (ValueError, RecursionError):
            return EmbedderUnavailable(f"{self._url} answered with something that is no JSON"), None

    @contextmanager
    def _line(self) -> Iterator[_Line]:
        """A connection that nobody else uses meanwhile."""
        with self._lock:
            # A search that gave up waiting may have left a request behind that only begins now.
            if self._closed:
                raise EmbedderUnavailable(f"{self._url} is not asked any more")
            line = self._idle.pop() if self._idle else None
        if line is None:
            headers = {"accept-encoding": "gzip"}
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            line = _Line(_httpx().Client(headers=headers, timeout=self._policy.seconds))
        try:
            yield line
        finally:
            with self._lock:
                kept = not self._closed
                if kept:
                    self._idle.append(line)
            if not kept:
                line.client.close()

    def _told(self, status: int, content: bytes) -> str:
        """What the server said, in one line, without the key that some servers repeat."""
        try:
            error = json.loads(content)["error"]
            said = error["message"] if isinstance(error, dict) else error
        except (ValueError, RecursionError, KeyError, TypeError):
            said = content[:_TOLD_BYTES].decode("utf-8", "replace")
        line = self._hidden(" ".join(str(said)[:_TOLD_BYTES].split()))[:300]
        return f"{self._url} answered {status}: {line or 'nothing'}"

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError as error:
        raise EmbedderUnavailable(
            "asking a server needs a package that is not installed; "
            "install it with: pip install 'twolane[openai]'"
        ) from error


class _Line:
    """A client that makes one request at a time, and can be hung up."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self._sockets: WeakSet[socket.socket] = WeakSet()

    def fetched(self, url: str, body: dict[str, Any], most: int) -> tuple[httpx.Response, bytes]:
        """The server's answer and its content; _TooMuch if that is longer than it may be."""
        with self.client.stream(
            "POST", url, json=body, extensions={"trace": self._noted}
        ) as response:
            return response, _unpacked(response, most)

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[threading.Event]:
        """Hang up when the time is over: a server that drips never lets a read time out.

        What is yielded is set then.
        """
        over = threading.Event()

        def hang_up() -> None:
            over.set()
            for one in list(self._sockets):
                # It may have been closed meanwhile.
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield over
        finally:
            timer.cancel()

    def _noted(self, event: str, told: dict[str, Any]) -> None:
        """Remember the sockets that are opened, so that they can be hung up."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._sockets.add(told["return_value"].get_extra_info("socket"))


class _Later(Exception):
    """The server may answer if it is asked again."""


class _TooMuch(Exception):
    """The server's answer is longer than any answer can be."""


def _unpacked(response: httpx.Response, most: int) -> bytes:
    """The content of an answer, neither longer than `most` as it comes nor unpacked."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "deflate", ""):
        raise _TooMuch(f"the encoding {packing[:20]!r}, which it was not asked for")
    # This reads either of them, with or without a head of its own.
    unpacking = zlib.decompressobj(32 + zlib.MAX_WBITS) if packing in ("gzip", "deflate") else None
    content, came = bytearray(), 0
    for part in response.iter_raw():
        came += len(part)
        try:
            room = most - len(content) + 1
            content += unpacking.decompress(part, room) if unpacking else part
        except zlib.error as error:
            raise _TooMuch(f"something that cannot be unpacked ({error})") from error
        if came > most or len(content) > most or (unpacking and unpacking.unconsumed_tail):
            raise _TooMuch(f"more than the {most:,} bytes that such an answer can have")
    return bytes(content)


def _asked_to_wait(value: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ArithmeticError, OSError, TypeError, ValueError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
