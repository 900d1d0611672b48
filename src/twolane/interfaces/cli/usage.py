"""What a call that no command understands is told: the usage, and what is wrong, in our words."""

from __future__ import annotations

import io
import sys
from typing import Any

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures

# All that typer raises about a call; the class itself has had several homes.
_MISUSE: type[Exception] = typer.BadParameter.__bases__[0]


def run(app: typer.Typer) -> None:
    """Run the command that the arguments name, and exit with its code."""
    try:
        sys.exit(app(prog_name="twolane", standalone_mode=False))
    except typer.Abort:
        output.error("aborted")
        sys.exit(failures.PROBLEMS)
    except _MISUSE as error:
        _tell(error)
        sys.exit(failures.BAD_USAGE)


def _tell(error: Any) -> None:
    shown = io.StringIO()
    error.show(file=shown)
    usage, said, _ = shown.getvalue().rpartition("Error: ")
    if not said:
        # No arguments at all are answered with the help.
        sys.stderr.write(shown.getvalue())
        return
    sys.stderr.write(usage)
    output.error(_wrong(error))


def _wrong(error: Any) -> str:
    """What is wrong, as our own errors say it."""
    message = str(error.format_message())
    invalid = "Invalid value for "
    if message.startswith(invalid) and error.param is not None:
        where = str(error.param.get_error_hint(error.ctx)).replace("'", "")
        value = _number_wrong(error.message, error.param.type) or error.message
        message = f"{where}: {value}"
    else:
        message = message[:1].lower() + message[1:]
    return message.removesuffix(".")


def _number_wrong(message: str, kind: Any) -> str | None:
    """That the value is no number of the kind that is wanted, and which it may be."""
    # The kinds are called int, integer, int range and the like, as versions of typer go.
    numbers = {"int": "a whole number", "flo": "a number"}
    wanted = numbers.get(str(getattr(kind, "name", ""))[:3])
    value, found, _ = message.rpartition(" is not ")
    if wanted is None or not found:
        return None
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if least is not None and most is not None:
        wanted += f" from {least} to {most}"
    elif least is not None:
        wanted += f" of {least} or more"
    elif most is not None:
        wanted += f" of {most} or less"
    return f"{value} is not {wanted}"
