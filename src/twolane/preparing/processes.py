"""A process of our own that prepares documents: started, asked, heard and ended.

It is a plain subprocess and not one of `multiprocessing`, which would run the caller's program
again or copy its threads halfway (see docs/decisions/0008-own-processes-for-preparing.md).
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from twolane.preparing import PREPARING_SETTINGS
from twolane.preparing.messages import packed, receive, send
from twolane.settings import Settings

# The search path comes first, since the package may have been found by it alone.
# Ctrl-C is for the caller, who ends this process.
_PROGRAM = """\
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
from twolane.preparing.answering import main
main()
"""


@dataclass(slots=True, eq=False)
class Request:
    """Tasks that were handed to a process; `answer` is its message, once there is one."""

    count: int
    answer: bytes | None = None


class NotStarted(Exception):
    """Why no process can be started."""


@dataclass(slots=True, eq=False)
class Process:
    """One process; `ready` once it takes tasks, `ended` when it will answer nothing more."""

    heard: threading.Condition
    process: subprocess.Popen[bytes]
    ready: bool = False
    ended: bool = False
    waiting: deque[Request] = field(default_factory=deque)
    listener: threading.Thread | None = None

    @classmethod
    def start(cls, work: str, settings: Settings, heard: threading.Condition) -> Process:
        """A new process for this kind of work, which notifies `heard`; raises NotStarted."""
        try:
            process = subprocess.Popen(  # noqa: S603
                [_interpreter(), *(["-I"] if sys.flags.isolated else ["-P"]), "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStarted(str(error)) from error
        started = cls(heard, process)
        told = {name: getattr(settings, name) for name in PREPARING_SETTINGS}
        try:
            started._input.write(packed(sys.path))
            send(started._input, packed((work, told)))
        except OSError:
            # It ended already; the thread below hears of that.
            pass
        started.listener = threading.Thread(target=started._listen, daemon=True)
        started.listener.start()
        return started

    def ask(self, tasks: list[Any]) -> Request | None:
        """Hand it tasks; None if they cannot be handed over."""
        try:
            message = packed(tasks)
        except Exception:  # noqa: BLE001  What cannot be pickled is done by whoever has it.
            return None
        request = Request(len(tasks))
        self.waiting.append(request)
        try:
            send(self._input, message)
        except OSError:
            self.ended = True
        return request

    def end(self) -> int:
        """End it at once and wait for that; returns its exit code."""
        self.process.kill()
        code = self.process.wait()
        if self.listener is not None:
            self.listener.join()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                # What was still to be written is for nobody.
                pass
        return code

    @property
    def _input(self) -> BinaryIO:
        return cast("BinaryIO", self.process.stdin)

    def _listen(self) -> None:
        """Take its answers as they come; what they say is read by the caller's thread."""
        output = cast("BinaryIO", self.process.stdout)
        while (message := receive(output)) is not None:
            with self.heard:
                if self.ready:
                    self.waiting.popleft().answer = message
                self.ready = True
                self.heard.notify_all()
        with self.heard:
            self.ended = True
            self.heard.notify_all()


def _interpreter() -> str:
    """The program that runs Python here; raises NotStarted if it is more than that."""
    name = PurePath(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        raise NotStarted(f"{sys.executable or 'this program'} is no Python interpreter")
    return sys.executable
