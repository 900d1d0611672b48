"""Tables in Markdown files, made from stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.run_builders import PERFECT, run_of
from twolane.evaluation.report import StoredRuns, markdown_table, refreshed
from twolane.evaluation.runs import save_run, store_run
from twolane.model.errors import BadInput


@pytest.fixture
def stored(tmp_path: Path) -> StoredRuns:
    """Two runs of one name, the later one better, and one of another mode."""
    poor = {**PERFECT, "q2": ("a.md",)}
    store_run(run_of(poor, created="2026-01-01T00:00:00+00:00"), tmp_path)
    store_run(run_of(created="2026-01-02T00:00:00+00:00"), tmp_path)
    store_run(run_of(poor, mode="lexical", name="plain|words"), tmp_path)
    return StoredRuns(tmp_path)


def between(marker: str, stored: StoredRuns) -> str:
    """What is written for a marker."""
    text = refreshed(f"<!-- {marker} -->\n<!-- /eval -->", stored, "x.md")
    return text.removeprefix(f"<!-- {marker} -->").removesuffix("<!-- /eval -->").strip()


def test_the_newest_run_of_a_name_is_shown(stored: StoredRuns) -> None:
    """A name without wildcards is one row: that of the newest run, with its file."""
    text = between("eval:set-hybrid measures=mrr", stored)
    assert text.split("\n")[:3] == [
        "| run | mode | queries | mrr | p50 ms | p95 ms |",
        "|---|--:|--:|--:|--:|--:|",
        "| set | hybrid | 3 | 1.000 \\[1.000, 1.000\\] | 4.0 | 6.0 |",
    ]
    assert "`set-hybrid-20260102-000000.json`" in text
    assert "commit abc1234" in text and "Linux x86\\_64" not in text


def test_wildcards_and_groups(stored: StoredRuns) -> None:
    """A pattern gives a row per run, `by` a column per group in the first measure."""
    text = between("eval:* by=direction measures=recall@1,mrr", stored)
    assert text.split("\n")[:4] == [
        "| recall@1 | mode | en→en | en→ru |",
        "|---|--:|--:|--:|",
        "| plain\\|words (set) | lexical | .500 | .000 |",
        "| set | hybrid | .500 | 1.000 |",
    ]


def test_only_what_is_between_markers_changes(stored: StoredRuns) -> None:
    """Everything else stays, line by line, and a second time changes nothing."""
    text = (
        "# Title\n\nBefore.\n<!-- eval:set-* -->\nold\n\nolder\n<!-- /eval -->\nAfter.\n\n"
        "```\n<!-- eval:nothing -->\n```\n\n~~~~\n```\n<!-- /eval -->\n~~~~\n"
    )
    once = refreshed(text, stored, "x.md")
    head, _, rest = once.partition("<!-- eval:set-* -->")
    _, _, tail = rest.partition("<!-- /eval -->")
    assert head == "# Title\n\nBefore.\n"
    assert tail == text.partition("<!-- /eval -->")[2]
    assert "old" not in once
    assert refreshed(once, stored, "x.md") == once
    assert refreshed("no markers\r\n", stored, "x.md") == "no markers\r\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!-- eval:set-hybrid -->\n", "line 1: the table has no end"),
        ("\n<!-- eval:a -->\n<!-- eval:b -->\n<!-- /eval -->", "line 2: the table has no end"),
        ("<!-- /eval -->", "line 1: <!-- /eval --> ends nothing"),
        ("<!-- eval:other -->\n<!-- /eval -->", "has no run 'other'; it has plain-words-lexical"),
        ("<!-- eval:set-* measures=x -->\n<!-- /eval -->", "line 1: no measure 'x'"),
        ("<!-- eval:set-* by=colour -->\n<!-- /eval -->", "line 1: the options are"),
        ("<!-- eval:set-* size=3 -->\n<!-- /eval -->", "line 1: the options are"),
    ],
)
def test_mistakes_are_told_with_their_line(stored: StoredRuns, text: str, words: str) -> None:
    """A marker that cannot be followed is bad input with file and line."""
    with pytest.raises(BadInput, match=r"^x\.md") as caught:
        refreshed(text, stored, "x.md")
    assert words in str(caught.value)


def test_runs_with_names_of_their_own(tmp_path: Path) -> None:
    """A run whose file was renamed is found by that name."""
    save_run(run_of(), tmp_path / "baseline.json")
    assert [name for name, _ in StoredRuns(tmp_path).newest("base*")] == ["baseline.json"]


def test_cells_hold_any_text() -> None:
    """Columns, markup and line ends in a cell are spelt so that they are none."""
    assert markdown_table(["a"], [["x|y\n<b>*_`"]]).split("\n")[2] == r"| x\|y &lt;b&gt;\*\_\` |"
