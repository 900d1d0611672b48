"""Completion in shells: the scripts, and what the program answers them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli


def answered(cli: Cli, line: str) -> list[str]:
    """What bash is offered for the last word of a line."""
    words = line.split(" ")
    said = cli(
        _TWOLANE_COMPLETE="complete_bash",
        COMP_WORDS="\n".join(words),
        COMP_CWORD=str(len(words) - 1),
    )
    return said.stdout.split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("twolane sea", ["search"]),
        ("twolane token ", ["add", "list", "revoke"]),
        ("twolane search --exp", ["--explain"]),
        ("twolane search --mode le", ["lexical"]),
        ("twolane search --tag gar", ["garden"]),
        ("twolane search --not-tag оС", []),
        ("twolane search --any-tag ос", ["осень"]),
        ("twolane search --collection М", ["Мои", "notes"]),
        ("twolane search --lang r", ["ru"]),
        ("twolane completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_what_is_offered(indexed: Cli, line: str, wanted: list[str]) -> None:
    """Commands, options, choices, and the names that the library holds."""
    assert answered(indexed, line) == wanted


def test_no_library_is_no_trouble(twolane: Cli) -> None:
    """Without a database nothing is offered and nothing is said."""
    assert answered(twolane, "twolane search --tag ga") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid(twolane: Cli, shell: str) -> None:
    """Each script is for its shell and, where the shell is there, read by it without complaint."""
    script = twolane("completion", shell).stdout
    assert f"_TWOLANE_COMPLETE=complete_{shell}" in script
    if program := shutil.which(shell):
        done = subprocess.run(
            [program, "-n"], input=script.encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes(indexed: Cli, tmp_path: Path) -> None:
    """In a real bash the script fills in a command and a tag."""
    program = tmp_path / "twolane"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m twolane "$@"\n', "utf-8")
    program.chmod(0o755)
    typed = """
        eval "$(twolane completion bash)"
        COMP_WORDS=(twolane outl); COMP_CWORD=1; _twolane_completion twolane; echo "${COMPREPLY[@]}"
        COMP_WORDS=(twolane search --tag gar); COMP_CWORD=3; _twolane_completion twolane
        echo "${COMPREPLY[@]}"; complete -p twolane
    """
    environment = {**indexed.environment, "PATH": f"{tmp_path}:{indexed.environment['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", typed],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[:2] == ["outline", "garden"]
    assert "-F _twolane_completion twolane" in done.stdout


def test_an_unknown_shell_is_refused(twolane: Cli) -> None:
    """The message names the shells that there are."""
    assert "fish" in twolane("completion", "tcsh", code=2).stderr
