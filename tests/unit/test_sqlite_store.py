"""The SQLite file itself: who may read it, how it is opened, migrated, shared and checked."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.builders import prepared
from twolane.errors import BadInput, NewerSchema, NoDatabase, NotADatabase, StoreBusy, StoreError
from twolane.model import Batch, Collection, Space
from twolane.scopes import Scope, Word
from twolane.stores.sqlite import SqliteStore, matrix
from twolane.stores.sqlite.database import SCHEMA, Database

SPACE = Space("test", "m", "1", 4, "1")


def filled(path: Path, *texts: str) -> SqliteStore:
    store = SqliteStore.open(path)
    store.add_collection(Collection("notes"))
    store.apply(Batch("notes", [prepared(text, text) for text in texts]))
    return store


def found(store: SqliteStore, word: str) -> list[str]:
    return sorted(
        one.id for one in store.lexical([Word(word, (word,))], Scope(), every=True, limit=10)
    )


def test_the_file_is_private_and_logged_ahead(tmp_path: Path) -> None:
    """The database is made for its owner alone, in write-ahead mode."""
    filled(tmp_path / "x.db", "ant").close()
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o600
    assert apsw.Connection(str(tmp_path / "x.db")).pragma("journal_mode") == "wal"


def test_a_half_made_file_is_finished(tmp_path: Path) -> None:
    """A process that was killed right after creating the file leaves no trap."""
    (tmp_path / "x.db").touch()
    assert found(filled(tmp_path / "x.db", "ant"), "ant") == ["ant"]


def test_no_file_without_being_asked(tmp_path: Path) -> None:
    """Opening to read never creates a database, not even from an empty file."""
    for touch in (False, True):
        if touch:
            (tmp_path / "x.db").touch()
        with pytest.raises(NoDatabase, match="twolane index"):
            SqliteStore.open(tmp_path / "x.db", create=False)


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    """Another program's database, a text file and a truncated file are refused unchanged."""
    foreign = tmp_path / "foreign.db"
    apsw.Connection(str(foreign)).execute("CREATE TABLE t(x)")
    text = tmp_path / "text.db"
    text.write_text("these are my notes " * 100, "utf-8")
    cut = tmp_path / "cut.db"
    filled(cut, *(f"word{number}" for number in range(200))).close()
    cut.write_bytes(cut.read_bytes()[:5000])
    for file in (foreign, text, cut):
        before = file.read_bytes()
        with pytest.raises(NotADatabase, match="--db"):
            SqliteStore.open(file).recent(Scope(), limit=500)
        assert file.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """A file of a newer Twolane is not touched."""
    filled(tmp_path / "x.db", "ant").close()
    apsw.Connection(str(tmp_path / "x.db")).execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(NewerSchema, match="upgrade"):
        SqliteStore.open(tmp_path / "x.db")


def test_a_migration_keeps_a_copy(tmp_path: Path) -> None:
    """An older file is brought up to date, and kept as it was beside it."""
    path = tmp_path / "x.db"
    filled(path, "ant").close()
    steps = {SCHEMA: "CREATE TABLE added(x)", SCHEMA + 1: "ALTER TABLE added ADD COLUMN y"}
    Database.open(path, create=False, schema=SCHEMA + 2, migrations=steps).close()
    migrated = apsw.Connection(str(path))
    assert migrated.pragma("user_version") == SCHEMA + 2
    assert migrated.execute("SELECT count(*) FROM added").get == 0
    kept = tmp_path / f"x.db.schema-{SCHEMA}"
    assert kept.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NewerSchema):
        SqliteStore.open(path)
    assert found(SqliteStore.open(kept), "ant") == ["ant"]


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    """A step that fails takes back the steps before it."""
    path = tmp_path / "x.db"
    filled(path, "ant").close()
    steps = {SCHEMA: "CREATE TABLE added(x)", SCHEMA + 1: "CREATE TABLE added(x)"}
    with pytest.raises(StoreError, match="already exists"):
        Database.open(path, create=False, schema=SCHEMA + 2, migrations=steps)
    assert found(SqliteStore.open(path), "ant") == ["ant"]


def test_a_locked_file_says_so(tmp_path: Path) -> None:
    """While another process writes, a write waits its time and then says who is in the way."""
    store = filled(tmp_path / "x.db", "ant")
    store.close()
    other = apsw.Connection(str(tmp_path / "x.db"))
    other.execute("BEGIN IMMEDIATE")
    impatient = SqliteStore(Database.open(tmp_path / "x.db", create=False, busy_seconds=0.05))
    with pytest.raises(StoreBusy, match="another process"):
        impatient.add_collection(Collection("more"))
    assert found(impatient, "ant") == ["ant"]
    other.execute("ROLLBACK")
    impatient.add_collection(Collection("more"))


WRITER = """
import sys
from pathlib import Path
import numpy as np
from tests.builders import prepared
from twolane.model import Batch, Space
from twolane.stores.sqlite import SqliteStore, matrix
store = SqliteStore.open(Path(sys.argv[1]))
generation = store.open_generation(Space("test", "m", "1", 4, "1")).number
for line in sys.stdin:
    one = prepared(line.strip(), line.strip())
    store.apply(Batch("notes", [one]))
    chunk = one.chunks[0]
    store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, np.float32([0, 1, 0, 0]))])
    print("done", flush=True)
"""


def test_a_reader_notices_another_process(tmp_path: Path) -> None:
    """A long-lived reader sees what others commit, by words and by meaning, loading only that."""
    store = filled(tmp_path / "x.db", "ant", "bee")
    generation = store.open_generation(SPACE).number
    up = np.float32([0, 1, 0, 0])
    for one in (prepared("ant", "ant"), prepared("bee", "bee")):
        chunk = one.chunks[0]
        store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, up)])
    assert len(store.nearest(generation, up, Scope(), limit=10, floor=0)) == 2
    loaded = store._cached[generation]._vectors
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "x.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        for count, word in enumerate(("cat", "dog", "elk"), start=3):
            writer.stdin.write(f"{word}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "done\n"
            assert found(store, word) == [word]
            near = store.nearest(generation, up, Scope(), limit=10, floor=0)
            assert len(near) == count
        writer.stdin.close()
    assert store._cached[generation]._count == 5
    # The first rows were copied over, not read again: their row numbers are those of the start.
    assert np.array_equal(store._cached[generation]._vectors[:2], loaded[:2])
    assert store.check() == []


def test_threads_share_a_store(tmp_path: Path) -> None:
    """Readers in several threads and a writer do not disturb each other."""
    store = filled(tmp_path / "x.db", "ant")
    errors: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(50):
                assert found(store, "ant") == ["ant"]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(30):
        store.apply(Batch("notes", [prepared(f"bee{number}", "bee")]))
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found(store, "bee")) == 10
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.apply(Batch("notes"))


DAMAGES = {
    "a full-text row is gone": "DELETE FROM words WHERE rowid = 1",
    "a full-text row too many": ("INSERT INTO words(rowid, body) VALUES (99, 'ghost')"),
    "a text is gone": ("DROP TRIGGER texts_deleted; DELETE FROM texts WHERE row = 1"),
    "a hidden document is still listed": (
        "DROP TRIGGER documents_listed; UPDATE documents SET deleted = 1 WHERE row = 1"
    ),
    "a vector is too short": "UPDATE vectors SET vector = x'0000'",
    "two generations serve": (
        "INSERT INTO generations(fingerprint, space, state) VALUES ('x', '{}', 'serving')"
    ),
    "the totals are off": "UPDATE totals SET documents = 7",
    "a chunk of no document": (
        "PRAGMA foreign_keys = OFF; UPDATE chunks SET document = 99 WHERE document = 1"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_check_finds_damage(tmp_path: Path, damage: str) -> None:
    """Whatever drifts apart is reported."""
    store = filled(tmp_path / "x.db", "ant", "bee")
    generation = store.open_generation(SPACE).number
    chunk = prepared("ant", "ant").chunks[0]
    store.add_vectors(generation, [(chunk.content_hash, chunk.text_hash, np.float32([0, 1, 0, 0]))])
    assert store.check() == []
    apsw.Connection(str(tmp_path / "x.db")).execute(damage)
    assert store.check() != []


def test_a_backup_is_a_sound_copy(tmp_path: Path) -> None:
    """A backup of a live store opens, is complete, private, and overwrites nothing."""
    store = filled(tmp_path / "x.db", "ant")
    store.backup(str(tmp_path / "copy.db"))
    store.apply(Batch("notes", deletes=["ant"]))
    copy = SqliteStore.open(tmp_path / "copy.db", create=False)
    assert found(copy, "ant") == ["ant"]
    assert copy.check() == []
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    with pytest.raises(BadInput, match="exists"):
        store.backup(str(tmp_path / "copy.db"))


def test_vectors_that_are_done_with_leave_memory(tmp_path: Path) -> None:
    """A generation that retires, or that another process drops, is not held in memory for ever."""
    store = filled(tmp_path / "x.db", "ant")
    other = SqliteStore.open(tmp_path / "x.db")
    up = np.float32([1, 0, 0, 0])
    numbers = [
        store.open_generation(Space("test", name, "1", 4, "1")).number for name in ("m", "n", "o")
    ]
    for number in numbers:
        for one in (store, other):
            one.nearest(number, up, Scope(), limit=1, floor=-1)
    store.activate(numbers[1])
    assert set(store._cached) == {numbers[1], numbers[2]}
    store.drop_generation(numbers[0])
    assert [one.number for one in other.generations()] == numbers[1:]
    assert set(other._cached) == {numbers[1], numbers[2]}


def test_new_vectors_are_found_without_looking_at_all(tmp_path: Path) -> None:
    """Vectors are read in the order of the file: none is sorted in memory, none is read in vain."""
    with closing(filled(tmp_path / "x.db", "ant")) as store, store._db.read() as connection:
        for statement in (matrix._VECTORS, matrix._HOW_MANY_NEW, matrix._SERVED_ANEW):
            asked = {"generation": 1, "row": 7}
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", asked)]
            assert any("INTEGER PRIMARY KEY (rowid>?)" in step for step in plan)
            assert not any("(generation=" in step for step in plan)
            assert "UNION" in statement or not any("TEMP B-TREE" in step for step in plan)
