"""Suites: many sets, one table, and a difference that is paired query by query."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.small_sets import quick, small_set
from tests.unit.test_indexes import beir_folder
from twolane.evaluation.indexes import bench
from twolane.evaluation.runs import Run, run_golden
from twolane.evaluation.suites import (
    QueryRanks,
    SetRun,
    SuiteRun,
    SuiteSet,
    load_suite,
    load_suite_run,
    overall,
    overall_change,
    run_suite,
    save_suite_run,
    set_change,
    set_mean,
    suite_auroc,
)
from twolane.model.errors import BadInput


def written(folder: Path, text: str, name: str = "suite.toml") -> Path:
    """A file of a suite."""
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def one_set(name: str, *ranks: int | None, group: str = "g") -> SetRun:
    """A set whose queries each have one right answer at this rank."""
    queries = [QueryRanks(f"q{n}", {"d": (1, rank)}) for n, rank in enumerate(ranks)]
    return SetRun(name, group, name, tuple(queries))


def suite_run(*sets: SetRun) -> SuiteRun:
    """A run of these sets."""
    return SuiteRun("s", "hybrid", {}, sets)


def test_a_suite_names_files_and_folders_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are seen from the file, and may hold stars and variables; JSON says the same."""
    small_set(tmp_path / "own", "mine")
    beir_folder(tmp_path / "far" / "teas")
    monkeypatch.setenv("FAR_AWAY", str(tmp_path / "far"))
    groups = {"ours": ["own/*.json"], "open": ["$FAR_AWAY/*"]}
    toml = written(
        tmp_path, 'name = "all"\n[groups]\nours = ["own/*.json"]\nopen = ["$FAR_AWAY/*"]'
    )
    suite = load_suite(toml)
    assert suite.name == "all"
    assert [(one.group, one.golden.name) for one in suite.sets] == [
        ("ours", "mine"),
        ("open", "teas.test"),
    ]
    again = load_suite(written(tmp_path, json.dumps({"groups": groups}), "all.json"))
    assert again.sets == suite.sets
    assert [one.golden.name for one in suite.only(["open"]).sets] == ["teas.test"]
    assert [one.golden.name for one in suite.only(["mine"]).sets] == ["mine"]
    with pytest.raises(BadInput, match="no set or group 'yours'; there are mine, open"):
        suite.only(["yours"])


def test_sets_count_by_their_weight_in_fits(tmp_path: Path) -> None:
    """A weight belongs to a set, or to its group, or is 1; what is chosen of a suite keeps it."""
    for name in ("mine", "yours", "theirs"):
        small_set(tmp_path, name)
    text = """together = [["mine", "yours"]]
chances = ["other"]
[groups]
ours = ["mine.json", "yours.json"]
other = ["theirs.json"]
[weights]
ours = 0.5
yours = 2
"""
    suite = load_suite(written(tmp_path, text))
    assert [suite.weight(one) for one in suite.sets] == [0.5, 2.0, 1.0]
    assert suite.together == (frozenset({"mine", "yours"}),)
    assert [suite.tells_chances(one) for one in suite.sets] == [False, False, True]
    assert all(replace(suite, chances=frozenset()).tells_chances(one) for one in suite.sets)
    chosen = suite.only(["ours"])
    assert (chosen.weights, chosen.together) == (suite.weights, suite.together)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[groups", "cannot be understood"),
        ("name = 'x'", "names no sets"),
        ("[groups]\na = 'x.json'", "'a' must be a list of paths"),
        ("[groups]\na = ['x.json']", "nothing is at 'x.json'"),
        ("[groups]\na = ['$NO_SUCH_VARIABLE/*']", "needs a variable"),
        ("colour = 1\n[groups]\na = ['own/mine.json']", "unknown colour; it has name, groups"),
        ("weights = 1\n[groups]\na = ['own/mine.json']", "write [weights] and name"),
        ("[weights]\na = 'x'\n[groups]\na = ['own/mine.json']", "write [weights] and name"),
        ("together = 1\n[groups]\na = ['own/mine.json']", "write [weights] and name"),
        ("chances = 1\n[groups]\na = ['own/mine.json']", "write [weights] and name"),
        ("chances = ['b']\n[groups]\na = ['own/mine.json']", "chances names no group 'b'"),
        ("[groups]\na = ['own/mine.json', 'own/*.json']", "two sets are called mine"),
    ],
)
def test_a_suite_that_cannot_be_run_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """A mistake in the file of a suite is named before anything runs."""
    small_set(tmp_path / "own", "mine")
    with pytest.raises(BadInput, match=re.escape(problem)):
        load_suite(written(tmp_path, text))


def test_a_run_of_a_suite_scores_as_its_runs_do(tmp_path: Path) -> None:
    """From kept ranks every measure comes out as from whole rankings, and no text is kept."""
    small_set(tmp_path, "mine")
    beir_folder(tmp_path / "teas")
    suite = load_suite(written(tmp_path, "[groups]\na = ['mine.json']\nb = ['teas']"))
    runs: list[Run] = []

    def ask(one: SuiteSet) -> Run:
        with bench(one.golden, one.path, quick(), tmp_path / "cache") as library:
            runs.append(run_golden(one.golden, library))
        return runs[-1]

    done = run_suite(suite, ask)
    assert [one.name for one in done.sets] == ["mine", "teas.test"]
    for run, kept in zip(runs, done.sets, strict=True):
        for measure in ("ndcg@10", "recall@2", "mrr", "precision@3"):
            table = run.table((measure,))
            values = {row.id: row.values[0] for row in table.queries}
            assert kept.values(measure) == values
    assert suite_auroc(done).keys() == {"mine"}
    file = tmp_path / "run.json"
    save_suite_run(done, file)
    assert load_suite_run(file) == done
    text = file.read_text("utf-8")
    assert "tea.md" in text
    assert "steep" not in text


def test_every_set_counts_the_same() -> None:
    """The mean is that of the sets' means, and so is its interval's middle."""
    run = suite_run(one_set("a", 1, 1, 1, 1), one_set("b", 2), one_set("c", group="none"))
    mean = overall(run, "mrr")
    assert mean is not None
    assert mean.estimate == pytest.approx((1 + 1 / 2) / 2)
    assert (mean.low, mean.high) == pytest.approx((0.75, 0.75))
    assert set_mean(run.sets[2], "mrr") is None
    assert overall(run, "mrr", "none") is None


def test_differences_are_paired() -> None:
    """Sets are compared query by query, and only those that both runs have."""
    before = suite_run(one_set("a", 1, 2), one_set("gone", 1))
    after = suite_run(one_set("a", 1, 1), one_set("new", None))
    change = set_change(before, after.sets[0], "mrr")
    assert change is not None
    assert (change.estimate, change.low, change.high) == pytest.approx((0.25, 0.0, 0.5))
    assert set_change(before, after.sets[1], "mrr") is None
    assert set_change(None, after.sets[0], "mrr") is None
    assert overall_change(before, after, "mrr") == change
    assert overall_change(None, after, "mrr") is None
    other = replace(before.sets[0], queries=before.sets[0].queries[:1])
    with pytest.raises(BadInput, match="other queries"):
        set_change(suite_run(other), after.sets[0], "mrr")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "twolane-run/1"}'])
def test_what_is_no_run_of_a_suite_is_refused(tmp_path: Path, text: str) -> None:
    """Other files are refused by name."""
    with pytest.raises(BadInput, match=r"suite\.json is no"):
        load_suite_run(written(tmp_path, text, "suite.json"))


def test_half_a_run_is_refused(tmp_path: Path) -> None:
    """A file in which something is missing is not taken for a run."""
    path = written(tmp_path, '{"format": "twolane-suite-run/1", "sets": [{}]}', "suite.json")
    with pytest.raises(BadInput, match="not a complete run"):
        load_suite_run(path)
