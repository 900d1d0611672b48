"""Commands of `twolane`, each in a process of its own that need not import everything first.

A server that has imported the modules forks for each command, so that hundreds of them take
minutes and not an hour, and a process that is killed dies at its work and not while it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "numpy",
        "typer",
        "apsw",
        "twolane.library",
        "twolane.interfaces.cli.app",
        "twolane.ingest.indexing",
    ]
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was started, and the files that it writes its output to."""

    process: BaseProcess
    out: Path
    err: Path

    @property
    def code(self) -> int:
        """The exit code, once it has ended."""
        self.process.join()
        return int(self.process.exitcode or 0)

    @property
    def said(self) -> str:
        """What it has written to standard output so far."""
        return self.out.read_text("utf-8", "replace") if self.out.exists() else ""

    @property
    def complained(self) -> str:
        """What it has written to standard error so far."""
        return self.err.read_text("utf-8", "replace") if self.err.exists() else ""


def start(words: Sequence[str | Path], variables: Mapping[str, str], folder: Path) -> Command:
    """Start `twolane WORDS`; `folder` is where its output goes."""
    out, err = folder / "stdout", folder / "stderr"
    for file in (out, err):
        file.unlink(missing_ok=True)
    process = _FORKS.Process(target=_run, args=([*map(str, words)], dict(variables), out, err))
    process.start()
    return Command(process, out, err)


def run(words: Sequence[str | Path], variables: Mapping[str, str], folder: Path) -> Command:
    """Run `twolane WORDS` to its end."""
    command = start(words, variables, folder)
    command.process.join()
    return command


def _run(words: list[str], variables: dict[str, str], out: Path, err: Path) -> None:
    from twolane.interfaces.cli import main

    for number, file in ((1, out), (2, err)):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(variables)
    # Whoever kills it must not kill us.
    os.setsid()
    sys.argv = ["twolane", *words]
    main()
