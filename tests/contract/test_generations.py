"""The `Vectors` port: generations, one space each."""

from __future__ import annotations

import pytest

from tests.builders import embed, prepared, put, space, unit
from twolane.errors import TwolaneError
from twolane.model import Generation, GenerationState, Progress
from twolane.ports import Store
from twolane.scopes import Scope

UP = unit(1, 0, 0, 0)


class TestGenerations:
    """Sets of vectors, one space each."""

    def test_the_first_one_serves_at_once(self, store: Store) -> None:
        """A new store's first generation serves, and opening it again finds it."""
        assert store.generations() == []
        first = store.open_generation(space())
        assert first == Generation(first.number, space(), GenerationState.SERVING)
        assert store.open_generation(space()) == first
        assert store.generations() == [first]

    def test_a_later_one_fills_until_activated(self, store: Store) -> None:
        """A second space fills beside the first, then takes over and retires it."""
        first = store.open_generation(space("one"))
        second = store.open_generation(space("two", dimensions=7))
        assert second.state == GenerationState.FILLING
        assert store.open_generation(space("two", dimensions=7)) == second
        store.activate(second.number)
        states = {each.number: each.state for each in store.generations()}
        assert states == {
            first.number: GenerationState.RETIRED,
            second.number: GenerationState.SERVING,
        }

    def test_can_be_rolled_back(self, store: Store) -> None:
        """A retired generation can serve again with the vectors it had."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.open_generation(space("one")).number
        embed(store, first, held, UP)
        second = store.open_generation(space("two")).number
        store.activate(second)
        store.activate(first)
        states = [each.state for each in store.generations()]
        assert states == [GenerationState.SERVING, GenerationState.RETIRED]
        assert store.progress(first) == Progress(1, 0, 0)

    def test_activating_the_serving_one_changes_nothing(self, store: Store) -> None:
        """The generation that serves stays the one that serves."""
        number = store.open_generation(space()).number
        store.activate(number)
        assert [each.state for each in store.generations()] == [GenerationState.SERVING]

    def test_a_retired_space_is_opened_anew(self, store: Store) -> None:
        """Opening the space of a retired generation makes a new one."""
        first = store.open_generation(space("one"))
        store.activate(store.open_generation(space("two")).number)
        again = store.open_generation(space("one"))
        assert again.number > first.number
        assert again.state == GenerationState.FILLING

    def test_dropping_takes_the_vectors_along(self, store: Store) -> None:
        """A dropped generation is gone with its vectors, and its number is never used again."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.open_generation(space("one")).number
        second = store.open_generation(space("two")).number
        embed(store, second, held, UP)
        store.drop_generation(second)
        assert [each.number for each in store.generations()] == [first]
        third = store.open_generation(space("two")).number
        assert third > second
        assert store.progress(third) == Progress(0, 1, 0)
        assert store.nearest(third, UP, Scope(), limit=9, floor=-1) == []

    def test_every_space_is_another(self, store: Store) -> None:
        """Vectors and failures of one generation say nothing of another."""
        held = prepared("a", "ant")
        put(store, held)
        one = store.open_generation(space("one")).number
        two = store.open_generation(space("two")).number
        embed(store, one, held, UP)
        store.fail(two, held.chunks[0].content_hash, "no", retry_in=9)
        assert store.progress(one) == Progress(1, 0, 0)
        assert store.progress(two) == Progress(0, 0, 1)
        assert store.nearest(two, UP, Scope(), limit=9, floor=-1) == []
        assert store.failures(one) == {}

    def test_an_unknown_one_is_refused(self, store: Store) -> None:
        """Nothing is activated or stored in a generation that does not exist."""
        with pytest.raises(TwolaneError):
            store.activate(99)
        with pytest.raises(TwolaneError):
            store.add_vectors(99, [("content", "text", UP)])
