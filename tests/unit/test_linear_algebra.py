"""Products of matrices take one thread while we make them, and the host's number otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import twolane
from tests.builders import COLLECTION, embed, prepared, put, space, unit
from tests.waiting import PATIENCE, beside
from twolane.embedding.embedders.use import UseEmbedder
from twolane.embedding.sentence_codes import coded, nearest_sentences
from twolane.model.document import Collection
from twolane.model.scope import Scope
from twolane.ports.documents import PutCollection
from twolane.settings.machine import one_thread
from twolane.stores.sqlite import open_stores

_BLAS = ThreadpoolController().select(user_api="blas")

pytestmark = pytest.mark.skipif(
    sys.platform == "darwin" and not _BLAS.lib_controllers,
    reason="the threads of Accelerate cannot be told",
)


def threads() -> int:
    """How many threads a product may take now."""
    return max(library.get_num_threads() for library in _BLAS.lib_controllers)


@pytest.fixture(autouse=True)
def _three() -> Iterator[None]:
    """The host program wants three threads, whatever the machine has."""
    with _BLAS.limit(limits=3):
        yield


def test_the_host_gets_its_threads_back() -> None:
    """Inside there is one thread, afterwards as many as before, also after an error."""
    with one_thread():
        assert threads() == 1
        with one_thread():
            assert threads() == 1
        assert threads() == 1
    assert threads() == 3
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads() == 3


def test_several_threads_share_the_limit() -> None:
    """The first to end does not take the limit from the others; the last one gives it back."""
    inside, left = Barrier(2), Barrier(2)

    def first() -> None:
        with one_thread():
            inside.wait(PATIENCE)
        left.wait(PATIENCE)

    def second() -> int:
        with one_thread():
            inside.wait(PATIENCE)
            left.wait(PATIENCE)
            return threads()

    with ThreadPoolExecutor(2) as pool:
        ended, seen = pool.submit(first), pool.submit(second)
        ended.result(30)
        assert seen.result(30) == 1
    assert threads() == 3


def test_a_number_that_the_host_sets_meanwhile_stays() -> None:
    """Who changes the number while we are at work keeps what was set."""
    with one_thread():
        for library in _BLAS.lib_controllers:
            library.set_num_threads(2)
    assert threads() == 2


class Watching(np.ndarray):  # type: ignore[type-arg]
    """A vector that notes how many threads each product with it may take."""

    seen: list[int]

    def __array_finalize__(self, other: Any) -> None:
        self.seen = getattr(other, "seen", [])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **more: Any) -> Any:
        if ufunc is np.matmul:
            self.seen.append(threads())
        plain = (np.asarray(one) if isinstance(one, Watching) else one for one in given)
        return getattr(ufunc, method)(*plain, **more)


def test_a_scan_takes_one_thread(tmp_path: Path) -> None:
    """A query meets the vectors of passages, and those of sentences, on one thread."""
    vector = unit(1, 0, 0, 0).view(Watching)
    note = prepared("n", body="tea")
    store = open_stores(tmp_path / "notes.db")
    with closing(store.maintenance):
        generation = store.vectors.open_generation(space()).number
        store.documents.apply(PutCollection(Collection(COLLECTION)))
        put(store, note)
        embed(store, generation, note, unit(1, 1, 0, 0))
        assert store.vectors.nearest(generation, vector, Scope(), limit=5, floor=-1.0)
    scanned = len(vector.seen)
    nearest_sentences([coded(unit(1, 0, 0, 0)[None])], vector)
    assert 0 < scanned < len(vector.seen)
    assert set(vector.seen) == {1}
    assert threads() == 3


# What a process that embeds is told: a line on its input is a turn, its answer how long that took.
_EMBEDDING = """
import sys, time
from pathlib import Path
from twolane.embedding.embedders.use import UseEmbedder
embedder = UseEmbedder(Path(sys.argv[1]))
texts = ["The kettle boils while the %d leaves wait for their water, " % n * 12 for n in range(8)]
embedder.embed_passages(texts)
print("ready", flush=True)
for line in sys.stdin:
    started = time.perf_counter()
    for _ in range(8):
        embedder.embed_passages(texts)
    print(time.perf_counter() - started, flush=True)
"""

# It ends by itself, should nobody be left to end it.
_BUSY = "import time\nend = time.time() + 300\nwhile time.time() < end: pass"

_THREAD_NUMBERS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_TURNS = 9


def test_embedding_beside_busy_programs_is_as_fast_as_on_one_thread(tmp_path: Path) -> None:
    """Other programs that need the cores cost as shipped what they cost one thread, no more."""
    UseEmbedder(tmp_path).embed_passages(["leave a picture of the model for both"])
    plain = {name: value for name, value in os.environ.items() if name not in _THREAD_NUMBERS}
    plain["PYTHONPATH"] = str(Path(twolane.__file__).parents[1])
    words = ("-c", _EMBEDDING, str(tmp_path))
    with ExitStack() as ending:
        shipped = ending.enter_context(running(plain, *words))
        single = ending.enter_context(
            running({**plain, **dict.fromkeys(_THREAD_NUMBERS, "1")}, *words)
        )
        for one in (shipped, single):
            assert said(one) == "ready"
        for _ in range(2):
            ending.enter_context(running(plain, "-c", _BUSY))
        taken: list[tuple[float, float]] = []
        for _ in range(_TURNS):
            taken.append((turn(shipped), turn(single)))
    # A turn may lie between two slices of the scheduler; all of them together may not.
    ours, theirs = map(sum, zip(*taken, strict=True))
    assert theirs / ours >= 0.6, taken


def running(
    environment: dict[str, str], *words: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A Python process of our own that is gone afterwards."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return beside([sys.executable, *words], env=environment, text=True, **pipes)


def said(process: subprocess.Popen[str]) -> str:
    """The next line that the process says."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def turn(process: subprocess.Popen[str]) -> float:
    """How many seconds the process takes for one turn."""
    assert process.stdin is not None
    print(file=process.stdin, flush=True)
    return float(said(process))
