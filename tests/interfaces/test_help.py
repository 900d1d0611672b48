"""`twolane --help`."""

from __future__ import annotations

import re

from tests.interfaces.conftest import Cli
from twolane.interfaces.cli.app import SECTIONS


def test_commands_are_shown_by_what_they_are_for(twolane: Cli) -> None:
    """Every command stands in its section, and the sections come in their order."""
    said = twolane("--help").stdout
    shown = re.findall(r"^(\w+):$|^  ([a-z]+) ", said.partition("Search:")[2], re.MULTILINE)
    assert [title for title, _ in shown if title] == list(SECTIONS)[1:]
    names = [name for commands in SECTIONS.values() for name in commands]
    assert [name for _, name in shown if name] == names


def test_a_slip_in_a_command_is_answered_with_what_was_meant(twolane: Cli) -> None:
    """Commands and settings that are spelled wrong name the nearest."""
    assert "Did you mean 'search'" in twolane("serch", "x", code=2).stderr
    said = twolane("status", code=2, TWOLANE_SERCH_LIMIT="3").stderr
    assert "did you mean TWOLANE_SEARCH_LIMIT?" in said


def test_every_line_of_help_fits(twolane: Cli) -> None:
    """No command's description is cut off, at the top or in a group."""
    groups = ("import", "collection", "tag", "generation", "db", "token", "eval", "eval golden")
    for words in ("", *groups):
        said = twolane(*words.split(), "--help", COLUMNS="80").stdout
        assert "..." not in said.partition("Options:")[2], words
