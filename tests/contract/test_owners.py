"""What a store names and counts for an owner: their own documents, and nothing of others'."""

from __future__ import annotations

from tests.builders import embed, ledger, names_in, prepared, put, space, unit, vocabulary, word
from twolane.model.document import Amendment, Batch, Collection, Kind
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import Scope
from twolane.model.space import Progress
from twolane.ports import Stores
from twolane.ports.documents import PutCollection

ANN, BOB, ALL = Scope(owner="ann"), Scope(owner="bob"), Scope()


class TestNames:
    """What is named to an owner."""

    def test_names_are_those_of_their_documents(self, store: Stores) -> None:
        """Languages, kinds, properties and words come from the owner's documents alone."""
        put(
            store,
            prepared("a", "ant", title="x", owner="ann", properties={"mood": "good"}),
            prepared("b", "bee", title="y", owner="bob", languages=("ru",), kind=Kind.PROMPT),
            prepared("c", "cat", title="z", languages=("de",), properties={"due": "today"}),
            prepared("d", "dog", title="w", owner="ann", archived=True, tags=("elk",)),
            prepared("e", "eel", title="v", owner="ann", deleted=True, properties={"gone": "1"}),
        )
        assert set(names_in(store, ANN).languages) == {"en"}
        assert names_in(store, ANN).kinds == {Kind.NOTE}
        assert names_in(store, ANN).properties == {"mood"}
        assert vocabulary(store, ANN) == ["ant", "dog", "elk", "w", "x"]
        assert set(names_in(store, BOB).languages) == {"ru"}
        assert names_in(store, BOB).kinds == {Kind.PROMPT}
        assert names_in(store, BOB).properties == frozenset()
        assert vocabulary(store, BOB) == ["bee", "y"]
        assert vocabulary(store, Scope(owner="cyd")) == []
        assert vocabulary(store, ALL) == sorted([*"wxyz", "ant", "bee", "cat", "dog", "elk"])

    def test_names_follow_changes(self, store: Stores) -> None:
        """What an owner saves, deletes or hands over is in their names at once, and only there."""
        put(store, prepared("a", "ant", title="x", owner="ann"))
        assert vocabulary(store, ANN) == ["ant", "x"]
        put(store, prepared("b", "bee", title="x", owner="bob"))
        assert vocabulary(store, ANN) == ["ant", "x"]
        put(store, prepared("a", "axe", title="x", owner="ann"))
        assert vocabulary(store, ANN) == ["axe", "x"]
        put(store, prepared("b", "bee", title="x", owner="ann"))
        assert vocabulary(store, ANN) == ["axe", "bee", "x"]
        assert vocabulary(store, BOB) == []
        store.documents.apply(Amendment("a", 1, deleted=True))
        assert vocabulary(store, ANN) == ["bee", "x"]
        store.documents.apply(Batch("notes", deletes=["b"]))
        assert vocabulary(store, ANN) == []

    def test_collections_are_those_with_a_document_of_theirs(self, store: Stores) -> None:
        """A collection is named to an owner while it holds something of theirs, hidden or not."""
        for name in ("empty", "links", "secret"):
            store.documents.apply(PutCollection(Collection(name, description=f"about {name}")))
        put(store, prepared("a", "ant", owner="ann"))
        put(store, prepared("b", "bee", owner="bob", collection="links"))
        put(store, prepared("c", "cat", owner="ann", collection="secret", encrypted=True))
        assert [one.name for one in store.documents.collections(ANN)] == ["notes", "secret"]
        assert store.documents.collections(BOB) == [Collection("links", description="about links")]
        assert store.documents.collections(Scope(owner="cyd")) == []
        assert len(store.documents.collections()) == len(store.documents.collections(ALL)) == 4
        store.documents.apply(Amendment("b", 1, deleted=True))
        assert store.documents.collections(BOB) == []


class TestCounts:
    """What is counted for an owner."""

    def test_words_and_passages_count_in_their_documents(self, store: Stores) -> None:
        """How many documents hold a word or a passage is counted over the owner's alone."""
        put(
            store,
            prepared("a", "ant bee", title="x", owner="ann"),
            prepared("b", "ant", title="x", owner="bob"),
            prepared("c", "ant", title="x", owner="bob", archived=True),
            prepared("d", "ant", title="x"),
            prepared("e", "ant", title="x", owner="bob", deleted=True),
        )
        asked = [word("ant"), word("bee"), word("yak")]
        mine, theirs, all = (
            store.lexical.document_frequencies(asked, one) for one in (ANN, BOB, ALL)
        )
        assert (mine.documents, theirs.documents, all.documents) == (1, 2, 4)
        assert mine.document_frequency == {"ant": 1, "bee": 1, "yak": 0}
        assert theirs.document_frequency == {"ant": 2, "bee": 0, "yak": 0}
        assert mine.average_lengths == theirs.average_lengths == all.average_lengths
        assert store.lexical.document_frequencies(
            [word("an", prefix=True)], BOB
        ).document_frequency == {"an*": 2}

    def test_the_ledger_lists_their_documents(self, store: Stores) -> None:
        """Files without a document are nobody's, and others' files are not there."""
        remark = FileRecord("a.md", FileState.INDEXED, reason="odd")
        skipped = FileRecord("s.md", FileState.SKIPPED)
        given = [prepared("a", owner="ann"), prepared("b", owner="bob"), prepared("c")]
        store.documents.apply(Batch("notes", upserts=given, records=[remark, skipped]))
        assert ledger(store, "notes", ANN) == [remark]
        assert ledger(store, "notes", BOB) == [FileRecord("b.md", FileState.INDEXED)]
        assert [one.path for one in ledger(store, "notes")] == ["a.md", "b.md", "c.md", "s.md"]

    def test_vectors_are_those_of_their_passages(self, store: Stores) -> None:
        """Ready, pending and failed passages count for the owner of their document."""
        number = store.vectors.open_generation(space()).number
        mine = prepared("a", "ant\n\naxe", owner="ann")
        theirs = prepared("b", "bee\n\nbat\n\nboa", owner="bob")
        put(store, mine, theirs, prepared("c", "cat"))
        embed(store, number, theirs, *(unit(1, 0, 0, 0) for _ in theirs.chunks))
        store.queue.fail(number, mine.chunks[0].content_hash, "no answer", retry_in=None)
        assert store.queue.progress(number, ANN) == Progress(0, 1, 1, 1)
        assert store.queue.progress(number, BOB) == Progress(3, 0, 0)
        assert store.queue.progress(number) == Progress(3, 2, 1, 1)
        assert (
            list(store.queue.progress(number, ANN, detail=True).failures)
            == list(store.queue.progress(number, detail=True).failures)
            == ["a"]
        )
        assert store.queue.progress(number, BOB, detail=True).failures == {}
        assert store.queue.progress(number, ANN, detail=True).waiting == {"a": 2}
        assert store.queue.progress(number, BOB, detail=True).waiting == {}
        assert store.queue.progress(number, detail=True).waiting == {"a": 2, "c": 1}
