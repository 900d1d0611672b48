"""The scope: which documents count, in every answer alike."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import document_of, embed, phrase, prepared, put, recent, space, unit, word
from tests.contract.adapters import Adapter
from tests.contract.strategies import (
    COLLECTIONS,
    DAYS,
    IDS,
    LANGUAGES,
    OWNERS,
    TAGS,
    VECTORS,
    VOCABULARY,
    shelves,
)
from twolane.model.document import FIELDS, Batch, Collection, Document, Kind, Prepared
from twolane.model.scope import Clause, Phrase, Scope, Without
from twolane.ports import Stores
from twolane.ports.documents import PutCollection


def counted(store: Stores, scope: Scope) -> set[str]:
    """Ids of the documents in scope; every answer of the store must agree on them."""
    found = set(recent(store, scope, limit=100))
    assert {each.id for each in store.lexical.candidates([], scope, every=True, limit=100)} == found
    assert {
        each.id for each in store.lexical.candidates([word("ant")], scope, every=True, limit=9)
    } == found
    assert store.documents.stats(scope).documents == len(found)
    return found


def fill(store: Stores, *documents: Prepared) -> None:
    """Store documents of any collection."""
    for name in COLLECTIONS:
        store.documents.apply(PutCollection(Collection(name)))
        held = [each for each in documents if each.document.collection == name]
        store.documents.apply(Batch(name, upserts=held))


class TestFilters:
    """Each part of a scope by itself."""

    def test_an_empty_scope_is_everything_but_the_archive(self, store: Stores) -> None:
        """A scope without restrictions leaves out archived documents only."""
        put(store, prepared("a", "ant"), prepared("b", "ant", archived=True, owner="ann"))
        assert counted(store, Scope()) == {"a"}
        assert counted(store, Scope(archived=True)) == {"a", "b"}

    def test_owner(self, store: Stores) -> None:
        """An owner sees their own documents, and not those of nobody."""
        put(store, prepared("a", "ant", owner="ann"), prepared("b", "ant", owner="bob"))
        put(store, prepared("c", "ant"))
        assert counted(store, Scope(owner="ann")) == {"a"}
        assert counted(store, Scope()) == {"a", "b", "c"}

    def test_collections_and_kinds(self, store: Stores) -> None:
        """Any of the named collections and any of the named kinds will do."""
        fill(
            store,
            prepared("a", "ant", kind=Kind.NOTE),
            prepared("b", "ant", kind=Kind.PROMPT),
            prepared("c", "ant", kind=Kind.BOOKMARK, collection="links"),
        )
        assert counted(store, Scope(collections=("links",))) == {"c"}
        assert counted(store, Scope(collections=("links", "notes", "ghost"))) == {"a", "b", "c"}
        assert counted(store, Scope(collections=("ghost",))) == set()
        assert counted(store, Scope(kinds=(Kind.NOTE, Kind.BOOKMARK))) == {"a", "c"}
        assert counted(store, Scope(collections=("notes",), kinds=(Kind.BOOKMARK,))) == set()

    def test_documents(self, store: Stores) -> None:
        """A list of ids, however long, restricts to these; none at all restricts nothing."""
        put(store, prepared("a", "ant"), prepared("b", "ant"), prepared("c", "ant", deleted=True))
        ghosts = tuple(f"ghost {number}" for number in range(2000))
        assert counted(store, Scope(documents=("b", "c", *ghosts))) == {"b"}
        assert counted(store, Scope(documents=())) == {"a", "b"}

    def test_languages(self, store: Stores) -> None:
        """A document counts if one of its chunks is in one of the languages."""
        put(
            store,
            prepared("a", "ant\n\nbee", languages=("en", "ru")),
            prepared("b", "ant", languages=("de",)),
            prepared("c", "ant", languages=()),
        )
        assert counted(store, Scope(languages=("ru",))) == {"a"}
        assert counted(store, Scope(languages=("ru", "de"))) == {"a", "b"}
        assert counted(store, Scope(languages=("fr", "e"))) == set()

    def test_a_clause_restricts(self, store: Stores) -> None:
        """The query's own demands are part of the scope."""
        put(store, prepared("a", "ant bee"), prepared("b", "ant"))
        assert counted(store, Scope(clause=phrase("ant bee"))) == {"a"}
        assert counted(store, Scope(clause=Without(phrase("bee")))) == {"b"}

    def test_all_parts_must_hold(self, store: Stores) -> None:
        """A document counts only if every part of the scope admits it."""
        put(store, prepared("a", "ant", owner="ann", tags=("x",), path="n/a.md", updated=DAYS[1]))
        scope = Scope(owner="ann", tags=("x",), paths=("n",), updated_from=DAYS[0])
        assert counted(store, scope) == {"a"}
        assert counted(store, Scope(owner="ann", tags=("x",), paths=("m",))) == set()


class TestTags:
    """Tags that must and must not be there."""

    def test_all_of_them_must_be_there(self, store: Stores) -> None:
        """Several tags mean all of them."""
        put(store, prepared("a", "ant", tags=("x", "y")), prepared("b", "ant", tags=("x",)))
        assert counted(store, Scope(tags=("x",))) == {"a", "b"}
        assert counted(store, Scope(tags=("y", "x"))) == {"a"}
        assert counted(store, Scope(tags=("x", "z"))) == set()

    def test_case_does_not_matter(self, store: Stores) -> None:
        """Tags keep their case and are compared without it, in any script."""
        put(store, prepared("a", "ant", tags=("Work",)), prepared("b", "ant", tags=("ДОМ",)))
        assert counted(store, Scope(tags=("wORK",))) == {"a"}
        assert counted(store, Scope(tags=("дом",))) == {"b"}
        assert counted(store, Scope(without_tags=("дом",))) == {"a"}
        held = document_of(store, "a", Scope())
        assert held is not None
        assert held.tags == ("Work",)

    def test_a_tag_stands_for_those_below_it(self, store: Stores) -> None:
        """`a` also means `a/b`, and never `ab`, `a-b` or `b/a`."""
        tags = {"1": "a", "2": "A/b", "3": "a/b/c", "4": "ab", "5": "a-b", "6": "b/a", "7": "a0"}
        put(store, *(prepared(id, "ant", tags=(tag,)) for id, tag in tags.items()))
        assert counted(store, Scope(tags=("a",))) == {"1", "2", "3"}
        assert counted(store, Scope(tags=("a/B",))) == {"2", "3"}
        assert counted(store, Scope(without_tags=("a",))) == {"4", "5", "6", "7"}

    def test_none_of_the_others_may_be_there(self, store: Stores) -> None:
        """One unwanted tag is enough to be left out; documents without tags stay."""
        put(store, prepared("a", "ant", tags=("x", "y")), prepared("b", "ant", tags=("y",)))
        put(store, prepared("c", "ant"))
        assert counted(store, Scope(without_tags=("x", "z"))) == {"b", "c"}
        assert counted(store, Scope(tags=("y",), without_tags=("x",))) == {"b"}

    def test_tag_names_are_taken_as_they_are(self, store: Stores) -> None:
        """Signs that mean something to an engine are letters of a tag like any other."""
        put(store, prepared("a", "ant", tags=("100%",)), prepared("b", "ant", tags=("100x",)))
        put(store, prepared("c", "ant", tags=("x_y",)), prepared("d", "ant", tags=("xzy",)))
        assert counted(store, Scope(tags=("100%",))) == {"a"}
        assert counted(store, Scope(tags=("x_y",))) == {"c"}


# What each pattern finds among the paths of the strategies, written out by hand.
PATTERNS: dict[str, set[str]] = {
    "notes": {"notes/one.md", "notes/deep/two.md"},
    "notes/": {"notes/one.md", "notes/deep/two.md"},
    "notes/deep": {"notes/deep/two.md"},
    "notes/one.md": {"notes/one.md"},
    "notes/**": {"notes/one.md", "notes/deep/two.md"},
    "notes/*.md": {"notes/one.md"},
    "notes/*/two.md": {"notes/deep/two.md"},
    "notes/**/*.md": {"notes/one.md", "notes/deep/two.md"},
    "**/two.md": {"notes/deep/two.md"},
    "**/*.md": {"top.md", "notes/one.md", "notes/deep/two.md", "notes-old/three.md"},
    "*.md": {"top.md"},
    "notes*/*.md": {"notes/one.md", "notes-old/three.md"},
    "deep": set(),
    "otes": set(),
    "Notes": set(),
}


class TestPaths:
    """Paths by folder and by pattern."""

    @pytest.mark.parametrize("pattern", PATTERNS)
    def test_patterns(self, store: Stores, pattern: str) -> None:
        """`*` stays in its folder, `**` crosses folders, a folder means all below it."""
        paths = ["top.md", "notes/one.md", "notes/deep/two.md", "notes-old/three.md"]
        put(store, *(prepared(path, "ant", path=path) for path in paths))
        put(store, prepared("pushed", "ant", path=None))
        assert counted(store, Scope(paths=(pattern,))) == PATTERNS[pattern]

    def test_any_pattern_will_do(self, store: Stores) -> None:
        """Several patterns mean any of them."""
        put(store, *(prepared(path, "ant", path=path) for path in ("a/1", "b/2", "c/3")))
        assert counted(store, Scope(paths=("a", "c/*"))) == {"a/1", "c/3"}

    def test_brackets_and_underscores_are_letters(self, store: Stores) -> None:
        """A folder's name may hold signs that other pattern languages know."""
        paths = ["[old] x_y/1", "o x_y/1", "[old] xzy/1"]
        put(store, *(prepared(path, "ant", path=path) for path in paths))
        assert counted(store, Scope(paths=("[old] x_y/",))) == {"[old] x_y/1"}


class TestTimes:
    """When a document was last updated."""

    def test_from_is_inclusive_and_before_is_not(self, store: Stores) -> None:
        """A range holds its start and not its end, and never an undated document."""
        put(store, *(prepared(str(n), "ant", updated=day) for n, day in enumerate(DAYS)))
        put(store, prepared("undated", "ant"))
        assert counted(store, Scope(updated_from=DAYS[1])) == {"1", "2"}
        assert counted(store, Scope(updated_before=DAYS[1])) == {"0"}
        assert counted(store, Scope(updated_from=DAYS[0], updated_before=DAYS[2])) == {"0", "1"}
        assert counted(store, Scope(updated_from=DAYS[1], updated_before=DAYS[1])) == set()

    def test_zones_are_respected(self, store: Stores) -> None:
        """The same moment in another zone is the same moment."""
        put(store, prepared("a", "ant", updated=DAYS[1]))
        elsewhere = DAYS[1].astimezone(timezone(timedelta(hours=9)))
        assert counted(store, Scope(updated_from=elsewhere)) == {"a"}
        assert counted(store, Scope(updated_before=elsewhere)) == set()
        assert counted(store, Scope(updated_before=elsewhere + timedelta(microseconds=1))) == {"a"}


def admits(scope: Scope, given: Prepared) -> bool:
    """Whether the scope admits the document, said in the plainest way."""
    document = given.document
    checks: list[Callable[[], bool]] = [
        lambda: not (document.deleted or document.encrypted or not document.searchable),
        lambda: scope.archived or not document.archived,
        lambda: scope.owner in (None, document.owner),
        lambda: document.collection in (scope.collections or COLLECTIONS),
        lambda: document.kind in (scope.kinds or tuple(Kind)),
        lambda: document.id in (scope.documents or IDS),
        lambda: not scope.languages or bool(set(scope.languages) & set(given.languages)),
        lambda: all(tagged(document, tag) for tag in scope.tags),
        lambda: not any(tagged(document, tag) for tag in scope.without_tags),
        lambda: (
            not scope.paths or any(document.path in PATTERNS[pattern] for pattern in scope.paths)
        ),
        lambda: within(document.updated, scope),
        lambda: scope.clause is None or spoken(given, scope.clause),
    ]
    return all(check() for check in checks)


def tagged(document: Document, tag: str) -> bool:
    """Whether the document has the tag or one below it."""
    return any((held.lower() + "/").startswith(tag.lower() + "/") for held in document.tags)


def within(updated: datetime | None, scope: Scope) -> bool:
    """Whether the time is in the scope's range."""
    if scope.updated_from is None and scope.updated_before is None:
        return True
    start, end = scope.updated_from or DAYS[0], scope.updated_before or DAYS[-1] + timedelta(1)
    return updated is not None and start <= updated < end


def spoken(given: Prepared, clause: Clause) -> bool:
    """Whether the document meets one of the simple clauses of `scopes`."""
    if isinstance(clause, Without):
        return not spoken(given, clause.clause)
    assert isinstance(clause, Phrase)
    (asked,) = clause.words
    return any(f" {asked.terms[0]} " in getattr(given.stems, name) for name in FIELDS)


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Scopes that restrict one to three things at a time."""
    simple = st.sampled_from(VOCABULARY).map(phrase)
    parts: dict[str, st.SearchStrategy[object]] = {
        "owner": st.sampled_from(OWNERS),
        "collections": some(COLLECTIONS),
        "kinds": some(tuple(Kind)),
        "tags": some(TAGS),
        "without_tags": some(TAGS),
        "paths": some(tuple(PATTERNS)),
        "languages": some(LANGUAGES),
        "updated_from": st.sampled_from(DAYS),
        "updated_before": st.sampled_from(DAYS),
        "documents": some(IDS),
        "clause": st.one_of(simple, simple.map(Without)),
    }
    names = draw(st.lists(st.sampled_from(sorted(parts)), max_size=3, unique=True))
    chosen = {name: draw(parts[name]) for name in names}
    return Scope(archived=draw(st.booleans()), **chosen)  # type: ignore[arg-type]


def some(values: tuple[object, ...]) -> st.SearchStrategy[object]:
    """One or two of the values."""
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True).map(tuple)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), held=shelves(), asked=st.lists(scopes(), min_size=1, max_size=6))
def test_a_scope_filters_before_the_limit(
    adapter: Adapter, data: st.DataObject, held: list[Prepared], asked: list[Scope]
) -> None:
    """Every answer in scope is the unscoped answer filtered, as long as the limit allows."""
    with adapter.fresh() as store:
        fill(store, *held)
        generation = store.vectors.open_generation(space()).number
        for each in held:
            some_vectors = [data.draw(st.sampled_from(VECTORS)) for _ in each.chunks]
            embed(store, generation, each, *some_vectors)
        by_id = {each.document.id: each for each in held}
        everything = Scope(archived=True)
        looked_for = [word(data.draw(st.sampled_from(VOCABULARY)))]
        near = unit(1, 1, 0, 0)
        answers: list[Callable[[Scope, int], list[str]]] = [
            lambda scope, limit: recent(store, scope, limit=limit),
            lambda scope, limit: [
                n.id for n in store.vectors.nearest(generation, near, scope, limit=limit, floor=0.1)
            ],
        ]
        pools: list[Callable[[Scope, int], list[str]]] = [
            lambda scope, limit: [
                c.id for c in store.lexical.candidates(looked_for, scope, every=True, limit=limit)
            ],
            lambda scope, limit: [
                c.id for c in store.lexical.candidates([], scope, every=True, limit=limit)
            ],
        ]
        for scope in asked:
            for answer in answers:
                expected = [id for id in answer(everything, 99) if admits(scope, by_id[id])]
                for limit in (1, 2, 99):
                    assert answer(scope, limit) == expected[:limit]
            for pool in pools:
                wanted = {id for id in pool(everything, 99) if admits(scope, by_id[id])}
                for limit in (1, 2, 99):
                    found = pool(scope, limit)
                    assert set(found) <= wanted
                    assert len(set(found)) == len(found) == min(limit, len(wanted))
            expected_ids = {id for id, each in by_id.items() if admits(scope, each)}
            assert {id for id in by_id if document_of(store, id, scope)} == expected_ids
            assert store.documents.stats(scope).documents == len(expected_ids)
