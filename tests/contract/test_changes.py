"""The `Documents` port for writers: versions, amendments, purges and collections."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import embed, prepared, put, space, unit, word
from tests.contract.adapters import MEMORY, Adapter
from twolane.errors import Conflict, TwolaneError
from twolane.language import stream
from twolane.model import Amendment, Batch, Collection, FileRecord, FileState, Prepared
from twolane.ports import Store
from twolane.scopes import Scope

EVERYTHING = Scope(archived=True)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def found(store: Store, text: str, scope: Scope = EVERYTHING) -> set[str]:
    """Ids of the documents that hold the word."""
    return {each.id for each in store.lexical([word(text)], scope, every=True, limit=100)}


def secret(id: str) -> Prepared:
    """The document after it was encrypted."""
    return prepared(id, title="", path=None, encrypted=True)


class TestVersions:
    """A change may name the version that it was made for."""

    def test_the_expected_version_lets_a_change_pass(self, store: Store) -> None:
        """A document with the expected version is replaced; a new one is expected as 0."""
        new = prepared("a", "ant")
        store.apply(Batch("notes", upserts=[new], expected={"a": 0}))
        store.apply(Batch("notes", upserts=[prepared("a", "bee", version=2)], expected={"a": 1}))
        assert found(store, "bee") == {"a"}

    @pytest.mark.parametrize(("expected", "held"), [(2, 1), (0, 1)])
    def test_another_version_is_a_conflict(self, store: Store, expected: int, held: int) -> None:
        """Nothing changes, in no batch of the call, and the error says what is there."""
        store.add_collection(Collection("links"))
        put(store, prepared("a", "ant"))
        with pytest.raises(Conflict) as raised:
            store.apply(
                Batch("links", upserts=[prepared("b", "bee", collection="links")]),
                Batch("notes", upserts=[prepared("a", "cat")], expected={"a": expected}),
            )
        assert (raised.value.id, raised.value.held) == ("a", held)
        assert (found(store, "ant"), found(store, "bee")) == ({"a"}, set())

    def test_several_collections_change_together(self, store: Store) -> None:
        """One call may change several collections."""
        store.add_collection(Collection("links"))
        store.apply(
            Batch("links", upserts=[prepared("b", "ant", collection="links")]),
            Batch("notes", upserts=[prepared("a", "ant")]),
        )
        assert found(store, "ant") == {"a", "b"}


class TestAmend:
    """Changes that leave the text alone."""

    def test_archive_and_back(self, store: Store) -> None:
        """An archived document leaves the usual scope, in a new version, and comes back."""
        put(store, prepared("a", "ant"))
        store.amend([Amendment("a", 1, archived=True)])
        assert found(store, "ant", Scope()) == set()
        assert found(store, "ant", EVERYTHING) == {"a"}
        store.amend([Amendment("a", 2, archived=False)])
        assert found(store, "ant", Scope()) == {"a"}
        assert store.stored(["a"])["a"].document.version == 3

    def test_delete_and_restore(self, store: Store) -> None:
        """A deleted document is in no lane, list or count; restored, it is as it was."""
        given = prepared("a", "ant", tags=("x",))
        put(store, given, prepared("b", "ant bee"))
        generation = store.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        store.amend([Amendment("a", 1, deleted=True)])
        assert found(store, "ant") == {"b"}
        assert store.document("a", EVERYTHING) is None
        assert store.stats(EVERYTHING).documents == 1
        assert store.inventory(EVERYTHING, deleted=True) == ["a"]
        assert store.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5, floor=0.5) == []
        store.amend([Amendment("a", 2, deleted=False)])
        assert store.document("a", Scope()) == replace(given.document, version=3)
        assert found(store, "ant", Scope(tags=("x",))) == {"a"}
        (near,) = store.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5, floor=0.5)
        assert near.id == "a"

    def test_a_look_makes_no_version(self, store: Store) -> None:
        """Uses are counted and the latest is kept, through a new text too; the version stays."""
        put(store, prepared("a", "ant"))
        before = store.revision()
        store.amend([Amendment("a", 1, used=NOON)])
        store.amend([Amendment("a", 1, used=NOON - timedelta(days=1))])
        put(store, prepared("a", "bee"))
        held = store.stored(["a"])["a"].document
        assert (held.used, held.uses, held.version) == (NOON, 2, 1)
        assert store.traits(["a"])["a"].uses == 2
        assert store.revision() != before

    def test_tags_are_replaced(self, store: Store) -> None:
        """New tags are found and filter, old ones do not, and passages stay as they were."""
        given = prepared("a", "ant", tags=("old", "kept"))
        put(store, given, prepared("b", "bee", tags=("old",)))
        store.amend([Amendment("a", 1, tags=("kept", "new one", "🍕"))])
        held = store.document("a", Scope())
        assert held is not None
        assert held.tags == ("kept", "new one", "🍕")
        assert found(store, "new") == {"a"}
        assert found(store, "old") == {"b"}
        assert found(store, "ant", Scope(tags=("🍕",))) == {"a"}
        assert store.chunks("a") == list(given.chunks)
        assert store.frequencies([word("kept")]).containing == {"kept": 1}
        assert store.facets(Scope()).tags == {"kept": 1, "new one": 1, "old": 1, "🍕": 1}
        assert store.check() == []

    def test_tags_of_a_deleted_document_wait(self, store: Store) -> None:
        """Tags change under a deleted document without bringing it back."""
        put(store, prepared("a", "ant", deleted=True, tags=("old",)))
        store.amend([Amendment("a", 1, tags=("new",))])
        assert found(store, "new") == set()
        store.amend([Amendment("a", 2, deleted=False)])
        assert found(store, "new") == {"a"}
        assert store.check() == []

    def test_all_or_none(self, store: Store) -> None:
        """One document with another version, or absent, keeps all from changing."""
        put(store, prepared("a", "ant"))
        for other in (Amendment("a", 7, deleted=True), Amendment("ghost", 1, deleted=True)):
            with pytest.raises(Conflict):
                store.amend([Amendment("a", 1, archived=True), other])
        assert found(store, "ant", Scope()) == {"a"}


class TestSecrets:
    """What must be gone is gone in the same transaction."""

    def test_an_encrypted_document_keeps_nothing(self, store: Store) -> None:
        """Text, stems and vectors go, those of an older version too; others keep theirs."""
        first, shared = prepared("a", "first"), prepared("b", "common")
        put(store, first, shared)
        generation = store.open_generation(space()).number
        embed(store, generation, first, unit(1, 0, 0, 0))
        embed(store, generation, shared, unit(0, 1, 0, 0))
        put(store, prepared("a", "second\n\ncommon"))
        store.apply(Batch("notes", upserts=[secret("a")]))
        assert found(store, "second") == set()
        assert {row[0] for row in store.all_vectors(generation)} == {shared.chunks[0].content_hash}
        put(store, first)
        assert store.progress(generation).pending == 1
        assert store.vocabulary() == sorted({"common", "first", "untitled"})

    def test_a_purge_takes_vectors_with_it(self, store: Store) -> None:
        """After a purge nothing of the document can be borrowed by another."""
        given = prepared("a", "ant")
        put(store, given)
        generation = store.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        store.apply(Batch("notes", purges=["a"], expected={"a": 1}))
        assert store.stored(["a"]) == {}
        put(store, prepared("b", "ant"))
        assert store.progress(generation).pending == 1


class TestInventory:
    """What a writer sees."""

    def test_holds_hidden_documents(self, store: Store) -> None:
        """Encrypted and unsearchable documents are listed, deleted ones apart."""
        put(
            store,
            prepared("a", "ant", owner="ann"),
            prepared("b", "ant", owner="ann", deleted=True),
            prepared("c", "ant", owner="bob", searchable=False),
            prepared("d", "ant", archived=True),
            secret("e"),
        )
        assert store.inventory(EVERYTHING, deleted=False) == ["a", "c", "d", "e"]
        assert store.inventory(Scope(), deleted=False) == ["a", "c", "e"]
        assert store.inventory(Scope(owner="ann"), deleted=True) == ["b"]
        assert set(store.stored(["a", "b", "c", "ghost"])) == {"a", "b", "c"}


class TestCollections:
    """Named sets of documents that change their name, or go."""

    def test_a_new_name_goes_into_the_ids_of_files(self, store: Store) -> None:
        """A file's document is found under the new id; one that was pushed keeps its own."""
        put(store, prepared("notes/a.md", "ant", path="a.md"), prepared("x", "ant", path=None))
        store.apply(Batch("notes", records=[FileRecord("bad.md", FileState.FAILED)]))
        store.rename_collection("notes", "garden")
        assert found(store, "ant", Scope(collections=("garden",))) == {"garden/a.md", "x"}
        assert [one.path for one in store.ledger("garden")] == ["a.md", "bad.md"]
        assert [one.name for one in store.collections()] == ["garden"]

    def test_a_taken_name_is_refused(self, store: Store) -> None:
        """A name or an id that is in use stays with its owner."""
        store.add_collection(Collection("links"))
        put(store, prepared("notes/a.md", "ant", path="a.md"))
        put(store, prepared("other/a.md", "bee", path=None))
        for new in ("links", "other"):
            with pytest.raises(TwolaneError, match="taken"):
                store.rename_collection("notes", new)
        with pytest.raises(TwolaneError, match="no collection"):
            store.rename_collection("ghost", "new")

    def test_a_removed_one_takes_its_documents(self, store: Store) -> None:
        """Documents, ledger and vectors go, and other collections stay."""
        store.add_collection(Collection("links"))
        given = prepared("a", "ant")
        put(store, given)
        put(store, prepared("b", "ant", collection="links"))
        generation = store.open_generation(space()).number
        embed(store, generation, given, unit(1, 0, 0, 0))
        assert store.remove_collection("notes") == 1
        assert found(store, "ant") == {"b"}
        assert [one.name for one in store.collections()] == ["links"]
        assert store.nearest(generation, unit(1, 0, 0, 0), Scope(), limit=5, floor=0.5)
        assert store.check() == []


Step = tuple[str, str, tuple[str, ...]]
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
            ids = memory.inventory(EVERYTHING, deleted=deleted)
            assert store.inventory(EVERYTHING, deleted=deleted) == ids
            assert store.stored(ids) == memory.stored(ids)
        for text in ("ant", "x", "y"):
            assert found(store, text) == found(memory, text)
            assert store.frequencies([word(text)]) == memory.frequencies([word(text)])
        assert store.facets(EVERYTHING) == memory.facets(EVERYTHING)
        assert store.check() == []


def _done(store: Store, verb: str, id: str, tags: tuple[str, ...]) -> str:
    """Do the step; what kept it from being done, if anything."""
    held = store.stored([id]).get(id)
    version = held.document.version if held else 1
    if verb == "put":
        again = prepared(id, f"ant {id}", tags=tags, version=version + 1)
        # Streams of tags are those that a change of tags would make.
        stems = replace(again.stems, tags="".join(stream(tag) for tag in tags))
        put(store, replace(again, stems=stems))
        return ""
    if verb in ("hide", "purge"):
        hidden = replace(secret(id), document=replace(secret(id).document, version=version + 1))
        upserts = [hidden] if verb == "hide" else []
        store.apply(Batch("notes", upserts=upserts, purges=[id] if verb == "purge" else []))
        return ""
    change = {
        "archive": Amendment(id, version, archived=True),
        "delete": Amendment(id, version, deleted=True),
        "restore": Amendment(id, version, deleted=False),
        "tag": Amendment(id, version, tags=tags),
        "touch": Amendment(id, version, used=NOON),
    }[verb]
    try:
        store.amend([change])
    except Conflict as error:
        return str(error)
    return ""
