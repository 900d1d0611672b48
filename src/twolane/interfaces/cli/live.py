"""A search that follows what is typed: words answer at once, and meaning follows on a pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from twolane.model.answer import Mode
from twolane.model.errors import TwolaneError

if TYPE_CHECKING:
    from twolane.model.answer import Answer

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
