"""`twolane ui`: results while you type, in the terminal."""

from __future__ import annotations

import contextlib
import html
import locale
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.opening import Modes, PlainCall, load_settings, open_library, typed
from twolane.model.answer import Mode
from twolane.model.errors import BadInput, TwolaneError
from twolane.model.values import dataclass
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.answer import Answer, Result

# After the last key it takes this long until meaning is asked: longer than between two keys of
# somebody who types, shorter than a wait.
PAUSE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the words as they are typed, and by which lanes."""

    text: str
    mode: Mode

    @property
    def at_once(self) -> Question | None:
        """What can be asked of it after every key; None where only meaning is wanted."""
        if self.mode == Mode.SEMANTIC:
            return None
        return replace(self, mode=Mode.LEXICAL) if self.mode == Mode.HYBRID else self


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a question: an answer, or why there is none; `whole` if by all its lanes."""

    question: Question
    answer: Answer | None
    failure: str | None = None
    whole: bool = True


class Live:
    """Asks questions one at a time in a thread of its own, skipping those that were overtaken.

    Each is asked by words as soon as it is wanted, and by all its lanes when nobody typed for a
    moment; an answer that holds nothing waits for the whole one.
    """

    def __init__(self, ask: Callable[[Question], Answer]) -> None:
        self._ask = ask
        self._changed = threading.Condition()
        self._wanted: Question | None = None
        self._hurried = False
        self._due = 0.0
        self._told: Told | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def want(self, question: Question) -> None:
        """Ask this now, instead of whatever waits."""
        with self._changed:
            self._wanted, self._hurried = question, True
            self._due = time.monotonic() + PAUSE_SECONDS
            self._changed.notify()

    def told(self) -> Told | None:
        """What was heard last."""
        return self._told

    def close(self) -> None:
        """Ask nothing any more, and wait until what is being asked was answered."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while (step := self._next()) is not None:
            question, asked = step
            whole = asked == question
            try:
                told = Told(question, self._ask(asked), whole=whole)
            except TwolaneError as error:
                # A half-typed query may be one that cannot be asked.
                told = Told(question, None, str(error), whole)
            if whole or (told.answer and told.answer.results):
                self._told = told

    def _next(self) -> tuple[Question, Question] | None:
        """The next question and what to ask of it; None at the end."""
        with self._changed:
            while not self._ended:
                if self._wanted is None:
                    self._changed.wait()
                    continue
                question, left = self._wanted, self._due - time.monotonic()
                asked = question.at_once if self._hurried else None
                self._hurried = False
                if asked == question or left <= 0:
                    self._wanted = None
                    return question, question
                if asked is not None:
                    return question, asked
                self._changed.wait(left)
            return None


def edited(text: str, key: str) -> str:
    """A line after a key: a character, or Backspace, Ctrl-U (all) and Ctrl-W (a word) to delete."""
    if key in ("\x7f", "\b"):
        return text[:-1]
    if key == "\x15":
        return ""
    if key == "\x17":
        return text.rstrip().rpartition(" ")[0] + " " if " " in text.strip() else ""
    return text + key if key.isprintable() else text


def stepped(mode: Mode) -> Mode:
    """The mode after this one."""
    modes = list(Mode)
    return modes[(modes.index(mode) + 1) % len(modes)]


# How often the screen is looked after while no key comes.
_TICK_MS = 40
# Title, place and passage.
_ROWS = 3
_HELP = "Up/Down choose · Enter opens · Tab mode · Esc quits"
_TAGS = re.compile(r"</?mark>")


def ui(
    call: PlainCall,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]", help="The first query.")
    ] = None,
    mode: Modes = Mode.HYBRID,
) -> int:
    """Search while you type; Enter opens a result in the editor."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("this needs a terminal; in a script use: twolane search")
    if find_spec("_curses") is None:
        raise BadInput("this Python has no curses; on Windows run: pip install windows-curses")
    import curses

    # A remark in the middle of the screen would spoil it.
    settings = load_settings(
        call.db, quiet=not call.verbose or call.quiet, verbose=call.verbose
    ).settings
    # Without it curses would take every letter but ASCII for bytes.
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "")
    with open_library(settings) as library, contextlib.suppress(KeyboardInterrupt):
        curses.set_escdelay(25)
        curses.wrapper(
            lambda window: _Screen(window, library, typed(" ".join(words or ())), mode).run()
        )
    return failures.OK


class _Screen:
    """What is typed, what was found, and which of it is chosen."""

    def __init__(self, window: Any, library: Library, text: str, mode: Mode) -> None:
        import curses

        self._curses = curses
        self._window = window
        self._library = library
        self._text = text
        self._mode = mode
        self._chosen = 0
        self._said = ""
        self._shown: Told | None = None
        self._live = Live(self._asked)
        window.timeout(_TICK_MS)
        window.keypad(True)
        with contextlib.suppress(curses.error):
            # A terminal without colours has bold and dim.
            curses.use_default_colors()

    def run(self) -> None:
        """Answer keys until Esc."""
        try:
            self._want()
            self._draw()
            while (key := self._key()) != "\x1b":
                if key is not None:
                    self._press(key)
                told = self._live.told()
                if key is not None or told is not self._shown:
                    if told is not self._shown:
                        self._shown, self._chosen = told, 0
                    self._draw()
        finally:
            self._live.close()

    def _asked(self, question: Question) -> Answer:
        return self._library.search(question.text, mode=question.mode, typing=True)

    def _want(self) -> None:
        self._live.want(Question(self._text, self._mode))

    def _key(self) -> str | int | None:
        try:
            key: str | int = self._window.get_wch()
        except self._curses.error:
            # Nothing was pressed.
            return None
        return key

    def _press(self, key: str | int) -> None:
        curses = self._curses
        self._said = ""
        moves = {
            curses.KEY_DOWN: 1,
            "\x0e": 1,
            curses.KEY_UP: -1,
            "\x10": -1,
            curses.KEY_NPAGE: self._room(),
            curses.KEY_PPAGE: -self._room(),
        }
        if key in moves:
            last = len(self._results()) - 1
            self._chosen = max(0, min(self._chosen + moves[key], last))
        elif key in ("\n", "\r", curses.KEY_ENTER):
            self._open()
        elif key == "\t":
            self._mode = stepped(self._mode)
            self._want()
        elif key == curses.KEY_BACKSPACE or isinstance(key, str):
            before = self._text
            self._text = edited(before, key if isinstance(key, str) else "\x7f")
            if self._text != before:
                self._want()

    def _results(self) -> tuple[Result, ...]:
        return self._shown.answer.results if self._shown and self._shown.answer else ()

    def _open(self) -> None:
        from twolane.interfaces.cli.editor import open_result

        if not self._results():
            return
        # The editor gets the terminal as it was, and we get it back after.
        self._curses.def_prog_mode()
        self._curses.endwin()
        try:
            chosen = self._results()[self._chosen]
            self._said = f"opened {open_result(self._library, chosen)}"
            self._library.note_opened(self._text, chosen.id)
        except (TwolaneError, OSError) as error:
            self._said = failures.message(error)
        finally:
            self._curses.reset_prog_mode()
            self._window.clear()
            self._window.refresh()

    # ------------------------------------------------------------------------------ what is seen

    def _draw(self) -> None:
        curses, window = self._curses, self._window
        window.erase()
        prompt = f"{self._mode.value} > "
        self._line(0, prompt, curses.A_DIM)
        width = window.getmaxyx()[1]
        # Of a long query the end is seen, where it is being typed.
        typed_part = _last_cells(self._text, width - len(prompt) - 1)
        self._line(0, typed_part, curses.A_BOLD, len(prompt))
        self._line(1, self._said or self._state(), curses.A_DIM)
        room = self._room()
        first = self._chosen // room * room
        for at, result in enumerate(self._results()[first : first + room]):
            self._result(2 + at * _ROWS, result, chosen=first + at == self._chosen)
        with contextlib.suppress(curses.error):
            window.move(0, min(width - 1, len(prompt) + _cells(typed_part)))
        window.refresh()

    def _result(self, row: int, result: Result, *, chosen: bool) -> None:
        curses = self._curses
        self._line(row, f"{'>' if chosen else ' '} ", curses.A_BOLD)
        self._line(row, result.title, curses.A_REVERSE if chosen else curses.A_BOLD, 2)
        lines = f":{result.lines[0]}" if result.lines and result.path else ""
        place = f"{result.path or result.url or result.id}{lines}"
        crumbs = f"  {' > '.join(result.heading)}" if result.heading else ""
        self._line(row + 1, place + crumbs, curses.A_DIM, 2)
        self._line(row + 2, " ".join(html.unescape(_TAGS.sub("", result.snippet)).split()), 0, 2)

    def _state(self) -> str:
        told = self._shown
        if told is None or not told.whole or told.question != Question(self._text, self._mode):
            return "searching …"
        if told.answer is None:
            return told.failure or ""
        found = counted(len(told.answer.results), "result")
        missing = "".join(
            f" · no {degradation.lane.value} lane: {degradation.reason}"
            for degradation in told.answer.degraded
        )
        return f"{found} in {told.answer.took_ms:.0f} ms{missing} · {_HELP}"

    def _room(self) -> int:
        """How many results fit."""
        return max(1, (int(self._window.getmaxyx()[0]) - 2) // _ROWS)

    def _line(self, row: int, text: str, style: int, column: int = 0) -> None:
        height, width = self._window.getmaxyx()
        if row >= height or column >= width - 1:
            return
        shown = _first_cells(output.printable(text), width - column - 1)
        with contextlib.suppress(self._curses.error):
            # A terminal that has just become smaller refuses what no longer fits.
            self._window.addstr(row, column, shown, style)


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _first_cells(text: str, most: int) -> str:
    from rich.cells import set_cell_size

    return text if _cells(text) <= most else set_cell_size(text, max(0, most - 1)) + "…"


def _last_cells(text: str, most: int) -> str:
    while text and _cells(text) > most:
        text = text[1:]
    return text
