"""Progress bars on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from twolane.ingest.exchange.rows import ImportReport
    from twolane.ingest.indexing import Report
    from twolane.model.space import Progress


@contextmanager
def files_bar(name: str, *, quiet: bool) -> Iterator[Callable[[Report], None]]:
    """Shows how many files were looked at; how many there are is not known beforehand."""
    with _bars("{task.completed:.0f} files {task.fields[rate]}", "elapsed", quiet=quiet) as bars:
        if bars is None:
            yield lambda _: None
            return
        task = bars.add_task(f"reading {name}", total=None, rate="")

        def show(report: Report) -> None:
            seen = report.indexed + report.unchanged + report.skipped + report.failed
            bars.update(task, completed=seen, rate=_rate(bars))

        yield show


@contextmanager
def rows_bar(name: str, *, quiet: bool) -> Iterator[Callable[[ImportReport], None]]:
    """Shows how many rows went in, and how much of the file is read where that is known."""
    with _bars("bar", "{task.fields[rows]:,} documents", "remaining", quiet=quiet) as bars:
        if bars is None:
            yield lambda _: None
            return
        task = bars.add_task(f"importing {name}", total=None, rows=0)

        def show(report: ImportReport) -> None:
            bars.update(task, completed=report.read, total=report.size or None, rows=report.rows)

        yield show


@contextmanager
def passages_bar(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Shows how many passages have their vector, how fast it goes and how long it will take."""
    with _bars("bar", "count", "{task.fields[rate]}", "remaining", quiet=quiet) as bars:
        if bars is None:
            yield lambda _: None
            return
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
    """What is going on, and how far it is where that can be counted; nobody may be watching."""

    def __init__(self, bars: Bars | None = None) -> None:
        self._bars = bars
        self._tasks = [] if bars is None else [bars.add_task("", total=None)]

    def step(self, text: str) -> None:
        """Say what begins now."""
        if self._bars is not None:
            self._bars.reset(self._tasks[0], total=None, description=text)

    def show(self, done: int, total: int) -> None:
        """Say how much of it is done."""
        if self._bars is not None:
            self._bars.update(self._tasks[0], completed=done, total=total)


@contextmanager
def steps_bar(*, quiet: bool) -> Iterator[Steps]:
    """Shows work that goes in steps, such as building an index and then asking it questions."""
    with _bars("bar", "count", quiet=quiet) as bars:
        yield Steps(bars)


@contextmanager
def _bars(*columns: str, quiet: bool) -> Iterator[Bars | None]:
    """Bars with these columns beside what is going on, by name or as text; None for nobody."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    import rich.progress as rich
    from rich.console import Console

    named = {
        "bar": rich.BarColumn,
        "count": rich.MofNCompleteColumn,
        "elapsed": rich.TimeElapsedColumn,
        "remaining": rich.TimeRemainingColumn,
    }
    shown = [named[name]() if name in named else rich.TextColumn(name) for name in columns]
    described = rich.TextColumn("{task.description}", markup=False)
    # The bar goes when it is done: the report on standard output says what came of it.
    console = Console(stderr=True)
    with rich.Progress(
        rich.SpinnerColumn(), described, *shown, console=console, transient=True
    ) as bars:
        yield bars


def duration(seconds: float) -> str:
    """A time as people say it: `40 s`, `12 min`, `3 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _rate(bars: Bars) -> str:
    speed = bars.tasks[0].speed
    return f"{speed:.0f}/s" if speed else ""
