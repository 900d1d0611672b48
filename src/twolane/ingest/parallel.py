"""Many documents are analysed in several processes; outcomes come in the order of the tasks.

A few documents are not worth a process, so the first ones are always analysed here.
While other processes work, the caller takes what they have not begun: it never stands idle.
A process pool runs the caller's main module again in each process, so a program that uses the
library has to ask for it (`cores`), and our own command line always does.
"""

from __future__ import annotations

import copyreg
import io
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from twolane.settings import Settings

log = logging.getLogger("twolane")


class Task(Protocol):
    """Something to analyse."""

    @property
    def size(self) -> int:
        """How much text there is, roughly."""


ItemT = TypeVar("ItemT")
TaskT = TypeVar("TaskT", bound=Task)
OutcomeT = TypeVar("OutcomeT")

# A process takes a third of a second to start; about as much is analysed here before that.
FEW = 300
LITTLE_TEXT = 1_000_000

# With more than these the writer cannot keep up, and each process takes memory.
MOST_CORES = 8

# Tasks travel in groups: large enough to be worth a message, small enough to share the work well.
GROUP = 32
_GROUP_TEXT = 200_000

# So many groups for each process are read ahead, and never more text than this.
QUEUED = 6
_AHEAD_TEXT = 8_000_000


class ParallelAnalysis(Generic[TaskT, OutcomeT]):
    """Analyses the tasks of one run; its processes end with it.

    `analyze` is a function of a module that returns a problem rather than raising it.
    """

    def __init__(self, analyze: Callable[[TaskT, Settings], OutcomeT], settings: Settings) -> None:
        self._analyze = analyze
        self._settings = settings
        # The caller, who also writes, is one of them.
        self._processes = min(settings.index.cores or 1, MOST_CORES) - 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    @property
    def shared(self) -> bool:
        """Whether other processes take part by now."""
        return self._pool is not None

    def run(
        self, items: Iterable[tuple[ItemT, TaskT | None]]
    ) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        """Each item with the outcome of its task, in the same order; without a task, None.

        Items are read ahead; if they break off, the outcomes of those before come first.
        """
        source = iter(items)
        count = text = 0
        for item, task in source:
            yield item, None if task is None else self._analyze(task, self._settings)
            if task is not None:
                count += 1
                text += task.size
                if self._processes > 0 and (count >= FEW or text >= LITTLE_TEXT):
                    yield from self._in_parallel(source)
                    return

    def _in_parallel(
        self, source: Iterator[tuple[ItemT, TaskT | None]]
    ) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        self._pool = ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self._analyze, self._settings),
        )
        ahead: deque[_Group[ItemT, TaskT, OutcomeT]] = deque()
        groups: Iterator[_Group[ItemT, TaskT, OutcomeT]] = _grouped(source)
        broken_off: Exception | None = None
        while True:
            while broken_off is None and self._has_room(ahead):
                try:
                    group = next(groups, None)
                except Exception as error:  # noqa: BLE001 - raised below, after what came before it
                    broken_off = error
                else:
                    if group is None:
                        break
                    ahead.append(group)
            if not ahead:
                break
            self._hand_out(ahead)
            self._help(ahead)
            yield from self._given(ahead.popleft())
        if broken_off is not None:
            raise broken_off

    def _has_room(self, ahead: deque[_Group[ItemT, TaskT, OutcomeT]]) -> bool:
        return (
            len(ahead) < QUEUED * self._processes
            and sum(group.text for group in ahead) < _AHEAD_TEXT
        )

    def _hand_out(self, ahead: deque[_Group[ItemT, TaskT, OutcomeT]]) -> None:
        """Keep each process busy with a group and have another one ready for it."""
        free = 2 * self._processes - sum(group.is_under_way() for group in ahead)
        for group in ahead:
            if self._pool is None or free <= 0:
                return
            if group.is_waiting():
                free -= 1
                try:
                    group.future = self._pool.submit(_analyzed, _pickled(group.tasks))
                except (OSError, RuntimeError) as error:
                    self._go_on_alone(error)
                except Exception:  # noqa: BLE001 - what cannot travel is analysed by whoever has it
                    group.outcomes = self._analyzed_here(group)

    def _help(self, ahead: deque[_Group[ItemT, TaskT, OutcomeT]]) -> None:
        """Analyse groups that no process was handed while the first one is not done."""
        while ahead[0].is_under_way():
            waiting = next((group for group in reversed(ahead) if group.is_waiting()), None)
            if waiting is None:
                return
            waiting.outcomes = self._analyzed_here(waiting)
            self._hand_out(ahead)

    def _given(
        self, group: _Group[ItemT, TaskT, OutcomeT]
    ) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        outcomes = group.outcomes
        if group.future is not None:
            try:
                answer = group.future.result()
                outcomes = None if answer is None else pickle.loads(answer)  # noqa: S301 - it is ours
            except BrokenProcessPool as error:
                self._go_on_alone(error)
        rest = iter(self._analyzed_here(group) if outcomes is None else outcomes)
        for item, task in group.items:
            yield item, None if task is None else next(rest)

    def _analyzed_here(self, group: _Group[ItemT, TaskT, OutcomeT]) -> list[OutcomeT]:
        return [self._analyze(task, self._settings) for task in group.tasks]

    def _go_on_alone(self, error: Exception) -> None:
        if self._pool is not None:
            self._pool = None
            log.warning("analysis goes on in one process: %s", error)


class _Group(Generic[ItemT, TaskT, OutcomeT]):
    """Items that travel together, with what is known of their outcomes."""

    def __init__(self, items: list[tuple[ItemT, TaskT | None]]) -> None:
        self.items = items
        self.tasks = [task for _, task in items if task is not None]
        self.text = sum(task.size for task in self.tasks)
        self.future: Future[bytes | None] | None = None
        self.outcomes: list[OutcomeT] | None = None

    def is_waiting(self) -> bool:
        """Whether nobody has begun with it."""
        return self.future is None and self.outcomes is None and bool(self.tasks)

    def is_under_way(self) -> bool:
        """Whether a process has it and is not done."""
        return self.future is not None and not self.future.done()


def _grouped(
    source: Iterator[tuple[ItemT, TaskT | None]],
) -> Iterator[_Group[ItemT, TaskT, OutcomeT]]:
    items: list[tuple[ItemT, TaskT | None]] = []
    text = 0
    try:
        for item, task in source:
            items.append((item, task))
            text += 0 if task is None else task.size
            if len(items) >= GROUP or text >= _GROUP_TEXT:
                yield _Group(items)
                items, text = [], 0
    except Exception:
        yield _Group(items)
        raise
    if items:
        yield _Group(items)


# What a process of the pool was told when it began.
_told: list[Any] = []


def _begin(analyze: Callable[[Any, Settings], Any], settings: Settings) -> None:
    """Make this process ready for groups of tasks."""
    _told[:] = [analyze, settings]
    # Ctrl-C is for the caller, who ends this process; if the caller is killed, it ends by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _analyzed(tasks: bytes) -> bytes | None:
    """The outcomes of a group; None if they cannot travel, and the caller analyses it itself."""
    analyze, settings = _told
    try:
        return _pickled([analyze(task, settings) for task in pickle.loads(tasks)])  # noqa: S301 - it is ours
    except Exception:  # noqa: BLE001 - whoever asked does the work again, and sees what is wrong
        return None


def _pickled(values: list[Any]) -> bytes:
    """The values as bytes; properties are read-only views, which pickle does not know."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.dispatch_table = copyreg.dispatch_table.copy()
    pickler.dispatch_table[MappingProxyType] = lambda view: (_read_only, (dict(view),))
    pickler.dump(values)
    return buffer.getvalue()


def _read_only(values: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(values)
