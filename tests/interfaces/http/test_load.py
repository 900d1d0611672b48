"""Too much work: a quick no, counted and logged, and everything well again afterwards."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from starlette.requests import ClientDisconnect

from tests.interfaces.conftest import Cli
from tests.interfaces.http.conftest import Server, serving
from tests.waiting import PATIENCE, beside, eventually
from twolane.interfaces.http.admission import Admission, Rates
from twolane.interfaces.http.problems import HttpProblem


class TestAdmission:
    """The bounded room."""

    def test_a_full_room_says_no_at_once_and_recovers(self) -> None:
        """One works, one waits, the third is turned away; when they are done there is room."""
        import asyncio

        async def story() -> None:
            room = Admission(working=1, queue=1, seconds=10)
            free = threading.Event()
            with ThreadPoolExecutor(1) as pool:
                first = asyncio.ensure_future(room.run(lambda: pool.submit(free.wait)))
                second = asyncio.ensure_future(room.run(lambda: pool.submit(free.wait)))
                await asyncio.sleep(0.05)
                assert (room.working, room.waiting) == (1, 1)
                with pytest.raises(HttpProblem) as refused:
                    await room.run(lambda: pool.submit(free.wait))
                assert refused.value.problem.status == 503
                assert refused.value.headers["Retry-After"] == "1"
                free.set()
                assert await first and await second
                await asyncio.sleep(0.05)
                assert (room.working, room.waiting) == (0, 0)
                assert await room.run(lambda: pool.submit(lambda: 7)) == 7

        asyncio.run(story())

    def test_slow_work_is_given_up_but_keeps_its_place(self) -> None:
        """The caller is told; the place is free only when the work has really ended."""
        import asyncio

        async def story() -> None:
            room = Admission(working=1, queue=0, seconds=0.05)
            free = threading.Event()
            with ThreadPoolExecutor(1) as pool:
                with pytest.raises(HttpProblem) as refused:
                    await room.run(lambda: pool.submit(free.wait))
                assert refused.value.problem.name == "too-slow"
                assert room.working == 1
                free.set()
                await asyncio.sleep(0.05)
                assert room.working == 0

        asyncio.run(story())

    def test_who_left_is_not_worked_for(self) -> None:
        """Work that waits is dropped when its client closes the connection."""
        import asyncio

        async def story() -> None:
            room = Admission(working=1, queue=5, seconds=10)
            free, begun = threading.Event(), []
            with ThreadPoolExecutor(1) as pool:
                first = asyncio.ensure_future(room.run(lambda: pool.submit(free.wait)))
                left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                waits = asyncio.ensure_future(room.run(lambda: pool.submit(begun.append, 1), left))
                await asyncio.sleep(0.05)
                left.set_result(None)
                with pytest.raises(ClientDisconnect):
                    await waits
                free.set()
                await first
                await asyncio.sleep(0.05)
            assert begun == []
            assert room.working == 0

        asyncio.run(story())


class TestRates:
    """How often one caller may ask."""

    def test_a_bucket_empties_and_fills(self) -> None:
        """So many at once, then as many as the time gives back; others have their own."""
        now = [0.0]
        rates = Rates(60, clock=lambda: now[0])
        for _ in range(60):
            rates.count("a")
        with pytest.raises(HttpProblem) as refused:
            rates.count("a")
        assert refused.value.headers["Retry-After"] == "1"
        rates.count("b")
        now[0] = 2.0
        rates.count("a")
        rates.count("a")
        with pytest.raises(HttpProblem):
            rates.count("a")

    def test_no_limit(self) -> None:
        """0 lets everybody ask as often as they like."""
        rates = Rates(0)
        for _ in range(1000):
            rates.count("a")

    def test_callers_are_not_remembered_for_ever(self) -> None:
        """Many addresses cost no more than a fixed amount of memory."""
        rates = Rates(10)
        for number in range(12_000):
            rates.count(str(number))
        assert len(rates._buckets) == 10_000


def test_too_many_requests(indexed: Cli, tmp_path: Path) -> None:
    """A client over its rate gets 429 with Retry-After."""
    with serving(indexed, tmp_path, TWOLANE_SERVER_REQUESTS_PER_MINUTE="5") as running:
        answers = [running.client.get("/api/tags") for _ in range(8)]
    codes = [answer.status_code for answer in answers]
    assert codes[:5] == [200] * 5
    assert codes[7] == 429
    assert int(answers[7].headers["retry-after"]) >= 1
    assert answers[7].json()["type"] == "/problems/too-many-requests"


def test_an_overloaded_server_says_no_and_recovers(indexed: Cli, tmp_path: Path) -> None:
    """Some of many requests at once are answered, the others refused quickly; none hangs."""
    tight = {
        "TWOLANE_SERVER_THREADS": "1",
        "TWOLANE_SERVER_QUEUE": "1",
        "TWOLANE_SERVER_REQUESTS_PER_MINUTE": "0",
    }
    with serving(indexed, tmp_path, **tight) as running:
        path = "/api/why?q=how+do+I+keep+green+plants&doc=Green+tea"
        running.client.get(path)

        def ask(_: int) -> int:
            with httpx.Client(base_url=running.address, timeout=PATIENCE) as client:
                answer = client.get(path)
                if answer.status_code == 503:
                    assert answer.headers["retry-after"]
                    assert answer.json()["type"] == "/problems/overloaded"
                return answer.status_code

        with ThreadPoolExecutor(16) as many:
            codes = set(many.map(ask, range(64)))
        assert codes == {200, 503}
        assert running.client.get("/healthz").status_code == 200
        assert running.client.get(path).status_code == 200
        metrics = running.client.get("/metrics").text
        assert re.search(r'requests_total\{endpoint="why",method="GET",status="503"\} \d+', metrics)
        assert "twolane_queue_depth 0" in metrics


def test_processes_answer_alike(server: Server) -> None:
    """Searches answered by other processes are the same, and so are their failures."""
    with serving(server.cli, server.vault, "--processes", "1") as running:
        for path in ("/api/search?q=green+tea", "/api/similar?doc=Green+tea"):
            ours, theirs = running.client.get(path), server.client.get(path)
            assert ours.status_code == theirs.status_code == 200
            drop = ("took_ms", "lanes")
            assert {k: v for k, v in ours.json().items() if k not in drop} == {
                k: v for k, v in theirs.json().items() if k not in drop
            }
        assert running.client.get("/api/similar?doc=none").status_code == 404
        assert running.client.get("/api/search?q=a&after=never").status_code == 400
        metrics = running.client.get("/metrics").text
        assert 'twolane_lane_seconds_count{lane="dense"} 1.0' in metrics
        assert 'twolane_requests_total{endpoint="search",method="GET",status="200"} 1.0' in metrics
        assert running.stop() == 0
    assert not [line for line in running.said if not line.startswith("{")]


def test_answers_are_sent_at_once(server: Server) -> None:
    """On a connection that is kept, an answer does not wait until its beginning was confirmed."""
    taken = []
    for _ in range(40):
        began = time.perf_counter()
        server.client.get("/healthz")
        taken.append(time.perf_counter() - began)
    # The first ones are confirmed at once; later a client takes forty milliseconds for that.
    assert min(taken[20:]) < 0.03


def test_metrics(server: Server) -> None:
    """Requests by status, latency by lane and gauges, in the text format of Prometheus."""
    server.client.get("/api/search?q=tea")
    answer = server.client.get("/metrics")
    assert "twolane_passages_pending 0" in answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert names >= {
        "twolane_requests_total",
        "twolane_request_seconds",
        "twolane_lane_seconds",
        "twolane_queue_depth",
    }
    pattern = r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? ([0-9.e+-]+|NaN)'
    assert all(re.fullmatch(pattern, line) for line in lines if not line.startswith("#"))
    (infinite,) = (
        line for line in lines if "lane_seconds_bucket" in line and 'l",le="+Inf"' in line
    )
    (count,) = (line for line in lines if 'lane_seconds_count{lane="lexical"}' in line)
    assert infinite.split()[1] == count.split()[1]


class TestLog:
    """The log of a server."""

    def test_it_is_json_and_keeps_queries_to_itself(self, server: Server) -> None:
        """A line a request, with its id, and nothing of what was searched for."""
        server.client.get("/api/search?q=verysecretword", headers={"X-Request-Id": "log-1"})
        server.client.get("/api/documents/verysecretname")
        line = _line(server, "log-1")
        assert (line["endpoint"], line["status"], line["level"]) == ("search", 200, "info")
        assert line["ms"] > 0
        assert "verysecret" not in "".join(server.said)

    def test_queries_are_told_when_asked(self, indexed: Cli, tmp_path: Path) -> None:
        """The setting `server.log_queries` adds path and query."""
        with serving(indexed, tmp_path, TWOLANE_SERVER_LOG_QUERIES="true") as running:
            running.client.get("/api/search?q=told", headers={"X-Request-Id": "log-2"})
            line = _line(running, "log-2")
        assert (line["path"], line["query"]) == ("/api/search", "q=told")


def _line(server: Server, id: str) -> dict[str, object]:
    def lines() -> list[dict[str, object]]:
        return [line for line in map(json.loads, server.said) if line.get("request_id") == id]

    eventually(lines)
    return lines()[0]


def test_what_has_begun_is_answered_before_the_end(indexed: Cli, tmp_path: Path) -> None:
    """A server that is told to stop finishes its requests, and exits with 0."""
    with (
        serving(indexed, tmp_path, TWOLANE_SERVER_THREADS="1") as running,
        ExitStack() as open_clients,
    ):
        clients = [
            open_clients.enter_context(httpx.Client(base_url=running.address, timeout=PATIENCE))
            for _ in range(6)
        ]
        # The connections are there already, so that nothing but the question is on its way.
        assert all(client.get("/healthz").status_code == 200 for client in clients)
        path = "/api/why?q=how+do+I+keep+green+plants&doc=Green+tea"
        with ThreadPoolExecutor(6) as many:
            asked: list[Future[httpx.Response]] = [
                many.submit(client.get, path) for client in clients
            ]
            time.sleep(0.05)
            code = running.stop()
            answered = [one.result() for one in asked if one.exception() is None]
        assert code == 0
        assert answered
        assert all(one.status_code == 200 for one in answered)


# A server whose index of words never comes to an end with one word.
_ENDLESS = """
import sys
from pathlib import Path
from twolane.interfaces.http.serving import serve
from twolane.settings import Settings
from twolane.stores.sqlite.lexical import SqliteLexical

def candidates(self, words, scope, *, usual=SqliteLexical.candidates, **options):
    if any(word.text == "endless" for word in words):
        with self._db.read() as connection:
            connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                " SELECT count(*) FROM n"
            ).fetchall()
    return usual(self, words, scope, **options)

SqliteLexical.candidates = candidates
settings = Settings(
    db=Path(sys.argv[1]),
    server={"port": 0, "threads": 2},
    embedding={"embedder": "none"},
    search={"query_seconds": float(sys.argv[2])},
)
serve(settings, started=lambda address: print(address, flush=True))
"""


@contextmanager
def _endless(tmp_path: Path, query_seconds: float) -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = [sys.executable, "-c", _ENDLESS, str(tmp_path / "x.db"), str(query_seconds)]
    with beside(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def test_searches_without_end_do_not_keep_the_server(tmp_path: Path) -> None:
    """With a search at work in every thread the server ends a few seconds after the signal."""
    with _endless(tmp_path, 3600) as (process, address), ThreadPoolExecutor(4) as many:
        for _ in range(4):
            many.submit(httpx.get, f"{address}/api/search?q=endless", timeout=30)
        time.sleep(1)
        process.terminate()
        started = time.monotonic()
        assert process.wait(30) == 0
        assert time.monotonic() - started < 10


def test_a_search_without_end_is_answered(tmp_path: Path) -> None:
    """When its time is over a search is answered with what is there, and the next one as ever."""
    with _endless(tmp_path, 0.5) as (_, address), httpx.Client(base_url=address) as client:
        for _ in range(4):
            answer = client.get("/api/search?q=endless", timeout=PATIENCE)
            assert answer.status_code == 200
            lanes = {
                degradation["lane"]: degradation["reason"]
                for degradation in answer.json()["degraded"]
            }
            assert "longer than 0.5 s" in lanes["lexical"]
        degraded = client.get("/api/search?q=tea", timeout=PATIENCE).json()["degraded"]
        assert "lexical" not in [degradation["lane"] for degradation in degraded]


def test_what_hangs_does_not_keep_the_server() -> None:
    """Whatever goes on after the signal, the process ends within its last seconds."""
    code = (
        "import time\n"
        "from twolane.interfaces.http import serving\n"
        "serving._END_SECONDS = 1\n"
        "with serving._ended_in_any_case() as told_to_stop:\n"
        "    told_to_stop()\n"
        "    time.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "given up" in done.stderr
