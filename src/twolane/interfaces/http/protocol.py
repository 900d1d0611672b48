"""HTTP/1.1 as it is spoken here: no client can hold a connection, or the server, for nothing.

What is no request at all is answered with a problem, too, and so is whoever comes too slowly,
too late or in too many pieces.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from twolane.interfaces.http.auth import HEADERS
from twolane.interfaces.http.problems import (
    BAD_REQUEST,
    LARGE_HEAD,
    OVERLOADED,
    TOO_LARGE,
    TOO_SLOW_REQUEST,
    HttpProblem,
)
from twolane.interfaces.wire.shape import encode
from twolane.model.values import dataclass

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle
    from uvicorn.server import ServerState

    from twolane.settings.groups import Server

# A head that is a little too large is read, and refused by the application like anything else.
MOST_HEAD_BYTES = 64 * 1024

# A body may come in so many chunks, and in one more for every so many bytes. Taking a chunk apart
# costs the same however little is in it, and nobody else is answered meanwhile.
_FREE_CHUNKS = 4000
_BYTES_PER_CHUNK = 64

# Who was refused may be sending still; if we did not listen, the system would take the answer back.
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for a head and for a reader, and for how many clients at a time."""

    head_seconds: float
    read_seconds: float
    connections: int

    @classmethod
    def of(cls, server: Server) -> Patience:
        """What the settings say."""
        return cls(server.head_seconds, server.request_seconds, server.connections)


def spoken(patience: Patience) -> type[asyncio.Protocol]:
    """The protocol of a server that is so patient and no more."""

    class Patient(Spoken):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named, patience=patience)

    return Patient


class Spoken(H11Protocol):
    """One connection.

    A head has its time, from its first byte or from the connection; so has whoever reads an answer.
    Where there are as many connections as may be, the one that has kept us waiting longest makes
    room for the next; if all are being answered, the next is turned away.
    """

    conn: _Connection

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        patience: Patience,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _Connection(self._head_is_there)
        self.waiting_since = time.monotonic()
        self._patience = patience
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._heard = False
        self._refused = False
        self._ignored = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a head, if there is room to wait."""
        super().connection_made(transport)
        self._await_head()
        if len(self.connections) > self._patience.connections and not self._others_make_room():
            told = "too many connections are open already"
            self._refuse(HttpProblem(OVERLOADED, told, {"Retry-After": "1"}), linger=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting_for_head()
        self._stop_waiting_for_reader()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came in."""
        if self._refused:
            self._ignored += len(data)
            if self._ignored > _LINGER_BYTES:
                self.transport.abort()
            return
        if self._head_timer is None and self.is_idle:
            self._await_head()
        self._heard = True
        super().data_received(data)

    def pause_writing(self) -> None:
        """Wait for a client that does not read its answer, but not for ever."""
        super().pause_writing()
        self._stop_waiting_for_reader()
        seconds = self._patience.read_seconds
        self._read_timer = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._stop_waiting_for_reader()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or none that we take."""
        self._refuse(self.conn.problem or HttpProblem(BAD_REQUEST, msg))

    @property
    def is_idle(self) -> bool:
        """Whether no request is being read or answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    @property
    def is_awaited(self) -> bool:
        """Whether it is the client's turn: its request is not here yet, or not all of it."""
        return self._refused or self.is_idle or self.cycle.more_body

    def make_room(self) -> None:
        """End the connection for the sake of another one."""
        self.transport.abort()
        self.connections.discard(self)

    def _others_make_room(self) -> bool:
        """Let the client go that has kept us waiting longest; whether there was one."""
        others = [
            connection
            for connection in self.connections
            if isinstance(connection, Spoken) and connection is not self
        ]
        awaited = [other for other in others if other.is_awaited]
        if not awaited:
            return False
        min(awaited, key=lambda one: one.waiting_since).make_room()
        return True

    def _await_head(self) -> None:
        self._stop_waiting_for_head()
        self.waiting_since = time.monotonic()
        self._head_timer = self.loop.call_later(self._patience.head_seconds, self._head_is_late)

    def _head_is_there(self) -> None:
        self._stop_waiting_for_head()
        self.waiting_since = time.monotonic()

    def _head_is_late(self) -> None:
        if not self._heard:
            # A browser connects in advance; an answer to nothing would puzzle it.
            self.transport.close()
            return
        told = f"the head was not there after {self._patience.head_seconds:g} s"
        self._refuse(HttpProblem(TOO_SLOW_REQUEST, told))

    def _stop_waiting_for_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_waiting_for_reader(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _refuse(self, problem: HttpProblem, *, linger: bool = True) -> None:
        """Answer with the problem, if nothing was answered yet, and end the connection."""
        self._stop_waiting_for_head()
        self._refused = True
        if not self.is_idle:
            # What works on the request learns that nobody waits for it.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        for event in _said(problem):
            self.transport.write(self.conn.send(event) or b"")
        if not linger:
            self.transport.close()
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(_LINGER_SECONDS, self.transport.close)


class _Connection(h11.Connection):
    """Tells requests apart as h11 does, and refuses three kinds more.

    `began` is called when a head is there.
    """

    def __init__(self, began: Callable[[], None]) -> None:
        super().__init__(h11.SERVER, MOST_HEAD_BYTES)
        self.problem: HttpProblem | None = None
        self._began = began
        self._is_chunked = False
        self._chunks = 0
        self._bytes = 0

    def next_event(self) -> Any:
        """What came next; RemoteProtocolError, with the problem kept, if it may not be."""
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == LARGE_HEAD.status:
                self.problem = HttpProblem(LARGE_HEAD, "they have no end")
            raise
        if isinstance(event, h11.Request):
            self._begin(event)
        elif isinstance(event, h11.Data) and self._is_chunked:
            self._count(len(event.data))
        return event

    def _begin(self, request: h11.Request) -> None:
        self._began()
        self._chunks = self._bytes = 0
        names = {name for name, _ in request.headers}
        self._is_chunked = b"transfer-encoding" in names
        if {b"content-length", b"transfer-encoding"} <= names:
            # A proxy may believe the one and we the other: then the rest of one request is taken
            # for another one, which nobody sent.
            told = "a request has Content-Length or Transfer-Encoding, not both"
            raise self._refused(HttpProblem(BAD_REQUEST, told))

    def _count(self, bytes: int) -> None:
        self._chunks += 1
        self._bytes += bytes
        if self._chunks > _FREE_CHUNKS + self._bytes // _BYTES_PER_CHUNK:
            raise self._refused(HttpProblem(TOO_LARGE, "the body comes in too many small pieces"))

    def _refused(self, problem: HttpProblem) -> h11.RemoteProtocolError:
        self.problem = problem
        return h11.RemoteProtocolError(problem.detail, problem.problem.status)


def _said(problem: HttpProblem) -> list[h11.Event]:
    id = secrets.token_hex(8)
    body = encode(problem.shape(id))
    headers = {
        **HEADERS,
        **problem.headers,
        "Cache-Control": "no-store",
        "Connection": "close",
        "Content-Length": str(len(body)),
        "Content-Type": "application/problem+json",
        "X-Request-Id": id,
    }
    status = problem.problem.status
    head = h11.Response(
        status_code=status, headers=list(headers.items()), reason=HTTPStatus(status).phrase
    )
    return [head, h11.Data(data=body), h11.EndOfMessage()]
