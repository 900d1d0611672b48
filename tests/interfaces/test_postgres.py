"""The command line over a PostgreSQL database: the same commands, the same answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write
from tests.postgres_server import BLANK, Server


@pytest.fixture
def served(twolane: Cli, postgres_url: str) -> Cli:
    """The command line whose database is on a server."""
    return twolane.where(TWOLANE_DB=postgres_url)


@pytest.fixture
def filled(served: Cli, vault: Path) -> Cli:
    """The same with a small vault in it."""
    served("index", vault)
    return served


def test_a_new_database_is_filled_by_index(twolane: Cli, postgres: Server, vault: Path) -> None:
    """`index` makes the tables in an empty database; nothing else does."""
    name = postgres.create(template=BLANK)
    url = postgres.url(name)
    try:
        assert "twolane index" in twolane("search", "tea", "--db", url, code=3).stderr
        report = twolane.json("index", vault, "--db", url)
        assert report["collections"][0]["indexed"] == 4
        assert twolane.json("search", "green tea", "--db", url)["results"]
    finally:
        postgres.drop(name)


def test_searches_answer_as_they_do_from_a_file(filled: Cli, twolane: Cli, vault: Path) -> None:
    """Every mode, filters and quotations give the same documents in the same order."""
    local = twolane.where(TWOLANE_DB=str(twolane.home / "local.db"))
    local("index", vault)
    for words in (
        ("green tea",),
        ("pruning tomatoes", "--mode", "lexical"),
        ("компост", "--mode", "semantic"),
        ("C#", "--mode", "exact"),
        ('"side shoots" garden',),
        ("tag:garden листья",),
        ("path:kitchen butter",),
        ("tomatos",),
    ):
        answers = [cli.json("search", *words) for cli in (filled, local)]
        found = [
            [(result["id"], result["lines"]) for result in each["results"]] for each in answers
        ]
        assert found[0] == found[1], words
        assert found[0], words


def test_reading_and_explaining(filled: Cli) -> None:
    """`get`, `outline`, `similar`, `why`, `status` and `doctor` work."""
    assert "Pinch out" in filled("get", "Pruning tomatoes").stdout
    assert "Tools" in filled("outline", "Pruning tomatoes").stdout
    assert filled.json("similar", "Pruning tomatoes")["results"]
    assert "green tea" in filled("why", "green tea", "Green tea").stdout.lower()
    status = filled.json("status")
    assert status["documents"] == 4
    assert status["pending"] == 0
    assert status["db"].startswith("postgresql://")
    doctor = filled("doctor")
    assert "is sound" in doctor.stdout and "PostgreSQL" in doctor.stdout


def test_saving_changing_and_deleting(served: Cli) -> None:
    """A saved document is found at once, changed with its version, and gone when deleted."""
    served("save", "-", "--id", "a1", "--title", "Night train", stdin=b"Sleeper to Vienna.")
    assert served.json("search", "sleeper vienna")["results"][0]["id"] == "a1"
    served("tag", "add", "travel", "a1")
    assert served.json("search", "tag:travel")["results"][0]["id"] == "a1"
    served("archive", "a1")
    assert not served.json("search", "sleeper")["results"]
    served("delete", "a1")
    assert served.json("status")["documents"] == 0


def test_what_changed_is_indexed_again(filled: Cli, vault: Path) -> None:
    """A second run reads only what changed; what is gone is gone."""
    write(vault, {"kitchen/green tea.md": "# Black tea\n\nBoiling water.\n"})
    (vault / "garden/Tomatoes.md").unlink()
    report = filled.json("index", vault)["collections"][0]
    assert (report["indexed"], report["deleted"]) == (1, 1)
    assert not filled.json("search", "--mode", "lexical", "shoots")["results"]
    assert (
        filled.json("search", "--mode", "lexical", "boiling")["results"][0]["title"] == "Black tea"
    )
    assert "is sound" in filled("doctor").stdout


def test_exports_travel_between_stores(filled: Cli, twolane: Cli, tmp_path: Path) -> None:
    """What one store exports another one imports, there and back."""
    served_export = tmp_path / "served.jsonl"
    filled("export", served_export)
    local = twolane.where(TWOLANE_DB=str(tmp_path / "local.db"))
    local("import", "jsonl", served_export)
    assert local.json("status")["documents"] == 4
    again = tmp_path / "local.jsonl"
    local("export", again)
    written = [
        sorted((one["id"], one["body"]) for one in map(json.loads, lines) if "body" in one)
        for lines in (
            served_export.read_text("utf-8").splitlines(),
            again.read_text("utf-8").splitlines(),
        )
    ]
    assert written[0] == written[1]
    assert len(written[0]) == 4


def test_file_copies_are_refused_with_what_to_use(filled: Cli, tmp_path: Path) -> None:
    """`backup` and `restore` are for files; a server has programs of its own."""
    assert "use pg_dump" in filled("backup", tmp_path / "copy.db", code=2).stderr
    assert "pg_restore" in filled("restore", tmp_path / "copy.db", code=2).stderr
    assert not (tmp_path / "copy.db").exists()


def test_a_server_that_is_not_there_is_told(twolane: Cli) -> None:
    """Neither a traceback nor a password, but where it was looked for."""
    done = twolane("status", "--db", "postgresql://ann:secret@127.0.0.1:1/notes", code=4)
    assert "cannot reach postgresql://ann:***@127.0.0.1:1/notes" in done.stderr
    assert "secret" not in done.stderr


def test_a_database_that_is_not_there_is_told(twolane: Cli, postgres: Server) -> None:
    """The server is asked for a database that nobody made."""
    done = twolane("status", "--db", postgres.url("nowhere"), code=4)
    assert "does not exist" in done.stderr


def test_nothing_of_it_is_imported_for_a_file(indexed: Cli) -> None:
    """Whoever keeps a file needs no driver of a server."""
    log = indexed("search", "tea", "--mode", "lexical", python=("-X", "importtime")).stderr
    assert "psycopg" not in log and "pgvector" not in log


def test_without_the_driver_the_way_to_it_is_told(twolane: Cli, tmp_path: Path) -> None:
    """A package that is not installed is named with the command that installs it."""
    write(tmp_path / "broken", {"psycopg.py": "raise ImportError('gone', name='psycopg')\n"})
    path = f"{tmp_path / 'broken'}:{twolane.environment['PYTHONPATH']}"
    done = twolane("status", "--db", "postgresql://host/x", code=4, PYTHONPATH=path)
    assert "pip install 'twolane[postgres]'" in done.stderr
