"""How the SQLite store writes much at once: the log that stays short, values made meanwhile."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import prepared, recent
from twolane.model.document import Batch, Collection, Prepared
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import Part, PutCollection
from twolane.stores.sqlite import connections, open_stores, writing
from twolane.stores.sqlite.database import Database
from twolane.stores.sqlite.document_rows import values_of

PAGE = 8192


def opened(path: Path) -> Stores:
    store = open_stores(path)
    store.documents.apply(PutCollection(Collection("notes")))
    return store


def many(count: int, *, start: int = 0, words: str = "heron") -> list[Prepared]:
    text = " ".join(f"{words}{number}" for number in range(150))
    return [prepared(f"n{start + number}", text) for number in range(count)]


def test_the_log_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that never rests has its log put into the file, and leaves none when it closes."""
    monkeypatch.setattr(connections, "_STEP", 20)
    monkeypatch.setattr(connections, "_MOST", 200)
    store = opened(tmp_path / "x.db")
    log = tmp_path / "x.db-wal"
    longest = 0
    for batch in [many(60, start=60 * number) for number in range(20)]:
        store.documents.apply(Batch("notes", batch))
        longest = max(longest, log.stat().st_size)
    assert (tmp_path / "x.db").stat().st_size > 200 * PAGE
    # What one batch writes may come on top.
    assert longest < 500 * PAGE
    assert store.maintenance.check() == []
    store.maintenance.close()
    assert not log.exists()


def test_what_is_purged_leaves_the_log_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A purge leaves nothing behind, even while the log is being put into the file."""
    monkeypatch.setattr(connections, "_STEP", 1)
    store = opened(tmp_path / "x.db")
    for turn in range(5):
        batch = many(60, start=60 * turn)
        store.documents.apply(
            Batch("notes", [*batch, prepared("s", "the secret word is xylophone")])
        )
        store.documents.apply(Batch("notes", purges=["s"]))
        files = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("x.db*")))
        assert b"xylophone" not in files
        assert b"xylophon" not in files
    store.maintenance.close()


def test_a_reader_in_the_way_hinders_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody reads what the log cannot yet replace, it grows, and all can be written."""
    monkeypatch.setattr(connections, "_STEP", 1)
    monkeypatch.setattr(connections, "_MOST", 2)
    store = opened(tmp_path / "x.db")
    reader = Database.open(tmp_path / "x.db", create=False)
    with reader.outside_transaction() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM documents").fetchall()
        for batch in range(3):
            store.documents.apply(Batch("notes", many(60, start=60 * batch)))
        connection.execute("ROLLBACK")
    reader.close()
    assert len(recent(store, Scope(), limit=500)) == 180
    store.maintenance.close()
    assert not (tmp_path / "x.db-wal").exists()


def test_a_large_batch_is_written_like_a_small_one(tmp_path: Path) -> None:
    """Documents that are written together are as those that are written one by one."""
    one_by_one, at_once = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    batch = [
        prepared(f"n{number}", f"word{number} crane", tags=(f"t{number % 3}",), title=f"T {number}")
        for number in range(100)
    ]
    for one in batch:
        one_by_one.documents.apply(Batch("notes", [one]))
    at_once.documents.apply(Batch("notes", batch))
    # Again, now that all are there, together with one that is new.
    at_once.documents.apply(Batch("notes", [*batch, prepared("new", "crane")]))
    at_once.documents.apply(Batch("notes", deletes=["new"]))
    ids = [one.document.id for one in batch]
    whole = frozenset(Part)
    assert at_once.documents.get(ids, None, whole) == one_by_one.documents.get(ids, None, whole)
    assert at_once.maintenance.check() == [] == one_by_one.maintenance.check()


def test_more_than_a_statement_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch with more documents than one statement can insert is written whole."""
    monkeypatch.setattr(writing, "_MOST", 70)
    store = opened(tmp_path / "x.db")
    store.documents.apply(Batch("notes", many(200)))
    assert len(recent(store, Scope(), limit=500)) == 200
    assert store.maintenance.check() == []


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
BLANK = prepared("a")


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=5), VALUES | st.lists(VALUES, max_size=3), max_size=4))
def test_properties_are_written_as_json(properties: dict[str, object]) -> None:
    """Writing front matter without an encoder for each gives the text that JSON has for it."""
    one = replace(BLANK, document=replace(BLANK.document, properties=properties))
    assert values_of(one, 1, 1, 1)[-2] == json.dumps(properties, ensure_ascii=False)


def test_a_value_that_cannot_be_made_undoes_the_batch(tmp_path: Path) -> None:
    """If a value cannot be made, nothing of the batch stays."""
    store = opened(tmp_path / "x.db")
    bad = prepared("bad", "text", properties={"rating": {1, 2}})
    with pytest.raises(TypeError, match="set"):
        store.documents.apply(Batch("notes", [*many(80), bad]))
    assert recent(store, Scope(), limit=10) == []
    store.documents.apply(Batch("notes", many(80)))
    assert len(recent(store, Scope(), limit=500)) == 80
    assert store.maintenance.check() == []


def test_a_statement_that_fails_undoes_the_batch(tmp_path: Path) -> None:
    """If writing texts fails, nothing of the batch stays."""
    store = opened(tmp_path / "x.db")
    batch = many(80)
    with Database.open(tmp_path / "x.db", create=False).write() as connection:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON texts WHEN new.row = 70"
            " BEGIN SELECT raise(ABORT, 'no more'); END"
        )
    with pytest.raises(Exception, match="no more"):
        store.documents.apply(Batch("notes", batch))
    assert recent(store, Scope(), limit=10) == []
    with Database.open(tmp_path / "x.db", create=False).write() as connection:
        connection.execute("DROP TRIGGER refuse")
    store.documents.apply(Batch("notes", batch))
    assert len(recent(store, Scope(), limit=500)) == 80
