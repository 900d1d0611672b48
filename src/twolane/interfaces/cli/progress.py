"""Progress bars on standard error, where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from twolane.ingest.exchange.rows import ImportReport
    from twolane.ingest.indexing import Report
    from twolane.model.space import Progress


@contextmanager
def files_bar(name: str, *, quiet: bool) -> Iterator[Callable[[Report], None]]:
    """Shows how many files were looked at; how many there are is not known beforehand."""
    columns = ("{task.completed:.0f} files", "rate", "elapsed")
    with _bar(f"reading {name}", *columns, quiet=quiet) as bar:

        def show(report: Report) -> None:
            bar.update(completed=report.indexed + report.unchanged + report.skipped + report.failed)

        yield show


@contextmanager
def rows_bar(name: str, *, quiet: bool) -> Iterator[Callable[[ImportReport], None]]:
    """Shows how many rows went in, and how much of the file is read where that is known."""
    columns = ("bar", "{task.fields[rows]:,} documents", "remaining")
    with _bar(f"importing {name}", *columns, quiet=quiet, rows=0) as bar:
        yield lambda report: bar.update(
            completed=report.read, total=report.size or None, rows=report.rows
        )


@contextmanager
def passages_bar(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Shows how many passages have their vector, how fast it goes and how long it will take."""
    # Until the first passage is embedded there is something to see, too.
    with _bar("loading the model", "bar", "count", "rate", "remaining", quiet=quiet) as bar:
        started = False

        def show(progress: Progress) -> None:
            nonlocal started
            done = progress.ready + progress.failed
            total = done + progress.pending
            if not started:
                # What earlier runs did is no part of the speed of this one.
                bar.step("embedding passages", completed=done, total=total)
                started = True
            bar.update(completed=done, total=total)

        yield show


class Bar:
    """What is going on, and how far it is where that can be counted; nobody may be watching."""

    def __init__(self, text: str = "", bars: Bars | None = None, **fields: Any) -> None:
        self._bars = bars
        self._task = None if bars is None else bars.add_task(text, total=None, rate="", **fields)

    def step(self, text: str, *, completed: int = 0, total: int | None = None) -> None:
        """Say what begins now."""
        if self._bars is not None and self._task is not None:
            self._bars.reset(self._task, total=total, completed=completed, description=text)

    def show(self, done: int, total: int) -> None:
        """Say how much of it is done."""
        self.update(completed=done, total=total)

    def update(self, **changed: Any) -> None:
        """Say how far it is."""
        if self._bars is not None and self._task is not None:
            speed = self._bars.tasks[0].speed
            self._bars.update(self._task, rate=f"{speed:.0f}/s" if speed else "", **changed)


@contextmanager
def steps_bar(*, quiet: bool) -> Iterator[Bar]:
    """Shows work that goes in steps, such as building an index and then asking it questions."""
    with _bar("", "bar", "count", quiet=quiet) as bar:
        yield bar


@contextmanager
def _bar(text: str, *columns: str, quiet: bool, **fields: Any) -> Iterator[Bar]:
    """A bar with these columns, by name or as text, beside a text that says what is going on."""
    if quiet or not sys.stderr.isatty():
        yield Bar()
        return
    import rich.progress as rich
    from rich.console import Console

    named: dict[str, Callable[[], rich.ProgressColumn]] = {
        "bar": rich.BarColumn,
        "count": rich.MofNCompleteColumn,
        "elapsed": rich.TimeElapsedColumn,
        "remaining": rich.TimeRemainingColumn,
        "rate": lambda: rich.TextColumn("{task.fields[rate]}"),
    }
    shown = [named[name]() if name in named else rich.TextColumn(name) for name in columns]
    described = rich.TextColumn("{task.description}", markup=False)
    # The bar goes when it is done: the report on standard output says what came of it.
    console = Console(stderr=True)
    with rich.Progress(
        rich.SpinnerColumn(), described, *shown, console=console, transient=True
    ) as bars:
        yield Bar(text, bars, **fields)


def duration(seconds: float) -> str:
    """A time as people say it: `0.4 s`, `40 s`, `12 min`, `3 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
