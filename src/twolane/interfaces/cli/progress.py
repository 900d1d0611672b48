"""Progress bars on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn, TaskID

    from twolane.ingest.exchange.rows import ImportReport
    from twolane.ingest.indexing import Report
    from twolane.model.space import Progress


@contextmanager
def files_bar(name: str, *, quiet: bool) -> Iterator[Callable[[Report], None]]:
    """Shows how many files were looked at; how many there are is not known beforehand."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with _bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed:.0f} files {task.fields[rate]}"),
        TimeElapsedColumn(),
    ) as bars:
        task = bars.add_task(f"reading {name}", total=None, rate="")

        def show(report: Report) -> None:
            seen = report.indexed + report.unchanged + report.skipped + report.failed
            bars.update(task, completed=seen, rate=_rate(bars))

        yield show


@contextmanager
def rows_bar(name: str, *, quiet: bool) -> Iterator[Callable[[ImportReport], None]]:
    """Shows how many rows went in, and how much of the file is read where that is known."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

    with _bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rows]:,} documents"),
        TimeRemainingColumn(),
    ) as bars:
        task = bars.add_task(f"importing {name}", total=None, rows=0)

        def show(report: ImportReport) -> None:
            bars.update(task, completed=report.read, total=report.size or None, rows=report.rows)

        yield show


@contextmanager
def passages_bar(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Shows how many passages have their vector, how fast it goes and how long it will take."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    with _bars(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    ) as bars:
        tasks: list[TaskID] = []

        def show(progress: Progress) -> None:
            done = progress.ready + progress.failed
            total = done + progress.pending
            if not tasks:
                # What earlier runs did is no part of the speed of this one.
                tasks.append(
                    bars.add_task("embedding passages", total=total, completed=done, rate="")
                )
            bars.update(tasks[0], completed=done, total=total, rate=_rate(bars))

        yield show


class Steps:
    """What is going on, and how far it is where that can be counted."""

    def step(self, text: str) -> None:
        """Say what begins now."""

    def show(self, done: int, total: int) -> None:
        """Say how much of it is done."""


@contextmanager
def steps_bar(*, quiet: bool) -> Iterator[Steps]:
    """Shows work that goes in steps, such as building an index and then asking it questions."""
    if quiet or not sys.stderr.isatty():
        yield Steps()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn

    with _bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
    ) as bars:
        yield _ShownSteps(bars)


class _ShownSteps(Steps):
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task = bars.add_task("", total=None)

    def step(self, text: str) -> None:
        self._bars.reset(self._task, total=None, description=text)

    def show(self, done: int, total: int) -> None:
        self._bars.update(self._task, completed=done, total=total)


def _bars(*columns: ProgressColumn) -> Bars:
    from rich.console import Console
    from rich.progress import Progress as Bars

    # The bar goes when it is done: the report on standard output says what came of it.
    return Bars(*columns, console=Console(stderr=True), transient=True)


def duration(seconds: float) -> str:
    """A time as people say it: `40 s`, `12 min`, `3 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _rate(bars: Bars) -> str:
    speed = bars.tasks[0].speed
    return f"{speed:.0f}/s" if speed else ""
