"""Requests to a server that may be down, busy or slow: retries, waits and words for failures.

A key travels in one header and nowhere else: not in a log, a message or a stored run.
"""

from __future__ import annotations

import email.utils
import json
import logging
import random
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from twolane.model.errors import EmbedderError, EmbedderUnavailable

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger(__name__)

# Nobody waits longer than this because a server asks for it.
_LONGEST_WAIT = 120.0
_FIRST_WAIT = 0.5

# Answers that mean "later": the server is busy, restarting or behind a proxy that lost it.
_LATER = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# Answers that mean "never, as it is set up": no text is to blame.
_NEVER = frozenset({401, 403, 404, 405})


@dataclass(frozen=True, slots=True)
class Manners:
    """How patiently a server is asked."""

    seconds: float = 30.0
    tries: int = 5


class Endpoint:
    """One server, its key, and the connections to it; safe to share between threads."""

    def __init__(self, url: str, key: str = "", manners: Manners | None = None) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._manners = manners or Manners()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, path: str, body: dict[str, Any], *, patient: bool) -> Any:
        """The server's answer as JSON.

        Raises EmbedderUnavailable if the server cannot be had or refuses us,
        EmbedderError if it refuses these texts.
        An impatient caller is waiting for a search: one more try and no long wait.
        """
        tries = self._manners.tries if patient else min(2, self._manners.tries)
        for attempt in range(1, tries + 1):
            refusal, wait = self._try(path, body)
            if not isinstance(refusal, EmbedderError | _Later):
                return refusal
            last = attempt == tries or not isinstance(refusal, _Later)
            if last or (not patient and (wait or 0) > 1):
                raise EmbedderUnavailable(str(refusal)) if isinstance(refusal, _Later) else refusal
            pause = wait if wait is not None else _FIRST_WAIT * 2 ** (attempt - 1)
            # Many clients that were refused together must not come back together.
            pause = min(_LONGEST_WAIT, pause) + random.uniform(0, 0.1 * pause)  # noqa: S311
            _log.info("%s; try %d of %d in %.1f s", refusal, attempt + 1, tries, pause)
            time.sleep(pause)
        raise AssertionError("the last try either answers or raises")

    def close(self) -> None:
        """Let go of the connections; calling it twice is harmless."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _try(self, path: str, body: dict[str, Any]) -> tuple[Any, float | None]:
        """The answer, or the error to raise, with how long the server asks to wait."""
        httpx = _httpx()
        try:
            response = self._opened().post(f"{self._url}/{path}", json=body)
        except httpx.TimeoutException:
            return _Later(f"{self._url} did not answer within {self._manners.seconds:g} s"), None
        except httpx.InvalidURL as error:
            return EmbedderUnavailable(
                f"{self._url} is no address: {error}; set `embedding.url`"
            ), None
        except httpx.HTTPError as error:
            return _Later(f"{self._url} cannot be reached: {self._hidden(str(error))}"), None
        if response.status_code in _LATER:
            return _Later(self._told(response)), _asked_to_wait(response.headers.get("retry-after"))
        if response.status_code in _NEVER:
            hint = "check `embedding.url`, `embedding.model` and `embedding.key`"
            return EmbedderUnavailable(f"{self._told(response)}; {hint}"), None
        if response.status_code != httpx.codes.OK:
            return EmbedderError(self._told(response)), None
        try:
            return response.json(), None
        except (json.JSONDecodeError, UnicodeDecodeError):
            return EmbedderUnavailable(f"{self._url} answered with something that is no JSON"), None

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = _httpx().Client(headers=headers, timeout=self._manners.seconds)
            return self._client

    def _told(self, response: httpx.Response) -> str:
        """What the server said, in one line, without the key that some servers repeat."""
        try:
            error = response.json()["error"]
            said = error["message"] if isinstance(error, dict) else error
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            said = response.text
        line = " ".join(str(said).split())[:300]
        return f"{self._url} answered {response.status_code}: {self._hidden(line) or 'nothing'}"

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError as error:
        raise EmbedderUnavailable(
            "the embedder 'openai' needs a package that is not installed; "
            "install it with: pip install 'twolane[openai]'"
        ) from error


class _Later(Exception):
    """The server may answer if it is asked again."""


def _asked_to_wait(value: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds a number or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
