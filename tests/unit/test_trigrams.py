"""Trigrams in SQLite: whatever is wrong with them is noticed, and can be mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.builders import COLLECTION, open_library, prepared, put
from twolane import Draft
from twolane.ingest.indexing import Report
from twolane.model.document import Batch, Collection
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection, RemoveCollection
from twolane.stores.sqlite import open_stores


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Stores]:
    """A store with two settled documents."""
    opened = open_stores(tmp_path / "x.db")
    opened.documents.apply(PutCollection(Collection(COLLECTION)))
    put(opened, prepared("a", "a xylophone", title="One"), prepared("b", "a drum", title="Two"))
    opened.maintenance.settle()
    yield opened
    opened.maintenance.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM name_trigrams WHERE rowid = 1",
        "DELETE FROM text_trigrams WHERE rowid = 1",
        "INSERT INTO text_trigrams(rowid, texts) VALUES (99, 'stray')",
        "DELETE FROM text_trigrams WHERE rowid = 1;"
        "INSERT INTO text_trigrams(rowid, texts) VALUES (1, 'something else')",
        "DROP TRIGGER letters_changed; UPDATE texts SET body = 'a longer body' WHERE row = 1",
        "DROP TABLE text_trigrams_docsize",
    ],
)
def test_stray_trigrams_are_noticed_and_mended(store: Stores, damage: str) -> None:
    """A check tells of trigrams that are not those of the documents; a repair makes them so."""
    assert store.maintenance.check() == []
    connection = apsw.Connection(store.maintenance.location)
    connection.execute(damage)
    connection.close()
    assert any("trigrams" in f"{one.path} {one.reason}" for one in store.maintenance.check())
    store.maintenance.repair()
    assert store.maintenance.check() == []
    store.maintenance.settle()
    assert store.maintenance.check() == []
    assert [one.id for one in store.lexical.substring("drum", Scope(), limit=9)] == ["b"]


def _letters(location: str) -> set[str]:
    """The trigrams that a database holds of names and texts."""
    connection = apsw.Connection(location)
    found = set()
    for table in ("name_trigrams", "text_trigrams"):
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.{table}_v USING fts5vocab(main, {table}, row)"
        )
        found |= {term for (term,) in connection.execute(f"SELECT term FROM {table}_v")}
    connection.close()
    return found


def test_a_purged_document_leaves_no_letters(store: Stores) -> None:
    """What was purged, and what was in a collection that is removed, is in no index any more."""
    assert {"xyl", "rum"} <= _letters(store.maintenance.location)
    store.documents.apply(Batch(COLLECTION, purges=["a"]))
    assert "xyl" not in _letters(store.maintenance.location)
    assert "rum" in _letters(store.maintenance.location)
    assert store.maintenance.check() == []
    store.documents.apply(RemoveCollection(COLLECTION))
    assert _letters(store.maintenance.location) == set()


def test_mending_makes_the_letters_again(tmp_path: Path) -> None:
    """A library that was mended looks nothing through one by one."""
    with open_library(tmp_path / "y.db", "none") as library:
        library.save(Draft("a", title="One", body="a xylophone"))
        library._stores.maintenance.settle()
        connection = apsw.Connection(library._stores.maintenance.location)
        connection.execute("DELETE FROM text_trigrams")
        assert library.repair()
        assert connection.execute("SELECT count(*) FROM unsettled").get == 0
        connection.close()
        assert library.check() == []
        assert "xyl" in _letters(library._stores.maintenance.location)


def test_an_import_leaves_nothing_to_look_through(tmp_path: Path) -> None:
    """However few documents an import brings, their letters are in the index when it returns."""
    rows = tmp_path / "notes.jsonl"
    rows.write_text('{"id": "a", "title": "One", "body": "a xylophone"}\n', "utf-8")
    with open_library(tmp_path / "y.db", "none") as library:
        library.import_jsonl(rows)
        assert "xyl" in _letters(library._stores.maintenance.location)


def test_few_unsettled_documents_may_wait(store: Stores) -> None:
    """Settling beyond a number of documents waits until there are more than that."""

    def unsettled() -> int:
        with store.documents._db.read() as connection:
            return int(connection.execute("SELECT count(*) FROM unsettled").get)

    put(store, *(prepared(f"{n:05}", "drum") for n in range(30)))
    store.maintenance._settling.settle(beyond=30)
    assert unsettled() == 30
    put(store, prepared("more", "drum"))
    assert unsettled() == 31
    store.maintenance._settling.settle(beyond=30)
    assert unsettled() == 0
    assert len(store.lexical.substring("drum", Scope(), limit=5000)) == 32


def test_many_unsettled_documents_are_settled_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search beside a run, or after many saves, never has more than so many to look through."""
    monkeypatch.setattr("twolane.stores.sqlite.documents._MOST_UNSETTLED", 20)
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(50):
        (vault / f"{number}.md").write_text(f"drum {number}", "utf-8")
    with open_library(tmp_path / "y.db", "none", index={"batch": 8}) as library:
        held = []

        def look(report: Report) -> None:
            connection = apsw.Connection(library._stores.maintenance.location)
            held.append(connection.execute("SELECT count(*) FROM unsettled").get)
            connection.close()

        library.index(vault, progress=look)
        assert 8 <= max(held) <= 20
        for number in range(25):
            library.save(Draft(f"Saved {number}", body="drum"))
            look(Report(""))
        assert 0 < max(held[50:]) <= 20
        library.add_tags([f"Saved {number}" for number in range(25)], ["loud"])
        look(Report(""))
        assert held[-1] == 0


def test_names_of_unsettled_documents_follow_every_change(store: Stores) -> None:
    """A document without trigrams is found by the name that it has now, by whoever is asked."""

    def called(name: str) -> list[str]:
        return [one.id for one in store.lexical.named([[name]], Scope(), limit=9)]

    put(store, prepared("c", "a harp", title="Third"))
    assert called("third") == ["c"]
    assert called("fourth") == []
    put(store, prepared("c", "a harp", title="Fourth"))
    assert called("third") == []
    assert called("fourth") == ["c"]
    store.documents.apply(Batch(COLLECTION, purges=["c"]))
    assert called("fourth") == []
