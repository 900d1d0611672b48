"""`twolane ui`, in a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyte
import pytest

from tests.interfaces.conftest import Cli
from twolane.interfaces.cli.ui import edited, stepped
from twolane.model.answer import Mode

DOWN, UP = b"\x1bOB", b"\x1bOA"


@dataclass
class Terminal:
    """A program in a terminal: what is on the screen, and a keyboard."""

    side: int
    process: subprocess.Popen[bytes]
    screen: pyte.Screen
    stream: pyte.ByteStream = field(init=False)

    def __post_init__(self) -> None:
        self.stream = pyte.ByteStream(self.screen)

    def types(self, keys: bytes | str) -> None:
        """Press keys."""
        os.write(self.side, keys.encode() if isinstance(keys, str) else keys)

    def shows(self, text: str, seconds: float = 30) -> bool:
        """Whether a text comes to be on the screen."""
        deadline = time.monotonic() + seconds
        while text not in "\n".join(self.screen.display):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.side], [], [], left)[0]:
                return False
            try:
                self.stream.feed(os.read(self.side, 65536))
            except OSError:
                return False
        return True

    def ends(self) -> int:
        """The exit code of the program; what it still says is read meanwhile."""
        self.shows("\0")
        return self.process.wait(20)


@contextmanager
def terminal(cli: Cli, *words: str, columns: int = 80, **environment: str) -> Iterator[Terminal]:
    """`twolane` with these words in a terminal, until the block ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        cli.arguments(*words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**cli.environment, "TERM": "xterm", **environment},
        cwd=cli.home,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(ours, process, pyte.Screen(columns, 24))
        finally:
            if process.poll() is None:
                process.kill()
            os.close(ours)


def test_results_follow_what_is_typed(indexed: Cli) -> None:
    """Words are answered while they are typed, in any script; keys delete; Esc ends with 0."""
    with terminal(indexed, "ui", "--mode", "lexical") as shown:
        assert shown.shows("lexical >")
        shown.types("green")
        assert shown.shows("> Green tea")
        assert shown.shows("kitchen/green tea.md:")
        shown.types("\x15черви")
        assert shown.shows("> Компостная куча")
        shown.types("zzqq")
        assert shown.shows("0 results")
        shown.types(b"\x7f\x7f\x7f\x7f")
        assert shown.shows("> Компостная куча")
        shown.types("\t")
        assert shown.shows("semantic >")
        shown.types(b"\x1b")
        assert shown.ends() == 0


def test_enter_opens_the_chosen_result(indexed: Cli, tmp_path: Path) -> None:
    """Arrows choose, Enter opens in the editor at the line, and the screen comes back."""
    called = tmp_path / "called"
    program = tmp_path / "vim"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{called}"\n', "utf-8")
    program.chmod(0o755)
    second = indexed.json("search", "tag:garden")["results"][1]
    with terminal(indexed, "ui", "tag:garden", EDITOR=str(program)) as shown:
        assert shown.shows("2 results")
        shown.types(DOWN)
        assert shown.shows(f"> {second['title']}")
        shown.types(UP + DOWN + DOWN + b"\r")
        # A path may be longer than the terminal is wide.
        assert shown.shows("opened /")
        assert shown.shows(f"> {second['title']}")
        shown.types(b"\x1b")
        assert shown.ends() == 0
    line, file = called.read_text("utf-8").splitlines()
    assert file.endswith(second["path"])
    assert line == f"+{second['lines'][0] if second['lines'] else 1}"


def test_failures_stay_on_the_screen(indexed: Cli) -> None:
    """What cannot be opened is said, the program goes on, and an interrupt ends it with 0."""
    with terminal(indexed, "ui", "tea", columns=60, EDITOR="") as shown:
        assert shown.shows("> Green tea")
        shown.types("\r")
        assert shown.shows("no editor is known")
        shown.types(b"\x15compost")
        assert shown.shows("> compost")
        shown.process.send_signal(signal.SIGINT)
        assert shown.ends() == 0


def test_without_a_terminal_it_is_refused(indexed: Cli, twolane: Cli) -> None:
    """A pipe is told what to use instead; without a database the screen is not even begun."""
    assert "twolane search" in indexed("ui", code=2).stderr
    assert "twolane index FOLDER" in twolane.on_terminal("ui", code=3)


@pytest.mark.parametrize(
    ("text", "key", "wanted"),
    [
        ("te", "a", "tea"),
        ("чай", "\x7f", "ча"),
        ("green tea", "\x17", "green "),
        ("green", "\x17", ""),
        ("green tea ", "\x17", "green "),
        ("green tea", "\x15", ""),
        ("tea", "\x01", "tea"),
        ("", "\x7f", ""),
    ],
)
def test_keys_edit_the_line(text: str, key: str, wanted: str) -> None:
    """Letters are added, Backspace, Ctrl-W and Ctrl-U delete, other keys do nothing."""
    assert edited(text, key) == wanted


def test_every_mode_comes_up() -> None:
    """Stepping through the modes meets each one and comes back."""
    mode, met = Mode.HYBRID, []
    for _ in Mode:
        met.append(mode)
        mode = stepped(mode)
    assert met == list(Mode) and mode == Mode.HYBRID
