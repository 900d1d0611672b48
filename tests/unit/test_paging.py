"""Pages: answers in any order, gone on with by a cursor, while documents change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import prepared
from tests.contract.strategies import DAYS
from twolane import Library, Settings
from twolane.model.answer import Answer, Mode, Order, Sort
from twolane.model.document import Batch, Collection, Kind
from twolane.model.errors import BadCursor, BadInput
from twolane.model.scope import Scope
from twolane.ports.documents import PutCollection
from twolane.results.paging import Cursor, question, read_cursor, short, write_cursor
from twolane.stores.memory import memory_stores

WORDS = ("ant", "bee", "cat", "dog")
SORTS = [sort for sort in Sort if sort != Sort.RELEVANCE]


def note(number: int, text: str, **fields: object) -> object:
    """A note with a title, two dates and some words."""
    return prepared(
        f"n{number:02}",
        text,
        title=f"{text} {number}",
        updated=DAYS[number % 3],
        created=DAYS[number % 2] if number % 5 else None,
        **fields,
    )


@contextmanager
def holding(*notes: object) -> Iterator[Library]:
    """A library over the memory store, by words alone."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection("notes")))
    store.documents.apply(Batch("notes", upserts=list(notes)))  # type: ignore[arg-type]
    with Library(store, Settings(embedding={"embedder": "none"})) as library:
        yield library


def ids(answer: Answer) -> list[str]:
    """Ids of the results."""
    return [result.id for result in answer.results]


def pages(library: Library, text: str, order: Order, size: int) -> list[str]:
    """All pages, one after the other."""
    found: list[str] = []
    for _ in range(99):
        answer = library.search(text, limit=size, order=order)
        assert len(answer.results) <= size
        found += ids(answer)
        if answer.next is None:
            return found
        order = replace(order, cursor=answer.next)
    raise AssertionError("there is no end of pages")


class TestOrder:
    """What is shown, and in which order."""

    def test_without_words_the_latest_come_first(self) -> None:
        """An empty query lists everything, and one of filters what they leave."""
        with holding(note(0, "ant"), note(1, "bee", kind=Kind.PROMPT), note(2, "cat")) as library:
            assert ids(library.search("")) == ["n02", "n01", "n00"]
            assert ids(library.search("kind:note")) == ["n02", "n00"]
            assert ids(library.search("", scope=Scope(kinds=(Kind.PROMPT,)))) == ["n01"]

    def test_signs_alone_ask_for_signs(self) -> None:
        """What holds no word is not taken for a wish to see everything, but for what it is."""
        with holding(note(0, "ant")) as library:
            assert ids(library.search("???")) == []
            assert ids(library.search("???", order=Order(Sort.UPDATED))) == []
        with holding(note(0, "ant := bee"), note(1, "ant"), note(2, "cat :=")) as library:
            assert set(ids(library.search(":="))) == {"n00", "n02"}
            assert ids(library.search(":=", order=Order(Sort.UPDATED))) == ["n02", "n00"]

    def test_a_sorted_list_holds_every_word(self) -> None:
        """In a sorted list words are demands, and nothing is brought by meaning."""
        with holding(note(0, "ant bee"), note(1, "ant"), note(2, "bee ant")) as library:
            assert ids(library.search("ant bee", order=Order(Sort.TITLE))) == ["n00", "n02"]
            assert ids(library.search("ants", order=Order(Sort.UPDATED))) == ["n02", "n01", "n00"]
            assert ids(library.search("ant -bee", order=Order(Sort.TITLE))) == ["n01"]

    def test_reverse(self) -> None:
        """Each sort goes the other way, too."""
        with holding(*(note(number, "ant") for number in range(3))) as library:
            assert ids(library.search("", order=Order(Sort.TITLE))) == ["n00", "n01", "n02"]
            assert ids(library.search("", order=Order(Sort.TITLE, reverse=True))) == [
                "n02",
                "n01",
                "n00",
            ]

    @pytest.mark.parametrize(
        ("text", "order", "mode", "said"),
        [
            ("", Order(Sort.RELEVANCE), Mode.HYBRID, "without words"),
            ("kind:note", Order(Sort.RELEVANCE), Mode.HYBRID, "without words"),
            ("ant", Order(reverse=True), Mode.HYBRID, "one way only"),
            ("ant", Order(Sort.TITLE), Mode.SEMANTIC, "leave out the mode"),
        ],
    )
    def test_what_cannot_be_sorted(self, text: str, order: Order, mode: Mode, said: str) -> None:
        """The error says what to do instead."""
        with holding(note(0, "ant")) as library, pytest.raises(BadInput, match=said):
            library.search(text, order=order, mode=mode)


class TestCursors:
    """Where to go on."""

    def test_pages_are_the_whole_list(self) -> None:
        """Page by page comes what comes at once, in every order."""
        with holding(
            *(note(number, "ant bee"[: 3 + number % 5]) for number in range(17))
        ) as library:
            for order in (Order(), *(Order(sort, way) for sort in SORTS for way in (False, True))):
                for text in ("", "ant") if order.sort else ("ant", "ant bee"):
                    whole = ids(library.search(text, limit=99, order=order))
                    assert pages(library, text, order, 4) == whole
                    assert len(set(whole)) == len(whole)

    @pytest.mark.parametrize("cursor", ["x", "", " ", "!!!", "a" * 99, "я", "A" * 50_000])
    def test_what_is_no_cursor(self, cursor: str) -> None:
        """Anything else than a cursor is refused; nothing at all is the first page."""
        with holding(note(0, "ant")) as library:
            if not cursor:
                assert ids(library.search("ant", order=Order(cursor=cursor))) == ["n00"]
                return
            with pytest.raises(BadCursor, match="no cursor"):
                library.search("ant", order=Order(cursor=cursor))

    def test_a_damaged_cursor(self) -> None:
        """A cursor that lost or changed a letter is noticed."""
        with holding(*(note(number, "ant") for number in range(3))) as library:
            whole = library.search("ant", limit=1).next
            assert whole
            for broken in (whole[:-2], whole[1:], whole[:9] + "_" + whole[10:]):
                with pytest.raises(BadCursor):
                    library.search("ant", limit=1, order=Order(cursor=broken))

    @pytest.mark.parametrize(
        ("text", "order", "scope"),
        [
            ("bee", Order(), Scope()),
            ("ant", Order(Sort.TITLE), Scope()),
            ("ant", Order(), Scope(kinds=(Kind.NOTE,))),
        ],
    )
    def test_a_cursor_of_another_search(self, text: str, order: Order, scope: Scope) -> None:
        """A cursor goes with its own query, filters, mode and order."""
        with holding(*(note(number, "ant bee") for number in range(3))) as library:
            cursor = library.search("ant", limit=1).next
            with pytest.raises(BadCursor, match="another search"):
                library.search(text, scope=scope, order=replace(order, cursor=cursor), limit=1)

    def test_relative_dates_count_from_the_first_page(self) -> None:
        """A cursor remembers when its search began, and moving dates make no other search."""
        early, late = Scope(updated_from=DAYS[0]), Scope(updated_from=DAYS[1])
        names = {question("a", scope, Mode.HYBRID, Sort.TITLE, False) for scope in (early, late)}
        assert len(names) == 1
        (name,) = names
        cursor = Cursor(DAYS[0], seen=frozenset({short("a"), short("b")}))
        assert read_cursor(write_cursor(cursor, name), name) == cursor


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("add", "change", "delete")),
        st.integers(0, 19),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(
    held=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        min_size=3,
        max_size=14,
    ),
    changes=st.lists(CHANGES, max_size=6),
    size=st.integers(1, 4),
    order=st.sampled_from(
        (Order(), *(Order(sort, way) for sort in SORTS for way in (False, True)))
    ),
)
def test_pages_are_stable_while_documents_change(
    held: list[str], changes: list[list[tuple[str, int, str]]], size: int, order: Order
) -> None:
    """No document comes twice in a row of pages, and none that did not change is left out."""
    with holding(*(note(number, text) for number, text in enumerate(held))) as library:
        store = library._stores
        steady = set(ids(library.search("ant", limit=99, order=order)))
        found: list[str] = []
        touched: set[str] = set()
        upcoming = iter(changes)
        while True:
            answer = library.search("ant", limit=size, order=order)
            found += ids(answer)
            if answer.next is None:
                break
            order = replace(order, cursor=answer.next)
            for what, number, text in next(upcoming, []):
                id = f"n{number:02}"
                touched.add(id)
                if what == "delete":
                    store.documents.apply(Batch("notes", deletes=[id]))
                else:
                    store.documents.apply(Batch("notes", upserts=[note(number, text)]))  # type: ignore[list-item]
        unchanged = [id for id in found if id not in touched]
        assert len(unchanged) == len(set(unchanged))
        assert steady - touched <= set(unchanged)
        if order.sort is None:
            assert len(found) == len(set(found))
