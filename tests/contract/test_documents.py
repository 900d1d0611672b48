"""The `DocumentStore` port: documents, their changes, the ledger of files, receipts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, overload

import pytest

from tests.builders import (
    COLLECTION,
    chunks_in,
    document_of,
    documents_of,
    embed,
    inventory,
    ledger,
    phrase,
    prepared,
    put,
    recent,
    space,
    unit,
    vocabulary,
    word,
)
from twolane.model.document import (
    Amendment,
    Batch,
    Boilerplate,
    Collection,
    Heading,
    Kind,
    Link,
    Prepared,
    Rewording,
    TitleOrigin,
)
from twolane.model.draft import Once, Receipt, Saved
from twolane.model.errors import Conflict, StoreError, TwolaneError
from twolane.model.problem import FileRecord, FileState, ProblemCode, Stamp
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import (
    KeepBoilerplate,
    KeepReceipt,
    Known,
    Part,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.ports.generations import revision
from twolane.ports.vectors import NewVector

EVERYTHING = Scope(archived=True)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def found(store: Stores, text: str, scope: Scope = EVERYTHING) -> set[str]:
    """Ids of the documents that hold the word."""
    return {
        each.id for each in store.lexical.candidates([word(text)], scope, every=True, limit=100)
    }


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

    def test_are_listed_by_name(self, store: Stores) -> None:
        """Collections come back whole and in order of their names."""
        links = Collection("links", None, Kind.BOOKMARK, description="saved pages")
        album = Collection("album", "/home/ann/album", Kind.NOTE, ("*.md",), ("old/*",), "x")
        store.documents.apply(PutCollection(links))
        store.documents.apply(PutCollection(album))
        assert store.documents.collections() == [album, links, Collection("notes")]

    def test_can_be_described_anew(self, store: Stores) -> None:
        """Adding a known name replaces what is said of it and keeps its documents."""
        put(store, prepared("a", "ant"))
        moved = Collection("notes", "/elsewhere", exclude=("x",), description="moved")
        store.documents.apply(PutCollection(moved))
        assert store.documents.collections() == [moved]
        assert found(store, "ant") == {"a"}


class TestMoves:
    """Documents whose files are at another place by now."""

    @pytest.mark.parametrize("together", [True, False])
    def test_go_on_as_what_they_were(self, store: Stores, together: bool) -> None:
        """The old place is gone; uses and owner stay, whether both come in one batch or not."""
        old = prepared("notes/a.md", "ant", path="a.md", used=NOON, uses=2, owner="ann")
        new = prepared("notes/b/a.md", "ant", path="b/a.md")
        put(store, old)
        if together:
            store.documents.apply(Batch(COLLECTION, [new], moves={"notes/b/a.md": "notes/a.md"}))
        else:
            put(store, new)
            store.documents.apply(Batch(COLLECTION, moves={"notes/b/a.md": "notes/a.md"}))
        assert found(store, "ant") == {"notes/b/a.md"}
        held = document_of(store, "notes/b/a.md")
        assert held is not None
        assert (held.used, held.uses, held.owner) == (NOON, 2, "ann")
        assert store.maintenance.check() == []

    def test_keep_their_vectors(self, store: Stores) -> None:
        """The passages are the same, so that nothing waits for a vector."""
        number = store.vectors.open_generation(space()).number
        old = prepared("notes/a.md", "ant", path="a.md")
        put(store, old)
        embed(store, number, old, unit(1, 0, 0, 0))
        batch = Batch(
            COLLECTION,
            [prepared("notes/b.md", "ant", path="b.md")],
            moves={"notes/b.md": "notes/a.md"},
        )
        store.documents.apply(batch)
        assert store.queue.progress(number).pending == 0


class TestApply:
    """Changes that happen together or not at all."""

    def test_keeps_every_field_of_a_document(self, store: Stores) -> None:
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
        assert document_of(store, "full", EVERYTHING) == full.document
        assert documents_of(store, ["full"]) == {"full": full.document}

    def test_keeps_the_defaults_of_a_bare_document(self, store: Stores) -> None:
        """A document without path, times or text comes back equal too."""
        bare = prepared("bare", path=None)
        put(store, bare)
        assert document_of(store, "bare", Scope()) == bare.document
        assert chunks_in(store, "bare") == []

    def test_keeps_chunks_in_order(self, store: Stores) -> None:
        """Chunks come back whole, by position, without those of other documents."""
        two = prepared("two", "one\n\ntwo\nlines\n\nthree", languages=("en", "ru"), first_line=3)
        put(store, prepared("other", "else"), two)
        assert chunks_in(store, "two") == list(two.chunks)
        assert chunks_in(store, "absent") == []

    def test_gives_the_chunks_of_several_documents(self, store: Stores) -> None:
        """Each document's chunks are those that it has alone; hidden and absent ones have none."""
        one, two = prepared("one", "a\n\nb"), prepared("two", "c")
        put(store, one, two, prepared("hidden", "d", searchable=False), prepared("not", "e"))
        asked = ["two", "hidden", "absent", "one"]
        held = store.documents.get(asked, EVERYTHING, frozenset({Part.CHUNKS}))
        assert {id: each.chunks for id, each in held.items()} == {
            "one": one.chunks,
            "two": two.chunks,
        }
        assert store.documents.get([], EVERYTHING) == {}

    def test_replaces_the_document_with_the_same_id(self, store: Stores) -> None:
        """Nothing of the old words, chunks and tags is left after an upsert."""
        put(store, prepared("a", "ant\n\nbee", tags=("old",), title="First"))
        new = prepared("a", "cat", tags=("new",), title="Second")
        put(store, new)
        assert document_of(store, "a", Scope()) == new.document
        assert chunks_in(store, "a") == list(new.chunks)
        assert found(store, "bee") == set()
        assert found(store, "first") == set()
        assert found(store, "cat", Scope(tags=("new",))) == {"a"}
        assert found(store, "cat", Scope(tags=("old",))) == set()
        assert store.documents.stats(Scope()).documents == 1

    def test_the_last_of_two_upserts_wins(self, store: Stores) -> None:
        """A batch may name a document twice; the later one stays."""
        put(store, prepared("a", "ant"), prepared("a", "bee"))
        assert (found(store, "ant"), found(store, "bee")) == (set(), {"a"})

    def test_deletes_a_document_from_everywhere(self, store: Stores) -> None:
        """A deleted document is in no list, no count and no lane, and its path is unknown."""
        put(store, prepared("a", "ant"), prepared("b", "ant"))
        store.documents.apply(Batch("notes", deletes=["a"]))
        assert document_of(store, "a", EVERYTHING) is None
        assert chunks_in(store, "a") == []
        assert recent(store, EVERYTHING, limit=9) == ["b"]
        assert found(store, "ant") == {"b"}
        assert store.lexical.document_frequencies([word("ant")], Scope()).document_frequency == {
            "ant": 1
        }
        assert set(store.documents.known("notes")) == {"b.md"}

    def test_deleting_what_is_absent_is_harmless(self, store: Stores) -> None:
        """A delete may name an id that the store never held."""
        put(store, prepared("a", "ant"))
        store.documents.apply(Batch("notes", deletes=["ghost", "a", "a"]))
        assert recent(store, EVERYTHING, limit=9) == []

    def test_deletes_before_it_upserts(self, store: Stores) -> None:
        """A document that is deleted and stored in one batch is there afterwards."""
        put(store, prepared("a", "ant"))
        store.documents.apply(Batch("notes", upserts=[prepared("a", "bee")], deletes=["a"]))
        assert (found(store, "ant"), found(store, "bee")) == (set(), {"a"})

    def test_changes_nothing_when_it_breaks_off(self, store: Stores) -> None:
        """A batch that raises half-way leaves documents, words and ledger as they were."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        skipped = FileRecord("old.md", FileState.SKIPPED, reason="too large")
        store.documents.apply(Batch("notes", records=[skipped]))
        broken = Batch(
            "notes",
            upserts=Breaking(prepared("a", "cat"), prepared("new", "cat")),
            deletes=["b"],
            records=[FileRecord("new.md", FileState.FAILED)],
            forgotten=["old.md"],
        )
        with pytest.raises(RuntimeError, match="broke off"):
            store.documents.apply(broken)
        assert recent(store, EVERYTHING, limit=9) == ["a", "b"]
        assert found(store, "ant") == {"a"}
        assert found(store, "bee") == {"b"}
        assert found(store, "cat") == set()
        indexed = [FileRecord(path, FileState.INDEXED) for path in ("a.md", "b.md")]
        assert ledger(store, "notes") == [*indexed, skipped]
        put(store, prepared("c", "cat"))
        assert found(store, "cat") == {"c"}

    def test_refuses_a_collection_that_does_not_exist(self, store: Stores) -> None:
        """A batch for an unknown collection raises and stores nothing."""
        with pytest.raises(TwolaneError):
            store.documents.apply(
                Batch("ghost", upserts=[prepared("a", "ant", collection="ghost")])
            )
        assert recent(store, EVERYTHING, limit=9) == []

    def test_refuses_a_document_of_another_collection(self, store: Stores) -> None:
        """A batch changes one collection; a stray document raises and nothing is stored."""
        store.documents.apply(PutCollection(Collection("links")))
        stray = prepared("b", "ant", collection="links")
        with pytest.raises(TwolaneError):
            store.documents.apply(Batch("notes", upserts=[prepared("a", "ant"), stray]))
        assert recent(store, EVERYTHING, limit=9) == []

    def test_leaves_other_collections_alone(self, store: Stores) -> None:
        """A batch cannot delete a document of another collection."""
        store.documents.apply(PutCollection(Collection("links")))
        put(store, prepared("a", "ant"))
        store.documents.apply(Batch("links", deletes=["a"]))
        assert recent(store, EVERYTHING, limit=9) == ["a"]

    def test_can_be_called_from_several_threads(self, store: Stores) -> None:
        """Writers and readers at once lose nothing and see whole documents only."""

        def write(number: int) -> None:
            put(store, prepared(f"{number:02}", f"ant n{number}"), prepared("same", "ant bee"))

        def read(_: int) -> int:
            both = [word("ant"), word("bee")]
            return len(store.lexical.candidates(both, Scope(), every=True, limit=99))

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

    def test_are_in_no_answer(self, store: Stores, why: str) -> None:
        """A hidden document is in no lane, no list and no count."""
        put(store, prepared("seen", "ant"), hidden("unseen", why))
        assert document_of(store, "unseen", EVERYTHING) is None
        assert set(documents_of(store, ["seen", "unseen"])) == {"seen"}
        assert chunks_in(store, "unseen") == []
        assert recent(store, EVERYTHING, limit=9) == ["seen"]
        assert store.documents.resolve(["unseen"], EVERYTHING) == []
        assert store.documents.resolve(["unseen.md"], EVERYTHING) == []
        assert store.documents.stats(EVERYTHING).documents == 1
        assert store.documents.stats(EVERYTHING, detail=True).chunks == 1
        assert found(store, "ant") == {"seen"}
        assert store.lexical.document_frequencies([word("ant")], Scope()).document_frequency == {
            "ant": 1
        }
        assert store.lexical.document_frequencies([], Scope()).documents == 1

    def test_are_known_by_path_unless_deleted(self, store: Stores, why: str) -> None:
        """A hidden document's file need not be read again; a deleted one's must be."""
        put(store, hidden("unseen", why))
        expected = set() if why == "deleted" else {"unseen.md"}
        assert set(store.documents.known("notes")) == expected

    def test_come_back_when_shown(self, store: Stores, why: str) -> None:
        """A document that is no longer hidden is found again, and the other way round."""
        put(store, hidden("a", why))
        put(store, prepared("a", "ant"))
        assert found(store, "ant") == {"a"}
        put(store, hidden("a", why))
        assert found(store, "ant") == set()


class TestLookups:
    """Finding documents by name and by time."""

    def test_document_obeys_the_scope(self, store: Stores) -> None:
        """A document out of scope is as good as absent, whatever part of the scope says so."""
        put(store, prepared("a", "ant", owner="ann", archived=True))
        assert document_of(store, "a", Scope(owner="ann", archived=True)) is not None
        assert document_of(store, "a", Scope(owner="bob", archived=True)) is None
        assert document_of(store, "a", Scope(owner="ann")) is None
        assert document_of(store, "a", Scope(archived=True, clause=phrase("bee"))) is None

    def test_documents_takes_many_ids(self, store: Stores) -> None:
        """Thousands of ids may be asked for at once; absent ones are left out."""
        put(store, prepared("a", "ant"), prepared("b", "bee", archived=True))
        ids = [f"ghost {number}" for number in range(3000)]
        assert set(documents_of(store, [*ids, "b", "a", "a"])) == {"a", "b"}
        assert documents_of(store, []) == {}

    def test_resolve_prefers_id_then_path_then_url_then_title(self, store: Stores) -> None:
        """The first kind of name that matches anything wins."""
        put(
            store,
            prepared("x", path="1.md", url="u:1", title="one"),
            prepared("2", path="x", url="u:2", title="two"),
            prepared("3", path="3.md", url="x", title="three"),
            prepared("4", path="4.md", url="u:4", title="x"),
        )
        for expected in ("x", "2", "3", "4"):
            assert store.documents.resolve(["x"], Scope()) == [expected]
            store.documents.apply(Batch("notes", deletes=[expected]))
        assert store.documents.resolve(["x"], Scope()) == []

    def test_resolve_lists_all_namesakes_in_scope(self, store: Stores) -> None:
        """Several documents with one title come back sorted, without those out of scope."""
        namesakes = [prepared(id, title="Same", owner="ann") for id in ("c", "a", "b")]
        put(store, *namesakes, prepared("d", title="Same", owner="bob"))
        assert store.documents.resolve(["Same"], Scope(owner="ann")) == ["a", "b", "c"]

    def test_resolve_folds_titles(self, store: Stores) -> None:
        """A title may be spelled in another case; a path that is spelled right goes first."""
        put(store, prepared("a", title="Ёлка на Даче", path="Notes/a.md"))
        put(store, prepared("b", path="notes/b.md"), prepared("c", path="Notes/b.md"))
        assert store.documents.resolve(["елка на даче"], Scope()) == ["a"]
        assert store.documents.resolve(["notes/a.md"], Scope()) == ["a"]
        assert store.documents.resolve(["notes/b.md"], Scope()) == ["b"]
        assert store.documents.resolve(["NOTES/b.md"], Scope()) == ["b", "c"]

    def test_resolve_knows_the_end_of_a_path(self, store: Stores) -> None:
        """As links between notes say it: from any folder, before aliases and after titles."""
        put(
            store,
            prepared("a", path="work/Alpha kickoff.md", owner="ann"),
            prepared("b", path="home/x.md", aliases=("alpha kickoff",), owner="ann"),
            prepared("c", path="work/not alpha kickoff.md", owner="ann"),
            prepared("d", path="other/alpha kickoff.md", owner="bob"),
        )
        names = ["alpha kickoff", "alpha kickoff.md"]
        assert store.documents.resolve(names, Scope(owner="ann")) == ["a"]
        assert store.documents.resolve(["WORK/alpha kickoff.md"], Scope()) == ["a"]
        put(store, prepared("e", path="y.md", title="Alpha Kickoff", owner="ann"))
        assert store.documents.resolve(names, Scope(owner="ann")) == ["e"]
        assert store.documents.resolve(["", "\n"], Scope()) == []

    def test_resolve_passes_over_names_out_of_scope(self, store: Stores) -> None:
        """A document that the caller may not see does not shadow one that they may."""
        put(store, prepared("x", deleted=True), prepared("y", title="x"))
        assert store.documents.resolve(["x"], Scope()) == ["y"]

    def test_aliases_are_folded_and_sorted_in_scope(self, store: Stores) -> None:
        """All documents with the whole name among their aliases, without those out of scope."""
        put(
            store,
            prepared("b", aliases=("Other", "Всё о чае"), owner="ann"),
            prepared("a", aliases=("все о ЧАЕ",), owner="ann"),
            prepared("c", aliases=("всё о чае и кофе",), owner="ann"),
            prepared("d", aliases=("всё о чае",), owner="bob"),
            prepared("e", title="всё о чае", owner="bob"),
        )
        assert store.documents.resolve(["все о чае"], Scope(owner="ann")) == ["a", "b"]
        assert store.documents.resolve(["чае"], Scope(owner="ann")) == []
        assert store.documents.resolve(["все о чае"], Scope(owner="bob")) == ["e"]

    def test_the_first_name_that_fits_wins(self, store: Stores) -> None:
        """Other spellings are tried before aliases, which only the first name may be."""
        put(
            store,
            prepared("a", title="One", path="tea.md"),
            prepared("b", title="Two", path="b.md", aliases=("tea", "pot")),
        )
        assert store.documents.resolve(["tea", "tea.md"], Scope()) == ["a"]
        assert store.documents.resolve(["pot", "tea.md"], Scope()) == ["a"]
        assert store.documents.resolve(["pot", "x"], Scope()) == ["b"]
        assert store.documents.resolve(["x", "pot"], Scope()) == []
        assert store.documents.resolve([], Scope()) == []

    def test_parts_that_nobody_asked_for_are_left_out(self, store: Stores) -> None:
        """Without its text a document tells its title, place, dates and flags, and little else."""
        noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
        one = prepared(
            "a",
            " ".join(map(str, range(50))),
            title="One",
            tags=("x",),
            updated=noon,
            url="u:1",
            aliases=("alias",),
            description="d",
            properties={"n": 1},
        )
        put(store, one)
        light = store.documents.get(["a"], Scope(), frozenset())["a"]
        told = light.document
        assert (told.title, told.updated, told.url) == ("One", noon, "u:1")
        assert (told.body, told.aliases, told.description, dict(told.properties)) == (
            "",
            (),
            "",
            {},
        )
        assert (light.chunks, light.sketch) == ((), b"")
        whole = store.documents.get(["a"], None, frozenset(Part))["a"]
        assert (whole.document, whole.chunks) == (one.document, one.chunks)
        assert whole.sketch == one.sketch != b""

    def test_recent_shows_the_latest_first(self, store: Stores) -> None:
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
        assert recent(store, Scope(), limit=9) == ["e", "c", "d", "b", "a"]
        assert recent(store, Scope(), limit=2) == ["e", "c"]

    def test_stats_count_what_can_be_found(self, store: Stores) -> None:
        """Documents, chunks and documents by language, archived ones only if asked."""
        put(
            store,
            prepared("a", "one\n\ntwo\n\nthree", languages=("en", "ru")),
            prepared("b", "four", languages=("en",)),
            prepared("c", "five", languages=("de",), archived=True),
            prepared("d", "six", languages=()),
        )
        stats = store.documents.stats(Scope(), detail=True)
        assert (stats.documents, stats.chunks) == (3, 5)
        assert dict(stats.languages) == {"en": 2, "ru": 1}
        assert stats.bytes >= 0
        assert dict(store.documents.stats(EVERYTHING).languages) == {"de": 1, "en": 2, "ru": 1}
        assert store.documents.stats(Scope(documents=("b",)), detail=True).chunks == 1

    def test_facets_count_what_can_be_found(self, store: Stores) -> None:
        """Documents by kind, collection, tag (whatever its case) and language, in scope."""
        put(
            store,
            prepared("a", "one\n\ntwo", languages=("en", "ru"), tags=("Garden", "a/b")),
            prepared("b", "two", languages=("en",), tags=("garden",), kind=Kind.PROMPT),
            prepared("c", "three", languages=("de",), tags=("old",), archived=True),
            prepared("d", "four", languages=(), searchable=False, tags=("hidden",)),
        )
        facets = store.documents.facets(Scope())
        assert dict(facets.kinds) == {"note": 1, "prompt": 1}
        assert dict(facets.tags) == {"Garden": 2, "a/b": 1}
        assert dict(facets.languages) == {"en": 2, "ru": 1}
        assert sum(facets.collections.values()) == 2
        assert dict(store.documents.facets(EVERYTHING).tags) == {"Garden": 2, "a/b": 1, "old": 1}
        assert dict(store.documents.facets(Scope(documents=("b",))).tags) == {"garden": 1}


LETTER = "The wheel of the tide mill was mended in spring, when the water stood low and clear."


def sketches(store: Stores, *ids: str) -> dict[str, bytes]:
    """The sketches of documents that can be found."""
    found = store.documents.get(ids, EVERYTHING, frozenset({Part.SKETCH}))
    return {id: one.sketch for id, one in found.items()}


class TestSketches:
    """What tells near-duplicates."""

    def test_equal_texts_have_equal_sketches(self, store: Stores) -> None:
        """Copies are told by their sketches; a short text has none."""
        put(store, prepared("a", LETTER, title="A"), prepared("b", LETTER, title="B"))
        put(store, prepared("c", "Too short."), prepared("d", f"{LETTER} And still."))
        found = sketches(store, "a", "b", "c", "d", "unknown")
        assert found["a"] == found["b"] != found["d"]
        assert found["c"] == b""

    def test_a_sketch_follows_its_text(self, store: Stores) -> None:
        """A document that is saved again has the sketch of its new text."""
        put(store, prepared("a", LETTER))
        before = sketches(store, "a")["a"]
        put(store, prepared("a", f"{LETTER} And still."))
        assert sketches(store, "a")["a"] != before
        put(store, prepared("a", "Short now."))
        assert sketches(store, "a") == {"a": b""}

    def test_hidden_documents_have_none(self, store: Stores) -> None:
        """What cannot be found is no copy of anything."""
        put(
            store,
            prepared("b", LETTER, archived=True),
            prepared("c", LETTER, deleted=True),
            prepared("d", LETTER, encrypted=True),
            prepared("e", LETTER, searchable=False),
        )
        assert set(sketches(store, "b", "c", "d", "e")) == {"b"}


# ------------------------------------------------------------------------- changes


def secret(id: str) -> Prepared:
    """The document after it was encrypted."""
    return prepared(id, title="", path=None, encrypted=True)


class TestVersions:
    """A change may name the version that it was made for."""

    def test_the_expected_version_lets_a_change_pass(self, store: Stores) -> None:
        """A document with the expected version is replaced; a new one is expected as 0."""
        new = prepared("a", "ant")
        store.documents.apply(Batch("notes", upserts=[new], expected={"a": 0}))
        store.documents.apply(
            Batch("notes", upserts=[prepared("a", "bee", version=2)], expected={"a": 1})
        )
        assert found(store, "bee") == {"a"}

    @pytest.mark.parametrize(("expected", "held"), [(2, 1), (0, 1)])
    def test_another_version_is_a_conflict(self, store: Stores, expected: int, held: int) -> None:
        """Nothing changes, in no batch of the call, and the error says what is there."""
        store.documents.apply(PutCollection(Collection("links")))
        put(store, prepared("a", "ant"))
        with pytest.raises(Conflict) as raised:
            store.documents.apply(
                Batch("links", upserts=[prepared("b", "bee", collection="links")]),
                Batch("notes", upserts=[prepared("a", "cat")], expected={"a": expected}),
            )
        assert (raised.value.id, raised.value.held) == ("a", held)
        assert (found(store, "ant"), found(store, "bee")) == ({"a"}, set())

    def test_several_collections_change_together(self, store: Stores) -> None:
        """One call may change several collections."""
        store.documents.apply(PutCollection(Collection("links")))
        store.documents.apply(
            Batch("links", upserts=[prepared("b", "ant", collection="links")]),
            Batch("notes", upserts=[prepared("a", "ant")]),
        )
        assert found(store, "ant") == {"a", "b"}


class TestAmend:
    """Changes that leave the text alone."""

    def test_archive_and_back(self, store: Stores) -> None:
        """An archived document leaves the usual scope, in a new version, and comes back."""
        put(store, prepared("a", "ant"))
        store.documents.apply(Amendment("a", 1, archived=True))
        assert found(store, "ant", Scope()) == set()
        assert found(store, "ant", EVERYTHING) == {"a"}
        store.documents.apply(Amendment("a", 2, archived=False))
        assert found(store, "ant", Scope()) == {"a"}
        assert store.documents.get(["a"])["a"].document.version == 3

    def test_delete_and_restore(self, store: Stores) -> None:
        """A deleted document is in no lane, list or count; restored, it is as it was."""
        given = prepared("a", "ant", tags=("x",))
        put(store, given, prepared("b", "ant bee"))
        generation = store.vectors.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        store.documents.apply(Amendment("a", 1, deleted=True))
        assert found(store, "ant") == {"b"}
        assert document_of(store, "a", EVERYTHING) is None
        assert store.documents.stats(EVERYTHING).documents == 1
        assert inventory(store, EVERYTHING, deleted=True) == ["a"]
        assert (
            store.vectors.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5, floor=0.5) == []
        )
        store.documents.apply(Amendment("a", 2, deleted=False))
        assert document_of(store, "a", Scope()) == replace(given.document, version=3)
        assert found(store, "ant", Scope(tags=("x",))) == {"a"}
        (near,) = store.vectors.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5, floor=0.5)
        assert near.id == "a"

    def test_a_look_makes_no_version(self, store: Stores) -> None:
        """Uses are counted and the latest is kept, through a new text too; the version stays."""
        put(store, prepared("a", "ant"))
        before = revision(store)
        store.documents.apply(Amendment("a", 1, used=NOON))
        store.documents.apply(Amendment("a", 1, used=NOON - timedelta(days=1)))
        put(store, prepared("a", "bee"))
        held = store.documents.get(["a"])["a"].document
        assert (held.used, held.uses, held.version) == (NOON, 2, 1)
        assert revision(store) != before

    def test_tags_are_replaced(self, store: Stores) -> None:
        """New tags are found and filter, old ones do not, and passages stay as they were."""
        given = prepared("a", "ant", tags=("old", "kept"))
        put(store, given, prepared("b", "bee", tags=("old",)))
        store.documents.apply(Amendment("a", 1, tags=("kept", "new one", "🍕")))
        held = document_of(store, "a", Scope())
        assert held is not None
        assert held.tags == ("kept", "new one", "🍕")
        assert found(store, "new") == {"a"}
        assert found(store, "old") == {"b"}
        assert found(store, "ant", Scope(tags=("🍕",))) == {"a"}
        assert chunks_in(store, "a") == list(given.chunks)
        assert store.lexical.document_frequencies([word("kept")], Scope()).document_frequency == {
            "kept": 1
        }
        assert store.documents.facets(Scope()).tags == {"kept": 1, "new one": 1, "old": 1, "🍕": 1}
        assert store.maintenance.check() == []

    def test_tags_of_a_deleted_document_wait(self, store: Stores) -> None:
        """Tags change under a deleted document without bringing it back."""
        put(store, prepared("a", "ant", deleted=True, tags=("old",)))
        store.documents.apply(Amendment("a", 1, tags=("new",)))
        assert found(store, "new") == set()
        store.documents.apply(Amendment("a", 2, deleted=False))
        assert found(store, "new") == {"a"}
        assert store.maintenance.check() == []

    def test_all_or_none(self, store: Stores) -> None:
        """One document with another version, or absent, keeps all from changing."""
        put(store, prepared("a", "ant"))
        for other in (Amendment("a", 7, deleted=True), Amendment("ghost", 1, deleted=True)):
            with pytest.raises(Conflict):
                store.documents.apply(Amendment("a", 1, archived=True), other)
        assert found(store, "ant", Scope()) == {"a"}


class TestSecrets:
    """What must be gone is gone in the same transaction."""

    def test_an_encrypted_document_keeps_nothing(self, store: Stores) -> None:
        """Text, stems and vectors go, those of an older version too; others keep theirs."""
        first, shared = prepared("a", "first"), prepared("b", "common")
        put(store, first, shared)
        generation = store.vectors.open_generation(space()).number
        embed(store, generation, first, unit(1, 0, 0, 0))
        embed(store, generation, shared, unit(0, 1, 0, 0))
        put(store, prepared("a", "second\n\ncommon"))
        store.documents.apply(Batch("notes", upserts=[secret("a")]))
        assert found(store, "second") == set()
        assert set(store.vectors.get(generation, ["a", "b"])) == {"b"}
        put(store, first)
        assert store.queue.progress(generation).pending == 1
        assert vocabulary(store, Scope()) == sorted({"common", "first", "untitled"})

    def test_a_purge_takes_vectors_with_it(self, store: Stores) -> None:
        """After a purge the same text is embedded anew."""
        given = prepared("a", "ant")
        put(store, given)
        generation = store.vectors.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        store.documents.apply(Batch("notes", purges=["a"], expected={"a": 1}))
        assert store.documents.get(["a"]) == {}
        put(store, prepared("b", "ant"))
        assert store.queue.progress(generation).pending == 1


class TestInventory:
    """What a writer sees."""

    def test_holds_hidden_documents(self, store: Stores) -> None:
        """Encrypted and unsearchable documents are listed, deleted ones apart."""
        put(
            store,
            prepared("a", "ant", owner="ann"),
            prepared("b", "ant", owner="ann", deleted=True),
            prepared("c", "ant", owner="bob", searchable=False),
            prepared("d", "ant", archived=True),
            secret("e"),
        )
        assert inventory(store, EVERYTHING, deleted=False) == ["a", "c", "d", "e"]
        assert inventory(store, Scope(), deleted=False) == ["a", "c", "e"]
        assert inventory(store, Scope(owner="ann"), deleted=True) == ["b"]
        assert set(store.documents.get(["a", "b", "c", "ghost"])) == {"a", "b", "c"}


class TestCollectionChanges:
    """Named sets of documents that change their name, or go."""

    def test_a_new_name_goes_into_the_ids_of_files(self, store: Stores) -> None:
        """A file's document is found under the new id; one that was pushed keeps its own."""
        put(store, prepared("notes/a.md", "ant", path="a.md"), prepared("x", "ant", path=None))
        store.documents.apply(Batch("notes", records=[FileRecord("bad.md", FileState.FAILED)]))
        store.documents.apply(RenameCollection("notes", "garden"))
        assert found(store, "ant", Scope(collections=("garden",))) == {"garden/a.md", "x"}
        assert [one.path for one in ledger(store, "garden")] == ["a.md", "bad.md"]
        assert [one.name for one in store.documents.collections()] == ["garden"]

    def test_a_taken_name_is_refused(self, store: Stores) -> None:
        """A name or an id that is in use stays with its owner."""
        store.documents.apply(PutCollection(Collection("links")))
        put(store, prepared("notes/a.md", "ant", path="a.md"))
        put(store, prepared("other/a.md", "bee", path=None))
        for new in ("links", "other"):
            with pytest.raises(TwolaneError, match="taken"):
                store.documents.apply(RenameCollection("notes", new))
        with pytest.raises(TwolaneError, match="no collection"):
            store.documents.apply(RenameCollection("ghost", "new"))

    def test_a_removed_one_takes_its_documents(self, store: Stores) -> None:
        """Documents, ledger and vectors go, and other collections stay."""
        store.documents.apply(PutCollection(Collection("links")))
        given = prepared("a", "ant")
        put(store, given)
        put(store, prepared("b", "ant", title="Other", collection="links"))
        generation = store.vectors.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        store.documents.apply(RemoveCollection("notes"))
        assert found(store, "ant") == {"b"}
        assert [one.name for one in store.documents.collections()] == ["links"]
        assert store.vectors.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5) == []
        assert store.maintenance.check() == []


# ------------------------------------------------------------------------- files


class TestKnown:
    """What a source compares its files with."""

    def test_tells_stamp_and_hash_of_documents(self, store: Stores) -> None:
        """Each path of the collection leads to its document's id, stamp, hash and version."""
        store.documents.apply(PutCollection(Collection("links")))
        stamp = Stamp(1_700_000_000_123_456_789, 5_000_000_000)
        put(store, prepared("a", "ant", stamp=stamp, content_hash="abc", analyzer_version="r1"))
        put(store, prepared("pushed", "ant", path=None))
        put(store, prepared("b", "ant", collection="links"))
        assert store.documents.known("notes") == {"a.md": Known("a", stamp, "abc", "r1")}
        assert store.documents.known("ghost") == {}

    def test_tells_the_stamp_of_files_without_document(self, store: Stores) -> None:
        """A skipped or failed file is known by its stamp alone."""
        stamp = Stamp(5, 6)
        records = [
            FileRecord("big.md", FileState.SKIPPED, stamp, "too large", ProblemCode.TOO_LARGE),
            FileRecord("bad.md", FileState.FAILED, None, "not text", ProblemCode.BINARY),
        ]
        store.documents.apply(Batch("notes", records=records))
        assert store.documents.known("notes") == {
            "big.md": Known(None, stamp, None, record=records[0]),
            "bad.md": Known(None, None, None, record=records[1]),
        }

    def test_names_the_document_of_a_file_with_a_remark(self, store: Stores) -> None:
        """A document with a ledger row of its own is known by both, with its owner."""
        stamp = Stamp(5, 6)
        remark = FileRecord("a.md", FileState.INDEXED, stamp, "odd", ProblemCode.FRONT_MATTER)
        one = prepared("a", "ant", stamp=stamp, content_hash="abc", owner="ann", searchable=False)
        store.documents.apply(Batch("notes", upserts=[one], records=[remark]))
        assert store.documents.known("notes") == {
            "a.md": Known("a", stamp, "abc", owner="ann", hidden=True, record=remark)
        }


class TestLedger:
    """What became of files."""

    def test_lists_documents_too(self, store: Stores) -> None:
        """A file that gave a document has a row with its stamp, unless the document is hidden."""
        stamp = Stamp(5, 6)
        skipped = FileRecord("b.md", FileState.SKIPPED)
        put(store, prepared("c", stamp=stamp), prepared("pushed", path=None))
        put(store, prepared("secret", encrypted=True), prepared("a", archived=True))
        store.documents.apply(Batch("notes", records=[skipped]))
        assert ledger(store, "notes") == [
            FileRecord("a.md", FileState.INDEXED),
            skipped,
            FileRecord("c.md", FileState.INDEXED, stamp),
        ]

    def test_lists_rows_by_path(self, store: Stores) -> None:
        """Rows come back whole, in order of their paths, for one collection."""
        store.documents.apply(PutCollection(Collection("links")))
        b = FileRecord("b.md", FileState.FAILED, Stamp(1, 2), "why", ProblemCode.NOT_UTF8)
        a = FileRecord("a.md", FileState.SKIPPED)
        store.documents.apply(Batch("notes", records=[b, a]))
        store.documents.apply(Batch("links", records=[FileRecord("c.md", FileState.SKIPPED)]))
        assert ledger(store, "notes") == [a, b]
        assert ledger(store, "ghost") == []

    def test_a_record_replaces_the_one_with_its_path(self, store: Stores) -> None:
        """Only the latest news of a file stays."""
        store.documents.apply(Batch("notes", records=[FileRecord("a.md", FileState.SKIPPED)]))
        latest = FileRecord("a.md", FileState.FAILED, reason="unreadable")
        store.documents.apply(Batch("notes", records=[latest]))
        assert ledger(store, "notes") == [latest]

    def test_forgets(self, store: Stores) -> None:
        """Forgotten paths leave the ledger; forgetting an absent one is harmless."""
        records = [FileRecord(path, FileState.SKIPPED) for path in ("a.md", "b.md")]
        store.documents.apply(Batch("notes", records=records))
        store.documents.apply(Batch("notes", forgotten=["a.md", "ghost.md"]))
        assert [row.path for row in ledger(store, "notes")] == ["b.md"]
        assert set(store.documents.known("notes")) == {"b.md"}

    def test_an_upsert_clears_the_row_of_its_path(self, store: Stores) -> None:
        """A file that failed before and is indexed now no longer counts as failed."""
        rows = [FileRecord(path, FileState.FAILED) for path in ("a.md", "b.md")]
        store.documents.apply(Batch("notes", records=rows))
        put(store, prepared("a", "ant"))
        states = {row.path: row.state for row in ledger(store, "notes")}
        assert states == {"a.md": FileState.INDEXED, "b.md": FileState.FAILED}
        store.documents.apply(Batch("notes", deletes=["a"]))
        assert [row.path for row in ledger(store, "notes")] == ["b.md"]

    def test_an_upsert_with_a_remark_keeps_it(self, store: Stores) -> None:
        """A record that comes with the upsert of its path stays."""
        remark = FileRecord("a.md", FileState.INDEXED, reason="front matter was not YAML")
        store.documents.apply(Batch("notes", upserts=[prepared("a", "ant")], records=[remark]))
        assert ledger(store, "notes") == [remark]


# ------------------------------------------------------------------------- receipts

DAY = timedelta(days=1)


def receipt(key: str, owner: str = "", at: datetime = NOON) -> Receipt:
    """What became of a request with this key."""
    return Receipt(owner, Once(key, "asked"), (Saved("a", 1, True, True, "hash"),), at)


class TestTogether:
    """Several changes as one."""

    def test_each_sees_what_those_before_it_made(self, store: Stores) -> None:
        """A new collection takes documents, and a new document may be changed at once."""
        store.documents.apply(
            PutCollection(Collection("links")),
            Batch("links", upserts=[prepared("a", "ant", collection="links")]),
            Amendment("a", 1, archived=True),
            Amendment("a", 2, tags=("x",)),
            KeepReceipt(receipt("k"), since=NOON - DAY),
        )
        held = store.documents.get(["a"])["a"].document
        assert (held.archived, held.tags, held.version) == (True, ("x",), 3)
        assert store.documents.receipt("", "k") == receipt("k")

    def test_an_error_leaves_no_trace(self, store: Stores) -> None:
        """If the last change fails, so do those before it."""
        put(store, prepared("a", "ant"))
        with pytest.raises(Conflict):
            store.documents.apply(
                PutCollection(Collection("links")),
                Batch("notes", upserts=[prepared("b", "bee")]),
                KeepReceipt(receipt("k"), since=NOON - DAY),
                Amendment("a", 7, deleted=True),
            )
        assert [one.name for one in store.documents.collections()] == ["notes"]
        assert (found(store, "ant"), found(store, "bee")) == ({"a"}, set())
        assert store.documents.receipt("", "k") is None
        put(store, prepared("b", "bee"))
        assert found(store, "bee") == {"b"}

    def test_no_changes_change_nothing(self, store: Stores) -> None:
        """Nothing may be asked for, and then there is no new revision."""
        before = revision(store)
        store.documents.apply()
        assert revision(store) == before


class TestReceipts:
    """What became of requests."""

    def test_each_owner_has_keys_of_their_own(self, store: Stores) -> None:
        """The same key of another owner is another request."""
        store.documents.apply(KeepReceipt(receipt("k", "ann"), since=NOON - DAY))
        store.documents.apply(KeepReceipt(receipt("k", "bob"), since=NOON - DAY))
        held = store.documents.receipt("ann", "k")
        assert held == receipt("k", "ann")
        assert held is not None
        assert held.saved[0].content_hash == "hash"
        assert store.documents.receipt("", "k") is None

    def test_a_key_is_taken_until_it_is_old(self, store: Stores) -> None:
        """A second receipt is refused, and taken once the first is older than asked for."""
        store.documents.apply(KeepReceipt(receipt("k"), since=NOON - DAY))
        with pytest.raises(StoreError):
            store.documents.apply(KeepReceipt(receipt("k"), since=NOON - DAY))
        later = receipt("k", at=NOON + 2 * DAY)
        store.documents.apply(KeepReceipt(later, since=NOON + DAY))
        assert store.documents.receipt("", "k") == later


# ------------------------------------------------------------------------- boilerplate

UP, ASIDE = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
KEYS = (-(2**63), 7, 2**63 - 1)


def rewording(held: Prepared, *keys: int, language: str | None = "en") -> Rewording:
    """Another content for the first passage, because of this boilerplate."""
    before = held.chunks[0]
    after = replace(before, content_hash=f"without {keys}", boilerplate=keys, language=language)
    return Rewording(held.document.id, before.content_hash, after)


def with_boilerplate(held: Prepared, *keys: int) -> Prepared:
    """The document, whose first passage holds this boilerplate."""
    first, *others = held.chunks
    return replace(held, chunks=(replace(first, boilerplate=keys), *others))


def test_nothing_is_known_at_first(store: Stores) -> None:
    """An empty store knows no boilerplate."""
    assert store.documents.boilerplate() == Boilerplate()


def test_what_is_detected_is_known(store: Stores) -> None:
    """Keys of any size and the number of documents, until something else is detected."""
    store.documents.apply(KeepBoilerplate(Boilerplate(frozenset(KEYS), 9), []))
    assert store.documents.boilerplate() == Boilerplate(frozenset(KEYS), 9)
    store.documents.apply(KeepBoilerplate(Boilerplate(frozenset((1,)), 20), []))
    assert store.documents.boilerplate() == Boilerplate(frozenset((1,)), 20)


def test_boilerplate_of_passages_is_kept(store: Stores, generation: int) -> None:
    """Whoever embeds a passage is told what to leave out."""
    put(store, with_boilerplate(prepared("a", "ant\n\nbee"), *KEYS))
    assert [one.boilerplate for one in chunks_in(store, "a")] == [KEYS, ()]
    claimed = store.queue.claim(generation, worker="w", limit=9, seconds=60)
    assert [one.boilerplate for one in claimed] == [KEYS, ()]


def test_a_reworded_passage_is_embedded_anew(store: Stores, generation: int) -> None:
    """It is pending, without its old vector, and has its new language at once."""
    held = prepared("a", "ant\n\nbee", languages=("en", "ru"))
    put(store, held)
    embed(store, generation, held, UP, ASIDE)
    before = revision(store)
    store.documents.apply(
        KeepBoilerplate(Boilerplate(frozenset((7,)), 5), [rewording(held, 7, language=None)])
    )
    assert revision(store) != before
    first, second = chunks_in(store, "a")
    assert (first.content_hash, first.boilerplate, first.language) == ("without (7,)", (7,), None)
    assert second == held.chunks[1]
    assert store.documents.stats(Scope()).languages == {"ru": 1}
    assert store.queue.progress(generation).pending == 1
    assert store.vectors.nearest(generation, UP, Scope(), limit=9, floor=0.5) == []
    store.vectors.add(generation, [NewVector(first.content_hash, UP)])
    (near,) = store.vectors.nearest(generation, UP, Scope(), limit=9, floor=0.5)
    assert near.languages == ("ru",)


def test_a_passage_that_changed_meanwhile_stays(store: Stores) -> None:
    """Nothing is said of a text that is another one by now, or gone."""
    held, gone = prepared("a", "ant"), prepared("g", "gone")
    put(store, held)
    changed = prepared("a", "bee")
    put(store, changed)
    store.documents.apply(
        KeepBoilerplate(Boilerplate(frozenset((7,)), 5), [rewording(held, 7), rewording(gone, 7)])
    )
    assert chunks_in(store, "a") == list(changed.chunks)
    assert chunks_in(store, "g") == []


@pytest.mark.parametrize("encrypted", [True, False])
def test_nothing_is_left_of_what_is_secret(store: Stores, encrypted: bool) -> None:
    """When the last passage with a line is encrypted or purged, its key goes."""
    for id, keys in (("a", (1, 2)), ("b", (2, 3))):
        put(store, with_boilerplate(prepared(id, id), *keys))
    store.documents.apply(KeepBoilerplate(Boilerplate(frozenset((1, 2, 3)), 5), []))
    if encrypted:
        put(store, replace(prepared("a", "", encrypted=True), chunks=()))
    else:
        store.documents.apply(Batch(COLLECTION, purges=["a"]))
    assert store.documents.boilerplate() == Boilerplate(frozenset((2, 3)), 5)
    store.documents.apply(RemoveCollection(COLLECTION))
    assert store.documents.boilerplate() == Boilerplate(frozenset(), 5)
