"""What a server for vectors can do wrong, and what becomes of a library that relies on it.

A server on loopback first answers as it should, and a note gets its vector.
Then the server misbehaves in one way: it refuses, hangs, drips, redirects, lies about lengths,
sends nonsense, floods, asks to wait for ever, changes its model.
Meanwhile a note is saved, found by its words, embedded, and searched for by meaning.
No save may fail, no call may raise anything but an error of ours or last longer than a bound, the
answer must name what is missing, and no vector of such an answer may be stored.
At last the server is well again, as if it never had been otherwise: every passage must then get its
vector without being asked for.
A request has half a second here and two tries, and the longest pause is half a second instead of
two minutes; everything else is as it comes.
"""

from __future__ import annotations

import gzip
import json
import logging
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from outcome import Goal, Outcome, Room, Table
from twolane import Draft, Library, Settings, TwolaneError
from twolane.embedding.embedders import endpoint
from twolane.stores.sqlite import open_stores

_DIMENSIONS = 8
_PAUSE = 0.5
_BOUND_SECONDS = 15.0

Fault = Callable[[socket.socket, dict[str, Any]], None]


def measure(room: Room) -> Outcome:
    """Let the server misbehave in every way, one after the other."""
    # What is logged is told in the answers, too.
    logging.getLogger("twolane").setLevel(logging.CRITICAL)
    endpoint._LONGEST_WAIT = _PAUSE  # noqa: SLF001 - nobody sets it, and two minutes are long here
    rows = []
    for number, (name, fault) in enumerate(_FAULTS.items()):
        folder = room.folder / f"embedder-fault-{number}"
        folder.mkdir()
        rows.append({"fault": name, **_suffered(folder, fault)})
    harms = ("raised", "lost", "kept", "unnamed", "left")
    return Outcome(
        goals=[
            Goal("Kinds of faults", len(rows), "", at_least=27),
            Goal("Saves that failed", _count(rows, "save failed"), "", at_most=0),
            Goal("Notes lost or not found by their words", _count(rows, "lost"), "", at_most=0),
            Goal("Errors that are not ours", _count(rows, "raised"), "", at_most=0),
            Goal("Vectors kept of such answers", _count(rows, "kept"), "", at_most=0),
            Goal("Answers that did not name it", _count(rows, "unnamed"), "", at_most=0),
            Goal("Passages left when the server was well", _count(rows, "left"), "", at_most=0),
            Goal("Longest call", max(row["longest"] for row in rows), "s", at_most=_BOUND_SECONDS),
        ],
        tables=[
            Table(
                "What a server did, and what was told of it",
                ("fault", "harm", "longest call, s", "told"),
                [
                    (
                        row["fault"],
                        ", ".join(harm for harm in harms if row[harm]) or "none",
                        row["longest"],
                        row["told"],
                    )
                    for row in rows
                ],
            )
        ],
        rows=rows,
    )


def _count(rows: list[dict[str, Any]], what: str) -> int:
    return sum(bool(row[what]) for row in rows)


def _suffered(folder: Path, fault: Fault) -> dict[str, Any]:
    """What a library went through while its server had this fault, and after it."""
    with _Server() as server:
        settings = Settings(
            db=folder / "d.db",
            embedding={
                "embedder": "openai",
                "model": "tiny",
                "url": server.url,
                "dimensions": _DIMENSIONS,
                "request_seconds": 0.5,
                "request_tries": 2,
                "passage_tries": 1,
            },
        )
        with Library.open(settings=settings) as library:
            library.save(Draft("before", title="Before", body="Green tea in the morning."))
            _embedded(library)
            server.fault = fault
            seen = _Seen()
            seen.call("save", lambda: library.save(Draft("tea", title="Tea", body="Black tea.")))
            words = seen.call("words", lambda: library.search("black", mode="lexical"))
            seen.call("embed", library.embed)
            kept = _vectors(settings) - 1
            answer = seen.call("search", lambda: library.search("a cup of tea"))
            found = {one.id for one in words.results} if words else set()
            reasons = [one.reason for one in answer.degraded] if answer else []
            server.fault = _sound
            library.save(Draft("after", title="After", body="Milk."))
            seen.call("embed again", lambda: _embedded(library))
            status = library.status()
            texts = {id: library.document(id).body for id in ("before", "tea")}
    told = max(reasons, key=len, default="")
    return {
        "save failed": "save" in seen.raised,
        "lost": "tea" not in found or texts["tea"] != "Black tea.",
        "raised": "; ".join(f"{what}: {error}" for what, error in seen.raised.items()),
        "kept": kept,
        "unnamed": not reasons,
        "left": status.progress.missing,
        "longest": round(seen.longest, 2),
        "told": told.replace(server.url, "URL")[:160],
    }


def _embedded(library: Library) -> None:
    """Embed until nothing is left; a save may be waiting for the server in its own thread."""
    until = time.monotonic() + 10
    while library.embed().stopped is None and library.status().progress.missing:
        if time.monotonic() > until:
            return
        time.sleep(0.1)


class _Seen:
    """Calls of a library: how long the longest took, and what was raised that is not ours."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.raised: dict[str, str] = {}

    def call(self, what: str, work: Callable[[], Any]) -> Any:
        """What the work comes to, or None if it raises."""
        started = time.perf_counter()
        try:
            return work()
        except TwolaneError as error:
            if what == "save":
                self.raised[what] = str(error)
        except Exception as error:  # noqa: BLE001 - any error that is not ours is what we look for
            self.raised[what] = "".join(traceback.format_exception_only(error)).strip()
        finally:
            self.longest = max(self.longest, time.perf_counter() - started)
        return None


def _vectors(settings: Settings) -> int:
    """How many vectors are stored; one that is not finite would be found here, too."""
    stores = open_stores(Path(str(settings.db)), create=False)
    try:
        return sum(len(stores.vectors.sample(one.number)) for one in stores.vectors.generations())
    finally:
        stores.maintenance.close()


# ------------------------------------------------------------------------------------ the server


class _Server:
    """Listens on loopback and answers each request as its fault says."""

    def __init__(self) -> None:
        self.fault: Fault = _sound
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        # A client that hangs up is what most faults lead to.
        with connection, suppress(OSError, ValueError):
            reading = connection.makefile("rb")
            length = 0
            while (line := reading.readline().strip()) != b"":
                name, _, value = line.lower().partition(b":")
                length = int(value) if name == b"content-length" else length
            self.fault(connection, json.loads(reading.read(length)))


def _vectors_of(body: dict[str, Any]) -> dict[str, Any]:
    rows = [np.random.default_rng(len(text)).normal(size=_DIMENSIONS) for text in body["input"]]
    data = [{"index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
    return {"data": data, "model": "tiny-v1"}


def _send(
    connection: socket.socket, content: Any, status: str = "200 OK", **headers: str | None
) -> None:
    sent = content if isinstance(content, bytes) else json.dumps(content).encode()
    given = {"content-type": "application/json", "content-length": str(len(sent)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items() if value]
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, "connection: close", "", ""])
    connection.sendall(head.encode() + sent)


def _sound(connection: socket.socket, body: dict[str, Any]) -> None:
    _send(connection, _vectors_of(body))


def _refusing(status: str, **headers: str) -> Fault:
    return lambda connection, body: _send(connection, {"error": "no"}, status, **headers)


def _saying(content: Any, **headers: str | None) -> Fault:
    return lambda connection, body: _send(connection, content, **headers)


def _changed(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """An answer that is as it should be but for this change."""

    def answer(connection: socket.socket, body: dict[str, Any]) -> None:
        made = _vectors_of(body)
        content = change(made)
        _send(connection, made if content is None else content)

    return answer


def _each(embedding: Any) -> Fault:
    return _changed(lambda made: [one.update(embedding=embedding) for one in made["data"]] and made)


def _hang(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.settimeout(60)
    connection.recv(1)


def _drip(connection: socket.socket, body: dict[str, Any]) -> None:
    content = json.dumps(_vectors_of(body)).encode()
    connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-length: {len(content)}\r\n\r\n".encode())
    for at in range(len(content)):
        connection.sendall(content[at : at + 1])
        time.sleep(0.1)


def _drip_head(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(600):
        connection.sendall(f"x-{number}: y\r\n".encode())
        time.sleep(0.1)


def _early_hints(connection: socket.socket, _: dict[str, Any]) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        time.sleep(0.02)


def _endless_head(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"x-more: " + b"y" * 60_000 + b"\r\n")


def _reset(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _nothing(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def _raw(content: bytes) -> Fault:
    return lambda connection, body: connection.sendall(content)


def _half(connection: socket.socket, body: dict[str, Any]) -> None:
    content = json.dumps(_vectors_of(body)).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(content)}\r\n\r\n"
    connection.sendall(head.encode() + content[: len(content) // 2])


def _half_packed(connection: socket.socket, body: dict[str, Any]) -> None:
    content = gzip.compress(json.dumps(_vectors_of(body)).encode())
    _send(connection, content[: len(content) // 2], content_encoding="gzip")


def _endless(connection: socket.socket, _: dict[str, Any]) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


_FAULTS: dict[str, Fault] = {
    "hangs up at once": _nothing,
    "resets the connection": _reset,
    "never answers": _hang,
    "drips its answer": _drip,
    "drips its head": _drip_head,
    "hints for ever": _early_hints,
    "sends a head without an end": _endless_head,
    "sends half an answer": _half,
    "sends half a packed answer": _half_packed,
    "sends an answer without an end": _endless,
    "speaks another protocol": _raw(b"220 mail.example ESMTP\r\n"),
    "speaks TLS on a plain port": _raw(b"\x15\x03\x03\x00\x02\x02\x28"),
    "sends chunks of no length": _raw(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n"
    ),
    "400": _refusing("400 Bad Request"),
    "401": _refusing("401 Unauthorized"),
    "404": _refusing("404 Not Found"),
    "413": _refusing("413 Payload Too Large"),
    "500": _refusing("500 Internal Server Error"),
    "503": _refusing("503 Service Unavailable"),
    "redirects to itself": _refusing("307 Temporary Redirect", location="/v1/embeddings"),
    "429, Retry-After: inf": _refusing("429 Too Many Requests", retry_after="inf"),
    "429, Retry-After: 1e999": _refusing("429 Too Many Requests", retry_after="1e999"),
    "429, Retry-After: nan": _refusing("429 Too Many Requests", retry_after="nan"),
    "429, Retry-After: -1": _refusing("429 Too Many Requests", retry_after="-1"),
    "429, until 2099": _refusing(
        "429 Too Many Requests", retry_after="Thu, 01 Jan 2099 00:00:00 GMT"
    ),
    "429, until the year 99999": _refusing(
        "429 Too Many Requests", retry_after="Thu, 01 Jan 99999 00:00:00 GMT"
    ),
    "a page to log in": _saying(b"<html>Log in</html>", content_type="text/html"),
    "an empty answer": _saying(b""),
    "a list": _saying([1, 2]),
    "JSON of 60,000 brackets": _saying(b"[" * 60_000),
    "a number of 5,000 digits": _saying(b'{"data": ' + b"9" * 5000 + b"}"),
    "no vectors": _saying({"data": []}),
    "data that is null": _saying({"data": None}),
    "vectors that are null": _each(None),
    "no places": _changed(lambda made: [one.pop("index") for one in made["data"]] and made),
    "too many vectors": _changed(
        lambda made: made["data"].append({"index": 99, "embedding": [1.0] * _DIMENSIONS})
    ),
    "one place for all vectors": _changed(
        lambda made: [one.update(index=7) for one in made["data"]] and made
    ),
    "a place without bounds": _changed(
        lambda made: [one.update(index=float("inf")) for one in made["data"]] and made
    ),
    "NaN": _each([float("nan")] * _DIMENSIONS),
    "infinite numbers": _each([float("inf")] * _DIMENSIONS),
    "numbers of 400 digits": _each([10**400] * _DIMENSIONS),
    "vectors of zeros": _each([0.0] * _DIMENSIONS),
    "too long vectors": _each([1.0] * (_DIMENSIONS + 1)),
    "vectors in vectors": _each([[1.0] * _DIMENSIONS]),
    "words for numbers": _each(["one"] * _DIMENSIONS),
    "base64 that is none": _each("***"),
    "another model": _changed(lambda made: made.update(model="tiny-v2")),
    "ten megabytes": _saying(b" " * 10_000_000),
    "a bomb, packed": _saying(gzip.compress(b" " * 100_000_000, 1), content_encoding="gzip"),
    "nonsense, as if packed": _saying(b"nonsense", content_encoding="gzip"),
    "a packing that was not asked for": _saying(b"x", content_encoding="br"),
}
