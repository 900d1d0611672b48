"""`twolane eval xquad`: across languages, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.unit.test_xquad import written


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Made-up files of the shape that XQuAD has."""
    return written(tmp_path / "xquad")


def xquad(cli: Cli, *words: str | Path) -> Any:
    """What `eval xquad --json` says."""
    return json.loads(cli("eval", "xquad", "--json", *words).stdout)


def test_measures_all_directions(twolane: Cli, source: Path) -> None:
    """Every pair of languages has its recall; words alone find their own language."""
    said = xquad(twolane, source, "--mode", "lexical")
    assert (said["name"], said["mode"], said["queries"]) == ("xquad-en-ru", "lexical", 10)
    recall = {(row["from"], row["to"]): row["recall@10"] for row in said["recall"]}
    assert recall["en", "en"] == recall["ru", "ru"] == 1.0
    assert recall["en", "ru"] == recall["ru", "en"] == 0.0
    assert said["overall"]["ndcg@10"]["estimate"] < 1
    stored = json.loads((twolane.home / said["file"]).read_text("utf-8"))
    assert stored["format"] == "twolane-run/1"
    assert len(stored["asked"]) == 10


def test_shows_a_table_and_keeps_the_index(twolane: Cli, source: Path) -> None:
    """The table has each direction; the notes are indexed once for all modes and samples."""
    said = twolane("eval", "xquad", source, "--languages", "en, ru", "--every", "2").stdout
    for label in ("xquad-en-ru  hybrid  6 queries", "en→ru", "ru→en", "R@1", "R@10", "ndcg@10"):
        assert label in said
    cache = twolane.home / "cache" / "twolane" / "eval"
    (index,) = cache.glob("*.db")
    before = index.stat().st_ino
    xquad(twolane, source, "--mode", "semantic")
    assert [path.stat().st_ino for path in cache.glob("*.db")] == [before]


def test_figures_hold_no_text(twolane: Cli, source: Path) -> None:
    """The figures can be published: what was measured, with what, and no question or note."""
    file = twolane.home / "figures.json"
    said = xquad(twolane, source, "--mode", "lexical", "--figures", file)
    figures = json.loads(file.read_text("utf-8"))
    assert figures["format"] == "twolane-xquad/1"
    assert (figures["name"], figures["queries"]) == (said["name"], said["queries"])
    assert (figures["overall"], figures["recall"]) == (said["overall"], said["recall"])
    assert [row["language"] for row in figures["by_language"]] == ["en", "ru"]
    asked = json.loads((twolane.home / said["file"]).read_text("utf-8"))["golden"]["queries"]
    assert not any(query["query"] in file.read_text("utf-8") for query in asked)


def test_what_is_missing_is_named(twolane: Cli, source: Path) -> None:
    """A language without a file, and a folder without any, say so."""
    done = twolane("eval", "xquad", source, "--languages", "en,de", code=2)
    assert "no xquad.de.json" in done.stderr and "it has en, ru" in done.stderr
    assert "at all" in twolane("eval", "xquad", twolane.home, code=2).stderr
