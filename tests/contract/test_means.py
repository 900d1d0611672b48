"""What every store promises about the means of a generation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import embed, prepared, put, space, unit
from twolane.errors import BadVectors
from twolane.ports import Store
from twolane.scopes import Scope

UP, ASIDE = unit(1, 0, 0, 0), unit(0, 1, 0, 0)


@pytest.fixture
def generation(store: Store) -> int:
    """A generation to fill."""
    return store.open_generation(space()).number


def test_there_are_none_at_first(store: Store, generation: int) -> None:
    """A generation that was never centred has no means."""
    assert store.means(generation) == {}


def test_vectors_and_means_change_together(store: Store, generation: int) -> None:
    """Recentring replaces the vectors, keeps the means, and searches see both."""
    held = prepared("a", "ant")
    put(store, held)
    embed(store, generation, held, UP)
    chunk = held.chunks[0]
    mean = np.float32([0.5, 0, 0, 0])
    store.recentre(generation, {"en": mean}, [(chunk.content_hash, chunk.text_hash, ASIDE)])
    assert np.array_equal(store.means(generation)["en"], mean)
    (near,) = store.nearest(generation, ASIDE, Scope(), limit=9, floor=-1)
    assert near.similarity == pytest.approx(1)
    assert len(store.nearest(generation, UP, Scope(), limit=9, floor=0.5)) == 0


def test_a_bad_vector_changes_nothing(store: Store, generation: int) -> None:
    """Recentring with a vector that must not be stored leaves vectors and means as they were."""
    held = prepared("a", "ant")
    put(store, held)
    embed(store, generation, held, UP)
    chunk = held.chunks[0]
    with pytest.raises(BadVectors):
        store.recentre(
            generation, {"en": UP}, [(chunk.content_hash, chunk.text_hash, UP * np.float32(3))]
        )
    assert store.means(generation) == {}
    assert len(store.nearest(generation, UP, Scope(), limit=9, floor=0.9)) == 1


def test_passages_come_in_order_and_once(store: Store, generation: int) -> None:
    """All vectors come by document and position, with their language; shared ones once."""
    second, first = prepared("b", "same\n\nown"), prepared("a", "same")
    put(store, second, first)
    embed(store, generation, second, UP, ASIDE)
    rows = store.all_vectors(generation)
    hashes = [chunk.content_hash for chunk in second.chunks]
    assert [row[0] for row in rows] == hashes
    assert {row[2] for row in rows} == {chunk.language for chunk in second.chunks}
    assert np.array_equal(rows[1][3], ASIDE)


def test_hidden_documents_are_left_out(store: Store, generation: int) -> None:
    """The passages of documents that must not be found do not shape the means."""
    held = prepared("a", "ant")
    put(store, held)
    embed(store, generation, held, UP)
    put(store, prepared("a", "ant", searchable=False))
    assert store.all_vectors(generation) == []


def test_means_go_with_their_generation(store: Store, generation: int) -> None:
    """A dropped generation takes its means along."""
    store.recentre(generation, {"en": UP}, [])
    store.drop_generation(generation)
    assert store.means(store.open_generation(space()).number) == {}


def test_what_is_not_recentred_is_gone(store: Store, generation: int) -> None:
    """A vector that was centred by other means is not kept beside the new ones."""
    held = prepared("a", "ant\n\nbee")
    put(store, held)
    embed(store, generation, held, UP, ASIDE)
    first = held.chunks[0]
    store.recentre(generation, {"en": UP}, [(first.content_hash, first.text_hash, UP)])
    assert [row[0] for row in store.all_vectors(generation)] == [first.content_hash]
    assert store.progress(generation).pending == len(held.chunks) - 1


def test_how_a_language_grew(store: Store, generation: int) -> None:
    """The passages of each language are known as they were with the means, and as they are."""
    first = prepared("a", "ant")
    put(store, first)
    embed(store, generation, first, UP)
    (language,) = {chunk.language for chunk in first.chunks}
    assert store.spoken(generation) == ({} if language is None else {language: (0, 1)})
    rows = [(one[0], one[1], one[3]) for one in store.all_vectors(generation)]
    store.recentre(generation, {str(language): UP}, rows)
    second = prepared("b", "bee")
    put(store, second)
    assert store.spoken(generation) == ({} if language is None else {language: (1, 1)})
    embed(store, generation, second, ASIDE)
    assert store.spoken(generation) == ({} if language is None else {language: (1, 2)})


def test_how_a_language_grew_at_most(store: Store, generation: int) -> None:
    """The bound that costs little knows the same means, and is never below the passages."""
    notes = [prepared(name, f"the bees of the hive number {name}") for name in ("a", "b", "c")]
    put(store, *notes, prepared("d", notes[0].document.body))
    for one in notes[:2]:
        embed(store, generation, one, UP)
    exact, bound = (store.spoken(generation, at_most=one) for one in (False, True))
    assert exact
    assert all(
        bound[language][0] == then and bound[language][1] >= now
        for language, (then, now) in exact.items()
    )
