"""`twolane doctor --fix` on databases that were damaged, and copies that bring them back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.builders import indexed_library, open_library
from tests.interfaces.conftest import Cli, write
from twolane import Library, Settings

NOTES = {
    "tea.md": "---\ntags: [drink, hot]\n---\n# Tea\n\nGreen leaves in a warm pot.\n",
    "bread.md": "# Bread\n\nRye and water, #food for a week.\n",
    "sub/fern.md": "# Fern\n\nSpores under the fronds.\n",
}

# Ten ways to damage a database so that searches would be wrong, incomplete or impossible.
DAMAGES: dict[str, str] = {
    "words of a document are gone": "DELETE FROM words WHERE rowid = 1",
    "words of nobody": "INSERT INTO words(rowid, body) VALUES (99, ' ghost ')",
    "words that were never written": (
        "DELETE FROM words WHERE rowid = 1;"
        "INSERT INTO words(rowid, body) VALUES (1, ' something  else ')"
    ),
    "wrong totals": "UPDATE totals SET documents = 99, body = 7",
    "visibility that disagrees": "DROP TRIGGER texts_leaving; DROP TRIGGER texts_returning;"
    "UPDATE texts SET listed = 0 WHERE row = 2",
    "tags that disagree": "UPDATE texts SET tags = ' wrong ' WHERE row = 1",
    "vectors cut short": "UPDATE vectors SET vector = x'0000' WHERE row = 1",
    "vectors that are no numbers": "UPDATE vectors SET vector ="
    " (SELECT unhex(group_concat('0000c07f', '')) FROM generate_series(1, 256)) WHERE row = 1",
    "a space that nobody knows": "UPDATE generations SET fingerprint = 'forged'",
    "chunks without their document": "PRAGMA foreign_keys = OFF;"
    "CREATE TEMP TABLE torn AS SELECT * FROM chunks; UPDATE torn SET document = document + 77;"
    "INSERT INTO chunks SELECT * FROM torn",
    "a document without its text": "PRAGMA foreign_keys = OFF; DELETE FROM texts WHERE row = 3",
    "triggers and indexes are gone": "DROP TRIGGER tag_added; DROP INDEX documents_by_path",
    "two generations serve": "INSERT INTO generations(fingerprint, space, state)"
    " SELECT fingerprint, space, state FROM generations",
    "a torn full-text index": "UPDATE words_data SET block = x'00' WHERE id > 10",
}


def harm(db: Path, statement: str) -> None:
    """Do to the file what no program of ours would."""
    connection = apsw.Connection(str(db))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    if "generate_series" in statement:
        nan = b"\x00\x00\xc0\x7f" * 256
        connection.execute("UPDATE vectors SET vector = ? WHERE row = 1", (nan,))
    else:
        connection.execute(statement)
    connection.close()


@pytest.fixture
def notes(twolane: Cli, tmp_path: Path) -> Path:
    """A folder of notes that is indexed."""
    folder = write(tmp_path / "notes", NOTES)
    twolane("index", folder)
    return folder


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_found_and_mended(tmp_path: Path, damage: str) -> None:
    """Whatever was done to the file is found and mended, and a re-index makes all as it was."""
    folder = write(tmp_path / "notes", NOTES)
    settings = Settings(db=tmp_path / "d.db", embedding={"embedder": "hashing"})
    with Library.open(settings=settings) as library:
        library.index(folder)
        library.embed()
        assert library.check() == []
        digest = library.digest()
    harm(tmp_path / "d.db", damage)
    with Library.open(settings=settings) as library:
        assert library.check()
        assert library.repair()
        assert library.check() == []
        assert library.repair() == []
        library.index(folder)
        library.embed()
        assert library.digest() == digest
        for word, title in (
            ("leaves", "Tea"),
            ("drink", "Tea"),
            ("rye", "Bread"),
            ("spore", "Fern"),
        ):
            for mode in ("lexical", "hybrid"):
                answer = library.search(word, mode=mode)
                assert answer.results[0].title == title
                assert not answer.degraded
        assert library.status().progress.pending == 0


def test_doctor_mends_and_keeps_a_copy(twolane: Cli, notes: Path) -> None:
    """The command says what is wrong, what it did, and where the file is as it was."""
    harm(twolane.db, DAMAGES["words of a document are gone"])
    assert "doctor --fix" in twolane("doctor", code=1).stdout
    said = twolane("doctor", "--fix").stdout
    assert "mended" in said
    assert f"{twolane.db.name}.before-fix" in said
    assert twolane.db.with_name(f"{twolane.db.name}.before-fix").exists()
    twolane("doctor")


def test_a_sound_database_is_left_alone(twolane: Cli, notes: Path) -> None:
    """Mending what is not broken changes nothing and keeps no copy."""
    said = twolane("doctor", "--fix").stdout
    assert "mended" not in said
    assert [path.name for path in twolane.db.parent.glob("*.before-fix*")] == []


def test_a_file_that_is_beyond_mending_says_so(twolane: Cli, notes: Path) -> None:
    """A torn file is told from a sound one, with what to do; nothing is made up."""
    content = bytearray(twolane.db.read_bytes())
    content[8192 : 8192 * 3] = b"\0" * 8192 * 2
    twolane.db.write_bytes(content)
    said = twolane("doctor", "--fix", code=1).stdout
    assert "restore a backup" in said


def test_the_digest_names_what_is_indexed(twolane: Cli, notes: Path, tmp_path: Path) -> None:
    """Two builds of the same notes have one digest; an edit gives another."""
    with indexed_library(notes, tmp_path / "other.db") as other:
        first = other.digest()
        (notes / "new.md").write_text("# New")
        other.index(notes)
        assert other.digest() != first
    assert first in twolane("doctor").stdout


# ---------------------------------------------------------------------------------------- copies


def test_a_backup_comes_back(twolane: Cli, notes: Path, tmp_path: Path) -> None:
    """What is lost after a backup is there again after restoring it."""
    copy = tmp_path / "copy.db"
    assert "3 documents" in twolane("backup", copy).stdout
    assert copy.stat().st_mode & 0o077 == 0
    shutil.rmtree(notes)
    twolane("index", notes, "--prune")
    assert twolane.json("search", "rye")["results"] == []
    said = twolane("restore", copy).stdout
    assert "3 documents restored" in said
    assert "before-restore" in said
    assert twolane.json("search", "rye")["results"][0]["title"] == "Bread"
    assert not twolane.json("search", "rye")["degraded"]


def test_a_backup_of_a_library_in_use_is_whole(notes: Path, tmp_path: Path) -> None:
    """A copy made beside a reader and between writes holds what was committed."""
    settings = Settings(db=tmp_path / "live.db", embedding={"embedder": "hashing"})
    with Library.open(settings=settings) as live, Library.open(settings=settings) as reader:
        live.index(notes)
        assert reader.search("rye").results
        live.backup(tmp_path / "copy.db")
        (notes / "later.md").write_text("# Later")
        live.index(notes)
    with open_library(tmp_path / "copy.db") as copy:
        assert {document.title for document in copy.documents()} == {"Tea", "Bread", "Fern"}
        assert copy.check() == []


def test_restoring_needs_no_database_in_the_way(twolane: Cli, notes: Path, tmp_path: Path) -> None:
    """On a new machine a backup becomes the database."""
    twolane("backup", tmp_path / "copy.db")
    twolane("restore", tmp_path / "copy.db", "--db", tmp_path / "new" / "place.db")
    found = twolane.json("search", "rye", "--db", tmp_path / "new" / "place.db")
    assert found["results"][0]["title"] == "Bread"


def test_what_is_newer_is_not_replaced_unasked(twolane: Cli, notes: Path, tmp_path: Path) -> None:
    """A database with a note that the copy lacks, or has as it was, needs --force."""
    copy = tmp_path / "copy.db"
    twolane("backup", copy)
    write(notes, {"bread.md": "# Bread\n\nWheat now.\n", "new.md": "# New\n\nA quagga.\n"})
    twolane("index", notes)
    before = twolane.db.read_bytes()
    said = twolane("restore", copy, code=4).stderr
    assert "2 documents are newer" in said and "--force" in said
    assert twolane.db.read_bytes() == before
    assert list(tmp_path.rglob("*.partial")) == []
    assert "before-restore" in twolane("restore", copy, "--force").stdout
    assert twolane.json("search", "rye")["results"][0]["title"] == "Bread"


def test_anothers_database_is_not_replaced_unasked(
    twolane: Cli, notes: Path, tmp_path: Path
) -> None:
    """A file of another program stays; one that is damaged beyond reading is replaced."""
    copy, other = tmp_path / "copy.db", tmp_path / "other.db"
    twolane("backup", copy)
    _another_programs(other)
    assert "another program" in twolane("restore", copy, "--db", other, code=4).stderr
    twolane("restore", copy, "--db", other, "--force")
    _not_a_database(other)
    twolane("restore", copy, "--db", other)
    assert twolane.json("search", "rye", "--db", other)["results"]


def _not_a_database(path: Path) -> None:
    path.write_text("a letter to my aunt " * 500)


def _another_programs(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE x(y)")
    connection.close()


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _contradictory(path: Path) -> None:
    harm(path, "UPDATE totals SET documents = 99")


@pytest.mark.parametrize(
    "spoil",
    [_not_a_database, _another_programs, _truncated, _emptied, _contradictory, Path.unlink],
)
def test_a_bad_copy_replaces_nothing(
    twolane: Cli, notes: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    """A copy that is not sound is refused, and the database stays as it is."""
    copy = tmp_path / "copy.db"
    twolane("backup", copy)
    if spoil is _another_programs:
        copy.unlink()
    spoil(copy)
    before = twolane.db.read_bytes()
    assert str(copy) in twolane("restore", copy, code=4).stderr
    assert twolane.db.read_bytes() == before
    assert twolane.json("search", "rye")["results"]


def test_a_database_in_use_is_not_replaced(notes: Path, twolane: Cli, tmp_path: Path) -> None:
    """While another process has the database open, restoring says so and waits for nobody."""
    copy = tmp_path / "copy.db"
    twolane("backup", copy)
    with open_library(twolane.db) as live:
        live.search("rye")
        assert "another process" in twolane("restore", copy, code=4).stderr
        assert live.search("rye").results


def test_a_backup_overwrites_nothing(twolane: Cli, notes: Path, tmp_path: Path) -> None:
    """A file that exists is not written over, and a folder that is missing is named."""
    (tmp_path / "taken.db").write_text("mine")
    assert "exists" in twolane("backup", tmp_path / "taken.db", code=2).stderr
    assert (tmp_path / "taken.db").read_text() == "mine"
    assert "no folder" in twolane("backup", tmp_path / "no" / "where.db", code=2).stderr


def test_doctor_tells_programs_what_it_mended(twolane: Cli, notes: Path) -> None:
    """The JSON of a check-up lists what was mended."""
    harm(twolane.db, DAMAGES["wrong totals"])
    said = json.loads(twolane("doctor", "--fix", "--json").stdout)
    assert said["ok"] is True
    assert "mended" in {check["name"] for check in said["checks"]}
