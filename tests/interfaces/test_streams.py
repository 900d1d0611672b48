"""Standard output and error: encodings, verbosity and the way a failure is told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli


@pytest.mark.parametrize(
    "environment",
    [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1251"}],
)
def test_any_locale_will_do(twolane: Cli, vault: Path, environment: dict[str, str]) -> None:
    """In every locale a vault with Cyrillic names is indexed, found and read."""
    cli = twolane.where(**environment)
    cli("index", vault)
    cli("search", "Листья и трава")
    cli("get", "garden/Компост.md")
    cli("status", "--files")
    answer = json.loads(cli("search", "Листья", "--json").stdout)
    assert answer["query"] == "Листья"
    assert answer["results"][0]["path"] == "garden/Компост.md"


def test_a_locale_that_cannot_read_the_names(twolane: Cli, vault: Path) -> None:
    """Where Python is made to take names for ASCII, the message says how to undo that."""
    crippled = twolane.where(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert "PYTHONUTF8=1" in crippled("index", vault, code=2).stderr


def test_utf8_is_written_as_it_is(indexed: Cli) -> None:
    """Where the terminal can show them, letters are letters."""
    assert "Листья и трава" in indexed("search", "Листья").stdout
    assert "Листья" in indexed("search", "Листья", "--json").stdout


def test_what_an_encoding_lacks_is_escaped(indexed: Cli) -> None:
    """Letters that the encoding lacks are written as escapes, not as a failure."""
    said = indexed("get", "garden/Компост.md", PYTHONIOENCODING="ascii").stdout
    assert "\\u041b\\u0438\\u0441\\u0442" in said


def test_bytes_that_are_no_text(indexed: Cli) -> None:
    """An argument that is not UTF-8 is a query like any other."""
    assert indexed.json("search", "tea \udcff")["results"]


def test_verbose_and_quiet(twolane: Cli, vault: Path) -> None:
    """Every command takes --db, -v and -q."""
    twolane("index", vault, "--db", twolane.home / "x.db", "-v")
    for words in (
        ("search", "tea"),
        ("get", "Green tea"),
        ("outline", "Green tea"),
        ("status",),
        ("doctor",),
        ("settings",),
        ("embed",),
    ):
        twolane(*words, "--db", twolane.home / "x.db", "--verbose")
        assert twolane(*words, "--db", twolane.home / "x.db", "--quiet").stderr == ""


def test_module_and_script_are_the_same(twolane: Cli) -> None:
    """The version is that of the package."""
    from twolane import __version__

    assert twolane("--version").stdout == f"twolane {__version__}\n"


def test_every_command_is_in_the_help(twolane: Cli) -> None:
    """Help lists the commands, and each has help of its own that names its options."""
    said = twolane("--help").stdout
    commands = ("index", "search", "get", "outline", "embed", "status", "doctor", "settings")
    for command in commands:
        assert f"  {command} " in said
        own = twolane(command, "--help").stdout
        for option in ("--db", "--quiet", "--verbose", "--json"):
            assert option in own


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_once(indexed: Cli) -> None:
    """Output that cannot be written is a failure with a message, and nothing else."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            indexed.arguments("search", "tea"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=indexed.environment,
            cwd=indexed.home,
            check=False,
            timeout=60,
        )
    assert done.stderr == b"error: No space left on device\n"
    assert done.returncode == 2
