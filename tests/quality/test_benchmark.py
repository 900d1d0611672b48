"""The benchmark: frozen, and every judgment supported by the text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from twolane.evaluation.golden_formats import load_golden

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("script", ["frozen.py", "check_golden.py"])
def test_the_benchmark_is_sound(script: str) -> None:
    """Notes and judgments are as they were frozen, and each answer is quoted from its note."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_measurement_can_begin() -> None:
    """What the program calls its parts may change; no measurement is left with an old name."""
    names = sorted(path.stem for path in (BENCHMARKS / "measurements").glob("[!_]*.py"))
    program = "\n".join(f"import measurements.{name}" for name in names)
    # As `run.py` starts them.
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS.parent / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=BENCHMARKS,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["short", "long", "lexical", "typo"])
def test_halves_share_no_answer(name: str) -> None:
    """What is developed on never answers what is tested on."""
    dev, test = (
        {
            path
            for query in load_golden(BENCHMARKS / "golden" / f"{name}.{half}.json").queries
            for path in query.relevant
        }
        for half in ("dev", "test")
    )
    assert dev
    assert test
    assert not dev & test


def test_the_sizes_are_as_promised() -> None:
    """Notes and queries are as many as the benchmark's description says."""
    counts = {
        path.stem: len(load_golden(path).queries) for path in (BENCHMARKS / "golden").glob("*.json")
    }
    assert counts["short.dev"] + counts["short.test"] == 60
    assert counts["unanswerable.dev"] + counts["unanswerable.test"] == 30
    assert counts["long.dev"] + counts["long.test"] >= 16
    assert counts["lexical.dev"] + counts["lexical.test"] >= 40
    assert counts["typo.dev"] + counts["typo.test"] >= 40
    assert len(list((BENCHMARKS / "vaults" / "short").rglob("*.md"))) == 48
    assert len(list((BENCHMARKS / "vaults" / "long").rglob("*.md"))) == 6


@pytest.mark.parametrize(
    ("name", "notes", "foreign"),
    [("help-en", 72, {}), ("help-ru", 67, {"cross-base": 4, "cross-tricky": 4})],
)
def test_help_is_asked_in_two_ways(name: str, notes: int, foreign: dict[str, int]) -> None:
    """Each half of a set over help pages asks as much in the product's words as in other words."""
    for half in ("dev", "test"):
        queries = load_golden(BENCHMARKS / "golden" / f"{name}.{half}.json").queries
        assert Counter(query.category for query in queries) == {
            "base": 20,
            "tricky": 20,
            **foreign,
        }
    assert len(list((BENCHMARKS / "vaults" / name).rglob("*.md"))) == notes
