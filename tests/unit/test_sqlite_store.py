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

from tests.builders import prepared, recent
from tests.waiting import beside
from twolane.model.document import Batch, Collection
from twolane.model.errors import (
    BadInput,
    DatabaseGone,
    NewerSchema,
    NoDatabase,
    NotADatabase,
    StoreBusy,
    StoreError,
)
from twolane.model.scope import Scope, Word
from twolane.model.space import GenerationState, Space
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.stores.sqlite import matrix, open_stores
from twolane.stores.sqlite.database import SCHEMA, Database

SPACE = Space("test", "m", "1", 4, "1")


def filled(path: Path, *texts: str) -> Stores:
    store = open_stores(path)
    store.documents.apply(PutCollection(Collection("notes")))
    store.documents.apply(Batch("notes", [prepared(text, text) for text in texts]))
    return store


def found(store: Stores, word: str) -> list[str]:
    return sorted(
        one.id
        for one in store.lexical.candidates([Word(word, (word,))], Scope(), every=True, limit=10)
    )


def test_the_file_is_private_and_logged_ahead(tmp_path: Path) -> None:
    """The database is made for its owner alone, in write-ahead mode."""
    filled(tmp_path / "x.db", "ant").maintenance.close()
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
            open_stores(tmp_path / "x.db", create=False)


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    """Another program's database, a text file and a truncated file are refused unchanged."""
    foreign = tmp_path / "foreign.db"
    apsw.Connection(str(foreign)).execute("CREATE TABLE t(x)")
    text = tmp_path / "text.db"
    text.write_text("these are my notes " * 100, "utf-8")
    cut = tmp_path / "cut.db"
    filled(cut, *(f"word{number}" for number in range(200))).maintenance.close()
    cut.write_bytes(cut.read_bytes()[:5000])
    for file in (foreign, text, cut):
        before = file.read_bytes()
        with pytest.raises(NotADatabase, match="--db"):
            recent(open_stores(file), Scope(), limit=500)
        assert file.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """A file of a newer Twolane is not touched."""
    filled(tmp_path / "x.db", "ant").maintenance.close()
    apsw.Connection(str(tmp_path / "x.db")).execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(NewerSchema, match="upgrade"):
        open_stores(tmp_path / "x.db")


def test_a_migration_keeps_a_copy(tmp_path: Path) -> None:
    """An older file is brought up to date, and kept as it was beside it."""
    path = tmp_path / "x.db"
    filled(path, "ant").maintenance.close()
    steps = {SCHEMA: "CREATE TABLE added(x)", SCHEMA + 1: "ALTER TABLE added ADD COLUMN y"}
    Database.open(path, create=False, schema=SCHEMA + 2, migrations=steps).close()
    migrated = apsw.Connection(str(path))
    assert migrated.pragma("user_version") == SCHEMA + 2
    assert migrated.execute("SELECT count(*) FROM added").get == 0
    kept = tmp_path / f"x.db.schema-{SCHEMA}"
    assert kept.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NewerSchema):
        open_stores(path)
    assert found(open_stores(kept), "ant") == ["ant"]


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    """A step that fails takes back the steps before it."""
    path = tmp_path / "x.db"
    filled(path, "ant").maintenance.close()
    steps = {SCHEMA: "CREATE TABLE added(x)", SCHEMA + 1: "CREATE TABLE added(x)"}
    with pytest.raises(StoreError, match="already exists"):
        Database.open(path, create=False, schema=SCHEMA + 2, migrations=steps)
    assert found(open_stores(path), "ant") == ["ant"]


def test_a_locked_file_says_so(tmp_path: Path) -> None:
    """While another process writes, a write waits its time and then says who is in the way."""
    store = filled(tmp_path / "x.db", "ant")
    store.maintenance.close()
    other = apsw.Connection(str(tmp_path / "x.db"))
    other.execute("BEGIN IMMEDIATE")
    impatient = open_stores(tmp_path / "x.db", create=False, busy_seconds=0.05)
    with pytest.raises(StoreBusy, match="another process"):
        impatient.documents.apply(PutCollection(Collection("more")))
    assert found(impatient, "ant") == ["ant"]
    other.execute("ROLLBACK")
    impatient.documents.apply(PutCollection(Collection("more")))


WRITER = """
import sys
from pathlib import Path
import numpy as np
from tests.builders import prepared
from twolane.model.document import Batch
from twolane.model.space import Space
from twolane.ports.vectors import NewVector
from twolane.stores.sqlite import open_stores
store = open_stores(Path(sys.argv[1]))
generation = store.vectors.open_generation(Space("test", "m", "1", 4, "1")).number
for line in sys.stdin:
    one = prepared(line.strip(), line.strip())
    store.documents.apply(Batch("notes", [one]))
    chunk = one.chunks[0]
    store.vectors.add(generation, [NewVector(chunk.content_hash, np.float32([0, 1, 0, 0]))])
    print("done", flush=True)
"""


def test_a_reader_notices_another_process(tmp_path: Path) -> None:
    """A long-lived reader sees what others commit, by words and by meaning, loading only that."""
    store = filled(tmp_path / "x.db", "ant", "bee")
    generation = store.vectors.open_generation(SPACE).number
    up = np.float32([0, 1, 0, 0])
    for one in (prepared("ant", "ant"), prepared("bee", "bee")):
        chunk = one.chunks[0]
        store.vectors.add(generation, [NewVector(chunk.content_hash, up)])
    assert len(store.vectors.nearest(generation, up, Scope(), limit=10, floor=0)) == 2
    loaded = store.vectors._cached[generation]._vectors
    with beside(
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
            near = store.vectors.nearest(generation, up, Scope(), limit=10, floor=0)
            assert len(near) == count
        writer.stdin.close()
    assert store.vectors._cached[generation]._count == 5
    # The first rows were copied over, not read again: their row numbers are those of the start.
    assert np.array_equal(store.vectors._cached[generation]._vectors[:2], loaded[:2])
    assert store.maintenance.check() == []


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
        store.documents.apply(Batch("notes", [prepared(f"bee{number}", "bee")]))
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found(store, "bee")) == 10
    store.maintenance.close()
    store.maintenance.close()
    with pytest.raises(StoreError, match="closed"):
        store.documents.apply(Batch("notes"))


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
    generation = store.vectors.open_generation(SPACE).number
    chunk = prepared("ant", "ant").chunks[0]
    store.vectors.add(generation, [NewVector(chunk.content_hash, np.float32([0, 1, 0, 0]))])
    assert store.maintenance.check() == []
    apsw.Connection(str(tmp_path / "x.db")).execute(damage)
    assert store.maintenance.check() != []


def test_a_backup_is_a_sound_copy(tmp_path: Path) -> None:
    """A backup of a live store opens, is complete, private, and overwrites nothing."""
    store = filled(tmp_path / "x.db", "ant")
    store.maintenance.backup(str(tmp_path / "copy.db"))
    store.documents.apply(Batch("notes", deletes=["ant"]))
    copy = open_stores(tmp_path / "copy.db", create=False)
    assert found(copy, "ant") == ["ant"]
    assert copy.maintenance.check() == []
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    with pytest.raises(BadInput, match="exists"):
        store.maintenance.backup(str(tmp_path / "copy.db"))


def test_vectors_that_are_done_with_leave_memory(tmp_path: Path) -> None:
    """A generation that retires, or that another process drops, is not held in memory for ever."""
    store = filled(tmp_path / "x.db", "ant")
    other = open_stores(tmp_path / "x.db")
    up = np.float32([1, 0, 0, 0])
    numbers = [
        store.vectors.open_generation(Space("test", name, "1", 4, "1")).number
        for name in ("m", "n", "o")
    ]
    for number in numbers:
        for one in (store, other):
            one.vectors.nearest(number, up, Scope(), limit=1, floor=-1)
    store.vectors.set_state({numbers[1]: GenerationState.SERVING})
    assert set(store.vectors._cached) == {numbers[1], numbers[2]}
    store.vectors.set_state({numbers[0]: None})
    assert [one.number for one in other.vectors.generations()] == numbers[1:]
    assert set(other.vectors._cached) == {numbers[1], numbers[2]}


def test_new_vectors_are_found_without_looking_at_all(tmp_path: Path) -> None:
    """Vectors are read in the order of the file: none is sorted in memory, none is read in vain."""
    with (
        closing(filled(tmp_path / "x.db", "ant").maintenance) as opened,
        opened._db.read() as connection,
    ):
        for statement in (matrix._VECTORS, matrix._HOW_MANY_NEW, matrix._SERVED_ANEW):
            asked = {"generation": 1, "row": 7}
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", asked)]
            assert any("INTEGER PRIMARY KEY (rowid>?)" in step for step in plan)
            assert not any("(generation=" in step for step in plan)
            assert "UNION" in statement or not any("TEMP B-TREE" in step for step in plan)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_not_there_takes_no_writes(tmp_path: Path, replaced: bool) -> None:
    """What would go into a file that nobody will open again is refused, and so are old answers."""
    store = filled(tmp_path / "x.db", "ant")
    (tmp_path / "x.db").rename(tmp_path / "y.db")
    if replaced:
        (tmp_path / "x.db").write_bytes((tmp_path / "y.db").read_bytes())
    with pytest.raises(DatabaseGone, match="replaced by" if replaced else "deleted or moved"):
        store.documents.apply(Batch("notes", [prepared("bee", "bee")]))
    with pytest.raises(DatabaseGone, match="start this program again"):
        found(store, "ant")
    store.maintenance.backup(str(tmp_path / "rescued.db"))
    assert found(open_stores(tmp_path / "rescued.db", create=False), "ant") == ["ant"]
    (tmp_path / "y.db").replace(tmp_path / "x.db")
    assert found(store, "bee") == []


def test_a_file_that_goes_during_a_write_keeps_it_back(tmp_path: Path) -> None:
    """A transaction that was begun is taken back if the file has gone before its end."""
    store = filled(tmp_path / "x.db", "ant")

    def write() -> None:
        with store.documents._db.write() as connection:
            connection.execute("DELETE FROM documents")
            (tmp_path / "x.db").rename(tmp_path / "y.db")

    with pytest.raises(DatabaseGone):
        write()
    (tmp_path / "y.db").rename(tmp_path / "x.db")
    assert found(store, "ant") == ["ant"]


def test_another_working_directory_is_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that was named by a short path is written to from wherever the process goes."""
    monkeypatch.chdir(tmp_path)
    store = filled(Path("x.db"), "ant")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    store.documents.apply(Batch("notes", [prepared("bee", "bee")]))
    assert found(store, "bee") == ["bee"]


# What older files had, from the newest schema backwards.
EARLIER = {
    5: "DROP TRIGGER term_vectors_old; DROP TRIGGER term_vectors_gone; DROP TABLE term_vectors",
    4: "ALTER TABLE generations DROP COLUMN answered_by",
    3: """
    ALTER TABLE vectors DROP COLUMN at;
    DROP TRIGGER documents_gone;
    DROP TABLE seals;
    CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN
        DELETE FROM texts WHERE row = old.row;
    END""",
    2: """
    CREATE INDEX chunks_by_text ON chunks(text_hash);
    DROP INDEX chunks_by_content;
    ALTER TABLE chunks ADD COLUMN lender TEXT;
    CREATE INDEX chunks_by_lender ON chunks(lender) WHERE lender IS NOT NULL;
    ALTER TABLE vectors ADD COLUMN text_hash TEXT NOT NULL DEFAULT '';
    CREATE INDEX vectors_by_text ON vectors(generation, text_hash);
    INSERT INTO vectors(generation, content_hash, text_hash, vector)
    SELECT generation, 'borrowed', 'old', vector FROM vectors""",
    1: "DROP TABLE receipts; DROP TABLE tokens",
}


@pytest.mark.parametrize("schema", sorted(EARLIER))
def test_an_earlier_file_becomes_like_a_new_one(tmp_path: Path, schema: int) -> None:
    """A file of an earlier schema becomes as a new file, and keeps its documents and vectors."""

    def tables(path: Path) -> dict[str, str]:
        with closing(apsw.Connection(str(path))) as connection:
            found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL")
            return {name: " ".join(sql.split()).replace(" )", ")") for name, sql in found}

    old, new = tmp_path / "old.db", tmp_path / "new.db"
    up = np.float32([0, 1, 0, 0])
    for path in (old, new):
        store = filled(path, "ant")
        generation = store.vectors.open_generation(SPACE).number
        store.vectors.add(
            generation, [NewVector(prepared("ant", "ant").chunks[0].content_hash, up)]
        )
        store.maintenance.close()
    with closing(apsw.Connection(str(old))) as connection:
        for number in range(SCHEMA - 1, schema - 1, -1):
            connection.execute(f"{EARLIER[number]}; PRAGMA user_version = {number}")
    store = open_stores(old, create=False)
    assert found(store, "ant") == ["ant"]
    assert [one.id for one in store.vectors.nearest(1, up, Scope(), limit=9)] == ["ant"]
    assert store.maintenance.check() == []
    store.maintenance.close()
    with closing(apsw.Connection(str(old))) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").get == 1
    assert tables(old) == tables(new)
