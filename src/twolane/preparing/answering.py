"""The inside of a process that prepares documents for another one.

It reads tasks from its standard input and writes outcomes to its standard output, in order.
It holds nothing that could be lost, so it ends at once when its input does.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Any, BinaryIO

from twolane.preparing.messages import packed, receive, send, unpacked
from twolane.preparing.tasks import WORKS, Work
from twolane.settings import Settings

_OUTPUT, _COMPLAINTS = 1, 2

# Reading and writing should not wait long for the thread that prepares.
_SWITCH_SECONDS = 0.001


def main() -> None:
    """Answer until the input ends."""
    tasks, answers = sys.stdin.buffer, _own_output()
    sys.setswitchinterval(_SWITCH_SECONDS)
    name, values = unpacked(_required(receive(tasks)))
    settings, work = Settings(**values), WORKS[name]
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    told: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(tasks, asked), daemon=True).start()
    threading.Thread(target=_write, args=(answers, told), daemon=True).start()
    # An empty message says that there is somebody.
    told.put(b"")
    while True:
        told.put(_answered(asked.get(), work, settings))


def _answered(message: bytes, work: Work[Any, Any], settings: Settings) -> bytes:
    outcomes = [_done(task, work, settings) for task in unpacked(message)]
    try:
        return packed(outcomes)
    except Exception:  # noqa: BLE001  Whoever asked does the work again, and sees what is wrong.
        return packed([None] * len(outcomes))


def _done(task: Any, work: Work[Any, Any], settings: Settings) -> Any:
    try:
        return work.packed_outcome(work.do(work.task_of(task), settings))
    except Exception:  # noqa: BLE001  Whoever asked does the work again, and sees what is wrong.
        return None


def _read(tasks: BinaryIO, asked: queue.SimpleQueue[bytes]) -> None:
    while (message := receive(tasks)) is not None:
        asked.put(message)
    os._exit(0)


def _write(answers: BinaryIO, told: queue.SimpleQueue[bytes]) -> None:
    try:
        while True:
            send(answers, told.get())
    except OSError:
        # Nobody reads any more.
        os._exit(1)


def _own_output() -> BinaryIO:
    """The output for answers; whatever else is printed goes where complaints go."""
    answers = os.fdopen(os.dup(_OUTPUT), "wb")
    try:
        os.dup2(_COMPLAINTS, _OUTPUT)
    except OSError:
        # The caller has closed its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)
    return answers


def _required(message: bytes | None) -> bytes:
    if message is None:
        os._exit(0)
    return message
