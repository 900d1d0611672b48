"""What the user sees: text on standard output, everything else on standard error.

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
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Piece = str | tuple[str, str]

TITLE = "bold"
MARK = "bold yellow"
PLACE = "cyan"
DIM = "dim"
GOOD = "green"
BAD = "bold red"

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


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number with its word: `1 query`, `30 queries`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


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
