"""A search that follows what is typed: the latest words win, and older answers are dropped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twolane.model.answer import Mode
from twolane.model.errors import TwolaneError

if TYPE_CHECKING:
    from twolane.model.answer import Answer

# After the last key it takes this long until a search begins: longer than between two keys of
# somebody who types, shorter than a wait.
DEBOUNCE_SECONDS = 0.12


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the words as they are typed, and by which lanes."""

    text: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a question: an answer, or why there is none."""

    question: Question
    answer: Answer | None
    failure: str | None = None


class Live:
    """Asks questions one at a time in a thread of its own, skipping those that were overtaken."""

    def __init__(self, ask: Callable[[Question], Answer]) -> None:
        self._ask = ask
        self._changed = threading.Condition()
        self._wanted: Question | None = None
        self._due = 0.0
        self._told: Told | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def want(self, question: Question) -> None:
        """Ask this soon, instead of whatever waits."""
        with self._changed:
            self._wanted = question
            self._due = time.monotonic() + DEBOUNCE_SECONDS
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
        while (question := self._next()) is not None:
            try:
                self._told = Told(question, self._ask(question))
            except TwolaneError as error:
                # A half-typed query may be one that cannot be asked.
                self._told = Told(question, None, str(error))

    def _next(self) -> Question | None:
        """The next question once nobody typed for a moment; None at the end."""
        with self._changed:
            while not self._ended:
                if self._wanted is None:
                    self._changed.wait()
                    continue
                left = self._due - time.monotonic()
                if left <= 0:
                    question, self._wanted = self._wanted, None
                    return question
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
