"""What is printed, where, and in which colours; progress bars on standard error.

A line is made of pieces, each a text or a text with a style.
On a terminal the styles become colours and long lines are wrapped (by rich, which also knows
`NO_COLOR`); in a pipe or a file a line is its plain text, whatever the width.
"""

from __future__ import annotations

import html
import io
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

from twolane.text.plural import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars

    from twolane.ingest.exchange.rows import ImportReport
    from twolane.ingest.indexing import Report
    from twolane.model.problem import Problem
    from twolane.model.space import Progress

Piece = str | tuple[str, str]

TITLE = "bold"
MARK = "bold yellow"
PLACE = "cyan"
DIM = "dim"
GOOD = "green"
BAD = "bold red"

# More lines than this about single files, and the screen shows nothing else.
_MOST_LINES = 20

# Notes may hold anything; what moves the cursor or rings a bell must not reach a terminal.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
# In an address these must be percent-encoded.
_UNLINKABLE = re.compile("[^\x21-\x7e]")
_MARKS = re.compile(r"(</?mark>)")


def prepare_streams() -> None:
    """Let every character pass: what the terminal's encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(*pieces: Piece, indent: int = 0) -> None:
    """Print a line on standard output."""
    shown = [(printable(text), style) for text, style in map(_styled, pieces)]
    if not sys.stdout.isatty():
        text = "".join(text for text, _ in shown)
        sys.stdout.write(f"{' ' * indent}{text}\n")
        return
    from rich.padding import Padding
    from rich.text import Text

    _console().print(Padding(Text.assemble(*shown), (0, 0, 0, indent)))


def say_first(lines: Sequence[Sequence[Piece]], where: str, *, indent: int = 2) -> None:
    """Print the first lines of a list, then how many more there are, and where to see them."""
    for pieces in lines[:_MOST_LINES]:
        say(*pieces, indent=indent)
    if len(lines) > _MOST_LINES:
        say(f"and {len(lines) - _MOST_LINES:,} more{where}", indent=indent)


def problem_line(problem: Problem) -> list[Piece]:
    """What is wrong with a file or a row."""
    return [(problem.path, PLACE), "  ", (f"{problem.code.value}: ", BAD), problem.reason]


def say_json(value: object) -> None:
    """Print a shape as one line of JSON, at once."""
    from twolane.interfaces.wire.shape import builtins

    unicode = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    line = json.dumps(builtins(value), ensure_ascii=not unicode)
    # Some readers of lines end them at these characters, too.
    line = _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def say_text(text: str) -> None:
    """Print a text as it is, with a line end; only a terminal is spared its control characters."""
    shown = printable(text) if sys.stdout.isatty() else text
    sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")


def width() -> int:
    """How many cells a line has; whoever reads a pipe has a terminal like any other."""
    return _console().width if sys.stdout.isatty() else 80


def lines_of(text: str, indent: int = 0) -> int:
    """How many lines a text takes, below each other."""
    room = max(20, width() - indent)
    if not sys.stdout.isatty():
        return -(-len(text) // room)
    from rich.text import Text

    return len(Text(printable(text)).wrap(_console(), room))


def note(message: str) -> None:
    """Print a remark on standard error, after what it is about."""
    sys.stdout.flush()
    sys.stderr.write(f"{printable(message)}\n")


def error(message: str) -> None:
    """Print what went wrong on standard error; that may be standard output itself."""
    sys.stderr.write(f"error: {printable(message)}\n")


def finish() -> None:
    """Write what is buffered, or give it up where nobody takes it any more."""
    try:
        sys.stdout.flush()
    except OSError:
        # The interpreter tries once more when it ends, and would complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def marked(markup: str, style: str = "") -> Iterator[tuple[str, str]]:
    """The pieces of escaped HTML whose only tag is `<mark>`."""
    inside = False
    for part in _MARKS.split(markup):
        if part in ("<mark>", "</mark>"):
            inside = part == "<mark>"
        elif part:
            yield html.unescape(part), MARK if inside else style


def linked(style: str, link: str | None) -> str:
    """The style as that of a link; only a terminal makes one of it."""
    # A link that could end its own escape sequence is none.
    return f"{style} link {link}" if link and not _UNLINKABLE.search(link) else style


def gone_from_folder(count: int) -> str:
    """A sentence about notes whose files are not there any more."""
    return f"{counted(count, 'note')} {'is' if count == 1 else 'are'} gone from the folder."


def printable(text: str) -> str:
    """The text without characters that command a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def log_to_stderr(level: int) -> None:
    """Send the log of `twolane`, from this level up, to standard error."""
    logger = logging.getLogger("twolane")
    logger.setLevel(level)
    logger.handlers = [_StderrHandler()]
    logger.propagate = False


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is now: a progress bar puts itself in its place."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr

    def format(self, record: logging.LogRecord) -> str:
        return printable(f"{record.levelname.lower()}: {super().format(record)}")


def _styled(piece: Piece) -> tuple[str, str]:
    return (piece, "") if isinstance(piece, str) else piece


@lru_cache(maxsize=1)
def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


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
