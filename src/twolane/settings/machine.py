"""What the machine has to offer: its processors, and NumPy's linear algebra on one thread.

The library under NumPy (OpenBLAS, MKL, BLIS) splits every product among all cores, and its
threads wait for each other at full speed.
Where another program holds one of the cores, a product takes many times as long as on one thread
(docs/decisions/0009-one-thread-for-a-product.md).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """A product of matrices takes one thread inside, and as many as before afterwards.

    Blocks may nest, and several threads may be inside at a time.
    Most libraries have one number for the whole process: it stays 1 until the last one leaves.
    """
    of_process, of_thread = _libraries()
    with _shared.lock:
        if not _shared.inside:
            _shared.before = _limited(of_process)
        _shared.inside += 1
    own = _limited(of_thread)
    try:
        yield
    finally:
        _give_back(own)
        with _shared.lock:
            _shared.inside -= 1
            if not _shared.inside:
                _give_back(_shared.before)


class _shared:  # noqa: N801 - one for the process, as are the numbers that it is about
    """How many are inside, and the numbers of threads before the first of them came."""

    lock = threading.Lock()
    inside = 0
    before: Sequence[tuple[Any, int]] = ()


def _limited(libraries: Sequence[Any]) -> list[tuple[Any, int]]:
    """Those that had more than one thread, with their number."""
    numbers = [(library, library.get_num_threads() or 1) for library in libraries]
    several = [(library, threads) for library, threads in numbers if threads > 1]
    for library, _ in several:
        _set(library, 1)
    return several


def _give_back(before: Sequence[tuple[Any, int]]) -> None:
    for library, threads in before:
        # Whoever set another number meanwhile meant it.
        if library.get_num_threads() == 1:
            _set(library, threads)


def _set(library: Any, threads: int) -> None:
    # Newer versions listen only to the thread that was the first to set a number.
    # Here the first to enter sets it, and the last to leave, which may be another thread.
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(threads)
    if release is not None:
        release(force=True)


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """The libraries with one number of threads for the process, and those with one per thread."""
    import numpy  # noqa: F401, ICN001 - what it brings along is found once it is loaded.
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    of_thread = [
        one
        for one in found
        if one.internal_api == "mkl" or getattr(one, "threading_layer", "") == "openmp"
    ]
    return [one for one in found if one not in of_thread], of_thread
