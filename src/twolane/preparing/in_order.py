"""Preparing many documents on several cores, as if one did it alone.

The caller takes the outcomes in the order of its tasks, whoever prepared them.
It never stands idle: what other processes have no room for, it prepares itself.
A few documents are not worth a process, so the first ones are always prepared here.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from twolane.errors import TwolaneError
from twolane.machine import cores
from twolane.preparing.messages import unpacked
from twolane.preparing.processes import NotStarted, Process, Request
from twolane.preparing.tasks import OutcomeT, TaskT, Work
from twolane.settings import Settings

log = logging.getLogger("twolane")

ItemT = TypeVar("ItemT")

# A process takes a quarter of a second to start; about as much is prepared here before that.
FEW = 300
LITTLE_TEXT = 1_000_000

# With more than these the writer cannot keep up, and each process takes memory.
MOST_CORES = 8

# Tasks travel in groups that a pipe holds, so that handing one over does not wait.
_GROUP = 32
_GROUP_TEXT = 40_000
_GROUP_ITEMS = 256

# While the caller writes a batch, each process has this many groups to go on with.
_QUEUED = 12

# What is read ahead stays small, however long the texts are.
_AHEAD_TEXT = 8_000_000

# How often the caller has to help out before another process is worth its start.
_HELPED = 8

# A wait without an end cannot be interrupted everywhere.
_WAIT_SECONDS = 0.5


class Preparation(Generic[TaskT, OutcomeT]):
    """Prepares the documents of one run; its processes end with it."""

    def __init__(self, work: Work[TaskT, OutcomeT], settings: Settings) -> None:
        self._work = work
        self._settings = settings
        # The caller, who also writes, is one of them.
        self._most = (settings.cores or min(cores(), MOST_CORES)) - 1
        self._heard = threading.Condition()
        self._processes: list[Process] = []
        self._helped = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._processes:
            # What they were doing is of no use any more.
            self._processes.pop().end()

    @property
    def shared(self) -> bool:
        """Whether other processes take part by now."""
        return bool(self._processes)

    def run(
        self, items: Iterable[tuple[ItemT, TaskT | None]]
    ) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        """Each item with the outcome of its task, in the same order; without a task, None.

        Items are read ahead; if they break off, the outcomes of those before come first.
        """
        source = iter(items)
        count = text = 0
        for item, task in source:
            yield item, None if task is None else self._done(task)
            if task is not None:
                count += 1
                text += self._work.weight(task)
                if self._most > 0 and (count >= FEW or text >= LITTLE_TEXT):
                    yield from self._shared(_Groups(source, self._work))
                    return

    def _shared(self, groups: _Groups[ItemT, TaskT]) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        ahead: deque[_Group[ItemT, TaskT, OutcomeT]] = deque()
        self._start()
        while True:
            self._hand_out(groups, ahead)
            if ahead and self._is_there(ahead[0]):
                group = ahead.popleft()
                yield from group.told(self._outcomes(group))
            elif self._may_read(ahead) and (items := groups.following()):
                helped: _Group[ItemT, TaskT, OutcomeT] = _Group(items, self._work)
                helped.outcomes = [self._done(task) for task in helped.tasks]
                ahead.append(helped)
                self._count_help()
            elif ahead:
                self._wait(ahead[0])
            else:
                break
        if groups.broken is not None:
            raise groups.broken

    def _hand_out(
        self,
        groups: _Groups[ItemT, TaskT],
        ahead: deque[_Group[ItemT, TaskT, OutcomeT]],
    ) -> None:
        """Give work to every process that has room, in turn."""
        given = True
        while given and self._may_read(ahead):
            given = False
            for process in list(self._processes):
                if process.ended:
                    self._lose(process)
                elif process.ready and len(process.waiting) < _QUEUED:
                    items = groups.following()
                    if not items:
                        return
                    group: _Group[ItemT, TaskT, OutcomeT] = _Group(items, self._work)
                    if group.tasks:
                        packed = [self._work.packed_task(task) for task in group.tasks]
                        group.request, group.process = process.ask(packed), process
                    ahead.append(group)
                    given = True

    def _may_read(self, ahead: deque[_Group[ItemT, TaskT, OutcomeT]]) -> bool:
        most = _QUEUED * (1 + len(self._processes))
        return len(ahead) < most and sum(group.text for group in ahead) < _AHEAD_TEXT

    def _is_there(self, group: _Group[ItemT, TaskT, OutcomeT]) -> bool:
        request, process = group.request, group.process
        return request is None or process is None or request.answer is not None or process.ended

    def _wait(self, group: _Group[ItemT, TaskT, OutcomeT]) -> None:
        with self._heard:
            while not self._is_there(group):
                self._heard.wait(_WAIT_SECONDS)

    def _outcomes(self, group: _Group[ItemT, TaskT, OutcomeT]) -> list[OutcomeT]:
        """What came of the group's tasks; those that nobody else could do are done here."""
        if group.outcomes is not None:
            return group.outcomes
        answer = group.request.answer if group.request else None
        told = unpacked(answer) if answer is not None else [None] * len(group.tasks)
        return [
            self._done(task) if one is None else self._work.outcome_of(one)
            for task, one in zip(group.tasks, told, strict=True)
        ]

    def _done(self, task: TaskT) -> OutcomeT:
        try:
            return self._work.do(task, self._settings)
        except (TwolaneError, MemoryError):
            raise
        except Exception as error:
            log.warning("a document could not be analysed", exc_info=error)
            return self._work.failed(task, error)

    def _start(self) -> None:
        try:
            started = Process.start(self._work.name, self._settings, self._heard)
        except NotStarted as error:
            self._most = 0
            log.warning("documents are prepared on one core only: %s", error)
        else:
            self._processes.append(started)

    def _count_help(self) -> None:
        """Start another process once it is clear that those at work are too few."""
        if all(one.ready for one in self._processes):
            self._helped += 1
        if self._helped >= _HELPED and len(self._processes) < self._most:
            self._helped = 0
            self._start()

    def _lose(self, process: Process) -> None:
        """Go on without a process that ended; its groups are done here when their turn comes."""
        self._processes.remove(process)
        # Whatever ended it would likely end another one.
        self._most = 0
        code = process.end()
        log.warning("a process that prepares documents ended (%s); going on without it", code)


class _Groups(Generic[ItemT, TaskT]):
    """The items, some at a time; what breaks them off is kept for the end."""

    def __init__(
        self, source: Iterator[tuple[ItemT, TaskT | None]], work: Work[TaskT, OutcomeT]
    ) -> None:
        self._source = source
        self._weight = work.weight
        self.broken: Exception | None = None

    def following(self) -> list[tuple[ItemT, TaskT | None]]:
        """The next items; none at the end."""
        items: list[tuple[ItemT, TaskT | None]] = []
        count = text = 0
        try:
            for item, task in self._source:
                items.append((item, task))
                if task is not None:
                    count += 1
                    text += self._weight(task)
                if count >= _GROUP or text >= _GROUP_TEXT or len(items) >= _GROUP_ITEMS:
                    break
        except Exception as error:  # noqa: BLE001
            # In one process, what came before would have been given by now.
            self.broken = error
            self._source = iter(())
        return items


class _Group(Generic[ItemT, TaskT, OutcomeT]):
    """Items that travel together, with what is known of their outcomes."""

    def __init__(
        self, items: list[tuple[ItemT, TaskT | None]], work: Work[TaskT, OutcomeT]
    ) -> None:
        self.items = items
        self.tasks = [task for _, task in items if task is not None]
        self.text = sum(map(work.weight, self.tasks))
        self.outcomes: list[OutcomeT] | None = None
        self.request: Request | None = None
        self.process: Process | None = None

    def told(self, outcomes: list[OutcomeT]) -> Iterator[tuple[ItemT, OutcomeT | None]]:
        """Each item with its outcome."""
        rest = iter(outcomes)
        for item, task in self.items:
            yield item, None if task is None else next(rest)
