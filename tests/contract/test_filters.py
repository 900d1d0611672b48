"""Filters and lists: every store leaves, counts and orders the same documents."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import embed, names_in, prepared, put, space, word
from tests.contract.adapters import ADAPTERS, MEMORY
from tests.contract.strategies import (
    DAYS,
    TAGS,
    VECTORS,
    VOCABULARY,
    scopes,
    shelves,
)
from tests.contract.test_scope import fill
from twolane.model.answer import Place, Sort
from twolane.model.document import Prepared
from twolane.model.scope import Among, During, Except, Having, Part, Scope, Time, Trait
from twolane.ports import Stores
from twolane.query.values import valued

ALL = 10_000
SORTS = [sort for sort in Sort if sort != Sort.RELEVANCE]


def ids(store: Stores, scope: Scope) -> list[str]:
    """The documents in scope."""
    places = store.documents.list(scope, Sort.TITLE, reverse=False, after=None, limit=ALL)
    return sorted(place.id for place in places)


class TestFilters:
    """Each filter by itself."""

    def test_tags_as_alternatives(self, store: Stores) -> None:
        """One of several tags is enough, in any letter case, and one below it counts."""
        put(store, prepared("a", tags=("Work/Deep",)), prepared("b", tags=("home",)), prepared("c"))
        either = Among(Trait.TAG, ("work", "HOME"))
        assert ids(store, Scope(filters=(either,))) == ["a", "b"]
        assert ids(store, Scope(filters=(Except(either),))) == ["c"]

    @pytest.mark.parametrize("time", Time)
    def test_times(self, store: Stores, time: Time) -> None:
        """A time is from the start and before the end; what never happened is at no time."""
        for id, day in zip("abc", DAYS, strict=True):
            put(store, prepared(id, **{time.value: day}))
        put(store, prepared("d"))
        second = During(time, DAYS[1], DAYS[2])
        assert ids(store, Scope(filters=(second,))) == ["b"]
        assert ids(store, Scope(filters=(Except(second),))) == ["a", "c", "d"]
        assert ids(store, Scope(filters=(During(time),))) == ["a", "b", "c"]

    def test_parts(self, store: Stores) -> None:
        """What is empty is not there."""
        put(store, prepared("a", url="https://x.org"), prepared("b", url=""), prepared("c"))
        assert ids(store, Scope(filters=(Having(Part.URL),))) == ["a"]
        assert ids(store, Scope(filters=(Except(Having(Part.URL)),))) == ["b", "c"]

    @pytest.mark.parametrize(
        ("wanted", "left"),
        [
            ("status:done", "a"),
            ("Status:DONE", "a"),
            ("status:done|open", "ab"),
            ("status:=in progress", "b"),
            ("status:in*", "b"),
            ("status:*", "abc"),
            ("status:yes", "c"),
            ("rating:5", "a"),
            ("rating:5.0", "a"),
            ("rating:>3", "ab"),
            ("rating:>=3.5", "ab"),
            ("rating:<4", "b"),
            ("rating:..4", "b"),
            ("rating:>1000", ""),
            ("due-date:2024-05", "a"),
            ("due_date:>2024-05", "b"),
            ("due-date:2024-05-01..2024-06-01", "ab"),
            ("authors:ann", "b"),
        ],
    )
    def test_properties(self, store: Stores, wanted: str, left: str) -> None:
        """Values are compared as text, number, truth or date, and a list by each of its values."""
        put(
            store,
            prepared("a", properties={"status": "Done", "rating": 5, "Due Date": "2024-05-02"}),
            prepared(
                "b",
                properties={
                    "Status": ["open", "in  progress"],
                    "rating": "3.5",
                    "due_date": "2024-06-01T10:00:00Z",
                    "authors": ["Ann", "Bob"],
                },
            ),
            prepared("c", properties={"status": True}),
            prepared("d", properties={"status": None, "tags": []}),
        )
        name, _, value = wanted.partition(":")
        filter = valued(name, value, DAYS[0])
        assert filter is not None
        assert ids(store, Scope(filters=(filter,))) == list(left)
        assert set(ids(store, Scope(filters=(Except(filter),)))) == set("abcd") - set(left)

    def test_the_names_of_properties(self, store: Stores) -> None:
        """A name is known as long as some document that is not hidden has a value under it."""
        put(store, prepared("a", properties={"Status": "done", "empty": None}))
        put(store, prepared("b", properties={"secret": 1}, encrypted=True))
        assert names_in(store, Scope()).properties == {"status"}
        put(store, prepared("a", properties={"Due Date": "2024"}))
        assert names_in(store, Scope()).properties == {"due-date"}


class TestLists:
    """Documents in order, page by page."""

    def test_order(self, store: Stores) -> None:
        """Dates go from the latest, titles from A to Z; what has no date comes last both ways."""
        put(
            store,
            prepared("a", title="beta", updated=DAYS[0]),
            prepared("b", title="Alpha", updated=DAYS[2]),
            prepared("c", title="gamma"),
            prepared("d", title="beta", updated=DAYS[2]),
        )

        def order(sort: Sort, *, reverse: bool = False) -> str:
            found = store.documents.list(Scope(), sort, reverse=reverse, after=None, limit=ALL)
            return "".join(place.id for place in found)

        assert order(Sort.UPDATED) == "bdac"
        assert order(Sort.UPDATED, reverse=True) == "abdc"
        assert order(Sort.TITLE) == "badc"
        assert order(Sort.TITLE, reverse=True) == "cadb"
        assert order(Sort.CREATED) == "abcd"


@settings(max_examples=150, deadline=None)
@given(
    held=shelves(),
    scope=scopes(),
    limit=st.integers(1, 4),
    sort=st.sampled_from(SORTS),
    reverse=st.booleans(),
    said=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=2, unique=True),
)
def test_every_store_leaves_the_same(
    held: list[Prepared], scope: Scope, limit: int, sort: Sort, reverse: bool, said: list[str]
) -> None:
    """With any scope every answer of every store is that of the memory store, and never short.

    Lists, counts, words and neighbours hold exactly the documents in scope, however few the limit
    asks for: `min(limit, matching)`.
    """
    words = [word(text) for text in said]
    with ExitStack() as opened:
        stores = [opened.enter_context(adapter.fresh()) for adapter in (MEMORY, *ADAPTERS[1:])]
        answers = []
        for store in stores:
            fill(store, *held)
            generation = store.vectors.open_generation(space()).number
            for each in held:
                embed(store, generation, each, *(VECTORS[0] for _ in each.chunks))
            whole = store.documents.list(scope, sort, reverse=reverse, after=None, limit=ALL)
            inside = {place.id for place in whole}
            pages: list[Place] = []
            while page := store.documents.list(
                scope, sort, reverse=reverse, after=pages[-1] if pages else None, limit=limit
            ):
                assert len(page) == min(limit, len(whole) - len(pages))
                pages += page
            assert pages == whole
            matching = store.lexical.candidates(words, scope, every=False, limit=ALL)
            few = store.lexical.candidates(words, scope, every=False, limit=limit)
            assert len(few) == min(limit, len(matching))
            near = store.vectors.nearest(generation, VECTORS[0], scope, limit=ALL, floor=-1.0)
            assert len(
                store.vectors.nearest(generation, VECTORS[0], scope, limit=limit, floor=-1.0)
            ) == (min(limit, len(near)))
            assert {one.id for one in (*matching, *few, *near)} <= inside
            assert store.documents.stats(scope).documents == len(inside)
            found = {one.id for one in matching}, {one.id for one in near}
            answers.append(
                (whole, found, store.documents.facets(scope), names_in(store, Scope()).properties)
            )
        assert all(answer == answers[0] for answer in answers)


def test_many_tags_as_alternatives(store: Stores) -> None:
    """As many alternatives as a query may hold are no more than a store can take."""
    put(store, prepared("a", tags=(TAGS[0],)))
    many = Among(Trait.TAG, (*(f"t{number}" for number in range(63)), TAGS[0]))
    assert ids(store, Scope(filters=(many,))) == ["a"]
