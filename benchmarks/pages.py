"""Pages that are made from stored results: writing one, checking one, and its tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def written_or_checked(page: Path, made: str, script: str, arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` say whether it is what was made; the exit code."""
    if "--check" in arguments:
        same = page.is_file() and page.read_text("utf-8") == made
        if not same:
            print(f"the page is out of date; run `python {script}`", file=sys.stderr)
        return 0 if same else 1
    page.write_text(made, "utf-8")
    return 0


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def share(value: float) -> str:
    """A share as papers write it: `.853`, `1.000`."""
    return f"{value:.3f}".removeprefix("0")


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("<", "\\<")
