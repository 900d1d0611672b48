"""The nodes of a cluster: each question goes to one that answers."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import grpc
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from twolane.model import deadlines
from twolane.model.errors import EngineUnavailable, TooSlow

log = logging.getLogger("twolane")

_T = TypeVar("_T")

# A node that did not answer is asked last for so long.
_PAUSE_SECONDS = 5.0

# So many points are read at a time.
_PAGE = 1000

# What asking another node cannot mend.
_REFUSED = frozenset(
    {
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)

# A node that comes back is noticed soon; what is large still fits.
# Answers are not compressed: vectors and codes hardly get smaller, and it takes a node longer than
# all the rest of a search.
_CHANNEL = {
    "grpc.compression_enabled_algorithms_bitset": 1,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 2000,
    "grpc.max_send_message_length": 256 << 20,
    "grpc.max_receive_message_length": 256 << 20,
}


def not_there() -> EngineUnavailable:
    """The error of a cluster that has no collections of this library."""
    return EngineUnavailable(
        "Qdrant does not hold this library; make it with: twolane db reindex --into qdrant"
    )


class Cluster:
    """The nodes by their addresses; safe to use from several threads.

    `seconds` is how long one node may take for an answer; then the next one is asked.
    Each node listens for gRPC at the port behind the one of its address.
    """

    def __init__(self, urls: Sequence[str], *, key: str = "", seconds: int = 2) -> None:
        self.urls = tuple(urls)
        self._key = key
        self._seconds = seconds
        self._lock = threading.Lock()
        self._clients: dict[str, QdrantClient] = {}
        self._paused: dict[str, float] = {}

    def ask(self, work: Callable[[QdrantClient], _T], *, seconds: int | None = None) -> _T:
        """What the work gives with the first node that answers; EngineUnavailable if none does.

        The work may be begun on a node that fails, so it must be harmless to do twice.
        """
        reason = "no address is set"
        for url in self._in_order():
            deadlines.check()
            most = seconds or self._seconds
            left = deadlines.left()
            if left is not None:
                most = min(most, max(1, math.ceil(left)))
            client = self._client(url, most)
            try:
                found = work(client)
            except grpc.RpcError as error:
                reason = self._failed(url, error)
            except (ApiException, QdrantException) as error:
                reason = self._failed(url, error)
            else:
                self._paused.pop(url, None)
                return found
        if deadlines.is_over():
            raise TooSlow(deadlines.reason())
        raise EngineUnavailable(f"Qdrant does not answer ({reason}); is it up? See `qdrant.urls`")

    def close(self) -> None:
        """Close all connections; calling it twice is harmless."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            client.close()

    def _in_order(self) -> list[str]:
        """The nodes in their order, those that did not answer just now last."""
        now = time.monotonic()
        return sorted(self.urls, key=lambda url: self._paused.get(url, 0.0) > now)

    def _client(self, url: str, seconds: int) -> QdrantClient:
        name = f"{url} {seconds}"
        with self._lock:
            if name not in self._clients:
                self._clients[name] = _connected(url, self._key, seconds)
            return self._clients[name]

    def _failed(self, url: str, error: Exception) -> str:
        """Why a node did not answer; raises what no other node would answer either."""
        code = error.code() if isinstance(error, grpc.Call) else None
        said = (error.details() if isinstance(error, grpc.Call) else str(error)) or ""
        said = said.strip().partition("\n")[0]
        if code == grpc.StatusCode.NOT_FOUND:
            raise not_there() from error
        if code in _REFUSED:
            raise EngineUnavailable(f"Qdrant refuses: {said}") from error
        if self._paused.get(url, 0.0) < time.monotonic():
            log.warning("the Qdrant node %s does not answer: %s", url, said)
        self._paused[url] = time.monotonic() + _PAUSE_SECONDS
        return f"{url}: {said}"


def scroll(
    cluster: Cluster,
    collection: str,
    condition: models.Condition,
    shown: Sequence[str],
    vectors: Sequence[str] = (),
) -> Iterator[models.Record]:
    """All points of a collection that meet a condition, with these parts of them."""
    after: Any = None

    def page(client: QdrantClient) -> tuple[list[models.Record], Any]:
        found: tuple[list[models.Record], Any] = client.scroll(
            collection,
            scroll_filter=models.Filter(must=[condition]),
            limit=_PAGE,
            offset=after,
            with_payload=list(shown),
            with_vectors=list(vectors) or False,
        )
        return found

    while True:
        points, after = cluster.ask(page)
        yield from points
        if after is None:
            return


def _connected(url: str, key: str, seconds: int) -> QdrantClient:
    return QdrantClient(
        url=url,
        grpc_port=(urlsplit(url).port or 6333) + 1,
        prefer_grpc=True,
        api_key=key or None,
        timeout=seconds,
        grpc_options=dict(_CHANNEL),
        # The check would ask the node before it is needed, and warn of every other version.
        check_compatibility=False,
    )
