"""Digests of what a kept result depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import twolane
from tests.unit.small_sets import QUERIES, small_set
from twolane.evaluation.indexes import (
    ANSWERING,
    OUTSIDE,
    analysis_code,
    golden_digest,
    ranking_code,
    sources_digest,
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A package of two modules and a package that does not count."""
    for path, text in {
        "one.py": "1",
        "two/three.py": "3",
        "two/schema.sql": "4",
        "aside/five.py": "5",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("path", ["one.py", "two/three.py", "two/schema.sql", "two/new.py"])
def test_a_change_of_code_shows(sources: Path, path: str) -> None:
    """A source file that is changed or added makes another digest."""
    before = sources_digest(sources, {"aside"})
    assert sources_digest(sources, {"aside"}) == before
    (sources / path).write_text("changed", "utf-8")
    assert sources_digest(sources, {"aside"}) != before


@pytest.mark.parametrize("path", ["aside/five.py", "notes.txt", "two/x.pyc"])
def test_other_files_do_not_count(sources: Path, path: str) -> None:
    """What is no source, or stands outside, changes nothing."""
    before = sources_digest(sources, {"aside"})
    (sources / path).write_text("changed", "utf-8")
    assert sources_digest(sources, {"aside"}) == before


def test_files_do_not_run_into_each_other(sources: Path) -> None:
    """Text that moves from the end of one file to the beginning of the next is a change."""
    (sources / "a.py").write_text("xy", "utf-8")
    (sources / "b.py").write_text("z", "utf-8")
    before = sources_digest(sources, ())
    (sources / "a.py").write_text("x", "utf-8")
    (sources / "b.py").write_text("yz", "utf-8")
    assert sources_digest(sources, ()) != before


def test_the_modules_left_out_exist() -> None:
    """Whatever is said not to count is a part of the package."""
    package = Path(twolane.__file__).parent
    for room in OUTSIDE | ANSWERING:
        assert (package / room).is_dir() or (package / f"{room}.py").is_file(), room
    assert ranking_code() != analysis_code()


def test_a_judgment_changes_the_golden_set(tmp_path: Path) -> None:
    """Two sets with one judgment between them have different digests."""
    _, golden = small_set(tmp_path)
    judged = replace(QUERIES[0], partial=("tea.md",))
    other = replace(golden, queries=(judged, *QUERIES[1:]))
    assert golden_digest(golden) == golden_digest(replace(golden))
    assert golden_digest(other) != golden_digest(golden)
