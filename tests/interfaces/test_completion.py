"""Completion in shells: the scripts, and what the program answers them."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
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


def test_nothing_is_said_while_somebody_types(indexed: Cli) -> None:
    """A setting by its old name is told by commands, not in the middle of a line."""
    old = indexed.where(TWOLANE_LIMIT="5")  # an old name
    said = old(
        _TWOLANE_COMPLETE="complete_bash", COMP_WORDS="twolane\nsearch\n--tag\ngar", COMP_CWORD="3"
    )
    assert (said.stdout.split(), said.stderr) == (["garden"], "")


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


# What is typed into a real shell, and what stands there after the Tab.
TYPED = [
    ("twolane outl", "twolane outline"),
    ("twolane search --tag gar", "twolane search --tag garden"),
    ("twolane search --any-tag ос", "twolane search --any-tag осень"),
    ("twolane get not", "twolane get notes.txt"),
]


@pytest.fixture
def terminal(indexed: Cli, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which `twolane` is a command."""
    program = tmp_path / "twolane"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m twolane "$@"\n', "utf-8")
    program.chmod(0o755)
    (indexed.home / "notes.txt").touch()
    path = f"{tmp_path}:{indexed.environment['PATH']}"
    return {**indexed.environment, "PATH": path, "HOME": str(indexed.home), "TERM": "dumb"}


@pytest.mark.parametrize(
    ("shell", "beginning"),
    [
        (["bash", "--norc", "-i"], 'eval "$(twolane completion bash)"'),
        (
            ["zsh", "-f", "-i"],
            "autoload -Uz compinit; compinit -u -D; source <(twolane completion zsh)",
        ),
    ],
    ids=["bash", "zsh"],
)
def test_real_shells_complete(
    indexed: Cli, terminal: dict[str, str], shell: list[str], beginning: str
) -> None:
    """Typed into a real shell, a Tab completes commands, tags in any script, and files.

    bash is everywhere; zsh is asked where it is installed, as `make test` sees to.
    """
    if shell[0] == "zsh" and not shutil.which("zsh"):
        return
    master, slave = pty.openpty()
    running = subprocess.Popen(
        shell,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=terminal,
        cwd=indexed.home,
        start_new_session=True,
    )
    os.close(slave)
    try:
        # The dollar sign keeps the echo of what is typed from being taken for what is answered.
        os.write(master, f"{beginning}; echo READY$((1))\n".encode())
        _read_until(master, "READY1")
        for typed, completed in TYPED:
            os.write(master, f"{typed}\t".encode())
            _read_until(master, completed.removeprefix(typed))
            # What was typed is dropped: Ctrl-U, then a line of its own.
            os.write(master, b"\x15\necho READY$((1))\n")
            _read_until(master, "READY1")
    finally:
        running.kill()
        running.wait(30)
        os.close(master)


def test_fish_completes(indexed: Cli, terminal: dict[str, str]) -> None:
    """fish tells what it would offer; it is asked where it is installed."""
    if not shutil.which("fish"):
        return
    asked = "".join(f"complete -C '{typed}'; echo; " for typed, _ in TYPED)
    done = subprocess.run(
        ["fish", "-c", f"twolane completion fish | source; {asked}"],
        env=terminal,
        cwd=indexed.home,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    offered = [line.split("\t")[0] for line in done.stdout.splitlines() if line]
    assert offered == [completed.split()[-1] for _, completed in TYPED]


def _read_until(terminal: int, wanted: str, patience: float = 30) -> None:
    """Read what a shell shows until it has shown what is wanted."""
    end, seen = time.monotonic() + patience, b""
    while wanted.encode() not in _plain(seen):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, seen.decode("utf-8", "replace")
        seen += os.read(terminal, 4096)


def _plain(shown: bytes) -> bytes:
    """What is seen of what a terminal is sent: no colours, and no steps back over spaces."""
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x07", b"", shown)


def test_an_unknown_shell_is_refused(twolane: Cli) -> None:
    """The message names the shells that there are."""
    assert "fish" in twolane("completion", "tcsh", code=2).stderr
