"""What runs a command: the options of every command, exit codes, and messages, no tracebacks."""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import typer
from typer.core import TyperCommand

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.opening import (
    AsJson,
    Call,
    Db,
    GoldenCall,
    GoldenDb,
    PlainCall,
    Quiet,
    SuiteCall,
    Verbose,
)
from twolane.model.errors import TwolaneError

Command = Callable[..., int | None]

# The options that stand in the place of a command's `call`, by the fields of a `Call`.
_SHARED = {"as_json": AsJson, "db": Db, "quiet": Quiet, "verbose": Verbose}
# Those that a kind of call has otherwise, or not at all.
_OTHER: dict[Any, dict[str, Any]] = {
    PlainCall: {"as_json": None},
    GoldenCall: {"db": GoldenDb},
    SuiteCall: {"db": None},
}


def guarded(command: Command) -> Callable[..., None]:
    """The command as the process runs it: its number, or that of its failure, is the exit code."""
    called = with_shared_options(command)

    @wraps(called)
    def run(**given: Any) -> None:
        try:
            code = called(**given) or failures.OK
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


def group(name: str, help: str, commands: Mapping[str, Command]) -> typer.Typer:
    """A command that has commands of its own, by the names that they are called by."""
    made = typer.Typer(name=name, help=help, no_args_is_help=True, rich_markup_mode=None)
    for own_name, command in commands.items():
        made.command(own_name)(guarded(command))
    return made


def with_shared_options(command: Command) -> Command:
    """The command with an option for each field of the `call` that it takes, if it takes one."""
    parameters = dict(inspect.signature(command, eval_str=True).parameters)
    call = parameters.pop("call", None)
    if call is None:
        return command
    shared = {**_SHARED, **_OTHER.get(call.annotation, {})}
    shared = {name: annotation for name, annotation in shared.items() if annotation is not None}

    @wraps(command)
    def run(**given: Any) -> int | None:
        return command(call=Call(**{name: given.pop(name) for name in shared}), **given)

    return with_parameters(run, [*parameters.values(), *(option(*each) for each in shared.items())])


def option(name: str, annotation: Any) -> inspect.Parameter:
    """A parameter that typer makes an option of; without a value it is off, or None."""
    default = False if annotation.__origin__ is bool else None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def with_parameters(run: Command, parameters: list[inspect.Parameter]) -> Command:
    """The function with the parameters that typer is to see instead of its own."""
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in own}
    return run


class QueryCommand(TyperCommand):
    """A command that takes a query, whose words may begin with a dash: `search frost -5 degrees`.

    What begins with one dash and is no option is a word; with two it is an option or a mistake.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the words behind `--`, where a dash means nothing."""
        options: dict[str, Any] = {
            spelling: option
            for option in self.get_params(ctx)
            if option.param_type_name == "option"
            for spelling in option.opts
        }
        kept: list[str] = []
        words: list[str] = []
        rest = iter(args)
        for arg in rest:
            if arg == "--":
                words += rest
            elif arg in options:
                kept.append(arg)
                if not options[arg].is_flag:
                    value = next(rest, None)
                    if value is None:
                        # It would take the `--` for its value; alone it is told what it lacks.
                        return super().parse_args(ctx, kept)
                    kept.append(value)
            elif arg.startswith("--") or _ATTACHED.fullmatch(arg):
                kept.append(arg)
            else:
                words.append(arg)
        return super().parse_args(ctx, [*kept, "--", *words] if words else kept)


# `-n5`, and several short flags in one.
_ATTACHED = re.compile(r"-n\d+|-[qvh]{2,}")


# All that typer raises about a call; the class itself has had several homes.
_MISUSE: type[Exception] = typer.BadParameter.__bases__[0]


def run_app(app: typer.Typer) -> None:
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
        return f"{where}: {value}".removesuffix(".")
    if meant := getattr(error, "possibilities", None):
        # As it is said of commands, settings and documents.
        message = f"{error.message.removesuffix('.')}. Did you mean {' or '.join(meant)}?"
    return f"{message[:1].lower()}{message[1:]}".removesuffix(".")


def _number_wrong(message: str, kind: Any) -> str | None:
    """That the value is no number of the kind that is wanted, and which it may be."""
    # The kinds are called int, integer, int range and the like, as versions of typer go.
    numbers = {"int": "a whole number", "flo": "a number"}
    wanted = numbers.get(str(getattr(kind, "name", ""))[:3])
    value, negation, _ = message.rpartition(" is not ")
    if wanted is None or not negation:
        return None
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if least is not None and most is not None:
        wanted += f" from {least} to {most}"
    elif least is not None:
        wanted += f" of {least} or more"
    elif most is not None:
        wanted += f" of {most} or less"
    return f"{value} is not {wanted}"
