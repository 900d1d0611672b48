"""A read-only copy of the database on another server, which searches ask while it answers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TypeVar

from twolane.model.errors import BadSetting, StoreError, TooSlow, TwolaneError
from twolane.model.scope import Scope
from twolane.stores.postgres.database import Database, Session

log = logging.getLogger("twolane")

_T = TypeVar("_T")

# A replica that did not answer is left alone for so long.
_PAUSE_SECONDS = 10.0


class Replica:
    """Reads from a copy; from the original while the copy does not answer, and says so.

    `connect` opens the copy, which is tried when it is first asked, and again and again while it
    is not there: nobody waits for it to begin.
    """

    def __init__(self, original: Database, place: str, connect: Callable[[], Database]) -> None:
        self._original = original
        self._place = place
        self._connect = connect
        self._lock = threading.Lock()
        self._copy: Database | None = None
        self._closed = False
        self._trouble: str | None = None
        self._silent_until = 0.0

    @contextmanager
    def reading(self, scope: Scope | None = None) -> Iterator[Session]:
        """A session with one snapshot of the copy, or else of the original."""
        with ExitStack() as stack:
            yield self._begun(stack, scope) or stack.enter_context(self._original.reading(scope))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that this thread reads inside be one transaction, of the copy or the original."""
        with self._original.snapshot(), self._copy.snapshot() if self._copy else nullcontext():
            yield

    def pause(self) -> None:
        """Let go of what this thread's snapshot holds, of both."""
        self._original.pause()
        if self._copy:
            self._copy.pause()

    def writing(self, work: Callable[[Session], _T], *, sharing: bool = False) -> _T:
        """What the work gives, done by the original."""
        return self._original.writing(work, sharing=sharing)

    def degraded(self) -> str | None:
        """Why the original answers in the copy's place; None if it does not."""
        return self._trouble

    def close(self) -> None:
        """Close the copy's connections; calling it twice is harmless."""
        with self._lock:
            self._closed = True
            if self._copy is not None:
                self._copy.close()

    def _begun(self, stack: ExitStack, scope: Scope | None) -> Session | None:
        """A session of the copy; None while that does not answer."""
        if time.monotonic() < self._silent_until:
            return None
        try:
            session = stack.enter_context(self._opened().reading(scope))
        except (BadSetting, TooSlow):
            raise
        except TwolaneError as error:
            self._note(error)
            return None
        self._trouble = None
        return session

    def _opened(self) -> Database:
        with self._lock:
            if self._closed:
                raise StoreError("the library is closed; open it again to use it")
            if self._copy is None:
                self._copy = self._connect()
            return self._copy

    def _note(self, error: TwolaneError) -> None:
        if self._trouble is None:
            log.warning(
                "the replica %s does not answer, and the primary does: %s", self._place, error
            )
        self._trouble = "the replica does not answer, so the primary does"
        self._silent_until = time.monotonic() + _PAUSE_SECONDS
