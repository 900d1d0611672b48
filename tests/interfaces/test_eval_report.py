"""`twolane eval report` and `twolane eval tables`: stored runs for people to read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import write_golden


@pytest.fixture(scope="module")
def stored(indexed: Cli, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run of each of two modes, in one folder."""
    folder = tmp_path_factory.mktemp("stored")
    golden = write_golden(folder / "notes.json")
    words = ("--mode", "lexical", "--mode", "hybrid", "--db", indexed.db, "--runs", folder / "r")
    found = json.loads(indexed("eval", "run", golden, *words, "--json").stdout)["runs"]
    return [Path(one["file"]) for one in found]


def test_one_file_with_everything(indexed: Cli, stored: list[Path], tmp_path: Path) -> None:
    """The report is written as HTML and as Markdown with the same figures."""
    html, markdown = tmp_path / "r.html", tmp_path / "r.md"
    said = indexed("eval", "report", *stored, "-o", html, "--markdown", markdown).stdout
    assert f"written: {html}" in said
    page, text = html.read_text("utf-8"), markdown.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and page.count("<table") >= 4
    assert "| lexical |" in text and "By direction:" in text
    figure = text.split("| lexical |")[1].split("|")[2].split()[0]
    assert figure in page


def test_a_report_must_go_somewhere(indexed: Cli, stored: list[Path], tmp_path: Path) -> None:
    """Without a target, or with one that cannot be written, the exit code is 2."""
    assert "-o report.html" in indexed("eval", "report", stored[0], code=2).stderr
    (tmp_path / "no").write_text("a file, no folder")
    nowhere = tmp_path / "no" / "r.html"
    assert "cannot be written" in indexed("eval", "report", stored[0], "-o", nowhere, code=2).stderr


def test_tables_are_filled_in(indexed: Cli, stored: list[Path], tmp_path: Path) -> None:
    """Tables between markers come from the runs; a second time changes nothing; --check tells."""
    readme = tmp_path / "README.md"
    readme.write_text("# Mine\n\n<!-- eval:notes-* -->\nold\n<!-- /eval -->\n\nEnd.\n", "utf-8")
    words = ("eval", "tables", readme, "--runs", stored[0].parent)
    assert "outdated" in indexed(*words, "--check", code=1).stdout
    assert "old" in readme.read_text("utf-8")
    assert "changed" in indexed(*words).stdout
    first = readme.read_text("utf-8")
    assert first.count("| notes |") == 2 and "old" not in first and first.endswith("\nEnd.\n")
    assert "up to date" in indexed(*words).stdout
    indexed(*words, "--check")
    assert readme.read_text("utf-8") == first


def test_tables_that_cannot_be_made(indexed: Cli, stored: list[Path], tmp_path: Path) -> None:
    """An unknown run is refused with 2, names those there are, and changes no file at all."""
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("<!-- eval:notes-hybrid -->\n<!-- /eval -->\n", "utf-8")
    bad.write_text("<!-- eval:other -->\n<!-- /eval -->\n", "utf-8")
    runs = ("--runs", stored[0].parent)
    said = indexed("eval", "tables", good, bad, *runs, code=2).stderr
    assert "bad.md, line 1" in said and "notes-hybrid, notes-lexical" in said
    assert "|" not in good.read_text("utf-8")
    assert "no folder" in indexed("eval", "tables", good, "--runs", "gone", code=2).stderr
