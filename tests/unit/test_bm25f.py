"""BM25F and coverage, against the formula written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.model.candidate import Frequencies
from twolane.model.document import FIELDS
from twolane.model.scope import Word
from twolane.ranking.bm25f import WEIGHTS, Bm25f, idf
from twolane.stores.term_counts import TermCounter
from twolane.text.tokens import stream, words_of

WRITTEN = ("cat", "cats", "catalog", "embedding", "embedded", "useAuth", "C++", "東京都", "it's")


class Written(NamedTuple):
    """A document as it was written."""

    id: str
    title: str = ""
    body: str = ""


def candidate(id: str, title: str = "", body: str = "") -> Written:
    return Written(id, title, body)


class Scored(NamedTuple):
    """A document with its score: BM25F and coverage as shares of what the query could reach."""

    id: str
    bm25f: float
    coverage: float


def score(
    words: Sequence[Word], documents: Sequence[Written], frequencies: Frequencies
) -> list[Scored]:
    """The scores of documents whose words were counted by the stores' own counter, best first."""
    counter, bm25f = TermCounter(words), Bm25f(words, frequencies)
    found = []
    for one in documents:
        streams = [
            stream(getattr(one, name, "") if name in ("title", "body") else "", "en")
            for name in FIELDS
        ]
        told = bm25f.of(counter.of(one.id, ("en",), streams))
        assert told.coverage == pytest.approx(sum(told.trusts))
        if told.coverage:
            found.append(Scored(one.id, told.bm25f, told.coverage))
    return sorted(found, key=lambda one: (-one.bm25f * one.coverage, one.id))


def frequencies(
    documents: int = 10, lengths: dict[str, float] | None = None, **frequency: int
) -> Frequencies:
    prefixes = {f"{term}*": count for term, count in frequency.items()}
    return Frequencies(documents, frequency | prefixes, lengths or dict.fromkeys(FIELDS, 4.0))


def test_one_word_in_one_body() -> None:
    """A single count in a body of average length is 1/(1.2 + 1) of what can be reached."""
    (one,) = score(
        words_of("cat", ["en"]), [candidate("a", body="the cat sat down")], frequencies(cat=2)
    )
    assert one.bm25f == pytest.approx(1 / 2.2)
    assert one.coverage == 1.0
    (cat,) = words_of("cat", ["en"])
    assert idf(cat, frequencies(cat=2)) == pytest.approx(log(1 + (10 - 2 + 0.5) / (2 + 0.5)))


def test_fields_add_before_they_saturate() -> None:
    """Weighted counts of all fields add up, each normalised by its field's length."""
    (one,) = score(
        words_of("cat", ["en"]), [candidate("a", "cat", "cat cat dog dog")], frequencies(cat=2)
    )
    title = WEIGHTS["title"] * 1 / (1 - 0.3 + 0.3 * 1 / 4)
    body = WEIGHTS["body"] * 2 / (1 - 0.75 + 0.75 * 4 / 4)
    count = title + body
    assert one.bm25f == pytest.approx(count / (1.2 + count))


def test_rare_words_cover_more() -> None:
    """Coverage weighs words by rarity: half of the words may be most of the question."""
    words = words_of("rare common", ["en"])
    found = score(
        words,
        [candidate("common", body="common x x x"), candidate("rare", body="rare x x x")],
        frequencies(100, rare=1, common=90),
    )
    assert [one.id for one in found] == ["rare", "common"]
    rare, common = (idf(word, frequencies(100, rare=1, common=90)) for word in words)
    assert found[0].coverage == pytest.approx(rare / (rare + common))
    assert found[1].coverage == pytest.approx(common / (rare + common))


def test_a_guess_counts_for_less() -> None:
    """A word that was only guessed reaches its weight, never the whole."""
    guessed = [replace(word, weight=0.5) for word in words_of("cat", ["en"])]
    (one,) = score(guessed, [candidate("a", body="cat x x x")], frequencies(cat=2))
    assert one.coverage == 0.5
    assert one.bm25f == pytest.approx(0.5 / 2.2)


def test_all_words_come_before_some() -> None:
    """Of two equal documents, the one with every word wins."""
    found = score(
        words_of("red green blue", ["en"]),
        [candidate("two", body="red green red green"), candidate("all", body="red green blue x")],
        frequencies(red=5, green=5, blue=5),
    )
    assert [one.id for one in found] == ["all", "two"]


def test_a_stem_is_never_found_inside_a_word() -> None:
    """`art` does not match `start`, nor `star` `start`."""
    assert (
        score(words_of("art", ["en"]), [candidate("a", body="start of a star")], frequencies(art=1))
        == []
    )


def test_a_prefix_matches_the_start_of_words() -> None:
    """`auth*` matches `authentication` and not `coauthor`."""
    prefix = (Word("auth", ("auth",), prefix=True),)
    assert [
        one.id
        for one in score(
            prefix,
            [candidate("yes", body="authentication now"), candidate("no", body="coauthored by me")],
            frequencies(auth=1),
        )
    ] == ["yes"]


def test_repeated_neighbours_are_all_counted() -> None:
    """`cat cat cat` holds the word three times, although the stems share their spaces."""
    once, thrice = (
        score(words_of("cat", ["en"]), [candidate("a", body=body)], frequencies(cat=1))[0].bm25f
        for body in ("cat dog dog", "cat cat cat")
    )
    assert thrice > once


def test_ties_break_by_id() -> None:
    """Equal documents come in the order of their ids, whatever the store's order was."""
    found = score(
        words_of("cat", ["en"]),
        [candidate(id, body="cat x") for id in ("b", "c", "a")],
        frequencies(cat=3),
    )
    assert [one.id for one in found] == ["a", "b", "c"]


@given(
    st.lists(st.lists(st.sampled_from(WRITTEN), max_size=40), min_size=1, max_size=4),
    st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=40),
    st.booleans(),
)
def test_many_words_score_as_few_do(
    bodies: list[list[str]], asked: list[str], prefix: bool
) -> None:
    """Tallying a text for many words gives what looking for each of them gives, to the last bit."""
    candidates = [
        candidate(str(number), " ".join(body[:4]), " ".join(body))
        for number, body in enumerate(bodies)
    ]
    words = [replace(word, prefix=prefix) for word in words_of(" ".join(asked), ["en"])]
    found = []
    for most in (0, 1000):
        with patch("twolane.stores.term_counts._MANY", most):
            found.append(score(words, candidates, frequencies(cat=2, embed=5)))
    assert found[0] == found[1]
