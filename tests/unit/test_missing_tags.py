"""Tags that no document has."""

from __future__ import annotations

import pytest

from tests.builders import COLLECTION, prepared, put
from twolane.library import Library
from twolane.model.answer import MissingTag
from twolane.model.document import Collection
from twolane.model.scope import Scope
from twolane.ports.documents import PutCollection
from twolane.ranking.phrasings import Phrasings
from twolane.settings import Settings
from twolane.stores.memory import memory_stores


def library() -> Library:
    """A few tagged documents of two owners."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(
        store,
        prepared("a", "walrus", tags=("Garden", "garden/greenhouse"), owner="ann"),
        prepared("b", "walrus", tags=("Заметки", "food"), owner="ann", archived=True),
        prepared("c", "walrus", tags=("gardening",), owner="bob"),
    )
    return Library(store, Settings(), None)


@pytest.mark.parametrize(
    ("typed", "tag", "near"),
    [
        ("tag:gardn", "gardn", ("Garden",)),
        ("tag:gard", "gard", ("Garden", "garden/greenhouse")),
        ("tag:greenhouse", "greenhouse", ("garden/greenhouse",)),
        ("tag:замтеки", "замтеки", ("Заметки",)),
        ("tag:quagga", "quagga", ()),
        ("tag:garden tag:quagga", "quagga", ()),
    ],
)
def test_a_tag_that_is_not_there(typed: str, tag: str, near: tuple[str, ...]) -> None:
    """It is named with the tags like it, of the caller's own documents alone."""
    answer = library().search(f"walrus {typed}", scope=Scope(owner="ann"))
    assert answer.missing_tags == (MissingTag(tag, near),)
    assert answer.results == ()


def test_tags_are_told_however_they_are_given() -> None:
    """By the scope, among alternatives, without words, and beside other wordings."""
    asked = library()
    quagga = (MissingTag("quagga"),)
    scope = asked.scope({"tag": "quagga"}, within=Scope(owner="ann"))
    assert asked.search("walrus", scope=scope).missing_tags == quagga
    assert asked.search("", scope=scope).missing_tags == quagga
    assert asked.search("walrus", scope=scope, phrasings=Phrasings("x")).missing_tags == quagga
    either = asked.search("tag:quagga|okapi", scope=Scope(owner="ann")).missing_tags
    assert [one.tag for one in either] == ["quagga", "okapi"]


@pytest.mark.parametrize("typed", ["tag:garden okapi", "tag:food", "-tag:quagga okapi", "okapi"])
def test_tags_that_are_there_are_not_blamed(typed: str) -> None:
    """Nothing is said of tags that some document has, archived or not, or that are excluded."""
    assert library().search(f"{typed} lang:en", scope=Scope(owner="ann")).missing_tags == ()
