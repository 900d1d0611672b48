"""`twolane eval golden`: sets made from notes, added to, and checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import COMPOST, TEA, TOMATOES, write_golden


def queries(path: Path) -> list[dict[str, Any]]:
    """The queries in a file."""
    found = json.loads(path.read_text("utf-8"))["queries"]
    assert isinstance(found, list)
    return found


def test_build_makes_a_set_that_runs(indexed: Cli, tmp_path: Path) -> None:
    """A set made from the vault is sound, knows its vault and can be asked at once."""
    out = tmp_path / "mine.json"
    said = indexed("eval", "golden", "build", out, "--count", "8").stdout
    assert "queries (" in said
    assert {query["category"] for query in queries(out)} >= {"title", "phrase"}
    indexed("eval", "golden", "check", out)
    indexed("eval", "golden", "check", out, "--db", indexed.db)
    done = indexed("eval", "run", out, "--runs", tmp_path / "r", "--json")
    assert json.loads(done.stdout)["runs"][0]["overall"]["recall@10"]["estimate"] > 0.8


def test_build_never_shows_what_is_excluded(indexed: Cli, tmp_path: Path) -> None:
    """Notes under `_` give no query and are no answer."""
    out = tmp_path / "mine.json"
    indexed("eval", "golden", "build", out)
    assert "_templates" not in out.read_text("utf-8")
    assert "A template" not in out.read_text("utf-8")


def test_build_splits_by_note_and_replaces_nothing(indexed: Cli, tmp_path: Path) -> None:
    """Two files share no note; files that exist stay unless --force is given."""
    out = tmp_path / "mine.json"
    words = ("eval", "golden", "build", out, "--split", "dev,test")
    indexed(*words)
    dev, test = (queries(tmp_path / f"mine.{part}.json") for part in ("dev", "test"))
    assert not out.exists()
    sought = [{path for one in part for path in one["relevant"]} for part in (dev, test)]
    assert sought[0] and sought[1] and not sought[0] & sought[1]
    assert "--force" in indexed(*words, code=2).stderr
    indexed(*words, "--force", "--seed", "3")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kinds", "poem"), "no kind 'poem'"),
        (("--kinds", ","), "no kind of query is named"),
        (("--hide-words", "all"), "none, own, stems"),
        (("--split", "dev,dev"), "two parts of the split have one name"),
        (("--kinds", "title", "--hide-words", "own"), "too few"),
    ],
)
def test_build_says_what_it_cannot_do(
    indexed: Cli, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """Options that make no sense are refused with 2 and write nothing."""
    out = tmp_path / "mine.json"
    assert said in indexed("eval", "golden", "build", out, *words, code=2).stderr
    assert not list(tmp_path.glob("*.json"))


def test_add_makes_the_file_and_appends(indexed: Cli, tmp_path: Path) -> None:
    """Documents are named by path or title, queries are numbered, and the set can be asked."""
    out = tmp_path / "mine.json"
    add = ("eval", "golden", "add", out)
    indexed(*add, "when do I prune", "--relevant", "Pruning tomatoes", "--lang", "en")
    indexed(
        *add, "куда листья", "--relevant", COMPOST, "--partial", "garden/Tomatoes.md",
        "--direction", "ru→ru", "--category", "осень",
    )  # fmt: skip
    indexed(*add, "who killed the quagga", "--unanswerable")
    first, second, third = queries(out)
    assert [one["id"] for one in (first, second, third)] == ["mine-001", "mine-002", "mine-003"]
    assert first["relevant"] == [TOMATOES] and first["verified"] is True
    assert (second["partial"], second["category"]) == ([TOMATOES], "осень")
    assert third["unanswerable"] is True
    indexed("eval", "golden", "check", out)


def test_add_refuses_what_makes_no_sense(indexed: Cli, tmp_path: Path) -> None:
    """A repeated query, an unknown document, a contradiction and a foreign file change nothing."""
    out = tmp_path / "mine.json"
    add = ("eval", "golden", "add", out)
    indexed(*add, "green tea", "--relevant", TEA)
    before = out.read_bytes()
    assert "asks the same" in indexed(*add, "Green  TEA", "--relevant", TEA, code=2).stderr
    assert "no document" in indexed(*add, "x", "--relevant", "gone.md", code=2).stderr
    assert "no relevant document" in indexed(*add, "x", code=2).stderr
    assert "unanswerable, yet" in indexed(
        *add, "x", "--relevant", TEA, "--unanswerable", code=2
    ).stderr  # fmt: skip
    assert "both relevant" in indexed(
        *add, "x", "--relevant", TEA, "--partial", TEA, code=2
    ).stderr  # fmt: skip
    assert out.read_bytes() == before
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"queries": [{"query": "tea", "expected_urls": ["/tea"]}]}', "utf-8")
    (tmp_path / "topics.tsv").write_text("1\ttea\n", "utf-8")
    judgments = tmp_path / "qrels.txt"
    judgments.write_text("1 0 tea.md 1\n", "utf-8")
    for file in (foreign, judgments):
        said = indexed("eval", "golden", "add", file, "x", "--relevant", TEA, code=2).stderr
        assert "start a new file" in said


def test_check_against_a_folder(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """`--vault` checks that the notes exist in a folder, without any database."""
    golden = write_golden(tmp_path / "notes.json")
    said = twolane("eval", "golden", "check", golden)
    assert "was not checked" in said.stderr
    twolane("eval", "golden", "check", golden, "--vault", vault)
    (vault / "kitchen" / "green tea.md").rename(vault / "kitchen" / "tea.md")
    said = twolane("eval", "golden", "check", golden, "--vault", vault, code=2)
    assert f"no document '{TEA}'" in said.stderr
    both = ("--vault", vault, "--db", twolane.db)
    assert "not both" in twolane("eval", "golden", "check", golden, *both, code=2).stderr
    assert not twolane.db.exists()


def test_opened_results_become_candidates(indexed: Cli, tmp_path: Path) -> None:
    """What `search --open` opened is a query of the set, and can be forgotten."""
    out = tmp_path / "log.json"
    assert "feedback.enabled" in indexed("eval", "golden", "from-log", out, code=2).stderr
    on = {"TWOLANE_FEEDBACK_ENABLED": "true", "EDITOR": "true"}
    indexed("search", "tomatoes", "--open", **on)
    indexed("eval", "golden", "from-log", out, **on)
    (query,) = queries(out)
    assert (query["query"], query["category"]) == ("tomatoes", "log")
    assert query["relevant"] and not query.get("verified")
    indexed("eval", "run", out, "--runs", tmp_path / "r")
    assert "1 note" in indexed("eval", "golden", "forget-log").stdout
    told = indexed("eval", "golden", "forget-log", "--everybody", "--json").stdout
    assert json.loads(told) == {"forgotten": 0}
