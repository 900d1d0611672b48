"""Every store agrees with the memory store, and the memory store with SQLite's own FTS5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import (
    Clock,
    embed,
    inventory,
    names_in,
    prepared,
    put,
    recent,
    space,
    vocabulary,
    word,
)
from tests.contract.adapters import MEMORY, Adapter
from tests.contract.strategies import (
    COLLECTIONS,
    OWNERS,
    VECTORS,
    clauses,
    nears,
    phrases,
    shelves,
    words,
)
from twolane.model.document import FIELDS, Amendment, Batch, Collection, Prepared
from twolane.model.errors import Conflict
from twolane.model.scope import Clause, InField, Near, Phrase, Scope, Word
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.text.tokens import stream

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

ANYWHERE = Scope(archived=True)


def fill(stores: Iterable[Stores], documents: Iterable[Prepared]) -> None:
    """Give each of the stores the same documents."""
    held = list(documents)
    for store in stores:
        for name in COLLECTIONS:
            store.documents.apply(PutCollection(Collection(name)))
            mine = [each for each in held if each.document.collection == name]
            store.documents.apply(Batch(name, upserts=mine))


def matching(store: Stores, asked: list[Word], scope: Scope, *, every: bool) -> dict[str, object]:
    """Everything that a search by words says, whatever the order."""
    found = store.lexical.candidates(asked, scope, every=every, limit=99)
    assert len({each.id for each in found}) == len(found)
    return {each.id: (each.languages, each.frequencies, each.lengths) for each in found}


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
            assert recent(store, scope, limit=99) == recent(memory, scope, limit=99)
        for owner in (None, *OWNERS, "nobody"):
            scope = Scope(owner=owner)
            assert named(store, scope) == named(memory, scope)
            assert store.lexical.document_frequencies(
                asked, scope
            ) == memory.lexical.document_frequencies(asked, scope)
        told, expected_told = (
            replace(each.documents.stats(Scope(), detail=True), bytes=0) for each in (store, memory)
        )
        assert told == expected_told
        assert store.documents.facets(ANYWHERE) == memory.documents.facets(ANYWHERE)


def named(store: Stores, scope: Scope) -> object:
    """All names that a store tells to an owner."""
    return (
        replace(names_in(store, scope), bytes=0),
        vocabulary(store, scope),
        store.documents.collections(scope),
    )


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
    *("delete", "hide", "release", "wait", "rename"),
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
        numbers = [each.vectors.open_generation(space()).number for each in (memory, store)]
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
        assert store.maintenance.check() == []


def done(store: Stores, generation: int, step: Work) -> object:
    """Do the step; the answer is what the store says to it."""
    given = prepared(step.id, step.text, title=step.title)
    match step.verb:
        case "put":
            store.documents.apply(Batch("notes", upserts=[given]))
        case "rename":
            moved = prepared(step.id + "2", step.text, title=step.title)
            store.documents.apply(Batch("notes", upserts=[moved], deletes=[step.id]))
        case "hide":
            hidden = prepared(step.id, step.text, title=step.title, deleted=True)
            store.documents.apply(Batch("notes", upserts=[hidden]))
        case "delete":
            store.documents.apply(Batch("notes", deletes=[step.id]))
        case "embed":
            embed(store, generation, given, *(VECTORS[step.vector] for _ in given.chunks))
        case "fail":
            reason = "no answer"
            store.queue.fail(generation, given.chunks[0].content_hash, reason, retry_in=30)
        case "claim":
            return store.queue.claim(generation, worker=step.id, limit=2, seconds=30)
        case "release":
            store.queue.release(generation, step.id)
    return None


def state(store: Stores, generation: int) -> object:
    """All that a store tells of its vectors."""
    progress = store.queue.progress(generation, detail=True)
    told = [getattr(progress, field.name) for field in fields(progress)]
    sample = store.vectors.sample(generation, size=2)
    return (
        told,
        [(id, vector.tolist()) for id, vector in sample],
        neighbours(store, generation, VECTORS[0], Scope()),
        neighbours(store, generation, VECTORS[2], Scope(collections=("notes",))),
    )


def neighbours(store: Stores, generation: int, vector: Vector, scope: Scope) -> object:
    """Who is near, where and how much."""
    return store.vectors.nearest(generation, vector, scope, limit=9, floor=0.25)


NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
EVERYTHING = Scope(archived=True)

STEPS = st.tuples(
    st.sampled_from(
        ["put", "put", "archive", "delete", "restore", "tag", "touch", "hide", "purge"]
    ),
    st.sampled_from("abc"),
    st.sampled_from([(), ("x",), ("x", "y z"), ("y z", "🍕")]),
)


@settings(max_examples=40, deadline=None)
@given(plan=st.lists(STEPS, min_size=1, max_size=14))
def test_stores_agree_on_changes(
    other: Adapter, plan: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    """Whatever is done in whatever order, both hold the same documents, words and counts."""
    with MEMORY.fresh() as memory, other.fresh() as store:
        for verb, id, tags in plan:
            told = [_done(each, verb, id, tags) for each in (memory, store)]
            assert told[0] == told[1]
        for deleted in (False, True):
            ids = inventory(memory, ANYWHERE, deleted=deleted)
            assert inventory(store, ANYWHERE, deleted=deleted) == ids
            assert store.documents.get(ids) == memory.documents.get(ids)
        for text in ("ant", "x", "y"):
            assert matching(store, [word(text)], ANYWHERE, every=True) == matching(
                memory, [word(text)], ANYWHERE, every=True
            )
            assert store.lexical.document_frequencies(
                [word(text)], Scope()
            ) == memory.lexical.document_frequencies([word(text)], Scope())
        assert store.documents.facets(ANYWHERE) == memory.documents.facets(ANYWHERE)
        assert store.maintenance.check() == []


def _done(store: Stores, verb: str, id: str, tags: tuple[str, ...]) -> str:
    """Do the step; what kept it from being done, if anything."""
    held = store.documents.get([id]).get(id)
    version = held.document.version if held else 1
    if verb == "put":
        again = prepared(id, f"ant {id}", tags=tags, version=version + 1)
        # Streams of tags are those that a change of tags would make.
        stems = replace(again.stems, tags="".join(stream(tag) for tag in tags))
        put(store, replace(again, stems=stems))
        return ""
    if verb in ("hide", "purge"):
        hidden = replace(
            prepared(id, title="", path=None, encrypted=True),
            document=replace(
                prepared(id, title="", path=None, encrypted=True).document, version=version + 1
            ),
        )
        upserts = [hidden] if verb == "hide" else []
        store.documents.apply(
            Batch("notes", upserts=upserts, purges=[id] if verb == "purge" else [])
        )
        return ""
    change = {
        "archive": Amendment(id, version, archived=True),
        "delete": Amendment(id, version, deleted=True),
        "restore": Amendment(id, version, deleted=False),
        "tag": Amendment(id, version, tags=tags),
        "touch": Amendment(id, version, used=NOON),
    }[verb]
    try:
        store.documents.apply(change)
    except Conflict as error:
        return str(error)
    return ""


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


# ------------------------------------------------------------------------- drift


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
            store.documents.apply(Batch("notes", upserts=upserts, deletes=deletes))
            if any(verb == "settle" for verb, _ in step.values()):
                store.maintenance.settle()
            check_words(store, model)
            check_letters(store, model)
            assert store.maintenance.check() == []


def check_words(store: Stores, model: dict[str, Held]) -> None:
    """The store and the model agree on every word."""
    asked = [word(text) for text in (*WORDS, *TAGS)]
    known = store.lexical.document_frequencies(asked, Scope())
    for each in asked:
        expected = {
            id: held
            for id, held in model.items()
            if each.text in (*held.words, *held.tags) and not held.hidden
        }
        listed = {id for id, held in expected.items() if not held.archived}
        everywhere = store.lexical.candidates([each], Scope(archived=True), every=True, limit=9)
        assert {candidate.id for candidate in everywhere} == set(expected)
        assert found(store, each) == listed
        assert known.document_frequency[each.text] == len(expected)
    lengths = [len(held.words) for held in model.values() if not held.hidden]
    assert known.documents == len(lengths)
    assert known.average_lengths["body"] == pytest.approx(
        sum(lengths) / len(lengths) if lengths else 0
    )


def check_letters(store: Stores, model: dict[str, Held]) -> None:
    """The store and the model agree on every part of a word or tag."""
    for letters in ("ant", "eet", "bee", "ome", "wor", "at home"):
        expected = {
            id
            for id, held in model.items()
            if not held.hidden
            and any(letters in text for text in (" ".join(held.words), *held.tags))
        }
        matches = store.lexical.substring(letters, Scope(archived=True), limit=9)
        assert {match.id for match in matches} == expected


def found(store: Stores, asked: Word) -> set[str]:
    """Ids of the documents that hold the word and are not archived."""
    return {each.id for each in store.lexical.candidates([asked], Scope(), every=True, limit=9)}
