"""Index the sample vault and show real searches: `make demo`.

Everything happens in a temporary folder that is removed afterwards.
Each command below is run by the real command line, and what it prints is shown as it is.
Exits with 1 if a command fails or a golden query does not find its note first.
"""

# ruff: noqa: INP001, S603 - this is a script, and the only program it runs is this Python.

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path

# What each query must find first; the path is relative to the vault.
GOLDEN: Mapping[str, str] = {
    "как учёные ищут планеты у других звёзд": "demo/search_astronomy.md",
    "ключевые слова теги": "demo/search_keywords.md",
}

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("A folder of notes in two languages becomes an index.", ("index", "notes")),
    ("A word.", ("search", "-n", "2", "telescope")),
    (
        "A phrase, to the letter: quotes inside the quotes of the shell.",
        ("search", '"start slower than you want to"'),
    ),
    (
        "A question by meaning: the answer is one section of a long note.",
        ("search", "-n", "1", "keeping the camera dry in the cold"),
    ),
    *(
        (f"A golden query: {path} must come first.", ("search", "-n", "1", query))
        for query, path in GOLDEN.items()
    ),
    (
        "Asked in English, answered by a note in Russian.",
        ("search", "-n", "1", "backup of photographs"),
    ),
    (
        "Asked in Russian, answered by a note in English.",
        ("search", "-n", "1", "как не упасть на льду"),
    ),
    (
        "Why is it there? Each line is something that speaks for it.",
        ("search", "-n", "2", "--explain", "running a race"),
    ),
    ("How complete is the index?", ("status",)),
)


def main() -> int:
    """Run every step; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is written as an escape, never as a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(prefix="twolane-demo-") as name:
        folder = Path(name).resolve()
        with as_file(files("twolane") / "sample_vault") as vault:
            shutil.copytree(vault, folder / "notes")
        environment = _environment(folder)
        for remark, words in STEPS:
            print(f"# {remark}\n$ twolane {shlex.join(words)}", flush=True)
            code = _twolane(words, folder, environment).returncode
            if code:
                print(f"demo: `twolane {words[0]}` exited with {code}", file=sys.stderr)
                return 1
            print(flush=True)
        misses = list(_misses(folder, environment))
    for miss in misses:
        print(f"demo: {miss}", file=sys.stderr)
    if misses:
        return 1
    executable = Path(sys.executable).with_name("twolane")
    print(f"To search your own notes: {_shown(executable)} index FOLDER")
    return 0


def _environment(folder: Path) -> dict[str, str]:
    """The environment without the user's settings, and with every file of ours in the folder."""
    (folder / "twolane.toml").touch()
    ours = {
        "TWOLANE_DB": str(folder / "twolane.db"),
        "TWOLANE_CACHE": str(folder / "cache"),
        "TWOLANE_CONFIG": str(folder / "twolane.toml"),
    }
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("TWOLANE_")}
    return {**theirs, **ours}


def _twolane(
    words: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str],
    queries: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command; its output is shown unless it is given queries to answer."""
    return subprocess.run(
        [sys.executable, "-m", "twolane", *words],
        cwd=folder,
        env=environment,
        input=queries,
        stdout=None if queries is None else subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )


def _misses(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the golden queries."""
    words = ("search", "-n", "1", "--batch", "-", "--json")
    said = _twolane(words, folder, environment, queries="\n".join(GOLDEN)).stdout
    answers = {answer["query"]: answer for answer in map(json.loads, said.splitlines())}
    for query, path in GOLDEN.items():
        found = [result["path"] for result in answers.get(query, {}).get("results", ())]
        if found != [path]:
            instead = found[0] if found else "nothing"
            yield f"{query!r} should find {path} first, and found {instead}"


def _shown(executable: Path) -> str:
    """The command as it can be typed here."""
    if shutil.which("twolane") or not executable.exists():
        return "twolane"
    try:
        return str(executable.relative_to(Path.cwd()))
    except ValueError:
        return str(executable)


if __name__ == "__main__":
    sys.exit(main())
