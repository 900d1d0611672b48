"""`twolane eval run`: golden sets in, figures and stored runs out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import QUERIES, TEA, UNANSWERABLE, write_golden
from twolane.settings import Settings


def run(cli: Cli, *words: str | Path, **environment: str) -> dict[str, Any]:
    """What `eval run --json` says."""
    said = json.loads(cli("eval", "run", *words, "--json", **environment).stdout)
    assert isinstance(said, dict)
    return said


def test_asks_the_database_and_stores_the_run(indexed: Cli, tmp_path: Path) -> None:
    """With --db the library is asked; the file holds rankings with what features gave."""
    golden = write_golden(tmp_path / "notes.json")
    said = run(indexed, golden, "--db", indexed.db, "--runs", tmp_path / "runs")
    (one,) = said["runs"]
    assert (one["golden"], one["mode"], one["queries"]) == ("notes", "hybrid", 3)
    assert one["overall"]["count"] == 3
    assert one["overall"]["mrr"]["estimate"] == 1.0
    assert 0 < one["ms"]["p50"] <= one["ms"]["p95"]
    assert [row["label"] for row in one["by_direction"]] == ["en→en", "ru→ru"]
    assert [row["count"] for row in one["by_category"]] == [2, 1]
    assert (one["degraded"], one["unanswerable"]) == ([], None)
    stored = json.loads(Path(one["file"]).read_text("utf-8"))
    assert stored["format"] == "twolane-run/1"
    assert stored["settings"]["embedding.embedder"] == "hashing"
    assert stored["space"] and stored["corpus"] and stored["machine"]["python"]
    (first, *_) = stored["asked"][2]["ranking"]
    assert first["path"] == TEA
    assert set(first["shares"]) >= {"bm25f", "passage"}
    assert all(isinstance(share, float) for share in first["shares"].values())
    assert 0 < first["relevance"] < 1
    # The names of folders on this machine are nobody's business.
    assert str(indexed.home) not in json.dumps(stored)


def test_without_a_database_the_vault_is_indexed(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """A set that names its vault is asked in an index of its own, kept in the cache and reused."""
    golden = write_golden(tmp_path / "notes.json", vault=vault.name)
    said = run(twolane, golden)
    assert said["runs"][0]["overall"]["recall@10"]["estimate"] == 1.0
    (kept,) = (twolane.home / "cache" / "twolane" / "eval").glob("*.db")
    assert not twolane.db.exists()
    again = run(twolane, golden)
    assert again["runs"][0]["overall"] == said["runs"][0]["overall"]
    assert list(kept.parent.glob("*.db")) == [kept]
    assert len(list((twolane.home / "eval-runs").glob("*.json"))) == 2


def test_runs_are_never_overwritten(indexed: Cli, tmp_path: Path) -> None:
    """Runs within one second get files of their own, named by name, mode and time."""
    golden = write_golden(tmp_path / "notes.json")
    words = (golden, "--db", indexed.db, "--runs", tmp_path / "runs", "--name", "a/b c")
    files = {
        one["file"]
        for _ in range(3)
        for one in run(indexed, *words, "--mode", "lexical", "--mode", "semantic")["runs"]
    }
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert len(files) == len(names) == 6
    assert all(name.startswith(("a-b-c-lexical-2", "a-b-c-semantic-2")) for name in names)


def test_the_table_on_the_screen(indexed: Cli, tmp_path: Path) -> None:
    """Text output has the means with intervals, the groups, the times and the file."""
    golden = write_golden(tmp_path / "notes.json")
    said = indexed(
        "eval", "run", golden, "--db", indexed.db, "--runs", tmp_path, "--measures", "hit@1, mrr"
    ).stdout
    assert "hit@1" in said and "ndcg" not in said
    assert "1.000 [1.000, 1.000]" in said
    assert "en→en" in said and "kitchen" in said
    assert "ms p50" in said and "ms p95" in said
    assert f"stored in {tmp_path}/notes-hybrid-2" in said


def test_settings_for_one_run(indexed: Cli, tmp_path: Path) -> None:
    """`--set` changes a setting for the run and is kept in it; the next run has the default."""
    golden = write_golden(tmp_path / "notes.json")
    words = (golden, "--db", indexed.db, "--runs", tmp_path)
    changed = run(indexed, *words, "--set", "ranking.rrf_k=1.5", "--set", "search.pool = 7")[
        "runs"
    ][0]
    usual = run(indexed, *words)["runs"][0]
    held = [json.loads(Path(one["file"]).read_text("utf-8")) for one in (changed, usual)]
    assert [one["settings"]["ranking.rrf_k"] for one in held] == [1.5, Settings().ranking.rrf_k]
    assert held[0]["settings"]["search.pool"] == 7


def test_set_by_an_old_name(indexed: Cli, tmp_path: Path) -> None:
    """`--set` takes a name from before there were groups, and says what it is called now."""
    golden = write_golden(tmp_path / "notes.json")
    words = ("eval", "run", golden, "--db", indexed.db, "--runs", tmp_path, "--json")
    done = indexed(*words, "--set", "rrf_k=1.5")  # an old name
    (one,) = json.loads(done.stdout)["runs"]
    assert json.loads(Path(one["file"]).read_text("utf-8"))["settings"]["ranking.rrf_k"] == 1.5
    assert "rrf_k is now ranking.rrf_k" in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("rrf_k", "write --set name=value"),
        ("=2", "write --set name=value"),
        ("rrf=2", "unknown setting 'rrf'"),
        ("rrf_k=many", "'many' is not a number"),
        ("pool=0", "must be between"),
        ("db=x.db", "use --db FILE"),
    ],
)
def test_impossible_settings(indexed: Cli, tmp_path: Path, given: str, words: str) -> None:
    """A setting that cannot be is refused with 2 before anything runs."""
    golden = write_golden(tmp_path / "notes.json")
    done = indexed("eval", "run", golden, "--db", indexed.db, "--set", given, code=2)
    assert words in done.stderr


def test_unanswerable_queries(indexed: Cli, tmp_path: Path) -> None:
    """Unanswerable queries are counted by what their answers said, and leave the means alone."""
    golden = write_golden(tmp_path / "mixed.json", [*QUERIES, UNANSWERABLE])
    words = (golden, "--db", indexed.db, "--runs", tmp_path)
    said = run(indexed, *words)
    (one,) = said["runs"]
    assert (one["queries"], one["overall"]["count"]) == (4, 3)
    assert sum(one["unanswerable"].values()) == 1
    assert set(said["relevance_auroc"]) == {"hybrid"}
    text = indexed("eval", "run", *words).stdout
    if said["relevance_auroc"]["hybrid"] is None:
        assert "not calibrated" in text
    else:
        assert "AUROC" in text


def test_a_set_of_unanswerable_queries_only(indexed: Cli, tmp_path: Path) -> None:
    """A set without any answerable query has no means and is no failure."""
    golden = write_golden(tmp_path / "none.json", [UNANSWERABLE])
    (one,) = run(indexed, golden, "--db", indexed.db, "--runs", tmp_path)["runs"]
    assert one["overall"] is None
    assert one["by_direction"] == []


def test_a_missing_lane_is_told(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """Answers that lacked a lane are counted with the reason."""
    golden = write_golden(tmp_path / "notes.json", vault=vault.name)
    words = ("eval", "run", golden, "--set", "embedding.embedder=none")
    said = twolane(*words).stdout
    assert "3 answers without dense: semantic search is switched off" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "must hold one object"),
        ('{"queries": []}', 'field "format" must be'),
        ('{"format": "twolane-golden/9", "queries": []}', "not known to this Twolane"),
        ('{"format": "twolane-golden/1", "queries": []}', "no queries"),
        ('{"format": "twolane-golden/1"}', "must be a list of queries"),
        ('{"format": "twolane-golden/1", "queries": [3]}', "must be an object"),
        (
            '{"format": "twolane-golden/1", "queries": [{"id": "a", "query": "x"}]}',
            "no relevant document",
        ),
        (
            '{"format": "twolane-golden/1", "queries": '
            '[{"id": "a", "query": "x", "relevent": ["a.md"]}]}',
            'did you mean "relevant"?',
        ),
        (
            '{"format": "twolane-golden/1", "queries": '
            '[{"id": "a", "query": "x", "relevant": ["garden/Tomatos.md"]}]}',
            "did you mean 'garden/Tomatoes.md'?",
        ),
        (
            '{"format": "twolane-golden/1", "queries": '
            '[{"id": "a", "query": "x", "relevant": ["_templates/day.md"]}]}',
            "no document '_templates/day.md'",
        ),
        ("just words", "not JSON"),
    ],
)
def test_malformed_golden_sets(indexed: Cli, tmp_path: Path, text: str, words: str) -> None:
    """Whatever is wrong with a golden set is said in full, exits with 2 and stores nothing."""
    golden = tmp_path / "bad.json"
    golden.write_text(text, "utf-8")
    done = indexed("eval", "run", golden, "--db", indexed.db, "--runs", tmp_path / "r", code=2)
    assert words in done.stderr
    assert not (tmp_path / "r").exists()


def test_what_cannot_be_found(indexed: Cli, tmp_path: Path) -> None:
    """A missing file, a set without a vault and a vault that is gone each say what to do."""
    assert "nowhere.json" in indexed("eval", "run", "nowhere.json", code=2).stderr
    golden = write_golden(tmp_path / "notes.json")
    # It is asked of the library, where there is one.
    assert "stored in" in indexed("eval", "run", golden, "--runs", tmp_path / "runs").stdout
    nothing = indexed("eval", "run", golden, code=2, TWOLANE_DB=str(tmp_path / "no.db")).stderr
    assert "name a database with --db" in nothing
    golden = write_golden(tmp_path / "gone.json", vault="gone")
    assert "is no folder" in indexed("eval", "run", golden, code=2).stderr
    empty = indexed("eval", "run", golden, "--db", tmp_path / "no.db", code=3).stderr
    assert "no database" in empty


def test_unknown_measure(indexed: Cli, tmp_path: Path) -> None:
    """A measure that does not exist is refused before anything runs."""
    golden = write_golden(tmp_path / "notes.json")
    for measures in ("beauty", "ndcg@0", ""):
        done = indexed("eval", "run", golden, "--measures", measures, code=2)
        assert "measure" in done.stderr


def test_progress_is_shown_to_a_person(indexed: Cli, tmp_path: Path) -> None:
    """On a terminal a bar counts the queries; in a pipe standard error stays empty."""
    golden = write_golden(tmp_path / "notes.json")
    words = ("eval", "run", golden, "--db", indexed.db, "--runs", tmp_path)
    assert "notes hybrid" in indexed.on_terminal(*words)
    assert indexed(*words).stderr == ""
