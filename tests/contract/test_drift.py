"""The words and letters of a store stay in step with its documents, whatever happens to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import prepared, word
from tests.contract.adapters import Adapter
from twolane.model import Batch, Prepared
from twolane.ports import Store
from twolane.scopes import Scope, Word


@dataclass(frozen=True, slots=True)
class Held:
    """What the plain model remembers of a document."""

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    archived: bool = False
    deleted: bool = False
    encrypted: bool = False
    searchable: bool = True

    @property
    def hidden(self) -> bool:
        """Whether nothing may find it."""
        return self.deleted or self.encrypted or not self.searchable


WORDS = ("ant", "bee", "beetle", "cat")
TAGS = ("home", "work")
several_words = st.lists(st.sampled_from(WORDS), max_size=4).map(tuple)
several_tags = st.lists(st.sampled_from(TAGS), unique=True).map(tuple)
flags = st.sampled_from(("archived", "deleted", "encrypted", "searchable"))
changes = st.one_of(
    st.tuples(st.just("put"), st.builds(Held, several_words, several_tags)),
    st.tuples(st.just("words"), several_words),
    st.tuples(st.just("tags"), several_tags),
    st.tuples(st.just("flag"), st.tuples(flags, st.booleans())),
    st.tuples(st.just("delete"), st.none()),
    st.tuples(st.just("settle"), st.none()),
)
steps = st.dictionaries(st.sampled_from("abc"), changes, min_size=1, max_size=2)


def changed(held: Held | None, verb: str, value: object) -> Held | None:
    """What a change makes of a document; only `put` makes something of nothing."""
    match verb, value:
        case "put", Held():
            return value
        case "words", tuple() if held:
            return replace(held, words=value)
        case "tags", tuple() if held:
            return replace(held, tags=value)
        case "flag", (str() as name, bool() as state) if held:
            flag: dict[str, Any] = {name: state}
            return replace(held, **flag)
        case "delete", None:
            return None
        case _:
            return held


def stored(id: str, held: Held) -> Prepared:
    """The document that the model remembers so."""
    return prepared(
        id, " ".join(held.words), tags=held.tags, archived=held.archived, deleted=held.deleted,
        encrypted=held.encrypted, searchable=held.searchable,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(plan=st.lists(steps, min_size=1, max_size=8))
def test_words_never_drift(adapter: Adapter, plan: list[dict[str, tuple[str, object]]]) -> None:
    """After any sequence of changes words and letters find exactly the documents that hold them."""
    model: dict[str, Held] = {}
    with adapter.fresh() as store:
        for step in plan:
            deletes, upserts = [], []
            for id, (verb, value) in step.items():
                after = changed(model.pop(id, None), verb, value)
                if after is None:
                    deletes.append(id)
                else:
                    model[id] = after
                    upserts.append(stored(id, after))
            store.apply(Batch("notes", upserts=upserts, deletes=deletes))
            if any(verb == "settle" for verb, _ in step.values()):
                store.settle()
            check_words(store, model)
            check_letters(store, model)
            assert store.check() == []


def check_words(store: Store, model: dict[str, Held]) -> None:
    """The store and the model agree on every word."""
    asked = [word(text) for text in (*WORDS, *TAGS)]
    known = store.frequencies(asked)
    for each in asked:
        expected = {
            id: held
            for id, held in model.items()
            if each.text in (*held.words, *held.tags) and not held.hidden
        }
        listed = {id for id, held in expected.items() if not held.archived}
        everywhere = store.lexical([each], Scope(archived=True), every=True, limit=9)
        assert {candidate.id for candidate in everywhere} == set(expected)
        assert found(store, each) == listed
        assert known.containing[each.text] == len(expected)
    lengths = [len(held.words) for held in model.values() if not held.hidden]
    assert known.documents == len(lengths)
    assert known.average_lengths["body"] == pytest.approx(
        sum(lengths) / len(lengths) if lengths else 0
    )


def check_letters(store: Store, model: dict[str, Held]) -> None:
    """The store and the model agree on every part of a word or tag."""
    for letters in ("ant", "eet", "bee", "ome", "wor", "at home"):
        expected = {
            id
            for id, held in model.items()
            if not held.hidden
            and any(letters in text for text in (" ".join(held.words), *held.tags))
        }
        matches = store.exact(letters, Scope(archived=True), limit=9)
        assert {match.id for match in matches} == expected


def found(store: Store, asked: Word) -> set[str]:
    """Ids of the documents that hold the word and are not archived."""
    return {each.id for each in store.lexical([asked], Scope(), every=True, limit=9)}
