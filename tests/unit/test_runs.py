"""Runs as files, and what they come to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.run_builders import GOLDEN, PERFECT, run_of
from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.evaluation.runs import (
    Asked,
    Place,
    Run,
    load_run,
    percentile,
    relevance_auroc,
    save_run,
    store_run,
    summarise,
    write_trec,
)
from twolane.model.errors import BadInput

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
shares = st.dictionaries(texts, numbers, max_size=2)
places = st.builds(Place, texts, numbers, st.none() | numbers, shares)


@given(ranking=st.lists(places, max_size=3), degraded=st.lists(texts, max_size=2), name=texts)
def test_reading_gives_what_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    ranking: list[Place],
    degraded: list[str],
    name: str,
) -> None:
    """A run that is saved and read again is equal, whatever it holds."""
    asked = Asked("q1", 1.5, tuple(ranking), None, tuple(degraded))
    run = replace(run_of(), name=name, asked=(asked,), megabytes=12.5)
    path = tmp_path_factory.mktemp("runs") / "run.json"
    save_run(run, path)
    assert load_run(path) == run


def test_older_runs_without_shares_can_be_read(tmp_path: Path) -> None:
    """A place that was stored with votes, before there was a ranking model, has no shares."""
    path = tmp_path / "old.json"
    save_run(run_of(), path)
    held = json.loads(path.read_text("utf-8"))
    for asked in held["asked"]:
        for place in asked["ranking"]:
            del place["shares"]
            place["votes"] = [{"lane": "dense", "rank": 1, "value": 0.1, "abstained": False}]
    path.write_text(json.dumps(held), "utf-8")
    read, stored = load_run(path), run_of()
    assert read.asked[0].ranking[0].shares == {}
    assert read.rankings == stored.rankings


def test_older_runs_know_settings_by_their_full_names(tmp_path: Path) -> None:
    """A run that was stored before settings had groups is read with today's names."""
    path = tmp_path / "old.json"
    save_run(replace(run_of(), settings={"rrf_k": 60.0, "model_tries": 5, "half_uses": 1}), path)
    wanted = {"ranking.rrf_k": 60.0, "embedding.request_tries": 5, "half_uses": 1}
    assert load_run(path).settings == wanted


@pytest.mark.parametrize(
    "harm",
    [
        lambda held: held.update(settings=[1]),
        lambda held: held.pop("asked"),
        lambda held: held.pop("golden"),
        lambda held: held.pop("name"),
        lambda held: held.update(asked=None),
        lambda held: held.update(asked=[1]),
        lambda held: held.update(surprise=1),
        lambda held: held["asked"][0].update(ms="soon"),
        lambda held: held["asked"][0]["ranking"][0].pop("path"),
        lambda held: held["asked"][0].update(ranking=[1]),
        lambda held: held["golden"].update(format="other"),
        lambda held: held.update(format="twolane-run/99"),
    ],
)
def test_damaged_runs_are_refused(tmp_path: Path, harm: Any) -> None:
    """A run that is not whole is bad input that names the file, never a crash."""
    path = tmp_path / "run.json"
    save_run(run_of(), path)
    held = json.loads(path.read_text("utf-8"))
    harm(held)
    path.write_text(json.dumps(held), "utf-8")
    with pytest.raises(BadInput, match=r"run\.json"):
        load_run(path)


def test_stored_runs_have_names_of_their_own(tmp_path: Path) -> None:
    """The name says what, how and when; an existing file is never replaced."""
    run = run_of(name="../a b/ё", mode="lexical")
    paths = [store_run(run, tmp_path / "new") for _ in range(3)]
    assert [path.name for path in paths] == [
        "a-b-ё-lexical-20260102-030405.json",
        "a-b-ё-lexical-20260102-030405-2.json",
        "a-b-ё-lexical-20260102-030405-3.json",
    ]
    assert all(path.parent == tmp_path / "new" for path in paths)
    assert [load_run(path) for path in paths] == [run] * 3
    assert store_run(run_of(name="///"), tmp_path).name.startswith("run-hybrid-")


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    """What cannot be written leaves no empty file behind that looks like a run."""
    with pytest.raises(BadInput):
        store_run(run_of(name="x", commit="\ud800"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_percentiles() -> None:
    """The p95 of a hundred times is the ninety-fifth; of one it is that one."""
    assert percentile([float(number) for number in range(1, 101)], 0.95) == 95
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2
    assert percentile([7.0], 0.95) == 7
    with pytest.raises(BadInput):
        percentile([], 0.5)


def test_a_summary_has_what_the_table_has() -> None:
    """Intervals belong to the means; times and missing lanes are those of the run."""
    run = run_of({**PERFECT, "q2": ("a.md", "c.md")})
    asked = (replace(run.asked[0], degraded=("dense: gone",)), *run.asked[1:])
    found = summarise(replace(run, asked=asked), ("mrr", "recall@1"))
    assert found.table.overall is not None
    assert [one.estimate for one in found.intervals] == pytest.approx(found.table.overall.values)
    assert all(one.low <= one.estimate <= one.high for one in found.intervals)
    assert (found.p50, found.p95) == (4.0, 6.0)
    assert found.degraded == (("dense: gone", 1),)
    assert found.verdicts is None


UNANSWERABLE = GoldenSet(
    "none", queries=tuple(GoldenQuery(f"u{n}", f"u{n}", unanswerable=True) for n in range(4))
)


def unanswered(verdict: bool | None, relevance: float | None) -> Run:
    """A run of unanswerable queries whose answers say so, or do not."""
    rankings = {query.id: ("a.md",) for query in UNANSWERABLE.queries}
    return run_of(rankings, golden=UNANSWERABLE, answerable=verdict, relevance=relevance)


def test_unanswerable_queries_are_counted_apart() -> None:
    """A set without answerable queries has verdicts and no means."""
    for verdict, counts in ((False, (4, 0, 0)), (True, (0, 4, 0)), (None, (0, 0, 4))):
        found = summarise(unanswered(verdict, None))
        assert found.intervals == () and found.verdicts is not None
        said = found.verdicts
        assert (said.unanswerable, said.answerable, said.not_judged) == counts


def test_auroc_needs_relevance_and_both_kinds() -> None:
    """Relevance that is always higher for answerable queries tells them apart perfectly."""
    answered = run_of(relevance=0.9)
    assert relevance_auroc([answered, unanswered(None, 0.1)]) == 1.0
    assert relevance_auroc([answered, unanswered(None, 0.9)]) == 0.5
    assert relevance_auroc([answered]) is None
    assert relevance_auroc([run_of(), unanswered(None, None)]) is None
    # An answer without any result is as irrelevant as can be.
    empty = run_of(
        {query.id: () for query in UNANSWERABLE.queries}, golden=UNANSWERABLE, relevance=None
    )
    assert relevance_auroc([answered, empty]) == 1.0
    assert len(GOLDEN.queries) == 3


def test_trec_eval_reads_what_is_written_for_it(tmp_path: Path) -> None:
    """A run and its judgments, with blanks in their names, score the same in another program."""
    queries = (GoldenQuery("q 1", "x", relevant=("/a b",), partial=("c.md",)),)
    run = run_of({"q 1": ("c.md", "x.md", "a b.md")}, golden=GoldenSet("site", queries=queries))
    write_trec(run, tmp_path / "run", tmp_path / "qrels")
    theirs = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10],
        list(ir_measures.read_trec_qrels(str(tmp_path / "qrels"))),
        list(ir_measures.read_trec_run(str(tmp_path / "run"))),
    )
    ours = run.table(("ndcg@10",)).column("ndcg@10")
    assert list(theirs.values()) == pytest.approx(list(ours))
