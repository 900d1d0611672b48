"""The ranking model is fitted: what orders judged documents, and how sure it may be."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.small_sets import QUERIES, quick, small_set
from twolane import Candidate, Library
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.evaluation import fitting as module
from twolane.evaluation.fits import Asked, adopt, ask_set, fit_again, fit_suite, save_fit
from twolane.evaluation.fitting import (
    BASES,
    HYBRID,
    LEXICAL,
    SEMANTIC,
    Basis,
    FitSet,
    JudgedQuery,
    Report,
    calibration_error,
    fit,
    fit_report,
    fit_to_judgments,
    judged_by,
    ranked_by,
    with_stages,
)
from twolane.evaluation.golden import GoldenSet
from twolane.evaluation.indexes import bench
from twolane.evaluation.suites import Suite, SuiteSet
from twolane.model.answer import Feature, Lane
from twolane.model.errors import BadInput, EmbedderUnavailable
from twolane.ranking.background import Usual
from twolane.ranking.model import LanguageWeights, Scorer, Weights, chance
from twolane.ranking.model_files import known_model, model_in, packaged_model

SPACE = HashingEmbedder().space
SHIPPED = packaged_model()
BOTH = (Lane.LEXICAL, Lane.DENSE)


def candidate(
    id: str,
    features: Mapping[Feature, float],
    *,
    lanes: Sequence[Lane] = BOTH,
    foreign: bool = False,
    parallels: Mapping[str, float] | None = None,
) -> Candidate:
    """A document that these lanes brought."""
    return Candidate(
        id,
        features=dict(features),
        ranks=dict.fromkeys(lanes, 1),
        foreign=foreign,
        parallels=dict(parallels or {}),
    )


def drawn_set(
    name: str, queries: int, *, noise: float = 0.0, telling: Feature = Feature.BM25F, seed: int = 1
) -> FitSet:
    """Queries of one relevant document among ten, which has 2 more of one feature than others.

    The other features are the same lottery for all; `noise` blurs the telling one.
    """
    dice = random.Random(f"{name} {seed}")
    found = []
    for number in range(queries):
        candidates = []
        for at in range(10):
            features = {one: dice.random() for one in HYBRID.own}
            features[telling] = (3.0 if at == 0 else 1.0) + dice.gauss(0, noise)
            foreign = at % 5 == 4
            candidates.append(candidate(f"{name}-{number}-{at}", features, foreign=foreign))
        dice.shuffle(candidates)
        found.append(JudgedQuery(f"q{number}", candidates, {f"{name}-{number}-0": 2}))
    return FitSet(name, tuple(found))


def values(weights: LanguageWeights) -> list[float]:
    """All weights, without the intercepts."""
    return [*weights.own.features.values(), *weights.foreign.features.values()]


def distance(one: LanguageWeights, other: LanguageWeights) -> float:
    """How far the weights for documents in the query's languages are from each other, in parts."""
    pairs = [
        (one.own.features.get(name, 0.0), other.own.features.get(name, 0.0)) for name in HYBRID.own
    ]
    return max(abs(mine - theirs) / max(theirs, 0.1) for mine, theirs in pairs)


numbers = st.floats(-5, 5, allow_subnormal=False).map(lambda value: round(value, 3))
rows = st.tuples(
    st.dictionaries(st.sampled_from(HYBRID.own), numbers),
    st.booleans(),
    st.integers(-1, 3),
)


class TestWeights:
    """The weights that order judged documents best."""

    @settings(deadline=None, max_examples=60)
    @given(
        st.lists(st.lists(rows, min_size=2, max_size=8), min_size=1, max_size=5),
        st.sampled_from(BASES),
        st.booleans(),
    )
    def test_they_are_never_negative(
        self,
        queries: list[list[tuple[dict[Feature, float], bool, int]]],
        basis: Basis,
        held: bool,
    ) -> None:
        """Whatever the judgments say, more of a feature never means less, and all is finite."""
        judged = []
        for number, documents in enumerate(queries):
            candidates = [
                candidate(f"d{at}", features, foreign=foreign)
                for at, (features, foreign, _) in enumerate(documents)
            ]
            grades = {f"d{at}": grade for at, (_, _, grade) in enumerate(documents)}
            judged.append(JudgedQuery(f"q{number}", candidates, grades))
        sets = [FitSet("any", tuple(judged))]
        prior = SHIPPED.spaces[-1].hybrid if held else None
        if all(len({max(0, grade) for _, _, grade in each}) < 2 for each in queries):
            with pytest.raises(BadInput, match="relevant document among its candidates"):
                fit(sets, basis, prior)
            return
        weights = fit(sets, basis, prior)
        assert all(0 <= value < 1e4 for value in values(weights))
        assert all(
            math.isfinite(one.intercept) and abs(one.intercept) < 1e5
            for one in (weights.own, weights.foreign)
        )
        assert set(weights.own.features) <= {*basis.own, Feature.SMALL_LIBRARY}
        assert set(weights.foreign.features) <= {*basis.foreign, Feature.SMALL_LIBRARY}

    @settings(deadline=None, max_examples=20)
    @given(st.sampled_from(HYBRID.own), st.integers(2, 30), st.integers(0, 99))
    def test_what_can_be_told_apart_is(self, telling: Feature, queries: int, seed: int) -> None:
        """Where a feature tells every relevant document, the order is perfect."""
        given = drawn_set("a", queries, telling=telling, seed=seed)
        weights = fit([given], HYBRID)
        assert judged_by(weights, given, HYBRID).ndcg == 1.0
        assert weights.own.features[telling] > 0

    @settings(deadline=None, max_examples=10)
    @given(st.integers(0, 99))
    def test_they_are_the_best_there_are(self, seed: int) -> None:
        """No small step in any direction that is allowed lowers the loss: it is the optimum."""
        import numpy as np

        dice = np.random.default_rng(seed)
        pairs, counts = dice.normal(0.3, 1.0, (80, 4)), dice.random(80)
        pull, target = np.full(4, 0.01), np.zeros(4)

        def loss(at: np.ndarray) -> float:
            return float(
                (counts * np.log1p(np.exp(-(pairs @ at)))).sum()
                + 0.5 * (pull * (at - target) ** 2).sum()
            )

        found = module._descended(pairs, counts, pull, target, np.full(4, 0.5))
        for at in range(4):
            for step in (-1e-3, 1e-3):
                other = found.copy()
                other[at] += step
                if at == 3 or other[at] >= 0:
                    assert loss(other) >= loss(found) - 1e-9

    def test_a_misleading_feature_gets_no_weight(self) -> None:
        """What relevant documents have less of counts nothing, and never against a document."""
        given = drawn_set("a", 50)
        for query in given.queries:
            for one in query.candidates:
                one.features[Feature.TITLE] = 1.0 if query.grades.get(one.id, 0) == 0 else 0.0
        weights = fit([given], HYBRID).own.features
        assert Feature.TITLE not in weights
        assert weights[Feature.BM25F] > 0

    def test_without_an_error_nothing_is_certain(self) -> None:
        """Chances from data without any error approach 0 and 1, and stay some way off."""
        for queries in (1, 3, 30):
            given = drawn_set("a", queries)
            weights = fit([given], HYBRID)
            rated = [
                (one.relevance or 0.0, query.grades.get(one.id, 0) > 0)
                for query in given.queries
                for one in ranked_by(weights, query, HYBRID)
            ]
            assert all((chance > 0.5) == relevant for chance, relevant in rated)
            assert all(1e-6 < chance < 1 - 1e-6 for chance, _ in rated)

    def test_known_chances_are_found(self) -> None:
        """The chances are those that the outcomes were drawn with."""
        dice = random.Random(4)
        queries = []
        for number in range(1_500):
            rarities = [dice.uniform(0, 2) for _ in range(10)]
            candidates = [
                candidate(f"d{at}", {Feature.BM25F: value}) for at, value in enumerate(rarities)
            ]
            grades = {
                f"d{at}": 1
                for at, value in enumerate(rarities)
                if dice.random() < chance(3 * value - 4)
            }
            queries.append(JudgedQuery(f"q{number}", candidates, grades))
        weights = fit([FitSet("drawn", tuple(queries))], HYBRID).own
        assert weights.features[Feature.BM25F] == pytest.approx(3, rel=0.1)
        assert weights.intercept == pytest.approx(-4, abs=0.3)

    def test_a_set_counts_by_its_weight(self) -> None:
        """Of two sets that disagree, the one that counts more decides; their size does not."""
        words = drawn_set("words", 10, telling=Feature.BM25F)
        meaning = drawn_set("meaning", 40, telling=Feature.PASSAGE)
        heavy, light = replace(words, weight=20.0), replace(meaning, weight=0.05)
        decided = fit([heavy, light], HYBRID).own.features
        assert decided[Feature.BM25F] > 2 * decided.get(Feature.PASSAGE, 0.0)
        even = fit([words, meaning], HYBRID).own.features
        assert even[Feature.BM25F] == pytest.approx(even[Feature.PASSAGE], rel=0.4)

    def test_another_language_needs_to_be_clearly_likelier(self) -> None:
        """What judgments say of it is told a little lower, once: not again when fitted to more."""
        given = drawn_set("even", 40, noise=0.5)
        fitted, margin = fit([given], HYBRID), module._CLEARLY
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_CLEARLY", 0.0)
            without = fit([given], HYBRID)
        assert fitted.own == without.own
        lowered = without.foreign.intercept - fitted.foreign.intercept
        assert lowered == pytest.approx(margin, abs=1e-3)
        again = fit([given], HYBRID, fitted, math.inf)
        slope = again.own.features[Feature.BM25F] / fitted.own.features[Feature.BM25F]
        gap, gap_again = (one.foreign.intercept - one.own.intercept for one in (fitted, again))
        assert gap_again == pytest.approx(slope * gap, abs=1e-3)

    def test_a_set_may_tell_the_order_alone(self) -> None:
        """Queries that are hard on purpose help to order, and leave chances as others have them."""
        usual = drawn_set("usual", 40, noise=0.5)
        hard = drawn_set("hard", 40, noise=3.0, telling=Feature.PASSAGE)
        alone, both = fit([usual], HYBRID), fit([usual, hard], HYBRID)
        ordering = fit([usual, replace(hard, tells_chances=False)], HYBRID)
        assert ordering.own.features.get(Feature.PASSAGE, 0) > alone.own.features.get(
            Feature.PASSAGE, 0
        )

        def error(weights: LanguageWeights) -> float:
            return judged_by(weights, usual, HYBRID).error

        assert error(ordering) < error(both)

    def test_a_basis_sees_what_its_lanes_bring(self) -> None:
        """What only meaning brought is not there for words alone, and the other way round."""
        found = [
            candidate("both", {Feature.BM25F: 1.0, Feature.PASSAGE: 1.0}),
            candidate("words", {Feature.BM25F: 2.0}, lanes=[Lane.LEXICAL]),
            candidate("name", {Feature.NAME: 1.0}, lanes=[Lane.IDENTITY]),
            candidate("meaning", {Feature.PASSAGE: 2.0}, lanes=[Lane.DENSE]),
        ]
        query = JudgedQuery("q", found, {"both": 1})
        one = LanguageWeights(Weights(0.0, {}), Weights(0.0, {}))
        seen = {basis.name: {each.id for each in ranked_by(one, query, basis)} for basis in BASES}
        assert seen == {
            "hybrid": {"both", "words", "name", "meaning"},
            "lexical": {"both", "words", "name"},
            "semantic": {"both", "meaning"},
        }
        weighted = set(fit([FitSet("a", (query,))], SEMANTIC).own.features)
        assert weighted <= {*SEMANTIC.own, Feature.SMALL_LIBRARY}

    def test_nothing_to_learn_from_is_refused(self) -> None:
        """Only relevant candidates, or none that is, order nothing; grades below 0 are none."""
        found = [candidate("a", {Feature.BM25F: 1.0}), candidate("b", {Feature.BM25F: 2.0})]
        for grades in ({}, {"gone": 2}, {"a": 1, "b": 1}, {"a": -1}):
            with pytest.raises(BadInput, match="give golden sets whose documents are indexed"):
                fit([FitSet("a", (JudgedQuery("q", found, grades),))], HYBRID)


class TestPrior:
    """Weights that are fitted again are held to what they were."""

    PRIOR = SHIPPED.spaces[-1].hybrid

    def test_few_queries_change_little(self) -> None:
        """A handful of judgments, even without a single error, moves the weights a little."""
        for queries in (1, 3, 5):
            again = fit([drawn_set("own", queries)], HYBRID, self.PRIOR)
            assert distance(again, self.PRIOR) < 0.15
            assert again.own.intercept == pytest.approx(self.PRIOR.own.intercept, abs=1.0)
            assert again.foreign.intercept == pytest.approx(self.PRIOR.foreign.intercept, abs=1.0)

    def test_many_queries_decide(self) -> None:
        """A thousand judgments outweigh what was known: what tells them apart gains most."""
        gained = []
        for queries in (10, 100, 1_000):
            given = drawn_set("own", queries, noise=0.5, telling=Feature.PASSAGE)
            again = fit([given], HYBRID, self.PRIOR)
            gained.append(
                again.own.features[Feature.PASSAGE] / self.PRIOR.own.features[Feature.PASSAGE]
            )
        assert 1 < gained[0] < gained[1] < gained[2]
        assert gained[2] > 3

    def test_judgments_in_several_files_count_the_same(self) -> None:
        """Two files of five queries move the weights about as far as one of ten."""
        whole = drawn_set("own", 10)
        halves = [FitSet("a", whole.queries[:5]), FitSet("b", whole.queries[5:])]
        together, apart = fit([whole], HYBRID, self.PRIOR), fit(halves, HYBRID, self.PRIOR)
        assert distance(together, apart) < 0.02

    def test_what_own_documents_lack_stays(self) -> None:
        """A feature that no judged document has keeps its share in the whole."""
        given = drawn_set("own", 5)
        for query in given.queries:
            for one in query.candidates:
                del one.features[Feature.NAME]
        again, prior = fit([given], HYBRID, self.PRIOR).own.features, self.PRIOR.own.features
        assert again[Feature.NAME] == pytest.approx(prior[Feature.NAME], rel=0.15)


class TestJudgments:
    """Judgments of one's own move the order only as far as they show that it helps."""

    PRIOR = TestPrior.PRIOR

    def order(self, weights: LanguageWeights) -> dict[Feature, float]:
        """The shares of the weights, which decide the order."""
        features = {
            name: value
            for name, value in weights.own.features.items()
            if name != Feature.SMALL_LIBRARY
        }
        total = sum(features.values())
        return {name: value / total for name, value in features.items()}

    def test_a_handful_changes_no_order(self) -> None:
        """Five judgments say how likely results are, and nothing about their order."""
        given = drawn_set("own", 5, telling=Feature.PASSAGE)
        found = fit_to_judgments([given], HYBRID, self.PRIOR)
        assert self.order(found) == pytest.approx(self.order(self.PRIOR), abs=1e-3)
        assert found.own.intercept != self.PRIOR.own.intercept

    def test_judgments_that_show_a_gain_move_the_order(self) -> None:
        """Where one feature tells what is relevant, it gains weight."""
        given = drawn_set("own", 60, noise=0.5, telling=Feature.PASSAGE)
        found = fit_to_judgments([given], HYBRID, self.PRIOR)
        share = self.order(found)[Feature.PASSAGE]
        assert share > 1.2 * self.order(self.PRIOR)[Feature.PASSAGE]

    def test_judgments_that_show_none_leave_it(self) -> None:
        """Where the weights in use order best already, chance moves nothing."""
        given = drawn_set("own", 30, noise=50.0)
        found = fit_to_judgments([given], HYBRID, self.PRIOR)
        assert self.order(found) == pytest.approx(self.order(self.PRIOR), abs=1e-3)

    def test_what_a_small_library_adds_is_counted_once(self) -> None:
        """Chances of few documents are as likely as they were: the intercept makes up for it."""
        given = drawn_set("own", 60, noise=2.0)
        before = fit_to_judgments([given], HYBRID, self.PRIOR)
        for query in given.queries:
            for one in query.candidates:
                one.features[Feature.SMALL_LIBRARY] = 1.0
        after = fit_to_judgments([given], HYBRID, self.PRIOR)
        assert after.own.features[Feature.SMALL_LIBRARY] == 1.0
        assert -1.1 < after.own.intercept - before.own.intercept < -0.2
        one, other = (judged_by(weights, given, HYBRID) for weights in (before, after))
        assert other.error < one.error + 0.02


class TestStages:
    """A reranker gets a weight only where it shows a gain; a poor one is told to be silent."""

    PRIOR = TestPrior.PRIOR

    def reranked(self, name: str, *, knows: bool, seed: int = 1) -> FitSet:
        """Queries whose candidates were read by a reranker that knows them, or draws lots."""
        dice = random.Random(f"{name} {seed} scores")
        drawn = drawn_set(name, 40, noise=2.0, seed=seed)
        for query in drawn.queries:
            for one in query.candidates:
                best = query.grade(one) > 0 and knows
                one.features[Feature.RERANK] = dice.gauss(6.0 if best else 0.0, 2.0)
        return drawn

    def test_one_that_knows_counts(self) -> None:
        """By judgments of one's own, and by sets that were left out."""
        sets = [self.reranked(name, knows=True) for name in "abc"]
        (basis, *_) = with_stages(BASES, sets)
        assert fit_to_judgments(sets[:1], basis, self.PRIOR).own.features[Feature.RERANK] > 0.1
        assert fit_report(sets, basis).weights.own.features[Feature.RERANK] > 0.1

    @pytest.mark.parametrize("seed", range(3))
    def test_one_that_draws_lots_is_silent(self, seed: int) -> None:
        """The order is that of the fit without it."""
        sets = [self.reranked(name, knows=False, seed=seed) for name in "abc"]
        (basis, *_) = with_stages(BASES, sets)
        for staged, without in (
            (
                fit_to_judgments(sets, basis, self.PRIOR),
                fit_to_judgments(sets, HYBRID, self.PRIOR),
            ),
            (fit_report(sets, basis).weights, fit_report(sets, HYBRID).weights),
        ):
            for each, plain in (
                (staged.own, without.own),
                (staged.foreign, without.foreign),
            ):
                assert each.features == {**plain.features, Feature.RERANK: 0.0}
                assert each.intercept == plain.intercept

    def test_a_space_that_nobody_fitted_leaves_it_silent(self) -> None:
        """What a reranker is worth beside one embedder says nothing of it beside another."""

        def ask(one: SuiteSet) -> Asked:
            made = self.reranked(one.golden.name, knows=True)
            return Asked(made, SPACE, Usual(0.1, 0.2), "good")

        found = fit_suite(suite_of("a", "b", "c"), SHIPPED, ask).model
        mine, other = found.of_space(SPACE), found.of_space(None)
        assert mine.hybrid.own.features[Feature.RERANK] > 0.1
        assert other.hybrid.own.features[Feature.RERANK] == 0.0
        assert other.hybrid.foreign.features[Feature.RERANK] == 0.0


class TestLeavingOut:
    """What weights are worth is told by what they have not seen."""

    @pytest.fixture
    def fitted_on(self, monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
        """The names of the sets of every fit, in order."""
        seen: list[set[str]] = []
        real = module._fitted

        def watched(tables: Sequence[Any], *others: Any) -> LanguageWeights:
            # The weight of a set tells which one it is.
            seen.append({chr(round(table.weight * 1e6) % 1000) for table in tables})
            return real(tables, *others)

        monkeypatch.setattr(module, "_fitted", watched)
        return seen

    def named(self, names: str) -> list[FitSet]:
        """Sets that can be told apart by their weights, too."""
        return [replace(drawn_set(one, 4), weight=1 + ord(one) / 1e6) for one in names]

    def test_each_set_is_judged_unseen(self, fitted_on: list[set[str]]) -> None:
        """A set is judged by weights that saw neither it nor what shares its documents."""
        sets = self.named("abcd")
        report = fit_report(sets, HYBRID, [frozenset("ab"), frozenset("bc")])
        assert [one.name for one in report.held_out] == list("abcd")
        # a goes with b; b with a and c; c with b; d by itself; then all for the weights.
        assert fitted_on == [set("cd"), {"d"}, set("ad"), set("abc"), set("abcd")]
        assert report.weights == fit(sets, HYBRID)

    def test_sets_that_go_together_share_a_fit(self, fitted_on: list[set[str]]) -> None:
        """The same sets are not fitted on twice."""
        sets = self.named("abc")
        fit_report(sets, HYBRID, [frozenset("ab")])
        assert fitted_on == [{"c"}, set("ab"), set("abc")]

    def test_a_single_set_has_weights_and_no_verdict(self) -> None:
        """Where nothing is left to fit on, the weights are told and not what they are worth."""
        report = fit_report([drawn_set("a", 4)], HYBRID)
        assert report.held_out == ()
        assert report.mean() == 0.0
        assert values(report.weights)

    def test_means_are_over_sets(self) -> None:
        """Every set counts the same in the mean of its group, and of all."""
        easy = [replace(drawn_set(name, 4), group="easy") for name in "ab"]
        hard = [replace(drawn_set("c", 4, noise=3.0), group="hard")]
        report = fit_report([*easy, *hard], HYBRID)
        by_name = {one.name: one.ndcg for one in report.held_out}
        assert report.mean("easy") == pytest.approx((by_name["a"] + by_name["b"]) / 2)
        assert report.mean("hard") == by_name["c"]
        assert report.mean() == pytest.approx(sum(by_name.values()) / 3)
        assert report.mean("other") == 0.0

    def test_a_set_is_judged_as_it_would_be_searched(self) -> None:
        """nDCG counts what was not found, too; queries without an answer are left out."""
        found = [candidate("a", {Feature.BM25F: 1.0}), candidate("b", {Feature.BM25F: 2.0})]
        weights = LanguageWeights(Weights(0.0, {Feature.BM25F: 1.0}), Weights(0.0, {}))
        queries = (JudgedQuery("q", found, {"a": 1, "lost": 1}), JudgedQuery("none", found, {}))
        judged = judged_by(weights, FitSet("s", queries, group="g"), HYBRID)
        best = 1 + 1 / math.log2(3)
        assert (judged.name, judged.group, judged.queries) == ("s", "g", 1)
        assert judged.ndcg == pytest.approx(1 / math.log2(3) / best)
        rated = [(chance(2.0), False), (chance(1.0), True)]
        assert judged.error == pytest.approx(calibration_error(rated))


class TestCalibrationError:
    """How far chances are from what came true."""

    def test_by_hand(self) -> None:
        """Two bins of two: what they predict and what share is relevant, apart by .4 and .3."""
        rated = [(0.1, False), (0.1, True), (0.7, False), (0.9, True)]
        assert calibration_error(rated, bins=2) == pytest.approx((2 * 0.4 + 2 * 0.3) / 4)
        assert calibration_error([]) == 0.0
        assert calibration_error([(1.0, True), (0.0, False)]) == 0.0
        assert calibration_error([(1.0, False)]) == 1.0

    @given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60), st.integers(1, 20))
    def test_the_formula(self, rated: list[tuple[float, bool]], bins: int) -> None:
        """Σ over bins of their share of all × |mean chance − share that came true|."""
        expected = 0.0
        for number in range(bins):
            held = [
                (value, came)
                for value, came in rated
                if math.floor(value * bins) == number or (value == 1 and number == bins - 1)
            ]
            if held:
                mean = sum(value for value, _ in held) / len(held)
                share = sum(came for _, came in held) / len(held)
                expected += len(held) / len(rated) * abs(mean - share)
        assert calibration_error(rated, bins) == pytest.approx(expected, abs=1e-9)

    def test_honest_chances_have_hardly_any(self) -> None:
        """Outcomes that are drawn with the chances that were told agree with them."""
        dice = random.Random(5)
        told = [dice.random() for _ in range(20_000)]
        assert calibration_error([(value, dice.random() < value) for value in told]) < 0.01


class TestRankedBy:
    """A set is ranked as a search ranks."""

    @settings(deadline=None, max_examples=40)
    @given(
        st.lists(
            st.tuples(
                st.dictionaries(st.sampled_from(HYBRID.own), numbers),
                st.booleans(),
                st.dictionaries(st.sampled_from("012345"), st.floats(0, 1), max_size=2),
            ),
            max_size=6,
        )
    )
    def test_it_is_what_the_scorer_does(
        self, documents: list[tuple[dict[Feature, float], bool, dict[str, float]]]
    ) -> None:
        """The order, the scores and the chances are those of the scorer that searches use."""

        def made() -> list[Candidate]:
            return [
                candidate(
                    str(at),
                    {Feature.PASSAGE: 0.0, **features},
                    foreign=foreign,
                    parallels={id: value for id, value in parallels.items() if id != str(at)},
                )
                for at, (features, foreign, parallels) in enumerate(documents)
            ]

        weights = SHIPPED.spaces[-1].hybrid
        scorer = Scorer.of(SHIPPED, None, by_words=True, by_meaning=True)
        ours = ranked_by(weights, JudgedQuery("q", made(), {}), HYBRID)
        theirs = scorer.rank(made())
        assert [(one.id, one.score, one.relevance) for one in ours] == [
            (one.id, one.score, one.relevance) for one in theirs
        ]

    def test_words_alone_know_no_parallels(self) -> None:
        """Without vectors nothing is known to say the same, so nothing is lifted."""
        low = candidate("low", {Feature.BM25F: 0.0}, foreign=True, parallels={"high": 1.0})
        high = candidate("high", {Feature.BM25F: 2.0})
        query = JudgedQuery("q", [low, high], {})
        weights = SHIPPED.lexical
        by_words = {one.id: one.score for one in ranked_by(weights, query, LEXICAL)}
        both = {one.id: one.score for one in ranked_by(weights, query, HYBRID)}
        assert by_words["low"] == weights.foreign.intercept < by_words["high"]
        assert both["low"] == pytest.approx(both["high"])
        assert both["high"] == pytest.approx(by_words["high"])


# ------------------------------------------------------------------------------- files


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """The small set, asked of its vault."""
    file, golden = small_set(tmp_path)
    with bench(golden, file, quick(), tmp_path / "kept") as library:
        return ask_set(golden, library, group="g", weight=0.5)


def test_a_set_is_asked_once(asked: Asked) -> None:
    """Every query has its candidates with features, and grades by their ids."""
    one = asked.fit_set
    assert (one.name, one.group, one.weight) == ("small", "g", 0.5)
    assert [query.id for query in one.queries] == [query.id for query in QUERIES]
    for query, judged in zip(one.queries, QUERIES, strict=True):
        assert sorted(query.ideal) == sorted(judged.grades.values())
        assert all(Feature.PASSAGE in each.features for each in query.candidates)
        found = {each.id for each in query.candidates}
        # This embedder brings every document of six.
        assert set(query.grades) <= found
    assert asked.space == SPACE
    assert asked.usual.deviation > 0


def test_what_has_no_vectors_is_refused(tmp_path: Path) -> None:
    """No embedder, or passages that wait for a vector, are named with what to do."""
    file, golden = small_set(tmp_path)
    by_words = quick(embedding={"embedder": "none"})
    with (
        bench(golden, file, by_words, tmp_path / "kept") as words,
        pytest.raises(EmbedderUnavailable, match="without vectors"),
    ):
        ask_set(golden, words)
    with bench(golden, file, quick(), tmp_path / "kept") as library:
        (tmp_path / "vault" / "new.md").write_text("# New\n\nNot embedded yet.\n", "utf-8")
        library.index(tmp_path / "vault")
        with pytest.raises(BadInput, match="1 passages have no vector"):
            ask_set(golden, library)


def suite_of(*names: str) -> Suite:
    """A suite of sets with these names, of which only the names matter."""
    sets = [SuiteSet("g", Path(name), GoldenSet(name, queries=QUERIES)) for name in names]
    return Suite("s", tuple(sets))


def drawn(noise: float = 0.5) -> Callable[[SuiteSet], Asked]:
    """Asks drawn sets."""

    def ask(one: SuiteSet) -> Asked:
        made = drawn_set(one.golden.name, 20, noise=noise)
        return Asked(replace(made, group=one.group), SPACE, Usual(0.1, 0.2))

    return ask


def test_a_suite_makes_a_model() -> None:
    """The model has the new weights of words and of the space, and all others as they were."""
    found = fit_suite(suite_of("a", "b"), SHIPPED, drawn())
    assert [one.basis for one in found.reports] == ["hybrid", "lexical", "semantic"]
    assert all([one.name for one in each.held_out] == ["a", "b"] for each in found.reports)
    by_name = {one.basis: one.weights for one in found.reports}
    mine = found.model.of_space(SPACE)
    assert (mine.embedder, mine.hybrid) == ("hashing", by_name["hybrid"])
    assert mine.semantic == by_name["semantic"]
    # Similarities are told as the space has them, in deviations of the index.
    assert mine.usual == Usual(0.0, 0.2)
    assert found.model.lexical == by_name["lexical"]
    assert found.model.threshold == SHIPPED.threshold
    assert found.model.of_space(None).usual == SHIPPED.of_space(None).usual
    again = fit_suite(suite_of("a", "b"), found.model, drawn(noise=0.1))
    assert len(again.model.spaces) == len(found.model.spaces) == len(SHIPPED.spaces) + 1


def test_sets_of_different_spaces_do_not_mix() -> None:
    """Features of two models say nothing about each other."""

    def ask(one: SuiteSet) -> Asked:
        space = replace(SPACE, model=one.golden.name)
        return Asked(drawn_set(one.golden.name, 3), space, Usual(0.1, 0.2))

    with pytest.raises(BadInput, match="different spaces"):
        fit_suite(suite_of("a", "b"), SHIPPED, ask)


def test_own_judgments_fit_what_is_in_use(asked: Asked) -> None:
    """A few judgments make a model near the one in use, for their space."""
    found = fit_again([asked], SHIPPED)
    mine, before = found.model.of_space(SPACE), SHIPPED.of_space(SPACE)
    assert mine.embedder == "hashing"
    assert distance(mine.hybrid, before.hybrid) < 0.3
    assert mine.hybrid != before.hybrid
    assert not any(one.held_out for one in found.reports)


def test_what_words_alone_do_not_bring_stays() -> None:
    """Where words bring nothing to learn from, their weights stay, and the rest is fitted."""
    given = drawn_set("a", 5, telling=Feature.PASSAGE)
    for query in given.queries:
        for one in query.candidates:
            del one.ranks[Lane.LEXICAL]
    found = fit_again([Asked(given, SPACE, Usual(0.1, 0.2))], SHIPPED)
    assert found.model.lexical == SHIPPED.lexical
    assert found.model.of_space(SPACE).hybrid != SHIPPED.of_space(SPACE).hybrid


def test_an_adopted_model_is_what_searches_use(asked: Asked, tmp_path: Path) -> None:
    """The file that the setting names holds the model, number by number, and searches read it."""
    found = fit_again([asked], SHIPPED)
    file = tmp_path / "new" / "model.json"
    adopt(found, file)
    assert model_in(file) == found.model
    own = quick(ranking={"model_file": file})
    assert known_model(own) == found.model
    # A model that rates everything alike tells that a search asks this file.
    odd = replace(
        found.model,
        spaces=tuple(replace(one, hybrid=_constant(0.75)) for one in found.model.spaces),
    )
    adopt(replace(found, model=odd), file)
    golden_file, golden = small_set(tmp_path)
    with bench(golden, golden_file, own, tmp_path / "kept") as library:
        assert _relevances(library) == {0.75}
    with bench(golden, golden_file, quick(), tmp_path / "kept") as library:
        assert _relevances(library) != {0.75}


def _constant(relevance: float) -> LanguageWeights:
    weights = Weights(math.log(relevance / (1 - relevance)), {})
    return LanguageWeights(weights, weights)


def _relevances(library: Library) -> set[float]:
    answer = library.search("steep green tea")
    return {round(one.relevance or 0.0, 6) for one in answer.results}


def test_a_fit_is_stored(tmp_path: Path) -> None:
    """What is stored has the weights, what each set says of them, and no text of any set."""
    found = fit_suite(suite_of("a", "b"), SHIPPED, drawn())
    paths = [save_fit(found, tmp_path / "runs") for _ in range(2)]
    assert len(set(paths)) == 2
    assert paths[0].name.startswith("fit-hashing-")
    stored = json.loads(paths[0].read_text("utf-8"))
    assert (stored["format"], stored["embedder"]) == ("twolane-fit/1", "hashing")
    hybrid: Report = found.reports[0]
    assert stored["reports"][0]["weights"]["own"]["features"] == hybrid.weights.own.features
    assert [one["name"] for one in stored["reports"][0]["held_out"]] == ["a", "b"]
