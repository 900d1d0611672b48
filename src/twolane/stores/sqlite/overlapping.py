"""Making values in Python while SQLite is busy with a statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import apsw

T = TypeVar("T")


def run_beside(
    connection: apsw.Connection, statement: str, values: Sequence[Any], make: Callable[[], T]
) -> T:
    """Run the statement here, and in a thread of its own make something meanwhile.

    SQLite runs without Python's lock, but needs it to begin, and who makes values keeps it for
    longer than the statement takes.
    So the thread may go on only when the statement is about to run.
    """
    running = threading.Event()
    made: list[T] = []
    failures: list[BaseException] = []

    def work() -> None:
        running.wait()
        try:
            made.append(make())
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failures.append(error)

    def about_to_run(*_: object) -> bool:
        running.set()
        return True

    thread = threading.Thread(target=work, name="twolane-values")
    thread.start()
    connection.exec_trace = about_to_run
    try:
        connection.execute(statement, values)
    finally:
        connection.exec_trace = None
        running.set()
        thread.join()
    if failures:
        raise failures[0]
    return made[0]
