"""`twolane status`."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.conftest import Cli, write


def test_json_has_the_keys_of_the_contract(indexed: Cli) -> None:
    """The counts agree with the vault, and every promised key is there."""
    said = indexed.json("status")
    assert said["documents"] == 4
    assert said["embedded"] == said["chunks"] > 0
    assert (said["pending"], said["failed"], said["failed_chunks"], said["skipped"]) == (0, 0, 0, 1)
    assert said["generation"] == 1
    assert said["generations"][0]["embedder"] == "hashing"
    assert said["languages"]["ru"] == 1
    assert said["db"] == str(indexed.db)
    assert said["bytes"] > 0
    assert said["degraded"] == []
    assert [collection["name"] for collection in said["collections"]] == ["Мои notes"]
    assert "files" not in said


def test_people_read_the_same_counts(indexed: Cli) -> None:
    """The text shows documents, vectors, languages, the database and the folders."""
    said = indexed("status").stdout
    for words in (
        "documents",
        "0 pending",
        "1 skipped",
        "ru 1",
        "twolane.db",
        "collection  Мои notes  /",
    ):
        assert words in said


def test_equal_passages_explain_the_number_of_vectors(twolane: Cli, vault: Path) -> None:
    """Fewer vectors than passages are explained; as many are not."""
    twolane("index", vault)
    assert "equal passages" not in twolane("status").stdout
    write(vault, {"quagga.md": "A quagga.\n", "copies/quagga.md": "A quagga.\n"})
    twolane("index", vault)
    assert "0 pending, 0 failed; equal passages share one\n" in twolane("status").stdout


def test_each_file_says_how_far_it_is(twolane: Cli, vault: Path) -> None:
    """--files tells embedded, pending, skipped and failed files apart, with reasons."""
    twolane("index", vault)
    write(vault, {"new.md": "A quagga.\n", "blob.md": b"\x00\x01\x02" * 100})
    twolane("index", vault, "--no-wait")
    files = {file["path"]: file for file in twolane.json("status", "--files")["files"]}
    assert {path: one["state"] for path, one in files.items()} == {
        "garden/Tomatoes.md": "embedded",
        "garden/Компост.md": "embedded",
        "kitchen/green tea.md": "embedded",
        "kitchen/C# cookies: a recipe.md": "embedded",
        "_templates/day.md": "skipped",
        "new.md": "pending",
        "blob.md": "failed",
    }
    assert files["blob.md"]["code"] == "binary"
    assert files["new.md"]["pending"] == 1
    said = twolane("status", "--files").stdout
    assert "pending   Мои notes/new.md" in said
    assert files["blob.md"]["reason"] in said


def test_without_vectors_files_are_indexed(twolane: Cli, vault: Path) -> None:
    """Before there are any vectors a file counts as indexed, and the missing lane is named."""
    twolane("index", vault, "--no-wait")
    said = twolane.json("status", "--files")
    assert {file["state"] for file in said["files"]} == {"indexed", "skipped"}
    assert [degradation["lane"] for degradation in said["degraded"]] == ["dense"]
    assert "dense lane" in twolane("status").stdout


def test_a_switch_of_embedders_degrades_nothing(indexed: Cli) -> None:
    """Vectors of one embedder answer until those of another are made; switched off, they do not."""
    assert indexed.where(TWOLANE_EMBEDDING_EMBEDDER="use").json("status")["degraded"] == []
    (off,) = indexed.where(TWOLANE_SEARCH_SEMANTIC="false").json("status")["degraded"]
    assert "semantic = false" in off["reason"]


def test_no_database_is_created(twolane: Cli) -> None:
    """Asking for the status of nothing exits with 3 and creates nothing."""
    assert "twolane index FOLDER" in twolane("status", code=3).stderr
    assert list(twolane.home.iterdir()) == []
