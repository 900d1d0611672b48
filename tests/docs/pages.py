"""Ways to read the documents."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"

# Notes are not documents: their links are wiki-links, and some lead nowhere on purpose.
_NOTES = (ROOT / "src" / "twolane" / "sample_vault", ROOT / "benchmarks" / "vaults")
_PASSED_OVER = {"build", "dist", "node_modules", "__pycache__"}


def tracked_files() -> Iterator[Path]:
    """Every file of the project, without what tools leave behind."""
    waiting = [ROOT]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            hidden = path.name.startswith(".") and path.name not in (".ci", ".gitignore")
            if hidden or path.name in _PASSED_OVER or path.name.endswith(".egg-info"):
                continue
            if path.is_dir():
                waiting.append(path)
            elif not path.name.endswith((".db", ".db-wal", ".db-shm")):
                yield path


def documents() -> list[Path]:
    """Every document in Markdown."""
    return [
        path
        for path in tracked_files()
        if path.suffix == ".md" and not any(path.is_relative_to(notes) for notes in _NOTES)
    ]


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text("utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, down to the next one that is not below it."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(
        rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"there is no heading {heading!r}"
    return found[1]


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def rows(text: str) -> list[list[str]]:
    """The rows of all tables, without their heads, each as its cells."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    found = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"[|:-]+", line) or re.fullmatch(r"[|:-]+", following):
            continue
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        found.append([cell.strip().replace("\\|", "|") for cell in cells])
    return found


def coded(text: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def out_of_date(script: str) -> str:
    """What a script of `benchmarks` says against the page that it makes; nothing if it is right."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stderr or f"exit code {done.returncode}"
