"""What every command does when it fails: a message, an exit code, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.model.errors import TwolaneError

P = ParamSpec("P")


def guarded(command: Callable[P, int | None]) -> Callable[P, None]:
    """The command as the process runs it: its number, or that of its failure, is the exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs) or failures.OK
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            code = failures.OK
        except (TwolaneError, OSError, KeyboardInterrupt) as error:
            output.error(failures.message(error))
            code = failures.exit_code(error)
        output.finish()
        sys.exit(code)

    return run
