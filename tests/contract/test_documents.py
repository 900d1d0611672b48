"""The `Documents` port: documents, chunks, collections and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, overload

import pytest

from tests.builders import phrase, prepared, put, word
from twolane.errors import TwolaneError
from twolane.model import (
    Batch,
    Collection,
    FileRecord,
    FileState,
    Heading,
    Kind,
    Link,
    Prepared,
    TitleOrigin,
)
from twolane.ports import Store
from twolane.scopes import Scope

EVERYTHING = Scope(archived=True)


def found(store: Store, text: str, scope: Scope = EVERYTHING) -> set[str]:
    """Ids of the documents that hold the word."""
    return {each.id for each in store.lexical([word(text)], scope, every=True, limit=100)}


class Breaking(Sequence[Prepared]):
    """Documents that break off after the last one."""

    def __init__(self, *held: Prepared) -> None:
        self.held = held

    def __len__(self) -> int:
        return len(self.held) + 1

    @overload
    def __getitem__(self, index: int) -> Prepared: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Prepared]: ...
    def __getitem__(self, index: int | slice) -> Prepared | Sequence[Prepared]:
        if isinstance(index, slice) or index >= len(self.held):
            raise RuntimeError("the source broke off")
        return self.held[index]

    def __iter__(self) -> Iterator[Prepared]:
        yield from self.held
        raise RuntimeError("the source broke off")


class TestCollections:
    """Named sets of documents."""

    def test_are_listed_by_name(self, store: Store) -> None:
        """Collections come back whole and in order of their names."""
        links = Collection("links", None, Kind.BOOKMARK, description="saved pages")
        album = Collection("album", "/home/ann/album", Kind.NOTE, ("*.md",), ("old/*",), "x")
        store.add_collection(links)
        store.add_collection(album)
        assert store.collections() == [album, links, Collection("notes")]

    def test_can_be_described_anew(self, store: Store) -> None:
        """Adding a known name replaces what is said of it and keeps its documents."""
        put(store, prepared("a", "ant"))
        moved = Collection("notes", "/elsewhere", exclude=("x",), description="moved")
        store.add_collection(moved)
        assert store.collections() == [moved]
        assert found(store, "ant") == {"a"}


class TestApply:
    """Changes that happen together or not at all."""

    def test_keeps_every_field_of_a_document(self, store: Store) -> None:
        """A document comes back equal to what was stored."""
        full = prepared(
            "full",
            "# One\n\nТекст с ёлкой and [[Two|words]].\n",
            title="Полный",
            kind=Kind.PROMPT,
            path="deep/full note.md",
            url="https://example.org/?q=1&r='2'",
            title_origin=TitleOrigin.HEADING,
            aliases=("Whole", "Всё"),
            tags=("Work/Deep", "дом"),
            description="what it is",
            summary="in short",
            headings=(Heading(1, "One", 5, 0),),
            links=(Link("Two", "words", wiki=True), Link("https://example.org", "there")),
            arguments=("name", "tone"),
            properties={"n": 1, "list": ["x", {"y": None}], "yes": True, "part": 0.5},
            first_line=5,
            owner="ann",
            created=datetime(2020, 2, 29, 23, 59, 59, 123457, tzinfo=UTC),
            updated=datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=3))),
            used=datetime(2024, 6, 1, tzinfo=UTC),
            archived=True,
            version=7,
        )
        put(store, full)
        assert store.document("full", EVERYTHING) == full.document
        assert store.documents(["full"]) == {"full": full.document}

    def test_keeps_the_defaults_of_a_bare_document(self, store: Store) -> None:
        """A document without path, times or text comes back equal too."""
        bare = prepared("bare", path=None)
        put(store, bare)
        assert store.document("bare", Scope()) == bare.document
        assert store.chunks("bare") == []

    def test_keeps_chunks_in_order(self, store: Store) -> None:
        """Chunks come back whole, by position, without those of other documents."""
        two = prepared("two", "one\n\ntwo\nlines\n\nthree", languages=("en", "ru"), first_line=3)
        put(store, prepared("other", "else"), two)
        assert store.chunks("two") == list(two.chunks)
        assert store.chunks("absent") == []

    def test_gives_the_chunks_of_several_documents(self, store: Store) -> None:
        """Each document's chunks are those that it has alone; hidden and absent ones have none."""
        one, two = prepared("one", "a\n\nb"), prepared("two", "c")
        put(store, one, two, prepared("hidden", "d", searchable=False), prepared("not", "e"))
        asked = ["two", "hidden", "absent", "one"]
        assert store.chunks_of(asked) == {"one": list(one.chunks), "two": list(two.chunks)}
        assert store.chunks_of([]) == {}

    def test_replaces_the_document_with_the_same_id(self, store: Store) -> None:
        """Nothing of the old words, chunks and tags is left after an upsert."""
        put(store, prepared("a", "ant\n\nbee", tags=("old",), title="First"))
        new = prepared("a", "cat", tags=("new",), title="Second")
        put(store, new)
        assert store.document("a", Scope()) == new.document
        assert store.chunks("a") == list(new.chunks)
        assert found(store, "bee") == set()
        assert found(store, "first") == set()
        assert found(store, "cat", Scope(tags=("new",))) == {"a"}
        assert found(store, "cat", Scope(tags=("old",))) == set()
        assert store.stats(Scope()).documents == 1

    def test_the_last_of_two_upserts_wins(self, store: Store) -> None:
        """A batch may name a document twice; the later one stays."""
        put(store, prepared("a", "ant"), prepared("a", "bee"))
        assert (found(store, "ant"), found(store, "bee")) == (set(), {"a"})

    def test_deletes_a_document_from_everywhere(self, store: Store) -> None:
        """A deleted document is in no list, no count and no lane, and its path is unknown."""
        put(store, prepared("a", "ant"), prepared("b", "ant"))
        store.apply(Batch("notes", deletes=["a"]))
        assert store.document("a", EVERYTHING) is None
        assert store.chunks("a") == []
        assert store.recent(EVERYTHING, limit=9) == ["b"]
        assert found(store, "ant") == {"b"}
        assert store.frequencies([word("ant")]).containing == {"ant": 1}
        assert set(store.known("notes")) == {"b.md"}

    def test_deleting_what_is_absent_is_harmless(self, store: Store) -> None:
        """A delete may name an id that the store never held."""
        put(store, prepared("a", "ant"))
        store.apply(Batch("notes", deletes=["ghost", "a", "a"]))
        assert store.recent(EVERYTHING, limit=9) == []

    def test_deletes_before_it_upserts(self, store: Store) -> None:
        """A document that is deleted and stored in one batch is there afterwards."""
        put(store, prepared("a", "ant"))
        store.apply(Batch("notes", upserts=[prepared("a", "bee")], deletes=["a"]))
        assert (found(store, "ant"), found(store, "bee")) == (set(), {"a"})

    def test_changes_nothing_when_it_breaks_off(self, store: Store) -> None:
        """A batch that raises half-way leaves documents, words and ledger as they were."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        skipped = FileRecord("old.md", FileState.SKIPPED, reason="too large")
        store.apply(Batch("notes", records=[skipped]))
        broken = Batch(
            "notes",
            upserts=Breaking(prepared("a", "cat"), prepared("new", "cat")),
            deletes=["b"],
            records=[FileRecord("new.md", FileState.FAILED)],
            forgotten=["old.md"],
        )
        with pytest.raises(RuntimeError, match="broke off"):
            store.apply(broken)
        assert store.recent(EVERYTHING, limit=9) == ["a", "b"]
        assert found(store, "ant") == {"a"}
        assert found(store, "bee") == {"b"}
        assert found(store, "cat") == set()
        indexed = [FileRecord(path, FileState.INDEXED) for path in ("a.md", "b.md")]
        assert store.ledger("notes") == [*indexed, skipped]
        put(store, prepared("c", "cat"))
        assert found(store, "cat") == {"c"}

    def test_refuses_a_collection_that_does_not_exist(self, store: Store) -> None:
        """A batch for an unknown collection raises and stores nothing."""
        with pytest.raises(TwolaneError):
            store.apply(Batch("ghost", upserts=[prepared("a", "ant", collection="ghost")]))
        assert store.recent(EVERYTHING, limit=9) == []

    def test_refuses_a_document_of_another_collection(self, store: Store) -> None:
        """A batch changes one collection; a stray document raises and nothing is stored."""
        store.add_collection(Collection("links"))
        stray = prepared("b", "ant", collection="links")
        with pytest.raises(TwolaneError):
            store.apply(Batch("notes", upserts=[prepared("a", "ant"), stray]))
        assert store.recent(EVERYTHING, limit=9) == []

    def test_leaves_other_collections_alone(self, store: Store) -> None:
        """A batch cannot delete a document of another collection."""
        store.add_collection(Collection("links"))
        put(store, prepared("a", "ant"))
        store.apply(Batch("links", deletes=["a"]))
        assert store.recent(EVERYTHING, limit=9) == ["a"]

    def test_can_be_called_from_several_threads(self, store: Store) -> None:
        """Writers and readers at once lose nothing and see whole documents only."""

        def write(number: int) -> None:
            put(store, prepared(f"{number:02}", f"ant n{number}"), prepared("same", "ant bee"))

        def read(_: int) -> int:
            both = [word("ant"), word("bee")]
            return len(store.lexical(both, Scope(), every=True, limit=99))

        with ThreadPoolExecutor(4) as pool:
            reads = pool.map(read, range(20))
            list(pool.map(write, range(20)))
            assert set(reads) <= {0, 1}
        assert len(found(store, "ant")) == 21
        assert found(store, "n7") == {"07"}


def hidden(id: str, why: str) -> Prepared:
    """A document that holds `ant` and must not be found."""
    flags: dict[str, Any] = {why: why != "searchable"}
    return prepared(id, "ant", **flags)


@pytest.mark.parametrize("why", ["deleted", "encrypted", "searchable"])
class TestHidden:
    """Documents that must appear nowhere, though the store keeps them."""

    def test_are_in_no_answer(self, store: Store, why: str) -> None:
        """A hidden document is in no lane, no list and no count."""
        put(store, prepared("seen", "ant"), hidden("unseen", why))
        assert store.document("unseen", EVERYTHING) is None
        assert set(store.documents(["seen", "unseen"])) == {"seen"}
        assert store.chunks("unseen") == []
        assert store.recent(EVERYTHING, limit=9) == ["seen"]
        assert store.resolve("unseen", EVERYTHING) == []
        assert store.resolve("unseen.md", EVERYTHING) == []
        assert store.stats(EVERYTHING).documents == 1
        assert store.stats(EVERYTHING).chunks == 1
        assert found(store, "ant") == {"seen"}
        assert store.frequencies([word("ant")]).containing == {"ant": 1}
        assert store.frequencies([]).documents == 1

    def test_are_known_by_path_unless_deleted(self, store: Store, why: str) -> None:
        """A hidden document's file need not be read again; a deleted one's must be."""
        put(store, hidden("unseen", why))
        expected = set() if why == "deleted" else {"unseen.md"}
        assert set(store.known("notes")) == expected

    def test_come_back_when_shown(self, store: Store, why: str) -> None:
        """A document that is no longer hidden is found again, and the other way round."""
        put(store, hidden("a", why))
        put(store, prepared("a", "ant"))
        assert found(store, "ant") == {"a"}
        put(store, hidden("a", why))
        assert found(store, "ant") == set()


class TestLookups:
    """Finding documents by name and by time."""

    def test_document_obeys_the_scope(self, store: Store) -> None:
        """A document out of scope is as good as absent, whatever part of the scope says so."""
        put(store, prepared("a", "ant", owner="ann", archived=True))
        assert store.document("a", Scope(owner="ann", archived=True)) is not None
        assert store.document("a", Scope(owner="bob", archived=True)) is None
        assert store.document("a", Scope(owner="ann")) is None
        assert store.document("a", Scope(archived=True, clause=phrase("bee"))) is None

    def test_documents_takes_many_ids(self, store: Store) -> None:
        """Thousands of ids may be asked for at once; absent ones are left out."""
        put(store, prepared("a", "ant"), prepared("b", "bee", archived=True))
        ids = [f"ghost {number}" for number in range(3000)]
        assert set(store.documents([*ids, "b", "a", "a"])) == {"a", "b"}
        assert store.documents([]) == {}

    def test_resolve_prefers_id_then_path_then_url_then_title(self, store: Store) -> None:
        """The first kind of name that matches anything wins."""
        put(
            store,
            prepared("x", path="1.md", url="u:1", title="one"),
            prepared("2", path="x", url="u:2", title="two"),
            prepared("3", path="3.md", url="x", title="three"),
            prepared("4", path="4.md", url="u:4", title="x"),
        )
        for expected in ("x", "2", "3", "4"):
            assert store.resolve("x", Scope()) == [expected]
            store.apply(Batch("notes", deletes=[expected]))
        assert store.resolve("x", Scope()) == []

    def test_resolve_lists_all_namesakes_in_scope(self, store: Store) -> None:
        """Several documents with one title come back sorted, without those out of scope."""
        namesakes = [prepared(id, title="Same", owner="ann") for id in ("c", "a", "b")]
        put(store, *namesakes, prepared("d", title="Same", owner="bob"))
        assert store.resolve("Same", Scope(owner="ann")) == ["a", "b", "c"]

    def test_resolve_folds_titles(self, store: Store) -> None:
        """A title may be spelled in another case; a path may not."""
        put(store, prepared("a", title="Ёлка на Даче", path="Notes/a.md"))
        assert store.resolve("елка на даче", Scope()) == ["a"]
        assert store.resolve("notes/a.md", Scope()) == []

    def test_resolve_passes_over_names_out_of_scope(self, store: Store) -> None:
        """A document that the caller may not see does not shadow one that they may."""
        put(store, prepared("x", deleted=True), prepared("y", title="x"))
        assert store.resolve("x", Scope()) == ["y"]

    def test_aliases_are_folded_and_sorted_in_scope(self, store: Store) -> None:
        """All documents with the whole name among their aliases, without those out of scope."""
        put(
            store,
            prepared("b", aliases=("Other", "Всё о чае"), owner="ann"),
            prepared("a", aliases=("все о ЧАЕ",), owner="ann"),
            prepared("c", aliases=("всё о чае и кофе",), owner="ann"),
            prepared("d", aliases=("всё о чае",), owner="bob"),
            prepared("e", title="всё о чае", owner="ann"),
        )
        assert store.aliased("все о чае", Scope(owner="ann")) == ["a", "b"]
        assert store.aliased("чае", Scope(owner="ann")) == []

    def test_recent_shows_the_latest_first(self, store: Store) -> None:
        """Most recently updated first, ties by id, undated ones last, at most `limit`."""
        noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
        earlier_elsewhere = datetime(2024, 5, 1, 13, tzinfo=timezone(timedelta(hours=2)))
        put(
            store,
            prepared("a"),
            prepared("b", updated=earlier_elsewhere),
            prepared("d", updated=noon),
            prepared("c", updated=noon),
            prepared("e", updated=noon + timedelta(microseconds=1)),
        )
        assert store.recent(Scope(), limit=9) == ["e", "c", "d", "b", "a"]
        assert store.recent(Scope(), limit=2) == ["e", "c"]

    def test_stats_count_what_can_be_found(self, store: Store) -> None:
        """Documents, chunks and documents by language, archived ones only if asked."""
        put(
            store,
            prepared("a", "one\n\ntwo\n\nthree", languages=("en", "ru")),
            prepared("b", "four", languages=("en",)),
            prepared("c", "five", languages=("de",), archived=True),
            prepared("d", "six", languages=()),
        )
        stats = store.stats(Scope())
        assert (stats.documents, stats.chunks) == (3, 5)
        assert dict(stats.languages) == {"en": 2, "ru": 1}
        assert stats.bytes >= 0
        assert dict(store.stats(EVERYTHING).languages) == {"de": 1, "en": 2, "ru": 1}
        assert store.stats(Scope(documents=("b",))).chunks == 1

    def test_facets_count_what_can_be_found(self, store: Store) -> None:
        """Documents by kind, collection, tag (whatever its case) and language, in scope."""
        put(
            store,
            prepared("a", "one\n\ntwo", languages=("en", "ru"), tags=("Garden", "a/b")),
            prepared("b", "two", languages=("en",), tags=("garden",), kind=Kind.PROMPT),
            prepared("c", "three", languages=("de",), tags=("old",), archived=True),
            prepared("d", "four", languages=(), searchable=False, tags=("hidden",)),
        )
        facets = store.facets(Scope())
        assert dict(facets.kinds) == {"note": 1, "prompt": 1}
        assert dict(facets.tags) == {"Garden": 2, "a/b": 1}
        assert dict(facets.languages) == {"en": 2, "ru": 1}
        assert sum(facets.collections.values()) == 2
        assert dict(store.facets(EVERYTHING).tags) == {"Garden": 2, "a/b": 1, "old": 1}
        assert dict(store.facets(Scope(documents=("b",))).tags) == {"garden": 1}
