"""The ranking model: one number that orders, explains and calibrates; its files."""

from __future__ import annotations

import logging
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane import BadInput, Draft, Library, Mode, Settings
from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import VectorIndex
from twolane.ranking.background import Background, Usual, usual_in
from twolane.ranking.model import (
    LanguageWeights,
    RankingModel,
    Scorer,
    SpaceWeights,
    Weights,
    answerable,
    chance,
    small_library,
)
from twolane.ranking.model_files import known_model, model_in, model_text, packaged_model

OWN = Weights(-2.0, {Feature.BM25F: 3.0, Feature.PASSAGE: 0.5})
FOREIGN = Weights(-3.0, {Feature.PASSAGE: 1.0})
BOTH = LanguageWeights(OWN, FOREIGN)
WORDS = LanguageWeights(Weights(-1.0, {Feature.BM25F: 4.0}), Weights(-1.5, {Feature.BM25F: 2.0}))

features = st.dictionaries(st.sampled_from(sorted(Feature)), st.floats(-5, 5), max_size=6)


def candidate(id: str, *, foreign: bool = False, **values: float) -> Candidate:
    named = {Feature(name): value for name, value in values.items()}
    return Candidate(id, features=named, foreign=foreign)


def space(embedder: str = "hashing", model: str = "m") -> Space:
    return Space(embedder, model, "1", 4, chunker="1")


def test_the_score_is_the_sum() -> None:
    """Intercept and weighted features make the log-odds; the chance follows from them."""
    (one,) = Scorer(WORDS, BOTH).rank([candidate("a", bm25f=0.5, passage=2.0)])
    assert one.score == pytest.approx(-2.0 + 1.5 + 1.0)
    assert one.relevance == pytest.approx(1 / (1 + exp(-0.5)))


def test_another_language_has_weights_of_its_own() -> None:
    """Words that cannot judge a document are missing for it, and not held against it."""
    own, foreign = candidate("a", passage=2.0), candidate("b", foreign=True, passage=2.0)
    ranked = Scorer(WORDS, BOTH).rank([own, foreign])
    assert {one.id: one.score for one in ranked} == {"a": -1.0, "b": -1.0}
    # Of two that tie, the one in the query's language comes first.
    assert [one.id for one in ranked] == ["a", "b"]


def test_a_document_without_vectors_is_judged_by_words() -> None:
    """While it waits for its vectors, a good match of words is not behind a poor one by meaning."""
    waiting, embedded = candidate("waits", bm25f=0.9), candidate("near", bm25f=0.1, passage=1.0)
    ranked = Scorer(WORDS, BOTH).rank([embedded, waiting])
    assert [one.id for one in ranked] == ["waits", "near"]
    assert ranked[0].score == pytest.approx(-1.0 + 4.0 * 0.9)


def test_without_meaning_words_decide() -> None:
    """Where the dense lane did not run, its features count nothing."""
    (one,) = Scorer(WORDS, None).rank([candidate("a", bm25f=0.5, passage=9.0)])
    assert one.score == pytest.approx(-1.0 + 2.0)


@given(features, st.sampled_from(sorted(Feature)), st.floats(0, 5))
def test_more_of_anything_is_never_worse(
    values: dict[Feature, float], name: Feature, more: float
) -> None:
    """Weights are at least 0, so that no feature speaks against a document by growing."""
    model = packaged_model()
    for weights in (model.lexical.own, model.spaces[0].hybrid.own, model.spaces[0].semantic.own):
        better = values | {name: values.get(name, 0.0) + more}
        assert weights.score(better) >= weights.score(values | {name: values.get(name, 0.0)})


@given(features, st.booleans())
def test_the_explanation_is_the_score(values: dict[Feature, float], foreign: bool) -> None:
    """What is told adds up to the score, feature by feature."""
    one = Candidate("a", features=dict(values), foreign=foreign)
    scorer = Scorer(WORDS, BOTH)
    scorer.rank([one])
    scorer.explain(one, {"a": one})
    told = sum(each.share for each in one.contributions)
    assert told + scorer.weights(one).intercept == pytest.approx(one.score)
    for each in one.contributions:
        assert each.share == pytest.approx(each.weight * each.value)
        assert each.lane is each.feature.lane


def test_what_says_the_same_speaks_for_each_other() -> None:
    """A document rises towards a parallel one by how surely they say the same."""
    high, low = candidate("high", bm25f=1.0, passage=4.0), candidate("low", foreign=True, passage=1)
    low.parallels = {"high": 0.5}
    high.parallels = {"low": 0.5}
    scorer = Scorer(WORDS, BOTH)
    ranked = scorer.rank([low, high])
    assert [one.id for one in ranked] == ["high", "low"]
    assert ranked[1].score == pytest.approx((-2.0 + 3.0) / 2)
    scorer.explain(low, {one.id: one for one in ranked})
    told = low.contributions[-1]
    assert (told.feature, told.parallel, told.value) == (Feature.PARALLEL, "high", 0.5)
    assert sum(one.share for one in low.contributions) + FOREIGN.intercept == pytest.approx(
        low.score
    )
    scorer.explain(high, {one.id: one for one in ranked})
    assert all(one.feature is not Feature.PARALLEL for one in high.contributions)


def test_answerable_looks_at_the_first_results() -> None:
    """A query is answered if one of the best is likely enough."""
    likely = Candidate("a", relevance=0.5)
    unlikely = [Candidate(str(at), relevance=0.01) for at in range(10)]
    assert answerable([likely, *unlikely], 0.1)
    assert not answerable([*unlikely, likely], 0.1)
    assert not answerable([], 0.1)


def test_chances() -> None:
    """Log-odds of 0 are even, and none overflow."""
    assert chance(0.0) == 0.5
    assert chance(5000.0) == 1.0
    assert chance(-5000.0) == pytest.approx(0.0)
    assert chance(2.0) + chance(-2.0) == pytest.approx(1.0)


def test_every_feature_has_a_lane() -> None:
    """The lane of a feature is the one that measures it."""
    assert Feature.PASSAGE.lane is Lane.DENSE
    assert Feature.NAME.lane is Lane.IDENTITY
    assert Feature.EXACT.lane is Lane.EXACT
    assert Feature.TITLE.lane is Lane.LEXICAL


class TestUsual:
    """What is usual for two passages of an index."""

    def test_mean_and_deviation_of_different_documents(self) -> None:
        """Passages of one document say nothing of how like two documents are."""
        east, north = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
        sample = [("a", east), ("a", east), ("b", north), ("c", east)]
        told = usual_in(sample * 200, Usual(0.5, 0.5))
        # a–b 0, a–c 1, b–c 0, as often as there are such passages.
        apart = [0.0] * 2 + [1.0] * 2 + [0.0]
        mean = sum(apart) / 5
        deviation = (sum((one - mean) ** 2 for one in apart) / 5) ** 0.5
        assert told.mean == pytest.approx(mean, abs=0.02)
        assert told.deviation == pytest.approx(deviation, abs=0.02)

    @pytest.mark.parametrize("documents", [[], ["a"], ["a", "a", "a"]])
    def test_too_few_to_tell(self, documents: list[str]) -> None:
        """What is usual in the space counts where an index is too small."""
        one = np.array([1.0, 0.0], np.float32)
        assert usual_in([(id, one) for id in documents], Usual(0.1, 0.2)) == Usual(0.1, 0.2)

    def test_worked_out_once(self) -> None:
        """Another search asks for no sample, until a vector was added."""

        class Counting:
            asked = 0

            def sample(self, generation: int, *, size: int) -> list[tuple[str, object]]:
                self.asked += 1
                return []

        vectors = Counting()
        background = Background(_as_index(vectors))
        for revision in (1, 1, 2, 2):
            generation = Generation(1, space(), GenerationState.SERVING, revision=revision)
            background.usual(generation, Usual(0, 1))
        assert vectors.asked == 2


def _as_index(vectors: object) -> VectorIndex:
    return vectors  # type: ignore[return-value]


def save_notes(library: Library, topic: str) -> None:
    """Save a hundred notes on it, with their vectors."""
    library.save_all(Draft(f"{topic} {one}", body=f"note {one} on {topic}") for one in range(100))
    library.embed()


class TestSmallLibrary:
    """Of few documents each is likelier; an index says how many there are."""

    def test_by_their_number(self) -> None:
        """In inverse proportion, within what was measured."""
        assert small_library(100) == pytest.approx(log(2))
        assert small_library(50) == small_library(1) == pytest.approx(log(4))
        assert small_library(200) == small_library(10_000) == 0.0

    @pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
    def test_it_is_told_last_and_only_of_few(self, tmp_path: Path, mode: Mode) -> None:
        """Each result has it, in every mode; with many documents none does."""
        settings = Settings(embedding={"embedder": "hashing"})
        with Library.open(tmp_path / "notes.db", settings=settings) as library:
            save_notes(library, "leeks")
            shown = library.search("leeks", mode=mode).results
            assert {one.contributions[-1].feature for one in shown} == {Feature.SMALL_LIBRARY}
            assert shown[0].contributions[-1].share == pytest.approx(log(2))
            save_notes(library, "beans")
            for one in library.search("leeks", mode=mode).results:
                assert Feature.SMALL_LIBRARY not in {each.feature for each in one.contributions}


class TestFiles:
    """Where weights are found."""

    def made(self, embedder: str = "mine") -> RankingModel:
        """A model of one space."""
        return RankingModel(WORDS, (SpaceWeights(embedder, "m", Usual(0.0, 0.1), BOTH, BOTH),), 0.2)

    def test_the_package_has_weights_for_any_space(self) -> None:
        """The last of them are for spaces that nobody fitted."""
        model = packaged_model()
        assert model.spaces[-1].embedder == "*"
        assert model.of_space(space()) is model.spaces[-1]
        assert model.of_space(None) is model.spaces[-1]
        assert model.of_space(space("use", model.spaces[0].model)).embedder == "use"

    def test_written_and_read(self, tmp_path: Path) -> None:
        """A file holds what was written."""
        file = tmp_path / "model.json"
        file.write_text(model_text(self.made()), "utf-8")
        assert model_in(file) == self.made()
        assert model_in(tmp_path / "none.json") is None

    def test_own_weights_come_first(self, tmp_path: Path) -> None:
        """A user's file counts before the package's, which has the other spaces."""
        file = tmp_path / "model.json"
        file.write_text(model_text(self.made("use")), "utf-8")
        model = known_model(Settings(ranking={"model_file": file}))
        assert model.threshold == 0.2
        assert model.of_space(space("use", "m")).hybrid == BOTH
        assert model.spaces[-1].embedder == "*"

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("{", "truncated"),
            ("[]", "object"),
            ('{"format": "x"}', "missing"),
            ('{"format": "twolane-ranking/9"', "truncated"),
        ],
    )
    def test_a_file_that_holds_none_is_told(
        self, tmp_path: Path, text: str, reason: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It is named with what to do, and stops no search."""
        file = tmp_path / "model.json"
        file.write_text(text, "utf-8")
        with pytest.raises(BadInput, match=reason):
            model_in(file)
        with caplog.at_level(logging.WARNING, "twolane"):
            assert known_model(Settings(ranking={"model_file": file})) == packaged_model()
        assert "eval fit --adopt" in caplog.text

    def test_weights_below_0_are_refused(self, tmp_path: Path) -> None:
        """A feature that speaks against documents is no feature of this model."""
        file = tmp_path / "model.json"
        file.write_text(model_text(self.made()).replace("4.0", "-4.0"), "utf-8")
        with pytest.raises(BadInput, match="below 0"):
            model_in(file)
        file.write_text(model_text(self.made()).replace("ranking/1", "ranking/9"), "utf-8")
        with pytest.raises(BadInput, match="format"):
            model_in(file)
