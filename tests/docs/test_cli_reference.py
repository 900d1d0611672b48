"""Every command and every option is documented, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from tests.docs.pages import REFERENCE, coded, read, section
from twolane.interfaces.cli.app import app_for

COMMON = {"--db", "--json", "--quiet", "-q", "--verbose", "-v", "--help", "-h"}


def commands(group: Any = None, words: str = "twolane") -> Iterator[tuple[str, Any]]:
    """Each command as it is typed, with what typer knows of it; those of groups, too."""
    group = group or typer.main.get_command(app_for())
    for name, command in group.commands.items():
        if command.hidden:
            continue
        typed = f"{words} {name}"
        if hasattr(command, "commands"):
            yield from commands(command, typed)
        else:
            yield typed, command


COMMANDS = dict(commands())


def options(command: Any) -> set[str]:
    """Every spelling of every option."""
    return {
        spelling
        for parameter in command.params
        if parameter.param_type_name == "option"
        for spelling in (*parameter.opts, *parameter.secondary_opts)
    }


@cache
def described(command: str) -> str:
    """The section about a command, in whichever page of the reference it stands."""
    for page in sorted(REFERENCE.glob("*.md")):
        if f"## `{command}`\n" in read(page):
            return section(read(page), f"## `{command}`")
    raise AssertionError(f"no page of {REFERENCE.name}/ has the heading ## `{command}`")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_described(command: str) -> None:
    """Each command has a section that says how it is called."""
    assert command in described(command).replace(f"## `{command}`", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described(command: str) -> None:
    """Each option of a command stands in its section, or among those of every command."""
    told = {word.split()[0] for word in coded(described(command)) if word.startswith("-")}
    assert options(COMMANDS[command]) - COMMON <= told


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_is_made_up(command: str) -> None:
    """An option in the table of a section is one that the command has."""
    listed = re.findall(r"^\| `(-[\w-]*)", described(command), re.MULTILINE)
    assert set(listed) <= options(COMMANDS[command]) | {"-h", "--help"}


def test_the_common_options_are_common() -> None:
    """The options that are described once are described, and every plain command has them."""
    text = section(read(REFERENCE / "cli.md"), "## Options of every command")
    told = {word.split()[0] for word in coded(text)}
    assert told >= COMMON
    for command in ("index", "search", "get", "outline", "embed", "status", "doctor", "settings"):
        assert options(COMMANDS[f"twolane {command}"]) | {"-h", "--help"} >= COMMON


def test_the_options_of_the_program_are_described() -> None:
    """What stands before a command is documented, too."""
    text = section(read(REFERENCE / "cli.md"), "## Options of `twolane` itself")
    assert options(typer.main.get_command(app_for())) <= set(coded(text))


def test_every_mode_is_described() -> None:
    """Each value of --mode has a row."""
    from twolane import Mode

    told = coded(described("twolane search"))
    assert {f"--mode {mode}" for mode in Mode} <= set(told)


def test_every_sort_is_described() -> None:
    """Each value of --sort has its place in a row."""
    from twolane.model.answer import Sort

    told = coded(described("twolane search"))
    assert {f"--sort {sort}" for sort in Sort} <= set(told)


def test_every_command_is_in_the_overview() -> None:
    """The page begins with a list of what there is."""
    overview = read(REFERENCE / "cli.md").partition("\n## ")[0]
    for command in COMMANDS:
        assert f"`{command.split()[1]}`" in overview, command
