"""The exact lane: what comes first, what is shown, and what is typed for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders import COLLECTION, prepared, put
from twolane.model.answer import Lane
from twolane.model.candidate import Candidate
from twolane.model.document import Collection, Kind, Prepared
from twolane.model.scope import Scope
from twolane.ports.documents import PutCollection
from twolane.query.literal import parse_literally
from twolane.ranking.exact import exact_candidates
from twolane.results.highlighting import sought
from twolane.results.results import result_of
from twolane.stores.memory import memory_stores
from twolane.text.substrings import holds, may_stand_in, places, reads, spelled

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def ranked(text: str, *documents: Prepared) -> list[str]:
    """Ids of the documents in the order of the lane."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, *documents)
    return [hit.id for hit in exact_candidates(store.lexical, text, Scope(), limit=20)]


def shown(text: str, given: Prepared) -> tuple[str, str, tuple[int, int] | None]:
    """The title, the snippet and the lines that show where the text stands."""
    candidate = Candidate(given.document.id, ranks={Lane.EXACT: 1})
    result = result_of(candidate, given.document, given.chunks, sought(()), text)
    return result.title_html, result.snippet, result.lines


class TestOrder:
    """Names before texts, words before parts of words."""

    def test_names_come_before_texts(self) -> None:
        """A title, an alias, a path, an address, a tag: then descriptions and bodies."""
        assert ranked(
            "tea",
            prepared("a", "tea"),
            prepared("b", description="tea"),
            prepared("c", tags=("tea",)),
            prepared("d", url="https://tea.example"),
            prepared("e", path="tea/x.md"),
            prepared("f", aliases=("tea",)),
            prepared("g", title="Tea"),
        ) == ["g", "f", "e", "d", "c", "b", "a"]

    def test_words_come_before_parts_of_words(self) -> None:
        """A word of its own counts more than letters inside of one, in names and in texts."""
        assert ranked(
            "tea",
            prepared("a", "steam"),
            prepared("b", "a tea"),
            prepared("c", title="Steam"),
            prepared("d", tags=("tea",)),
        ) == ["d", "c", "b", "a"]

    def test_earlier_comes_first_then_shorter_then_the_id(self) -> None:
        """Among equals the place, the length of the field and the id decide."""
        assert ranked(
            "tea",
            prepared("e", title="A tea"),
            prepared("d", title="Tea for two"),
            prepared("c", title="Tea"),
            prepared("b", title="Tea"),
        ) == ["b", "c", "d", "e"]


class TestShowing:
    """The letters are marked where they stand."""

    def test_the_passage_that_holds_it(self) -> None:
        """The snippet is around the match, with the lines of its passage."""
        given = prepared("a", "First of all.\n\nThen call useAuth() twice.\n\nLast.")
        title, snippet, lines = shown("seAu", given)
        assert title == "Untitled"
        assert snippet == "Then call u<mark>seAu</mark>th() twice."
        assert lines == (3, 3)

    def test_titles_are_marked_too(self) -> None:
        """What stands in the title is marked there, as it is written there."""
        given = prepared("a", "A body.", title="Ёлки & Café")
        assert shown("елк", given)[0] == "<mark>Ёлк</mark>и &amp; Café"
        assert shown("cafe", given)[0] == "Ёлки &amp; <mark>Café</mark>"

    def test_what_markdown_hides_is_shown(self) -> None:
        """The target of a link is no text to read, but it was looked for."""
        given = prepared("a", "See [the docs](https://example.org/deep/page).")
        assert "<mark>org/deep</mark>" in shown("org/deep", given)[1]

    @pytest.mark.parametrize(
        ("field", "value", "expected"),
        [
            ("url", "https://tea.example", "https://<mark>tea</mark>.example"),
            ("tags", ("tea",), "#<mark>tea</mark>"),
            ("aliases", ("High tea",), "High <mark>tea</mark>"),
            ("path", "tea/x.md", "<mark>tea</mark>/x.md"),
            ("description", "All of tea", "All of <mark>tea</mark>"),
        ],
    )
    def test_other_fields_are_shown(self, field: str, value: object, expected: str) -> None:
        """Where the body does not hold it, the field that does is the snippet."""
        assert shown("tea", prepared("a", "A body.", **{field: value}))[1] == expected

    def test_snippets_are_escaped_and_short(self) -> None:
        """Whatever a note holds, the only tag is `mark`, and a snippet stays a snippet."""
        given = prepared("a", f"{'word ' * 300}<b>xylo</b>phone{' more' * 300}")
        snippet = shown("xylo", given)[1]
        assert "<mark>xylo</mark>" in snippet
        assert len(snippet) < 320
        assert "<b>" not in snippet


@given(st.text(max_size=40), st.text(min_size=3, max_size=3))
def test_places_are_where_it_stands(text: str, around: str) -> None:
    """A text that is found is marked at places that are spelled like it."""
    needle = spelled("ёlк")
    whole = f"{text}Ёlк{around}"
    found = places(whole, needle)
    assert any(spelled(whole[start:end]) == needle for start, end in found) or not found
    assert places(f"{text} Ёlк", needle)
    assert all(one[1] <= other[0] for one, other in pairwise(found))


@given(st.text(max_size=60))
@example("Ǣ")
def test_spelling_is_settled(text: str) -> None:
    """What was folded once is not folded further by case, accents or spaces."""
    assert spelled(spelled(text)) == spelled(text)


def test_signs_may_stand_only_where_they_all_are() -> None:
    """A quotation of signs alone needs no reading of texts that lack one of them."""
    assert not may_stand_in("ann at example", "@")
    assert not may_stand_in("a > b", "->")
    assert may_stand_in("x - y > z", "->")
    assert reads("a -**>** b", "->")


class TestTyped:
    """What is taken to the letter, and what is not."""

    @pytest.mark.parametrize(
        ("typed", "literal"),
        [
            ("foo(bar)", "foo(bar)"),
            ("a AND b", "a AND b"),
            ("-x", "-x"),
            ("useA*", "useA*"),
            ('say "hi"', 'say "hi"'),
            ('"say hi"', "say hi"),
            ("«пара слов»", "пара слов"),
            ('"kind:note"', "kind:note"),
            ('"a" or "b"', '"a" or "b"'),
            ("title: x", "title: x"),
            ("title:x", "title:x"),
            ("https://x.org/y", "https://x.org/y"),
            ("#include", "#include"),
            ("two   words", "two words"),
            ("", ""),
            ('"', '"'),
            ('""', '""'),
        ],
    )
    def test_letters(self, typed: str, literal: str) -> None:
        """Operators, stars, signs and fields are letters; quotes only if they hold all."""
        query = parse_literally(typed)
        assert query.meaning == literal
        assert (query.words, query.marks, query.clause) == ((), (), None)

    def test_filters_still_filter(self) -> None:
        """Filters are taken out, wherever they stand, and what is left may be quoted."""
        query = parse_literally('kind:note foo -tag:old tag:"deep work" bar', now=NOW)
        assert query.meaning == "foo bar"
        assert query.filters.kinds == (Kind.NOTE,)
        assert query.filters.tags == ("deep work",)
        assert query.filters.without_tags == ("old",)
        assert parse_literally('kind:note "foo  tag:x"').meaning == "foo tag:x"
        assert parse_literally("kind:banana x").meaning == "kind:banana x"

    @given(st.text(max_size=80))
    def test_anything_can_be_typed(self, text: str) -> None:
        """Whatever is typed, nothing is raised, and without filters nothing is lost but spaces."""
        query = parse_literally(text)
        assert replace(query, text="") is not None
        assert query.meaning == query.meaning.strip()


SIGNED = st.text(
    st.sampled_from("aЁё.:=—…：＝´`°ﬁ½ \n\u0301\u3000🎉") | st.characters(), max_size=8
)


@given(SIGNED, SIGNED, SIGNED)
def test_no_text_that_holds_signs_is_passed_over(before: str, typed: str, after: str) -> None:
    """What tells quickly whether a text may hold the needle never says no to one that does."""
    needle, text = spelled(typed), before + typed + after
    if needle and needle in spelled(text):
        assert holds(text, needle)
    assert not holds("plain, simple words", "🎉")
