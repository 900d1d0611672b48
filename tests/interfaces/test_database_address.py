"""An address on the command line is never the name of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli


@pytest.mark.parametrize("command", [("search", "tea"), ("index", "."), ("status",)])
def test_an_unknown_scheme_is_bad_usage(twolane: Cli, command: tuple[str, ...]) -> None:
    """The exit code is that of a bad setting, and nothing is created, not even a folder."""
    before = sorted(twolane.home.iterdir())
    for done in (
        twolane(*command, "--db", "mysql://ann:secret@host/notes", code=2),
        twolane(*command, code=2, TWOLANE_DB="mysql://ann:secret@host/notes"),
    ):
        assert "mysql://" in done.stderr and "postgresql://" in done.stderr
        assert "secret" not in done.stderr + done.stdout
    assert sorted(twolane.home.iterdir()) == before


def test_settings_show_no_password(twolane: Cli) -> None:
    """An address is shown without it, for people and for programs."""
    url = "postgresql://ann:secret@host/notes"
    for done in (twolane("settings", "--db", url), twolane("settings", "--json", "--db", url)):
        assert "postgresql://ann:***@host/notes" in done.stdout
        assert "secret" not in done.stdout


def test_a_file_is_still_a_file(twolane: Cli, tmp_path: Path) -> None:
    """A name that only looks a little like an address is one of a file."""
    done = twolane("status", "--db", tmp_path / "a:b.db", code=3)
    assert "a:b.db" in done.stderr
