"""Slow clients, heavy bodies and too many at once: is whoever asks properly still answered?

`twolane serve` runs over 500 notes, by words alone, with its settings as they are but for the rate.
While 1,100 connections send a head that never ends, while bodies come in tiny chunks, are nested
deeply or hold a million lists, and while a hundred clients search at once, one client asks for
`/healthz` and for a search again and again, and every answer is timed.
Whoever presses does so in a process of its own, and shares the cores with the server.
Under the hundred clients a search may be refused with 503 and Retry-After, and nothing else; every
other answer must come.
In the end the server is told to stop, and must be gone in time.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit

import httpx

import processes
import synthetic_library
from measurements.serve import serving
from outcome import Goal, Outcome, Room, Table, percentile

_HEADS = 1_100
_CLIENTS = 100
_ANSWER_SECONDS = 2.0
_STOP_SECONDS = 15.0

Press = Callable[[str], Any]


def measure(room: Room) -> Outcome:
    """Press the server in every way, one after the other."""
    path = synthetic_library.library(room.folder, 500)
    variables = processes.environment(
        room.folder, TWOLANE_EMBEDDING_EMBEDDER="none", TWOLANE_SERVER_REQUESTS_PER_MINUTE="0"
    )
    seconds = room.size(15, 3)
    rows = []
    with serving(path, variables, "--processes", "0") as server:
        for name, press in _PRESSES.items():
            with _pressed(press, server.address):
                rows.append({"while": name, **_asked(server.address, seconds)})
        told_to_stop = time.perf_counter()
    stopped = time.perf_counter() - told_to_stop
    healthy = [row["health, worst"] for row in rows]
    return Outcome(
        goals=[
            Goal("Slowest answer of `/healthz`", max(healthy), "s", at_most=_ANSWER_SECONDS),
            Goal("Answers that did not come", sum(row["lost"] for row in rows), "", at_most=0),
            Goal("Answers with 5xx other than 503", sum(row["5xx"] for row in rows), "", at_most=0),
            Goal("503 without Retry-After", sum(row["no hint"] for row in rows), "", at_most=0),
            Goal("Refusals where there was room", _refused(rows), "", at_most=0),
            Goal("Time to stop", stopped, "s", at_most=_STOP_SECONDS),
        ],
        tables=[
            Table(
                "What one client meets, in seconds",
                tuple(rows[0]),
                [tuple(row.values()) for row in rows],
            )
        ],
        rows=rows,
        facts={"slow heads": _HEADS, "clients at once": _CLIENTS},
    )


def _refused(rows: list[dict[str, Any]]) -> int:
    return sum(row["503"] for row in rows if row["while"] != "a hundred clients")


@contextmanager
def _pressed(press: Press, address: str) -> Iterator[None]:
    """Others press in a process of their own until the block ends."""
    process = get_context("fork").Process(target=lambda: asyncio.run(press(address)), daemon=True)
    process.start()
    # So long it may take them to begin.
    time.sleep(2)
    try:
        yield
    finally:
        process.kill()
        process.join()


def _asked(address: str, seconds: float) -> dict[str, Any]:
    """What a client meets that asks properly."""
    took: dict[str, list[float]] = {"/healthz": [], "/api/v1/search?q=water": []}
    statuses: Counter[int] = Counter()
    lost = no_hint = 0
    with httpx.Client(base_url=address, timeout=30) as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for path, times in took.items():
                started = time.perf_counter()
                try:
                    answer = client.get(path)
                except httpx.HTTPError:
                    lost += 1
                    continue
                times.append(time.perf_counter() - started)
                statuses[answer.status_code] += 1
                no_hint += answer.status_code == 503 and "retry-after" not in answer.headers
            time.sleep(0.02)
    # Who is never answered at all waits for ever.
    health, searches = (times or [99.0] for times in took.values())
    return {
        "answers": statuses.total(),
        "health, worst": round(max(health), 3),
        "search, half within": round(percentile(searches, 0.5), 3),
        "search, worst": round(max(searches), 3),
        "503": statuses[503],
        "5xx": sum(n for status, n in statuses.items() if status >= 500 and status != 503),
        "no hint": no_hint,
        "lost": lost,
    }


async def _nobody(_: str) -> None:
    return


async def _slow_heads(address: str) -> None:
    place = urlsplit(address)
    opened = []
    for _ in range(_HEADS):
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(b"GET /api/v1/search?q=water HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        opened.append(writer)
    while True:
        await asyncio.sleep(1)
        for writer in opened:
            # The server lets go of them, which is the point.
            with suppress(OSError):
                writer.write(b"x")


def _bodies(make: Callable[[], bytes]) -> Press:
    """Four clients that send such a body again and again, in chunks of their own."""

    async def send(address: str) -> None:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            while True:
                with suppress(httpx.HTTPError):
                    await client.post(
                        "/api/v1/documents",
                        content=make(),
                        headers={"content-type": "application/json"},
                    )

    return _crowd(send, 4)


async def _tiny_chunks(address: str) -> None:
    place = urlsplit(address)
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(
                b"POST /api/v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            for _ in range(200):
                writer.write(b"1\r\n \r\n" * 500)
                await writer.drain()
            await reader.read(100)
            writer.close()


async def _searching(address: str) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while True:
            with suppress(httpx.HTTPError):
                await client.get("/api/v1/search?q=water+green+leaves&n=50")


def _crowd(behave: Callable[[str], Any], count: int) -> Press:
    async def press(address: str) -> None:
        await asyncio.gather(*(behave(address) for _ in range(count)))

    return press


_PRESSES: dict[str, Press] = {
    "nobody else": _nobody,
    "1,100 heads without an end": _slow_heads,
    "tiny chunks": _crowd(_tiny_chunks, 4),
    "nested JSON": _bodies(lambda: b'{"text": ' + b"[" * 500_000),
    "a million lists": _bodies(lambda: b'{"tags": [' + b"[]," * 1_000_000 + b"[]]}"),
    "long texts": _bodies(lambda: json.dumps({"id": "long", "text": "water " * 100_000}).encode()),
    "a hundred clients": _crowd(_searching, _CLIENTS),
}
