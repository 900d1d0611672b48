"""`twolane --help`."""

from __future__ import annotations

from tests.interfaces.conftest import Cli
from twolane.interfaces.cli.app import _COMMANDS, _GROUPS, _SECTIONS


def test_commands_are_shown_by_what_they_are_for(twolane: Cli) -> None:
    """Every command stands in one section, and the sections come in their order."""
    said = twolane("--help").stdout
    titles = [f"{title}:" for title in _SECTIONS]
    assert [line for line in said.splitlines() if line in titles] == titles
    named = [name for names in _SECTIONS.values() for name in names]
    assert sorted(named) == sorted([*_COMMANDS, *_GROUPS])
    for name in named:
        assert f"\n  {name} " in said
    assert "Other:" not in said


def test_a_slip_in_a_command_is_answered_with_what_was_meant(twolane: Cli) -> None:
    """Commands and settings that are spelled wrong name the nearest."""
    assert "Did you mean 'search'" in twolane("serch", "x", code=2).stderr
    said = twolane("status", code=2, TWOLANE_SERCH_LIMIT="3").stderr
    assert "did you mean TWOLANE_SEARCH_LIMIT?" in said
