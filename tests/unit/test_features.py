"""The features of words: each by its definition, on documents counted as stores count them."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.model.answer import Feature
from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS, PASSAGE_BREAK
from twolane.ranking.features import WordFeatures
from twolane.stores.term_counts import TermCounter
from twolane.text.tokens import stream, words_of

VOCABULARY = ("red", "green", "blue", "tea", "cup", "pot")


def counted(
    asked: str, *passages: str, title: str = "", sequence: str | None = None
) -> DocumentTerms:
    """A document with these passages, counted for a query."""
    streams = dict.fromkeys(FIELDS, "")
    streams["title"] = stream(title, "en")
    streams["body"] = PASSAGE_BREAK.join(stream(one, "en") for one in passages)
    counter = TermCounter(words_of(asked, ["en"]), words_of(sequence or asked, ["en"]))
    return counter.of("d", ("en",), [streams[name] for name in FIELDS])


def features(
    asked: str,
    *passages: str,
    title: str = "",
    sequence: str | None = None,
    frequency: dict[str, int] | None = None,
) -> dict[Feature, float]:
    """The features of such a document among ten, where each word is in one unless told."""
    words, order = words_of(asked, ["en"]), words_of(sequence or asked, ["en"])
    known = {key: 1 for word in (*words, *order) for key in word.keys} | (frequency or {})
    told = Frequencies(10, known, dict.fromkeys(FIELDS, 4.0))
    document = counted(asked, *passages, title=title, sequence=sequence)
    matched = WordFeatures(words, order, told).of(document)
    return matched.features if matched else {}


def test_words_that_are_not_there_have_no_features() -> None:
    """A document without any word of the query is not judged by words."""
    assert features("red tea", "blue cup") == {}


def test_coverage_of_one_passage() -> None:
    """Words in one passage count together; those that are spread over two do not."""
    together = features("red tea", "red tea", "blue cup")
    spread = features("red tea", "red cup", "blue tea")
    assert together[Feature.PASSAGE_COVERAGE] == pytest.approx(1.0)
    assert spread[Feature.PASSAGE_COVERAGE] == pytest.approx(0.5)
    assert spread[Feature.COVERAGE] == pytest.approx(1.0)


def test_a_passage_is_read_under_its_title() -> None:
    """A word of the title counts for every passage."""
    under_title = features("red tea", "red cup", "blue pot", title="Tea")
    assert under_title[Feature.PASSAGE_COVERAGE] == pytest.approx(1.0)


def test_the_share_of_the_title_that_is_said() -> None:
    """A title of nothing but the query's words is said in full; of one word in two, half."""
    assert features("red tea", "x", title="Red tea")[Feature.TITLE] == pytest.approx(1.0)
    assert features("red tea", "red", title="Tea pot")[Feature.TITLE] == pytest.approx(0.5)


def test_words_side_by_side() -> None:
    """The share of neighbours in the query that are neighbours in the text, rare ones more."""
    assert features("red tea pot", "a red tea in a pot")[Feature.PAIRS] == pytest.approx(0.5)
    assert Feature.PAIRS not in features("red tea", "tea is not red")
    rare, common = log(1 + 9.5 / 1.5), log(1 + 1.5 / 9.5)
    told = features("red tea pot", "red tea", frequency={"pot": 9})
    assert told[Feature.PAIRS] == pytest.approx(2 * rare / (2 * rare + rare + common))


def test_function_words_count_beside_others() -> None:
    """`cup of tea` stands side by side as a whole, although `of` is no word to look for."""
    told = features("cup tea", "a cup of tea", sequence="cup of tea")
    assert told[Feature.PAIRS] == pytest.approx(1.0)
    assert Feature.PAIRS not in features("cup tea", "cup and tea", sequence="cup of tea")


def test_no_neighbours_across_passages() -> None:
    """The last word of a passage and the first of the next do not stand side by side."""
    assert Feature.PAIRS not in features("red tea", "all red", "tea for two")


def test_a_list_of_words_that_are_all_there() -> None:
    """Who types nothing but words, all of which are there, is told so."""
    assert features("red tea", "tea in a red pot")[Feature.ALL_WORDS] == 1.0
    assert Feature.ALL_WORDS not in features("red tea", "tea in a pot")
    assert Feature.ALL_WORDS not in features("red tea", "red tea", sequence="the red tea")


@given(
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True),
    st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8), max_size=4),
    st.lists(st.sampled_from(VOCABULARY), max_size=3),
)
def test_every_feature_is_a_share(
    asked: list[str], passages: list[list[str]], title: list[str]
) -> None:
    """All features of words are from 0 to 1, and no passage covers more than its document."""
    told = features(" ".join(asked), *map(" ".join, passages), title=" ".join(title))
    assert all(0 <= value <= 1 + 1e-9 for value in told.values())
    if told:
        assert told[Feature.BM25F] <= told[Feature.COVERAGE] + 1e-9
        assert told[Feature.PASSAGE_COVERAGE] <= told[Feature.COVERAGE] + 1e-9
