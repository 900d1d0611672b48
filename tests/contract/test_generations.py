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

    def test_a_retired_space_fills_again(self, store: Store) -> None:
        """Opening the space of a retired generation brings it back with the vectors it had."""
        held = prepared("a", "ant")
        put(store, held)
        first = store.open_generation(space("one"))
        embed(store, first.number, held, UP)
        store.activate(store.open_generation(space("two")).number)
        again = store.open_generation(space("one"))
        assert (again.number, again.state) == (first.number, GenerationState.FILLING)
        assert store.progress(again.number) == Progress(1, 0, 0)

    def test_others_stand_by_or_are_held_back(self, store: Store) -> None:
        """Who served or stood by before does what is said; who was filling goes on."""
        names = ("one", "two", "three", "four", "five")
        one, two, three, four, five = (store.open_generation(space(name)).number for name in names)
        store.activate(two, standby={one})
        store.activate(three, standby={one, two})
        store.activate(four, standby={two}, held={three})
        states = {each.number: each.state for each in store.generations()}
        assert states == {
            one: GenerationState.RETIRED,
            two: GenerationState.STANDBY,
            three: GenerationState.HELD,
            four: GenerationState.SERVING,
            five: GenerationState.FILLING,
        }

    def test_holding_back(self, store: Store) -> None:
        """A generation can be held back unless it serves, and opening it leaves it so."""
        one = store.open_generation(space("one")).number
        two = store.open_generation(space("two")).number
        store.hold(one, "worse")
        store.hold(two, "worse")
        assert [each.state for each in store.generations()] == [
            GenerationState.SERVING,
            GenerationState.HELD,
        ]
        assert store.open_generation(space("two")).state == GenerationState.HELD

    def test_why_it_is_held_back(self, store: Store) -> None:
        """The reason stays with a generation while it is held, and is gone after that."""
        one, two, three = (
            store.open_generation(space(name)).number for name in ("one", "two", "three")
        )
        store.hold(two, "worse")
        store.activate(three, held={one})
        assert [one.reason for one in store.generations()] == [
            f"generation {three} was chosen instead",
            "worse",
            None,
        ]
        store.activate(two)
        assert [one.reason for one in store.generations()][1:] == [None, None]

    def test_the_rate_is_remembered(self, store: Store) -> None:
        """How fast a generation is filled is known to whoever asks."""
        number = store.open_generation(space()).number
        assert store.generations()[0].rate is None
        store.set_rate(number, 12.5)
        assert store.generations()[0].rate == 12.5

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
        with pytest.raises(TwolaneError):
            store.claim(99, worker="w", limit=9, seconds=9)
        with pytest.raises(TwolaneError):
            store.fail(99, "content", "no", retry_in=9)
