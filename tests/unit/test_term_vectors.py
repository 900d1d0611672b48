"""Term vectors tell of a body what counting in its stream tells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twolane.model.document import FIELDS, PASSAGE_BREAK
from twolane.model.scope import Word
from twolane.stores.term_counts import TermCounter
from twolane.stores.term_vectors import TermVector, hash_of, pack

TERMS = ("red", "tea", "cup", "чай", "茶碗", "c++", "a")

BODIES = st.lists(st.lists(st.sampled_from((*TERMS, "pot", "x")), max_size=12), max_size=5)
WORDS = st.lists(
    st.lists(st.sampled_from(TERMS), min_size=1, max_size=2, unique=True), max_size=5
).map(lambda found: [Word(terms[0], tuple(terms)) for terms in found])


def streamed(passages: list[list[str]]) -> str:
    """The stream of a body with these passages."""
    return PASSAGE_BREAK.join("".join(f" {term} " for term in passage) for passage in passages)


@given(BODIES, WORDS, WORDS, st.booleans())
def test_the_same_counts(
    passages: list[list[str]], words: list[Word], more: list[Word], detailed: bool
) -> None:
    """Counts, lengths, passages and neighbours are the same, whichever way they are counted."""
    body = streamed(passages)
    counter = TermCounter(words, [*words, *more] if detailed else None)
    titled = [" tea ", *[""] * (len(FIELDS) - 2)]
    in_stream = counter.of("d", ("en",), [*titled, body])
    in_vector = counter.of("d", ("en",), [*titled, pack(body) or ""])
    assert not counter.needs_streams
    assert in_vector.frequencies == in_stream.frequencies
    assert list(in_vector.lengths) == list(in_stream.lengths)
    assert in_vector.passages == in_stream.passages
    assert in_vector.adjacent == in_stream.adjacent


def test_what_a_vector_cannot_tell() -> None:
    """Beginnings of words, and all terms at once, are counted in streams."""
    assert TermCounter([Word("te", ("te",), prefix=True)]).needs_streams
    assert TermCounter([Word("tea", ("tea",))], [Word("te", ("te",), prefix=True)]).needs_streams
    assert TermCounter(None).needs_streams


def test_too_long_a_body() -> None:
    """A body with more words than positions has no vector, nor has one without words."""
    assert pack("") is None
    assert pack(" a " * 65_536) is None
    longest = pack(" a " * 65_534 + " b ")
    assert longest is not None
    assert TermVector(longest).positions(hash_of("b")) == [65_534]
