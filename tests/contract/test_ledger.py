"""The `Documents` port: the ledger of files, and what a source compares its files with."""

from __future__ import annotations

from tests.builders import prepared, put
from twolane.model import Batch, Collection, FileRecord, FileState, ProblemCode, Stamp
from twolane.ports import Known, Store


class TestKnown:
    """What a source compares its files with."""

    def test_tells_stamp_and_hash_of_documents(self, store: Store) -> None:
        """Each path of the collection leads to its document's id, stamp, hash and recipe."""
        store.add_collection(Collection("links"))
        stamp = Stamp(1_700_000_000_123_456_789, 5_000_000_000)
        put(store, prepared("a", "ant", stamp=stamp, content_hash="abc", recipe="r1"))
        put(store, prepared("pushed", "ant", path=None))
        put(store, prepared("b", "ant", collection="links"))
        assert store.known("notes") == {"a.md": Known("a", stamp, "abc", "r1")}
        assert store.known("ghost") == {}

    def test_tells_the_stamp_of_files_without_document(self, store: Store) -> None:
        """A skipped or failed file is known by its stamp alone."""
        stamp = Stamp(5, 6)
        records = [
            FileRecord("big.md", FileState.SKIPPED, stamp, "too large", ProblemCode.TOO_LARGE),
            FileRecord("bad.md", FileState.FAILED, None, "not text", ProblemCode.BINARY),
        ]
        store.apply(Batch("notes", records=records))
        assert store.known("notes") == {
            "big.md": Known(None, stamp, None),
            "bad.md": Known(None, None, None),
        }

    def test_names_the_document_of_a_file_with_a_remark(self, store: Store) -> None:
        """A document with a ledger row of its own is still known by its id and hash."""
        stamp = Stamp(5, 6)
        remark = FileRecord("a.md", FileState.INDEXED, stamp, "odd", ProblemCode.FRONT_MATTER)
        one = prepared("a", "ant", stamp=stamp, content_hash="abc")
        store.apply(Batch("notes", upserts=[one], records=[remark]))
        assert store.known("notes") == {"a.md": Known("a", stamp, "abc")}


class TestLedger:
    """What became of files."""

    def test_lists_documents_too(self, store: Store) -> None:
        """A file that gave a document has a row with its stamp, unless the document is hidden."""
        stamp = Stamp(5, 6)
        skipped = FileRecord("b.md", FileState.SKIPPED)
        put(store, prepared("c", stamp=stamp), prepared("pushed", path=None))
        put(store, prepared("secret", encrypted=True), prepared("a", archived=True))
        store.apply(Batch("notes", records=[skipped]))
        assert store.ledger("notes") == [
            FileRecord("a.md", FileState.INDEXED),
            skipped,
            FileRecord("c.md", FileState.INDEXED, stamp),
        ]

    def test_lists_rows_by_path(self, store: Store) -> None:
        """Rows come back whole, in order of their paths, for one collection."""
        store.add_collection(Collection("links"))
        b = FileRecord("b.md", FileState.FAILED, Stamp(1, 2), "why", ProblemCode.NOT_UTF8)
        a = FileRecord("a.md", FileState.SKIPPED)
        store.apply(Batch("notes", records=[b, a]))
        store.apply(Batch("links", records=[FileRecord("c.md", FileState.SKIPPED)]))
        assert store.ledger("notes") == [a, b]
        assert store.ledger("ghost") == []

    def test_a_record_replaces_the_one_with_its_path(self, store: Store) -> None:
        """Only the latest news of a file stays."""
        store.apply(Batch("notes", records=[FileRecord("a.md", FileState.SKIPPED)]))
        latest = FileRecord("a.md", FileState.FAILED, reason="unreadable")
        store.apply(Batch("notes", records=[latest]))
        assert store.ledger("notes") == [latest]

    def test_forgets(self, store: Store) -> None:
        """Forgotten paths leave the ledger; forgetting an absent one is harmless."""
        records = [FileRecord(path, FileState.SKIPPED) for path in ("a.md", "b.md")]
        store.apply(Batch("notes", records=records))
        store.apply(Batch("notes", forgotten=["a.md", "ghost.md"]))
        assert [row.path for row in store.ledger("notes")] == ["b.md"]
        assert set(store.known("notes")) == {"b.md"}

    def test_an_upsert_clears_the_row_of_its_path(self, store: Store) -> None:
        """A file that failed before and is indexed now no longer counts as failed."""
        rows = [FileRecord(path, FileState.FAILED) for path in ("a.md", "b.md")]
        store.apply(Batch("notes", records=rows))
        put(store, prepared("a", "ant"))
        states = {row.path: row.state for row in store.ledger("notes")}
        assert states == {"a.md": FileState.INDEXED, "b.md": FileState.FAILED}
        store.apply(Batch("notes", deletes=["a"]))
        assert [row.path for row in store.ledger("notes")] == ["b.md"]

    def test_an_upsert_with_a_remark_keeps_it(self, store: Store) -> None:
        """A record that comes with the upsert of its path stays."""
        remark = FileRecord("a.md", FileState.INDEXED, reason="front matter was not YAML")
        store.apply(Batch("notes", upserts=[prepared("a", "ant")], records=[remark]))
        assert store.ledger("notes") == [remark]
