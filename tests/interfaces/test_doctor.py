"""`twolane doctor`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from tests.interfaces.conftest import Cli, write


def test_all_is_well(indexed: Cli) -> None:
    """A sound installation has no problem and exits with 0."""
    said = indexed("doctor").stdout
    assert "problem" not in said
    for words in ("SQLite 3.", "is sound", "4 in ", "hashing answers", "complete"):
        assert words in said


def test_json(indexed: Cli) -> None:
    """The JSON lists every check and sums them up."""
    said = indexed.json("doctor")
    assert said["ok"] is True
    assert {check["name"] for check in said["checks"]} >= {
        "settings",
        "engine",
        "database",
        "embedder",
        "documents",
    }


def test_the_real_model_is_loaded(twolane: Cli, vault: Path) -> None:
    """The check of the default embedder embeds a text."""
    real = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")
    real("index", vault)
    assert "use answers" in real("doctor").stdout


def test_a_missing_model_is_a_problem(
    twolane: Cli, vault: Path, no_model: Callable[[Cli], Cli]
) -> None:
    """An embedder that does not load is a problem with a remedy, and exits with 1."""
    twolane("index", vault)
    assert "pip install" in no_model(twolane)("doctor", code=1).stdout


def test_no_database_is_a_problem_among_others(twolane: Cli) -> None:
    """Without a database everything else is still checked, and nothing is created."""
    said = twolane("doctor", code=1).stdout
    assert "twolane index FOLDER" in said
    assert "hashing answers" in said
    assert not twolane.db.exists()


def test_a_broken_index_is_found(twolane: Cli, vault: Path) -> None:
    """Rows that contradict each other are a problem."""
    twolane("index", vault)
    connection = apsw.Connection(str(twolane.db))
    connection.execute("UPDATE totals SET documents = 99")
    connection.close()
    assert "totals" in twolane("doctor", code=1).stdout


def test_missing_vectors_and_folders_are_problems(twolane: Cli, tmp_path: Path) -> None:
    """Passages without vectors and folders that are gone are named with what to do."""
    folder = write(tmp_path / "v", {"a.md": "A quagga.\n"})
    twolane("index", folder)
    write(folder, {"b.md": "An okapi.\n"})
    twolane("index", folder, "--no-wait")
    assert "run: twolane embed" in twolane("doctor", code=1).stdout
    twolane("embed")
    twolane("doctor")
    shutil.rmtree(folder)
    assert f"{folder} is gone" in twolane("doctor", code=1).stdout


def test_bad_settings_are_a_problem(indexed: Cli) -> None:
    """A setting that makes no sense is reported, not stumbled over."""
    said = indexed("doctor", code=1, TWOLANE_SEARCH_LIMIT="many").stdout
    assert "problem" in said
    assert "limit" in said


def test_what_befalls_a_file_is_told_and_mended(twolane: Cli, vault: Path) -> None:
    """A missing table and an overwritten text are problems in one line each, and `--fix` helps."""
    twolane("index", vault)
    connection = apsw.Connection(str(twolane.db))
    connection.execute("DROP TABLE jobs")
    connection.close()
    said = twolane("doctor", code=1)
    assert "jobs: missing from the schema" in said.stdout
    assert "Traceback" not in said.stderr
    twolane("doctor", "--fix")
    connection = apsw.Connection(str(twolane.db))
    connection.execute("UPDATE texts SET body = CAST(x'ff' AS TEXT)")
    connection.close()
    assert "sound" not in twolane("doctor", code=1).stdout
    assert "is sound" in twolane("doctor", "--fix", code=1).stdout
    twolane("index", vault)
    assert "is sound" in twolane("doctor").stdout
