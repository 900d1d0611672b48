"""The page about search across languages is made from stored figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "xquad_page.py"


def test_the_page_says_what_the_figures_say() -> None:
    """Nobody changed a figure on the page by hand, and no figure is missing."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_figures_are_of_all_questions() -> None:
    """Stored figures are of whole sets: every question in every language, hardly any left out."""
    found = [json.loads(file.read_text()) for file in ROOT.glob("benchmarks/results/xquad-*.json")]
    assert found
    for figures in found:
        languages = figures["name"].removeprefix("xquad-").split("-")
        assert figures["queries"] >= 0.98 * 1190 * len(languages)
