"""The `Documents` port: lines that many documents hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import COLLECTION, embed, prepared, put, space, unit
from twolane.model import Batch, Forms, Prepared, Rewording
from twolane.ports import Store
from twolane.scopes import Scope

UP, ASIDE = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
KEYS = (-(2**63), 7, 2**63 - 1)


@pytest.fixture
def generation(store: Store) -> int:
    """A generation to fill."""
    return store.open_generation(space()).number


def rewording(held: Prepared, *keys: int, language: str | None = "en") -> Rewording:
    """Another content for the first passage, because of these forms."""
    before = held.chunks[0]
    after = replace(before, content_hash=f"without {keys}", forms=keys, language=language)
    return Rewording(held.document.id, before.content_hash, after)


def with_forms(held: Prepared, *keys: int) -> Prepared:
    """The document, whose first passage holds these forms."""
    first, *others = held.chunks
    return replace(held, chunks=(replace(first, forms=keys), *others))


def test_nothing_is_known_at_first(store: Store) -> None:
    """An empty store knows no forms, and has none to tell."""
    assert store.forms() == Forms()
    assert list(store.bodies()) == []


def test_bodies_are_those_that_can_be_found(store: Store) -> None:
    """What is hidden tells nothing."""
    put(
        store,
        prepared("a", "ant"),
        prepared("b", ""),
        prepared("h", "hidden", searchable=False),
        prepared("d", "deleted", deleted=True),
        prepared("e", "secret", encrypted=True),
    )
    assert sorted(store.bodies()) == [("a", "ant"), ("b", "")]


def test_what_is_learned_is_known(store: Store) -> None:
    """Keys of any size and the number of documents, until something else is learned."""
    store.learn(Forms(frozenset(KEYS), 9), [])
    assert store.forms() == Forms(frozenset(KEYS), 9)
    store.learn(Forms(frozenset((1,)), 20), [])
    assert store.forms() == Forms(frozenset((1,)), 20)


def test_forms_of_passages_are_kept(store: Store, generation: int) -> None:
    """Whoever embeds a passage is told what to leave out."""
    put(store, with_forms(prepared("a", "ant\n\nbee"), *KEYS))
    assert [one.forms for one in store.chunks("a")] == [KEYS, ()]
    claimed = store.claim(generation, worker="w", limit=9, seconds=60)
    assert [one.forms for one in claimed] == [KEYS, ()]


def test_a_reworded_passage_is_embedded_anew(store: Store, generation: int) -> None:
    """It is pending, found by its old vector until then, and has its new language at once."""
    held = prepared("a", "ant\n\nbee", languages=("en", "ru"))
    put(store, held)
    embed(store, generation, held, UP, ASIDE)
    revision = store.revision()
    store.learn(Forms(frozenset((7,)), 5), [rewording(held, 7, language=None)])
    assert store.revision() != revision
    first, second = store.chunks("a")
    assert (first.content_hash, first.forms, first.language) == ("without (7,)", (7,), None)
    assert second == held.chunks[1]
    assert store.stats(Scope()).languages == {"ru": 1}
    assert store.progress(generation).pending == 1
    assert store.sweep() == 0
    (near,) = store.nearest(generation, UP, Scope(), limit=9, floor=0.5)
    assert near.languages == ("ru",)
    store.add_vectors(generation, [(first.content_hash, first.text_hash, ASIDE)])
    assert store.nearest(generation, UP, Scope(), limit=9, floor=0.5) == []
    assert store.sweep() == 1


def test_a_passage_that_changed_meanwhile_stays(store: Store) -> None:
    """Nothing is said of a text that is another one by now, or gone."""
    held, gone = prepared("a", "ant"), prepared("g", "gone")
    put(store, held)
    changed = prepared("a", "bee")
    put(store, changed)
    store.learn(Forms(frozenset((7,)), 5), [rewording(held, 7), rewording(gone, 7)])
    assert store.chunks("a") == list(changed.chunks)
    assert store.chunks("g") == []


@pytest.mark.parametrize("encrypted", [True, False])
def test_nothing_is_left_of_what_is_secret(store: Store, encrypted: bool) -> None:
    """When the last passage with a form is encrypted or purged, its key goes."""
    for id, keys in (("a", (1, 2)), ("b", (2, 3))):
        put(store, with_forms(prepared(id, id), *keys))
    store.learn(Forms(frozenset((1, 2, 3)), 5), [])
    if encrypted:
        put(store, replace(prepared("a", "", encrypted=True), chunks=()))
    else:
        store.apply(Batch(COLLECTION, purges=["a"]))
    assert store.forms() == Forms(frozenset((2, 3)), 5)
    store.remove_collection(COLLECTION)
    assert store.forms() == Forms(frozenset(), 5)
