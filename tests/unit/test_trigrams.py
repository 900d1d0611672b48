"""Trigrams in SQLite: whatever is wrong with them is noticed, and can be mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.builders import COLLECTION, prepared, put
from twolane.model import Collection
from twolane.scopes import Scope
from twolane.stores.sqlite import SqliteStore
from twolane.stores.sqlite.trigrams import MOST_UNSETTLED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store with two settled documents."""
    opened = SqliteStore.open(tmp_path / "x.db")
    opened.add_collection(Collection(COLLECTION))
    put(opened, prepared("a", "a xylophone", title="One"), prepared("b", "a drum", title="Two"))
    opened.settle()
    yield opened
    opened.close()


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
def test_stray_trigrams_are_noticed_and_mended(store: SqliteStore, damage: str) -> None:
    """A check tells of trigrams that are not those of the documents; a repair makes them so."""
    assert store.check() == []
    connection = apsw.Connection(store.location)
    connection.execute(damage)
    connection.close()
    assert any("trigrams" in f"{one.path} {one.reason}" for one in store.check())
    store.repair()
    assert store.check() == []
    store.settle()
    assert store.check() == []
    assert [one.id for one in store.exact("drum", Scope(), limit=9)] == ["b"]


def test_many_unsettled_documents_are_settled_while_writing(store: SqliteStore) -> None:
    """A search never has more than so many documents to look through."""
    put(store, *(prepared(f"{n:05}", "drum") for n in range(MOST_UNSETTLED)))
    with store._db.read() as connection:
        assert connection.execute("SELECT count(*) FROM unsettled").get == MOST_UNSETTLED
    put(store, prepared("more", "drum"))
    with store._db.read() as connection:
        assert connection.execute("SELECT count(*) FROM unsettled").get == 0
    assert len(store.exact("drum", Scope(), limit=5000)) == MOST_UNSETTLED + 2
