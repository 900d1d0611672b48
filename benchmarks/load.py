"""Ask a server for searches: as fast as it answers, or at a steady rate.

    python benchmarks/load.py ADDRESS MODE SEED (closed CONNECTIONS | open RATE) SECONDS

Prints one JSON object: every answer's status and seconds, how long it all took, and the CPU time
of this process, which shares the machine with the server.
In an open run a request's time begins when it was due, whether or not a connection was free then.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from urllib.parse import quote, urlsplit

import corpus

# As many connections as an open run may need when the server falls behind.
_MOST_CONNECTIONS = 200


@dataclass(slots=True)
class Load:
    """Requests on their way to one server, and what came back."""

    host: str
    port: int
    targets: Iterator[str]
    answers: list[tuple[int, float]] = field(default_factory=list)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)
    open: int = 0

    async def closed(self, connections: int, seconds: float) -> None:
        """So many clients, each asking again as soon as it has its answer."""
        end = time.perf_counter() + seconds

        async def client() -> None:
            while time.perf_counter() < end:
                await self.ask(time.perf_counter())

        await asyncio.gather(*(client() for _ in range(connections)))

    async def at_rate(self, rate: float, seconds: float) -> None:
        """A request every so often, answered or not."""
        begin = time.perf_counter()
        tasks = []
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if self.open < _MOST_CONNECTIONS:
                tasks.append(asyncio.create_task(self.ask(due)))
            else:
                self.answers.append((0, 0.0))
        await asyncio.gather(*tasks)

    async def ask(self, due: float) -> None:
        """One request; status 0 stands for a connection that broke."""
        self.open += 1
        try:
            if self.idle:
                reader, writer = self.idle.pop()
            else:
                reader, writer = await asyncio.open_connection(self.host, self.port)
            host = f"{self.host}:{self.port}"
            asked = f"GET {next(self.targets)} HTTP/1.1\r\nHost: {host}\r\n\r\n"
            writer.write(asked.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head[9:12])
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            self.answers.append((status, time.perf_counter() - due))
            self.idle.append((reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            self.answers.append((0, time.perf_counter() - due))
        finally:
            self.open -= 1


async def run(address: str, mode: str, seed: int, way: str, much: float, seconds: float) -> str:
    """Ask, and tell what came back."""
    place = urlsplit(address)
    texts = [text for _, text in corpus.queries(2000, seed=seed)]
    targets = [f"/api/search?q={quote(text)}&mode={mode}&n=10" for text in texts]
    load = Load(place.hostname or "", place.port or 80, cycle(targets))
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = time.perf_counter()
    if way == "closed":
        await load.closed(int(much), seconds)
    else:
        await load.at_rate(much, seconds)
    took = time.perf_counter() - before
    now = resource.getrusage(resource.RUSAGE_SELF)
    for _, writer in load.idle:
        writer.close()
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return json.dumps({"answers": load.answers, "seconds": took, "cpu": cpu})


if __name__ == "__main__":
    _address, _mode, _seed, _way, _much, _seconds = sys.argv[1:]
    print(asyncio.run(run(_address, _mode, int(_seed), _way, float(_much), float(_seconds))))
