"""`twolane eval fit`: weights of one's own, from judgments to searches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import QUERIES, UNANSWERABLE, write_golden
from tests.unit.test_indexes import beir_folder

QUERY = ("search", "pruning tomatoes")


@pytest.fixture
def golden(vault: Path, tmp_path: Path) -> Path:
    """A golden set that names its vault, with a query that has no answer."""
    return write_golden(tmp_path / "notes.json", [*QUERIES, UNANSWERABLE], vault=vault.name)


@pytest.fixture
def suite(golden: Path, tmp_path: Path) -> Path:
    """A suite of two sets in two groups."""
    beir_folder(tmp_path / "teas")
    path = tmp_path / "suite.toml"
    path.write_text(f'[groups]\nours = ["{golden.name}"]\nopen = ["teas"]\n', "utf-8")
    return path


def fit(cli: Cli, *words: str | Path) -> Any:
    """What `eval fit --json` says."""
    return json.loads(cli("eval", "fit", "--json", *words).stdout)


def own_model(cli: Cli) -> Path:
    """Where weights of one's own are when no setting says otherwise."""
    return cli.home / "data" / "twolane" / "model.json"


def test_own_judgments_are_told_and_stored(twolane: Cli, golden: Path) -> None:
    """Every basis has its weights; the file has what is printed, and searches stay as they are."""
    said = twolane("eval", "fit", "--golden", golden).stdout
    for line in ("hybrid in hashing", "lexical", "semantic in hashing", "feature", "intercept"):
        assert line in said
    assert "--adopt lets searches use these weights" in said
    assert not own_model(twolane).exists()
    found = fit(twolane, "--golden", golden)
    assert (found["embedder"], found["adopted"]) == ("hashing", None)
    assert [report["basis"] for report in found["reports"]] == ["hybrid", "lexical", "semantic"]
    stored = json.loads((twolane.home / found["file"]).read_text("utf-8"))
    assert stored["format"] == "twolane-fit/1"
    assert stored["reports"] == found["reports"]
    for one in found["reports"]:
        weights = [*one["weights"]["own"]["features"].values()]
        assert weights and min(weights) >= 0


def test_searches_use_what_was_adopted(twolane: Cli, golden: Path, vault: Path) -> None:
    """With --adopt the weights are in the file that searches read, and change what they say."""
    twolane("index", vault)
    before = twolane.json(*QUERY)["results"][0]
    found = fit(twolane, "--golden", golden, "--adopt")
    assert Path(found["adopted"]) == own_model(twolane)
    after = twolane.json(*QUERY)["results"][0]
    assert after["id"] == before["id"]
    assert after["score"] != before["score"]
    weights = found["reports"][0]["weights"]["own"]["features"]
    told = {
        contribution["feature"]: contribution["weight"] for contribution in after["contributions"]
    }
    assert told and all(weights[name] == weight for name, weight in told.items())
    # Adopted once more they are fitted to what is in use, no longer to what came with the package.
    again = fit(twolane, "--golden", golden)
    assert again["reports"][0]["weights"] != found["reports"][0]["weights"]
    own_model(twolane).unlink()
    assert twolane.json(*QUERY)["results"][0]["score"] == before["score"]


def test_the_file_can_be_chosen(indexed: Cli, tmp_path: Path) -> None:
    """`ranking.model_file` names the file, for the fit and for searches; --db asks a library."""
    golden = write_golden(tmp_path / "notes.json")
    own = tmp_path / "mine" / "weights.json"
    words = ("--golden", golden, "--db", indexed.db, "--runs", tmp_path / "runs", "--adopt")
    found = fit(indexed, *words, "--set", f"ranking.model_file={own}")
    assert found["adopted"] == str(own)
    usual = indexed.json(*QUERY)["results"][0]["score"]
    other = indexed.json(*QUERY, TWOLANE_RANKING_MODEL_FILE=str(own))["results"][0]["score"]
    assert usual != other


def test_a_suite_is_left_out_set_by_set(twolane: Cli, suite: Path) -> None:
    """The table tells what the weights are worth on each set that they have not seen."""
    said = twolane("eval", "fit", suite, "--adopt").stdout
    assert "left out" in said and "ndcg@10" in said and "ECE" in said
    assert "mean of ours" in said and "mean of all sets" in said
    assert f"searches use these weights: {own_model(twolane)}" in said
    found = fit(twolane, suite)
    held_out = found["reports"][0]["held_out"]
    assert [one["name"] for one in held_out] == ["notes", "teas.test"]
    assert all(0 <= one["ndcg"] <= 1 and 0 <= one["error"] <= 1 for one in held_out)


def test_a_damaged_model_is_told(twolane: Cli, vault: Path) -> None:
    """A search warns, says what to do, and goes on with the weights of the package."""
    twolane("index", vault)
    usual = twolane.json(*QUERY)["results"]
    own = twolane.home / "own.json"
    own.write_text("{", "utf-8")
    done = twolane(*QUERY, "--json", TWOLANE_RANKING_MODEL_FILE=str(own))
    assert "holds no ranking model" in done.stderr
    assert "twolane eval fit --adopt" in done.stderr
    found = json.loads(done.stdout)["results"]
    assert [one["score"] for one in found] == [one["score"] for one in usual]


def test_bad_wishes_are_refused(twolane: Cli, golden: Path, suite: Path) -> None:
    """Neither or both of a suite and judgments, and what is not there, are refused with 2."""
    for words in ((), (suite, "--golden", golden)):
        assert "either a SUITE, or --golden" in twolane("eval", "fit", *words, code=2).stderr
    assert "nowhere" in twolane("eval", "fit", "nowhere.toml", code=2).stderr
    assert "nowhere" in twolane("eval", "fit", "--golden", "nowhere.json", code=2).stderr
    assert not (twolane.home / "eval-runs").exists()


def test_nothing_to_learn_from_is_refused(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """Judgments without any relevant document, and a search without vectors, say what is wrong."""
    silent = write_golden(tmp_path / "silent.json", [UNANSWERABLE], vault=vault.name)
    said = twolane("eval", "fit", "--golden", silent, code=2).stderr
    assert "no query has a relevant document" in said
    full = write_golden(tmp_path / "full.json", vault=vault.name)
    words = ("eval", "fit", "--golden", full)
    assert "without vectors" in twolane(*words, code=5, TWOLANE_EMBEDDING_EMBEDDER="none").stderr
