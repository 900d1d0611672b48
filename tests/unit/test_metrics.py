"""Metrics say what their definitions say, and what an independent implementation says."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from math import log2
from statistics import fmean

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.evaluation.metrics import (
    Row,
    auroc,
    hit,
    measure,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    tabulate,
)
from twolane.model.errors import BadInput

CASES = 1_000
CUTS = (1, 3, 5, 10)
GRADES = {"a": 2, "b": 1, "c": 2, "judged-zero": 0}


def ranked(scores: Mapping[str, float]) -> list[str]:
    """The ranking that scores make: the highest first, ties by id."""
    return [id for _, id in sorted((-score, id) for id, score in scores.items())]


# ------------------------------------------------------------------------------ the formulas


def test_recall_is_the_share_of_relevant_documents_found() -> None:
    """Two of the three relevant documents are among the first four."""
    assert recall(["x", "a", "judged-zero", "b", "c"], GRADES, 4) == 2 / 3


def test_recall_can_seek_some_documents_only() -> None:
    """Refused documents are not sought, yet they keep their places above the cut."""
    grades = {"en/a": 2, "ru/a": 2}
    ranking = ["en/a", "en/x", "ru/a"]
    assert recall(ranking, grades, 3, only=lambda one: one.startswith("ru/")) == 1.0
    assert recall(ranking, grades, 2, only=lambda one: one.startswith("ru/")) == 0.0
    assert recall(ranking, grades, 2, only=lambda one: one.startswith("de/")) == 0.0


def test_precision_divides_by_the_cut_off() -> None:
    """A short ranking is not forgiven: two relevant of five places is 2/5."""
    assert precision(["a", "x", "b"], GRADES, 5) == 2 / 5


def test_hit_is_one_or_nothing() -> None:
    """A partial answer within the cut is a hit, an answer below it is none."""
    assert hit(["x", "b"], GRADES, 2) == 1.0
    assert hit(["x", "b"], GRADES, 1) == 0.0


def test_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    """The first relevant document is third, so the value is 1/3, or 0 if only two count."""
    ranking = ["x", "judged-zero", "b", "a"]
    assert reciprocal_rank(ranking, GRADES) == 1 / 3
    assert reciprocal_rank(ranking, GRADES, 3) == 1 / 3
    assert reciprocal_rank(ranking, GRADES, 2) == 0.0


def test_ndcg_has_linear_gain_and_an_ideal_over_all_judged() -> None:
    """The formula written out: the ideal ranking is a, c, b although c was not found."""
    found = 1 / log2(2) + 0 / log2(3) + 2 / log2(4)
    ideal = 2 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg(["b", "x", "a"], GRADES, 3) == pytest.approx(found / ideal, abs=1e-15)
    # With a cut at two, the ideal has two documents as well.
    assert ndcg(["b", "x", "a"], GRADES, 2) == pytest.approx(1 / (2 + 2 / log2(3)), abs=1e-15)


def test_negative_grades_gain_and_cost_nothing() -> None:
    """A grade below zero, as some collections give to spam, is not relevant and no penalty."""
    grades = {"a": 1, "spam": -2}
    assert ndcg(["spam", "a"], grades, 2) == pytest.approx(1 / log2(3))
    assert recall(["spam"], grades, 1) == 0.0
    assert precision(["spam", "a"], grades, 2) == 1 / 2


@pytest.mark.parametrize("grades", [{}, {"a": 0}])
def test_nothing_relevant_is_zero(grades: dict[str, int]) -> None:
    """Where nothing is relevant every metric is 0, never an error."""
    for metric in (recall, precision, hit, reciprocal_rank, ndcg):
        assert metric(["a", "b"], grades, 5) == 0.0


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3)),
    st.integers(1, 10),
)
def test_metrics_stay_between_zero_and_one(
    ranking: list[str], grades: dict[str, int], k: int
) -> None:
    """No ranking is better than perfect, and none worse than nothing."""
    for metric in (recall, precision, hit, reciprocal_rank, ndcg):
        assert 0.0 <= metric(ranking, grades, k) <= 1.0
    ideal = sorted(grades, key=lambda one: -grades[one])
    if any(grade > 0 for grade in grades.values()):
        assert ndcg(ideal, grades, k) == pytest.approx(1.0)


@pytest.mark.parametrize("metric", [recall, precision, hit, reciprocal_rank, ndcg])
def test_impossible_questions_are_refused(metric: object) -> None:
    """A cut-off below one and a document ranked twice get an error that says so."""
    assert callable(metric)
    with pytest.raises(BadInput, match="cut-off of 0"):
        metric(["a"], GRADES, 0)
    with pytest.raises(BadInput, match="holds 'a' twice"):
        metric(["a", "b", "a"], GRADES, 2)


# ---------------------------------------------------------------------- an independent oracle


def random_case(draw: random.Random) -> tuple[dict[str, int], dict[str, float]]:
    """Grades and scores with ties, unjudged and unfound documents, sometimes nothing at all."""
    documents = [f"{number:03}" for number in range(draw.choice((3, 8, 30)))]
    judged = draw.sample(documents, draw.randint(1, len(documents)))
    top = draw.choice((0, 1, 3))
    grades = {id: draw.randint(0, top) for id in judged}
    found = draw.sample(documents, draw.choice((0, len(documents) // 2, len(documents))))
    levels = draw.choice((1, 4, 1000))
    return grades, {id: draw.randint(1, levels) / 4 for id in found}


def mirrored(id: str) -> str:
    """An id that sorts the other way round: trec_eval orders ties by id from the end."""
    return f"{999 - int(id):03}"


def test_metrics_agree_with_ir_measures() -> None:
    """On 1,000 random cases every metric equals that of pytrec_eval to 1e-9."""
    draw = random.Random(7)
    cases = {str(number): random_case(draw) for number in range(CASES)}
    qrels = {
        query: {mirrored(id): grade for id, grade in grades.items()}
        for query, (grades, _) in cases.items()
    }
    run = {
        query: {mirrored(id): score for id, score in scores.items()}
        for query, (_, scores) in cases.items()
    }
    oracle = ir_measures.pytrec_eval
    wanted = [RR, *(metric @ k for k in CUTS for metric in (R, nDCG, P, Success))]
    compared = 0
    for value in oracle.iter_calc(wanted, qrels, run):
        grades, scores = cases[value.query_id]
        name, _, cut = str(value.measure).partition("@")
        ours = {"RR": "mrr", "R": "recall", "nDCG": "ndcg", "P": "precision", "Success": "hit"}[
            name
        ]
        mine = measure(f"{ours}@{cut}" if cut else ours).of(ranked(scores), grades)
        assert mine == pytest.approx(value.value, abs=1e-9), (value, grades, scores)
        compared += 1
    assert compared == CASES * len(wanted)
    # The cases must include what they are for.
    assert sum(not scores for _, scores in cases.values()) > 50
    assert sum(len(set(scores.values())) < len(scores) for _, scores in cases.values()) > 300
    assert sum(max(grades.values()) > 1 for grades, _ in cases.values()) > 100
    assert sum(max(grades.values()) == 0 for grades, _ in cases.values()) > 50


def test_reciprocal_rank_at_k_agrees_with_ir_measures() -> None:
    """RR@k equals pytrec_eval's RR of a ranking that ends at k."""
    draw = random.Random(8)
    for _ in range(100):
        grades, scores = random_case(draw)
        ranking = ranked(scores)
        for k in CUTS:
            run = {"q": {id: float(-rank) for rank, id in enumerate(ranking[:k])}}
            (value,) = ir_measures.pytrec_eval.iter_calc([RR], {"q": grades}, run)
            assert reciprocal_rank(ranking, grades, k) == pytest.approx(value.value, abs=1e-9)


# ------------------------------------------------------------------------------- unanswerable


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    """Of 2 × 3 pairs four are right and one is a tie: (4 + 1/2) / 6."""
    assert auroc([0.9, 0.5], [0.5, 0.1, 0.7]) == 4.5 / 6


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_auroc_equals_the_count_of_pairs(yes: list[int], no: list[int]) -> None:
    """The quick way equals counting every pair."""
    pairs = [(one > other) + (one == other) / 2 for one in yes for other in no]
    assert auroc(yes, no) == pytest.approx(fmean(pairs))


def test_auroc_needs_both_kinds_and_numbers() -> None:
    """Without both kinds of query, or with a value that is no number, there is nothing to say."""
    with pytest.raises(BadInput, match="some of both"):
        auroc([1.0], [])
    with pytest.raises(BadInput, match="not a number"):
        auroc([1.0], [float("nan")])


# ------------------------------------------------------------------------------------- tables

GOLDEN = GoldenSet(
    "tiny",
    queries=(
        GoldenQuery("1", "tea", ("en/tea.md",), ("ru/chai.md",), direction="en→en", category="t"),
        GoldenQuery("2", "чай", ("/en/tea", "/ru/chai"), direction="ru→en", category="t"),
        GoldenQuery("3", "bread", ("en/bread.md",), direction="en→en"),
        GoldenQuery("4", "whales", unanswerable=True, category="far"),
    ),
)
RANKINGS = {
    "1": ["en/x.md", "en/tea.md"],
    "2": ["ru/chai.md", "en/tea.md"],
    "3": [],
    "4": ["en/x.md"],
}


def test_a_table_averages_overall_and_by_group() -> None:
    """Means are over answerable queries; what has no direction or category is in no group."""
    table = tabulate(GOLDEN, RANKINGS, ["recall@2", "mrr"])
    assert table.measures == ("recall@2", "mrr")
    assert [(row.id, row.values) for row in table.queries] == [
        ("1", (1 / 2, 1 / 2)),
        ("2", (1.0, 1.0)),
        ("3", (0.0, 0.0)),
    ]
    assert table.overall == Row("all", 3, (fmean([0.5, 1, 0]), fmean([0.5, 1, 0])))
    assert table.by_direction == (Row("en→en", 2, (0.25, 0.25)), Row("ru→en", 1, (1.0, 1.0)))
    assert table.by_category == (Row("t", 2, (0.75, 0.75)),)
    assert table.column("mrr") == (0.5, 1.0, 0.0)


def test_groups_are_sorted() -> None:
    """The rows of a table do not depend on the order of the queries."""
    table = tabulate(GoldenSet("backwards", queries=GOLDEN.queries[::-1]), RANKINGS)
    other = replace(GOLDEN.queries[0], id="5", direction="de→de")
    mixed = tabulate(GoldenSet("mixed", queries=(*GOLDEN.queries, other)), {**RANKINGS, "5": []})
    assert [row.label for row in table.by_direction] == ["en→en", "ru→en"]
    assert [row.label for row in mixed.by_direction] == ["de→de", "en→en", "ru→en"]


def test_a_table_without_answerable_queries_has_no_mean() -> None:
    """A set of unanswerable queries gives an empty table, not a mean of nothing."""
    table = tabulate(GoldenSet("none", queries=GOLDEN.queries[3:]), {})
    assert table.overall is None
    assert table.by_direction == ()


def test_a_query_that_was_not_run_is_not_a_failure() -> None:
    """A missing ranking is refused by name, so that it cannot lower a mean unseen."""
    with pytest.raises(BadInput, match=r"no ranking for 2 queries of tiny: 2, 3;"):
        tabulate(GOLDEN, {"1": []})


@pytest.mark.parametrize("text", ["ndcg", "ndcg@0", "ndcg@x", "bpref@10", "", "mrr@-1", "@10"])
def test_unknown_measures_are_refused(text: str) -> None:
    """A measure that does not exist is answered with those that do."""
    with pytest.raises(BadInput, match="recall@10"):
        measure(text)


def test_a_column_that_is_not_there_is_refused() -> None:
    """Asking for a measure that was not taken names those that were."""
    with pytest.raises(BadInput, match="it has mrr"):
        tabulate(GOLDEN, RANKINGS, ["mrr"]).column("ndcg@10")
