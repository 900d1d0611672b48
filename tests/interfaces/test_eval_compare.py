"""`twolane eval compare` and `twolane eval gate`: two stored runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import QUERIES, TEA, write_golden
from twolane.settings import Settings


@pytest.fixture(scope="module")
def runs(indexed: Cli, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each mode, and one of another golden set."""
    folder = tmp_path_factory.mktemp("runs")
    golden = write_golden(folder / "notes.json")
    other = write_golden(folder / "other.json", QUERIES[:1])
    modes = ("--mode", "hybrid", "--mode", "lexical", "--mode", "semantic")
    words = ("eval", "run", golden, *modes, "--db", indexed.db, "--runs", folder / "r", "--json")
    found = json.loads(indexed(*words).stdout)["runs"]
    kept = {one["mode"]: Path(one["file"]) for one in found}
    words = ("eval", "run", other, "--db", indexed.db, "--runs", folder / "r", "--json")
    kept["other"] = Path(json.loads(indexed(*words).stdout)["runs"][0]["file"])
    kept["worse"] = _turned_round(kept["hybrid"], folder / "worse.json")
    return kept


def _turned_round(run: Path, target: Path) -> Path:
    """The same run with the ranking of the last query in reverse."""
    held = json.loads(run.read_text("utf-8"))
    held["asked"][2]["ranking"].reverse()
    held["settings"]["ranking.rrf_k"] = 1.5
    target.write_text(json.dumps(held), "utf-8")
    return target


def test_the_same_run_twice(indexed: Cli, runs: dict[str, Path]) -> None:
    """A run does not differ from itself."""
    said = indexed("eval", "compare", runs["hybrid"], runs["hybrid"]).stdout
    assert "Δ ±.000" in said
    assert "0 better, 0 worse, 3 as before" in said


def test_what_got_worse_and_why(indexed: Cli, runs: dict[str, Path]) -> None:
    """The query that lost is shown with the ranks and features of its answer on both sides."""
    words = ("eval", "compare", runs["hybrid"], runs["worse"])
    said = indexed(*words).stdout
    assert "0 better, 1 worse, 2 as before" in said
    assert "steep green tea" in said
    assert f"before  rank 1  {TEA}  (" in said
    assert re.search(r"bm25f \+\d\.\d\d", said)
    usual = f"{Settings().ranking.rrf_k:g}"
    assert f"rrf_k: {usual} → 1.5" in said
    assert "steep green tea" not in indexed(*words, "-n", "0").stdout
    found = json.loads(indexed(*words, "--measure", "hit@1", "--json").stdout)
    assert found["delta"]["estimate"] == pytest.approx(-1 / 3)
    assert 0 < found["p"] <= 1
    (lost,) = found["worse"]
    assert (lost["id"], lost["delta"], lost["ranks_before"]) == ("c", -1.0, [1])
    assert lost["first_after"]["path"] == TEA
    assert lost["first_after"]["shares"]["bm25f"] > 0
    assert {"what": "ranking.rrf_k", "before": usual, "after": "1.5"} in found["differences"]


def test_runs_that_cannot_be_compared(indexed: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    """Other queries, other judgments, and files that are no runs are refused with 2."""
    said = indexed("eval", "compare", runs["hybrid"], runs["other"], code=2).stderr
    assert "asked different queries" in said
    judged = json.loads(runs["hybrid"].read_text("utf-8"))
    judged["golden"]["queries"][0]["relevant"] = [TEA]
    other = tmp_path / "judged.json"
    other.write_text(json.dumps(judged), "utf-8")
    said = indexed("eval", "compare", runs["hybrid"], other, code=2).stderr
    assert "other judgments" in said
    golden = write_golden(tmp_path / "notes.json")
    assert "is no run" in indexed("eval", "compare", golden, golden, code=2).stderr
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "twolane-run/1"}', "utf-8")
    assert "not a complete run" in indexed("eval", "compare", broken, broken, code=2).stderr
    assert "nowhere.json" in indexed("eval", "compare", "nowhere.json", broken, code=2).stderr


def test_the_gate_lets_through_what_is_as_good(indexed: Cli, runs: dict[str, Path]) -> None:
    """The same quality passes with 0, and quietly if asked."""
    words = ("eval", "gate", runs["hybrid"], "--baseline", runs["hybrid"])
    assert indexed(*words).stdout.startswith("passed: ndcg@10 ")
    assert indexed(*words, "--quiet").stdout == ""


def test_the_gate_stops_a_regression(indexed: Cli, runs: dict[str, Path]) -> None:
    """A loss beyond the tolerance exits with 1 and says how much; a wide tolerance lets it pass."""
    words = ("eval", "gate", runs["worse"], "--baseline", runs["hybrid"], "--measure", "mrr")
    said = indexed(*words, code=1).stdout
    assert said.startswith("regression: mrr 1.000 → ")
    assert "(tolerance 0.01)" in said
    assert "passed" in indexed(*words, "--tolerance", "0.5").stdout
    found = json.loads(indexed(*words, "--json", code=1).stdout)
    assert found["passed"] is False
    assert found["delta"]["estimate"] < -0.01
