"""Every store agrees with the memory store, and the memory store with SQLite's own FTS5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Clock, embed, prepared, space
from tests.contract.adapters import MEMORY, Adapter
from tests.contract.strategies import (
    COLLECTIONS,
    VECTORS,
    clauses,
    nears,
    phrases,
    shelves,
    words,
)
from twolane.model import FIELDS, Batch, Collection, Prepared
from twolane.ports import Store
from twolane.scopes import Clause, InField, Near, Phrase, Scope, Word

if TYPE_CHECKING:
    from twolane.ports import Vector

ANYWHERE = Scope(archived=True)


def fill(stores: Iterable[Store], documents: Iterable[Prepared]) -> None:
    """Give each of the stores the same documents."""
    held = list(documents)
    for store in stores:
        for name in COLLECTIONS:
            store.add_collection(Collection(name))
            mine = [each for each in held if each.document.collection == name]
            store.apply(Batch(name, upserts=mine))


def matching(store: Store, asked: list[Word], scope: Scope, *, every: bool) -> dict[str, object]:
    """Everything that a search by words says, whatever the order."""
    found = store.lexical(asked, scope, every=every, limit=99)
    assert len({each.id for each in found}) == len(found)
    return {each.id: (each.languages, each.stems) for each in found}


@settings(max_examples=80, deadline=None)
@given(
    held=shelves(),
    asked=st.lists(words(), min_size=1, max_size=3),
    demands=st.lists(clauses(), min_size=1, max_size=6),
)
def test_stores_agree_on_words_and_clauses(
    other: Adapter, held: list[Prepared], asked: list[Word], demands: list[Clause]
) -> None:
    """Random words and clauses find the same documents, and the same figures."""
    with MEMORY.fresh() as memory, other.fresh() as store:
        fill((memory, store), held)
        for every in (True, False):
            expected = matching(memory, asked, ANYWHERE, every=every)
            assert matching(store, asked, ANYWHERE, every=every) == expected
        for clause in demands:
            scope = replace(ANYWHERE, clause=clause)
            assert matching(store, [], scope, every=True) == matching(memory, [], scope, every=True)
            some = matching(memory, asked, scope, every=False)
            assert matching(store, asked, scope, every=False) == some
            assert store.recent(scope, limit=99) == memory.recent(scope, limit=99)
        assert store.frequencies(asked) == memory.frequencies(asked)
        assert store.languages() == memory.languages()
        told, expected_told = store.stats(Scope()), memory.stats(Scope())
        assert replace(told, bytes=0) == replace(expected_told, bytes=0)
        assert store.facets(ANYWHERE) == memory.facets(ANYWHERE)


class Work(NamedTuple):
    """One step of a pipeline's life: what is done, to which document, with which vector."""

    verb: str
    id: str
    title: str
    text: str
    vector: int


TEXTS = ("ant", "bee", "ant\n\nbee", "bee\n\nant\n\nbee", "cat")
VERBS = (
    *("put", "put", "put", "embed", "embed", "claim", "fail"),
    *("delete", "hide", "release", "wait", "sweep", "rename"),
)
works = st.builds(
    Work,
    st.sampled_from(VERBS),
    st.sampled_from("abc"),
    st.sampled_from(("One", "Two")),
    st.sampled_from(TEXTS),
    st.integers(0, len(VECTORS) - 1),
)


@settings(max_examples=80, deadline=None)
@given(plan=st.lists(works, min_size=1, max_size=14))
def test_stores_agree_on_vectors(other: Adapter, plan: list[Work]) -> None:
    """Whatever order work is done in, claims, figures and neighbours are the same."""
    clock = Clock()
    with MEMORY.fresh(clock) as memory, other.fresh(clock) as store:
        numbers = [each.open_generation(space()).number for each in (memory, store)]
        for step in plan:
            if step.verb == "wait":
                clock.pass_time(20)
            told = [
                done(each, number, step)
                for each, number in zip((memory, store), numbers, strict=True)
            ]
            assert told[0] == told[1]
            states = [
                state(each, number) for each, number in zip((memory, store), numbers, strict=True)
            ]
            assert states[0] == states[1]
        assert store.check() == []


def done(store: Store, generation: int, step: Work) -> object:
    """Do the step; the answer is what the store says to it."""
    given = prepared(step.id, step.text, title=step.title)
    match step.verb:
        case "put":
            store.apply(Batch("notes", upserts=[given]))
        case "rename":
            moved = prepared(step.id + "2", step.text, title=step.title)
            store.apply(Batch("notes", upserts=[moved], deletes=[step.id]))
        case "hide":
            hidden = prepared(step.id, step.text, title=step.title, deleted=True)
            store.apply(Batch("notes", upserts=[hidden]))
        case "delete":
            store.apply(Batch("notes", deletes=[step.id]))
        case "embed":
            embed(store, generation, given, *(VECTORS[step.vector] for _ in given.chunks))
        case "fail":
            reason = "no answer"
            store.fail(generation, given.chunks[0].content_hash, reason, retry_in=30)
        case "claim":
            return store.claim(generation, worker=step.id, limit=2, seconds=30)
        case "release":
            store.release(generation, step.id)
        case "sweep":
            return store.sweep()
    return None


def state(store: Store, generation: int) -> object:
    """All that a store tells of its vectors."""
    return (
        store.progress(generation),
        store.failures(generation),
        store.unembedded(generation),
        neighbours(store, generation, VECTORS[0], Scope()),
        neighbours(store, generation, VECTORS[2], Scope(collections=("notes",))),
    )


def neighbours(store: Store, generation: int, vector: Vector, scope: Scope) -> object:
    """Who is near, where and how much."""
    return store.nearest(generation, vector, scope, limit=9, floor=0.25)


@settings(max_examples=80, deadline=None)
@given(
    held=shelves(hidden=False),
    demands=st.lists(st.one_of(phrases(), nears()), min_size=1, max_size=6),
    field=st.sampled_from(FIELDS),
)
def test_the_memory_store_agrees_with_fts5(
    held: list[Prepared], demands: list[Phrase | Near], field: str
) -> None:
    """Phrases and distances mean what they mean to an independent engine."""
    with MEMORY.fresh() as memory:
        fill((memory,), held)
        engine = Engine(held)
        for demand in demands:
            plain = unquoted(demand)
            for clause in (plain, InField(field, plain)):
                found = matching(memory, [], replace(ANYWHERE, clause=clause), every=True)
                assert set(found) == engine.matching(clause)


class Engine:
    """The documents' streams in a bare FTS5 table."""

    def __init__(self, held: Iterable[Prepared]) -> None:
        self._connection = apsw.Connection(":memory:")
        columns = ", ".join(FIELDS)
        self._connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(id UNINDEXED, {columns})")
        for each in held:
            row = [each.document.id, *(getattr(each.stems, name) for name in FIELDS)]
            marks = ", ".join("?" * len(row))
            self._connection.execute(f"INSERT INTO words VALUES ({marks})", row)

    def matching(self, clause: Phrase | Near | InField) -> set[str]:
        """Ids of the documents that FTS5 finds."""
        found = self._connection.execute(
            "SELECT id FROM words WHERE words MATCH ?", (expression(clause),)
        )
        return {str(id) for (id,) in found}


def expression(clause: Clause) -> str:
    """The clause in FTS5's own language."""
    match clause:
        case InField(name, inner):
            return f"{{{name}}} : ({expression(inner)})"
        case Phrase():
            return " OR ".join(spellings(clause))
        case Near(parts, distance):
            groups = product(*(spellings(part) for part in parts))
            return " OR ".join(f"NEAR({' '.join(group)}, {distance})" for group in groups)
        case _:
            raise TypeError(f"FTS5 is not asked for {clause}")


def spellings(phrase: Phrase) -> list[str]:
    """Each way to choose one term for every word."""
    star = "*" if phrase.words[-1].prefix else ""
    return [
        " + ".join(f'"{term}"' for term in terms) + star
        for terms in product(*(word.terms for word in phrase.words))
    ]


def unquoted(clause: Phrase | Near) -> Phrase | Near:
    """The clause by its stems alone."""
    if isinstance(clause, Near):
        plain = tuple(replace(phrase, literal=None) for phrase in clause.phrases)
        return replace(clause, phrases=plain)
    return replace(clause, literal=None)
