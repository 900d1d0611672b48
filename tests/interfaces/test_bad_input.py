"""What can be wrong with folders, files and databases: a message, an exit code, no loss."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import NOTES, Cli, write
from tests.waiting import beside

HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def documents(cli: Cli) -> int:
    """How many documents there are."""
    found = cli.json("status")["documents"]
    assert isinstance(found, int)
    return found


def problem(cli: Cli, folder: Path) -> dict[str, Any]:
    """The one problem that indexing the folder meets; the good note beside it is found."""
    write(folder, {"good.md": "# Good\n\nA quagga.\n"})
    report = cli.json("index", "--strict", folder, code=1)["collections"][0]
    assert cli.json("search", "quagga", "--mode", "lexical")["results"][0]["path"] == "good.md"
    cli("index", folder)
    (found,) = report["problems"]
    assert isinstance(found, dict)
    return found


# ----------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("search -n abc tea", "error: -n: 'abc' is not a whole number of 1 or more"),
        ("search -n 0 tea", "error: -n: 0 is not a whole number of 1 or more"),
        ("serve --port 65536", "error: --port: 65536 is not a whole number from 0 to 65535"),
        ("generation drop x", "error: N: 'x' is not a whole number"),
        ("search --mode any tea", "error: --mode: 'any' is not one of 'hybrid', 'lexical'"),
        ("search --nosuch tea", "error: no such option"),
        ("nosuch", "error: no such command 'nosuch'"),
        ("get", "error: missing argument 'DOC"),
    ],
)
def test_a_call_that_makes_no_sense(twolane: Cli, words: str, said: str) -> None:
    """The usage comes first, and what is wrong is said as every error is, in plain words."""
    done = twolane(*words.split(), code=2)
    assert done.stderr.startswith("Usage: twolane")
    assert done.stderr.splitlines()[-1].startswith(said)
    assert done.stdout == ""


def test_a_call_without_anything_shows_the_help(twolane: Cli) -> None:
    """No command is bad usage, and what can be called is the answer."""
    said = twolane(code=2).stderr
    assert "Search:" in said
    assert "error" not in said


# --------------------------------------------------------------------------------------- folders


def test_missing_folder(twolane: Cli) -> None:
    """A folder that does not exist exits with 2, and no database is made for it."""
    assert "nowhere" in twolane("index", "nowhere", code=2).stderr
    assert not twolane.db.exists()


def test_a_file_is_no_folder(twolane: Cli, vault: Path) -> None:
    """A file in place of a folder exits with 2 and loses nothing."""
    twolane("index", vault)
    note = vault / "kitchen" / "green tea.md"
    assert "is not a folder" in twolane("index", note, code=2).stderr
    assert documents(twolane) == 4


def test_empty_folder(twolane: Cli, tmp_path: Path) -> None:
    """A folder without notes is no failure, and says what was looked for."""
    (tmp_path / "empty").mkdir()
    said = twolane("index", tmp_path / "empty").stdout
    assert "no notes found (looked for *.md, *.markdown)" in said


def test_a_folder_that_lost_most_of_its_files(twolane: Cli, tmp_path: Path) -> None:
    """Nothing is deleted when most files are gone at once, unless --prune says so."""
    notes = {f"{number}.md": f"# Note {number}\n\nA quagga.\n" for number in range(10)}
    folder = write(tmp_path / "v", notes)
    twolane("index", folder)
    for number in range(8):
        (folder / f"{number}.md").unlink()
    done = twolane("index", folder)
    assert "8 notes are gone" in done.stdout
    assert "Nothing was deleted" in done.stdout
    assert "--prune" in done.stdout
    # What is gone is no result, but it is not forgotten: its files bring it back.
    assert documents(twolane) == 2
    write(folder, {"0.md": notes["0.md"]})
    assert "7 notes are gone" in twolane("index", folder, "--strict", code=1).stdout
    assert documents(twolane) == 3
    (folder / "0.md").unlink()
    assert "8 deleted" in twolane("index", folder, "--prune").stdout
    assert documents(twolane) == 2


def test_a_folder_that_is_gone(twolane: Cli, vault: Path) -> None:
    """A known folder that is gone keeps its notes until --prune."""
    twolane("index", vault)
    shutil.rmtree(vault)
    assert "--prune" in twolane("index", vault, code=2).stderr
    assert documents(twolane) == 4
    assert "4 deleted" in twolane("index", vault, "--prune").stdout
    assert documents(twolane) == 0


def test_a_name_that_is_no_text(twolane: Cli, tmp_path: Path) -> None:
    """A folder or database whose name is not UTF-8 is refused in words."""
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    write(Path(folder), {"a.md": "A quagga.\n"})
    assert "not valid UTF-8" in twolane("index", folder, code=2).stderr
    assert "not valid UTF-8" in twolane("status", "--db", f"{folder}.db", code=2).stderr
    assert "no document is called" in twolane("get", folder, "--db", twolane.db, code=2).stderr


# ----------------------------------------------------------------------------------------- files


def test_unreadable_file(twolane: Cli, tmp_path: Path) -> None:
    """A note that cannot be read is a problem of its own."""
    folder = write(tmp_path / "v", {})
    folder.mkdir()
    os.mkfifo(folder / "pipe.md")
    assert problem(twolane, folder)["code"] == "unreadable"


def test_a_link_that_leads_nowhere(twolane: Cli, tmp_path: Path) -> None:
    """A dead link is a problem of its own."""
    folder = tmp_path / "v"
    folder.mkdir()
    (folder / "dead.md").symlink_to("gone.md")
    assert problem(twolane, folder)["code"] == "unreadable"


def test_a_folder_named_like_a_note(twolane: Cli, tmp_path: Path) -> None:
    """A folder may be called x.md; the notes in it are indexed."""
    folder = write(tmp_path / "v", {"x.md/inside.md": "An okapi.\n"})
    assert twolane.json("index", folder)["collections"][0]["problems"] == []
    assert twolane.json("search", "okapi")["results"][0]["path"] == "x.md/inside.md"


def test_binary_file(twolane: Cli, tmp_path: Path) -> None:
    """A binary file with the name of a note is a problem of its own."""
    found = problem(twolane, write(tmp_path / "v", {"blob.md": bytes(range(256)) * 40}))
    assert (found["path"], found["code"]) == ("blob.md", "binary")


def test_huge_file(twolane: Cli, tmp_path: Path) -> None:
    """A note of 50 MB is not read, and the limit is named."""
    folder = tmp_path / "v"
    folder.mkdir()
    with (folder / "huge.md").open("wb") as file:
        file.truncate(50_000_000)
    found = problem(twolane, folder)
    assert found["code"] == "too-large"
    assert "20,000,000" in found["reason"]


def test_invalid_utf8(twolane: Cli, tmp_path: Path) -> None:
    """A note with stray bytes is a problem, and the rest of its text is found."""
    text = b"An okapi \xff\xfe in a zoo.\n"
    assert problem(twolane, write(tmp_path / "v", {"old.md": text}))["code"] == "not-utf8"
    assert twolane.json("search", "okapi", "--mode", "lexical")["results"]


def test_another_encoding(twolane: Cli, tmp_path: Path) -> None:
    """A note in an encoding that nobody can tell is a problem that says to convert it."""
    text = "Листья и трава лежат до весны. ".encode("koi8-r") * 5
    found = problem(twolane, write(tmp_path / "v", {"old.md": text}))
    assert found["code"] == "binary"
    assert "convert it to UTF-8" in found["reason"]


def test_an_old_encoding(twolane: Cli, tmp_path: Path) -> None:
    """A note in windows-1251 is found by its words, and the remark names the encoding."""
    text = "Листья и трава лежат до весны.\n".encode("cp1251")
    found = problem(twolane, write(tmp_path / "v", {"old.md": text}))
    assert found["code"] == "not-utf8"
    assert "was read as windows-1251" in found["reason"]
    (row,) = twolane.json("search", "трава", "--mode", "lexical")["results"]
    assert "Листья и" in row["snippet"]
    assert "was read as windows-1251" in twolane("status", "--files").stdout


def test_broken_front_matter(twolane: Cli, tmp_path: Path) -> None:
    """Front matter that is no YAML is a problem, and the text is found all the same."""
    folder = write(tmp_path / "v", {"odd.md": "---\ntags: [a, b\n: :\n---\nAn okapi.\n"})
    assert problem(twolane, folder)["code"] == "front-matter"
    assert twolane.json("search", "okapi", "--mode", "lexical")["results"]


def test_a_note_that_goes_bad_does_not_take_others_along(twolane: Cli, vault: Path) -> None:
    """A note that turns binary leaves the index, the others stay."""
    twolane("index", vault)
    (vault / "kitchen" / "green tea.md").write_bytes(b"\x00\x01" * 500)
    report = twolane.json("index", vault)["collections"][0]
    assert (report["failed"], report["unchanged"]) == (1, 3)
    assert documents(twolane) == 3


# ------------------------------------------------------------------------------------- databases


@pytest.mark.parametrize(
    "words",
    [
        ("search", "tea"),
        ("search", "--batch", "-", "--json"),
        ("get", "x"),
        ("outline", "x"),
        ("status",),
        ("embed",),
    ],
)
def test_no_database(twolane: Cli, words: tuple[str, ...], tmp_path: Path) -> None:
    """Without a database every command names the one that makes it, and makes none itself."""
    said = twolane(*words, code=3).stderr
    assert said == f"error: no database at {twolane.db}; make one with: twolane index FOLDER\n"
    assert not twolane.db.exists()
    elsewhere = tmp_path / "other.db"
    assert str(elsewhere) in twolane(*words, "--db", elsewhere, code=3).stderr
    assert not elsewhere.exists()


@contextmanager
def held(db: Path) -> Iterator[None]:
    """Another process is writing to the database."""
    with beside(
        [sys.executable, "-c", HOLD, str(db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        yield
        process.communicate()


def test_locked_database(twolane: Cli, vault: Path) -> None:
    """While another process writes, indexing gives up after its time and searching goes on."""
    twolane("index", vault)
    write(vault, {"new.md": "A quagga.\n"})
    with held(twolane.db):
        said = twolane("index", vault, code=4, TWOLANE_INDEX_BUSY_SECONDS="0.2").stderr
        assert "in use by another process" in said
        assert twolane.json("search", "green tea")["results"]
    assert documents(twolane) == 4
    assert twolane.json("index", vault)["collections"][0]["indexed"] == 1


def refused(cli: Cli, db: Path, vault: Path, said: str) -> None:
    """Every command refuses the file with 4 and leaves it as it is."""
    before = db.read_bytes()
    for words in (("search", "tea"), ("index", vault), ("status",), ("get", "x"), ("embed",)):
        assert said in cli(*words, "--db", db, code=4).stderr
    assert said in cli("doctor", "--db", db, code=1).stdout
    assert db.read_bytes() == before
    assert {path.relative_to(vault).as_posix() for path in vault.rglob("*.md")} == set(NOTES)


def test_truncated_database(twolane: Cli, vault: Path) -> None:
    """A database that was cut off is refused with what to do."""
    twolane("index", vault)
    os.truncate(twolane.db, twolane.db.stat().st_size // 2)
    refused(twolane, twolane.db, vault, "restore a backup")


def test_newer_database(twolane: Cli, vault: Path) -> None:
    """A database of a newer Twolane is refused."""
    twolane("index", vault)
    connection = sqlite3.connect(twolane.db)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    refused(twolane, twolane.db, vault, "upgrade Twolane")


def test_foreign_database(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """A database of another program is refused."""
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE recipes(name TEXT)")
    connection.commit()
    connection.close()
    refused(twolane, foreign, vault, "another program")


def test_a_text_file_as_database(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """A file that is no database at all is refused."""
    text = tmp_path / "notes.txt"
    text.write_text("These are my notes, and not a database.\n" * 50)
    refused(twolane, text, vault, "not a Twolane database")


def test_a_folder_as_database(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """A folder in place of the database is refused."""
    assert str(tmp_path) in twolane("index", vault, "--db", tmp_path, code=4).stderr
    assert str(tmp_path) in twolane("status", "--db", tmp_path, code=4).stderr


def test_a_database_that_cannot_be_created(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """A database below a file cannot be created, and the message says to choose another."""
    (tmp_path / "file").write_text("")
    said = twolane("index", vault, "--db", tmp_path / "file" / "x.db", code=4).stderr
    assert "--db" in said


# ----------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("frobnicate",), "frobnicate"),
        (("search", "tea", "--frobnicate"), "frobnicate"),
        (("get",), "DOC"),
        (("search", "tea", "-n", "many"), "-n"),
    ],
)
def test_bad_usage(twolane: Cli, words: tuple[str, ...], said: str) -> None:
    """A command line that makes no sense exits with 2 and says why."""
    done = twolane(*words, code=2)
    assert done.stdout == ""
    assert said in done.stderr
