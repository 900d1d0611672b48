"""Copies of a database: what was acknowledged is in them, whatever lies beside them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.builders import open_library
from tests.interfaces.conftest import Cli
from tests.waiting import eventually
from twolane import Draft, Library, Settings
from twolane.library import keep_copy
from twolane.stores.sqlite.copying import arriving
from twolane.stores.sqlite.database import SCHEMA, Database

SAVE_AND_DIE = """
import os, sys
from pathlib import Path
from twolane import Draft, Library, Settings
library = Library.open(settings=Settings(db=Path(sys.argv[1]), embedder="hashing"))
for id in sys.argv[2:]:
    library.save(Draft(id, body=f"the {id} text"))
os._exit(9)
"""


def save_and_die(db: Path, *ids: str) -> None:
    """Save documents in a process that is killed right after, so that they are in the log."""
    done = subprocess.run([sys.executable, "-c", SAVE_AND_DIE, db, *ids], check=False, timeout=60)
    assert done.returncode == 9
    assert db.with_name(f"{db.name}-wal").stat().st_size > 0


def settings(db: Path) -> Settings:
    """Settings for this database."""
    return Settings(db=db, embedding={"embedder": "hashing"})


def ids(db: Path) -> set[str]:
    """The ids of all documents in a file, read without what lies beside it."""
    with closing(apsw.Connection(f"file:{db}?immutable=1", flags=_READ)) as connection:
        return {id for (id,) in connection.execute("SELECT id FROM documents")}


_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def test_a_copy_is_restored_with_its_log(twolane: Cli, tmp_path: Path) -> None:
    """Documents that are only in the log beside a copy come back, and the copy is not touched."""
    copy = tmp_path / "copy.db"
    with Library.open(settings=settings(copy)) as library:
        library.save(Draft("first", body="ant"))
    save_and_die(copy, "second", "third")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("copy.db*")}
    twolane("restore", copy)
    found = {path.name: path.read_bytes() for path in tmp_path.glob("copy.db*")}
    assert {name: found[name] for name in ("copy.db", "copy.db-wal")} == {
        name: before[name] for name in ("copy.db", "copy.db-wal")
    }
    assert ids(twolane.db) == {"first", "second", "third"}
    assert twolane.json("search", "second")["results"][0]["id"] == "second"


def test_a_log_that_cannot_be_read_is_not_left_out(twolane: Cli, tmp_path: Path) -> None:
    """A copy whose log cannot be read where it lies is refused in a sentence that says why."""
    copy = tmp_path / "copy.db"
    save_and_die(copy, "only")
    copy.with_name("copy.db-shm").unlink()
    copy.with_name("copy.db-shm").symlink_to(tmp_path / "nowhere" / "shm")
    said = twolane("restore", copy, code=4).stderr
    assert "copy.db-wal" in said and "copy both" in said
    assert not twolane.db.exists()


def test_the_copy_before_mending_is_one_file(tmp_path: Path) -> None:
    """What `doctor --fix` keeps holds what was committed, though the log was never emptied."""
    db = tmp_path / "d.db"
    with Library.open(settings=settings(db)) as library:
        library.save(Draft("a", body="ant"))
        kept = keep_copy(library.settings)
        library.save(Draft("b", body="bee"))
        again = keep_copy(library.settings)
    assert (kept.name, again.name) == ("d.db.before-fix", "d.db.before-fix-2")
    assert (ids(kept), ids(again)) == ({"a"}, {"a", "b"})
    assert sorted(path.name for path in tmp_path.glob("d.db*")) == ["d.db", kept.name, again.name]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_copy_before_a_migration_is_complete(tmp_path: Path) -> None:
    """A reader that keeps the log from being emptied keeps nothing out of the copy."""
    db = tmp_path / "d.db"
    with Library.open(settings=settings(db)) as library:
        library.save(Draft("a", body="ant"))
        with closing(apsw.Connection(str(db))) as reader:
            reader.execute("BEGIN; SELECT count(*) FROM documents").fetchall()
            library.save(Draft("b", body="bee"))
            steps = {SCHEMA: "CREATE TABLE added(x)"}
            Database.open(db, create=False, schema=SCHEMA + 1, migrations=steps).close()
    assert ids(tmp_path / f"d.db.schema-{SCHEMA}") == {"a", "b"}


def test_a_restored_database_is_in_use_like_any_other(twolane: Cli, tmp_path: Path) -> None:
    """After a restore, searches do not wait for a writer, and a second one sees who is there."""
    copy = tmp_path / "copy.db"
    with Library.open(settings=settings(twolane.db)) as library:
        library.save(Draft("a", body="ant"))
        library.backup(copy)
    twolane("restore", copy)
    with Library.open(settings=settings(twolane.db)) as library:
        assert apsw.Connection(str(twolane.db)).pragma("journal_mode") == "wal"
        library.search("ant")
        assert "another process" in twolane("restore", copy, code=4).stderr


def test_the_log_of_a_damaged_database_is_kept(twolane: Cli, tmp_path: Path) -> None:
    """Where a copy replaces what cannot be read any more, its log is kept with it."""
    copy = tmp_path / "copy.db"
    with Library.open(settings=settings(twolane.db)) as library:
        library.save(Draft("a", body="ant"))
        library.backup(copy)
    save_and_die(twolane.db, "b")
    log = twolane.db.with_name(f"{twolane.db.name}-wal").read_bytes()
    twolane.db.write_bytes(b"\0" * 100 + twolane.db.read_bytes()[100:])
    with pytest.raises(apsw.NotADBError):
        ids(twolane.db)
    twolane("restore", copy, "--force")
    kept = twolane.db.with_name(f"{twolane.db.name}.before-restore-wal")
    assert kept.read_bytes() == log
    assert ids(twolane.db) == {"a"}


# -------------------------------------------------------------------------------------- unfinished


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Puts a database somewhere that takes a while to be copied."""
    made = tmp_path_factory.mktemp("large") / "large.db"
    with open_library(made, "none") as library:
        library.save_all(
            Draft(f"d{n}", body=" ".join(f"word{n * k % 9973}" for k in range(200)))
            for n in range(1500)
        )

    def put(db: Path) -> None:
        db.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, db)

    return put


def names(folder: Path) -> list[str]:
    """The names of all files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_backup_looks_like_none(
    twolane: Cli, tmp_path: Path, large: Callable[[Path], None]
) -> None:
    """Whenever it is killed, there is a sound copy or none; the next run clears up."""
    large(twolane.db)
    folder = tmp_path / "copies"
    folder.mkdir()
    started = time.monotonic()
    subprocess.run(
        twolane.arguments("backup", folder / "whole.db"),
        env=dict(twolane.environment),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    takes = time.monotonic() - started
    for n in range(9):
        copy = folder / f"copy{n}.db"
        with twolane.beside("backup", copy) as process:
            time.sleep(takes * (n + 1) / 10)
            process.kill()
        if copy.exists():
            with Library.open(
                copy, settings=Settings(embedding={"embedder": "none"}), create=False
            ) as library:
                assert library.check() == []

    def is_killed_half_way() -> bool:
        with twolane.beside("backup", folder / "half.db") as process:
            while process.poll() is None and not halves():
                pass
        (folder / "half.db").unlink(missing_ok=True)
        return bool(halves())

    def halves() -> list[str]:
        return [name for name in names(folder) if ".partial" in name]

    eventually(is_killed_half_way)
    twolane("backup", folder / "last.db")
    assert not halves()


LITTLE_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))"


def without_room(twolane: Cli, *words: str | Path) -> str:
    """What a command says that cannot write a large file, and fails for it."""
    code = f"{LITTLE_ROOM}; import runpy; runpy.run_module('twolane', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=dict(twolane.environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 4, done.stderr
    return done.stderr


def test_a_backup_without_room_leaves_nothing(
    twolane: Cli, tmp_path: Path, large: Callable[[Path], None]
) -> None:
    """Where a copy does not fit, there is no copy, and the message says why."""
    large(twolane.db)
    folder = tmp_path / "copies"
    folder.mkdir()
    said = without_room(twolane, "backup", folder / "copy.db")
    assert "cannot write" in said and "room" in said
    assert str(folder / "copy.db") in said
    assert names(folder) == []


def test_a_restore_without_room_leaves_the_database(
    twolane: Cli, tmp_path: Path, large: Callable[[Path], None]
) -> None:
    """Where a copy does not fit beside the database, the database is as it was."""
    copy = tmp_path / "copy.db"
    large(copy)
    with Library.open(settings=settings(twolane.db)) as library:
        library.save(Draft("a", body="ant"))
    before = {path.name: path.read_bytes() for path in twolane.db.parent.iterdir()}
    without_room(twolane, "restore", "--force", copy)
    assert {path.name: path.read_bytes() for path in twolane.db.parent.iterdir()} == before


def test_a_copy_of_what_is_damaged_is_not_kept(twolane: Cli, tmp_path: Path) -> None:
    """A backup of a database that contradicts itself is refused, and there is no file."""
    folder = tmp_path / "copies"
    folder.mkdir()
    with Library.open(settings=settings(twolane.db)) as library:
        library.save(Draft("a", body="ant"))
    with closing(apsw.Connection(str(twolane.db))) as connection:
        connection.execute("UPDATE totals SET documents = 99")
    said = twolane("backup", folder / "copy.db", code=4).stderr
    assert str(folder / "copy.db") in said and "totals" in said
    assert names(folder) == []


def test_what_a_killed_restore_left_goes(twolane: Cli, tmp_path: Path) -> None:
    """The next restore takes away half a copy, and keeps the database under one name, not two."""
    copy = tmp_path / "copy.db"
    with Library.open(settings=settings(twolane.db)) as library:
        library.save(Draft("a", body="ant"))
        library.backup(copy)
    folder = twolane.db.parent
    for ending in ("", "-wal", "-shm", ".schema-0"):
        (folder / f".twolane-abc.partial{ending}").write_text("half a copy")
    # It was killed when the old file had its second name, and the new one not yet its place.
    (folder / "twolane.db.before-restore").hardlink_to(twolane.db)
    twolane("restore", copy)
    assert names(folder) == ["twolane.db", "twolane.db.before-restore"]
    assert ids(folder / "twolane.db.before-restore") == {"a"}
    assert twolane.db.stat().st_nlink == 1


def test_what_is_being_written_is_not_taken_for_left(tmp_path: Path) -> None:
    """Two backups into one folder at a time do not disturb each other."""
    with Library.open(settings=settings(tmp_path / "d.db")) as library:
        library.save(Draft("a", body="ant"))
        with arriving(tmp_path / "slow.db") as slow:
            slow.write_text("not yet")
            library.backup(tmp_path / "quick.db")
            assert slow.read_text() == "not yet"
    assert (tmp_path / "slow.db").read_text() == "not yet"
    assert ids(tmp_path / "quick.db") == {"a"}


def test_a_copy_has_its_name_when_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is synced before it is renamed, and the folder after that."""
    steps: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    with Library.open(settings=settings(tmp_path / "d.db")) as library:
        library.save(Draft("a", body="ant"))
        # A database that is made syncs its folder, too.
        steps.clear()
        library.backup(tmp_path / "copy.db")
    assert steps == ["file", "rename", "folder"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
