"""The lexical lane asks the index for no more than it needs, and misses nothing by that."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import COLLECTION, prepared, put
from twolane import Settings
from twolane.model.answer import Feature, Mode
from twolane.model.candidate import Candidate
from twolane.model.document import Collection
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.query.analyzer import QueryAnalyzer
from twolane.ranking.lanes import LexicalLane
from twolane.stores.memory import memory_stores


class Noted:
    """An index that notes what it is asked for."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def ask(*given: Any, **named: Any) -> Any:
            every = named.get("every")
            self.asked.append(name if every is None else f"{name} {'every' if every else 'any'}")
            return getattr(self._index, name)(*given, **named)

        return ask


@pytest.fixture(scope="module")
def store() -> Stores:
    """Five documents, of which three have a word of `green tea`."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    texts = {"a": "green tea", "b": "black tea", "c": "green leaves", "d": "coffee", "e": "milk"}
    put(store, *(prepared(id, text) for id, text in texts.items()))
    return store


def lane_of(store: Stores, text: str) -> tuple[LexicalLane, Noted]:
    query = QueryAnalyzer(store, Settings()).analyze(text, Scope(), mode=Mode.HYBRID)
    index = Noted(store.lexical)
    return LexicalLane(index, query, common_share=1.0), index


def test_few_documents_are_asked_for_once(store: Stores) -> None:
    """Where all that hold a word fit in, those with all words are among them."""
    lane, index = lane_of(store, "green tea")
    found = lane.candidates(10)
    assert found[0].id == "a" and {one.id for one in found} == {"a", "b", "c"}
    assert [one for one in index.asked if one.startswith("candidates")] == ["candidates any"]


def test_what_holds_no_word_is_not_counted(store: Stores) -> None:
    """Other lanes' documents have none of the words if all that have one are known."""
    lane, index = lane_of(store, "green tea")
    lane.candidates(10)
    other = Candidate("d")
    lane.measure([other])
    assert Feature.BM25F not in other.features
    assert "term_frequencies" not in index.asked


def test_what_did_not_fit_in_is_counted(store: Stores) -> None:
    """Where the index brought as many as it may, another lane's document may hold a word."""
    lane, index = lane_of(store, "green tea")
    brought = {one.id for one in lane.candidates(2)}
    (left,) = {"a", "b", "c"} - brought
    other = Candidate(left)
    lane.measure([other])
    assert other.features[Feature.BM25F] > 0
    assert "term_frequencies" in index.asked
