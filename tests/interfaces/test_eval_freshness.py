"""`twolane eval freshness`: which documents' vectors are behind their text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli, write


def freshness(cli: Cli, *words: str, code: int = 0) -> dict[str, Any]:
    """What `eval freshness --json` says."""
    said = json.loads(cli("eval", "freshness", "--json", *words, code=code).stdout)
    assert isinstance(said, dict)
    return said


LONG = "\n\n".join(f"## Part {number}\n\n" + "Leaves and grass. " * 300 for number in range(3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "notes",
        {
            "a.md": "# A\n\nA quagga.\n",
            "b.md": "---\ntitle: B\n---\nA dodo.\n",
            "long.md": f"# Long\n\n{LONG}\n",
        },
    )


def test_everything_is_fresh(twolane: Cli, folder: Path) -> None:
    """After indexing nothing is stale, and the models behind the vectors are listed."""
    twolane("index", folder)
    said = freshness(twolane, "--strict")
    assert said["stale"] is False
    (one,) = said["generations"]
    assert (one["embedder"], one["state"], one["pending"]) == ("hashing", "serving", 0)
    assert one["dimensions"] > 0 and one["ready"] > 3
    assert "every passage has its vector" in twolane("eval", "freshness").stdout


def test_no_vectors_at_all(twolane: Cli, folder: Path) -> None:
    """Before embedding every document is missing; --strict makes that exit with 1."""
    twolane("index", "--no-wait", folder)
    said = freshness(twolane)
    assert said["missing"] == ["notes/a.md", "notes/b.md", "notes/long.md"]
    assert said["stale"] is True and said["generations"] == []
    text = twolane("eval", "freshness", "--strict", code=1).stdout
    assert "3 documents: no vector" in text and "notes/b.md" in text


def test_what_waits(twolane: Cli, folder: Path) -> None:
    """A new text or title waits for its vectors, an edited part leaves the rest as it was."""
    twolane("index", folder)
    (folder / "a.md").write_text("# A\n\nSomething else entirely.\n", "utf-8")
    (folder / "b.md").write_text("---\ntitle: Renamed\n---\nA dodo.\n", "utf-8")
    (folder / "long.md").write_text(f"# Long\n\n{LONG}\n\n## New\n\nA new part.\n", "utf-8")
    twolane("index", "--no-wait", folder)
    said = freshness(twolane, "--strict", code=1)
    assert said["missing"] == ["notes/a.md", "notes/b.md"]
    assert "borrowed" not in said
    assert said["partial"] == ["notes/long.md"]
    assert said["pending"] == 3
    twolane("embed")
    assert freshness(twolane, "--strict")["stale"] is False


def test_saved_documents_count_like_files(twolane: Cli, folder: Path) -> None:
    """What was saved or imported waits, is missing and is dated like what stands in a file."""
    twolane("index", folder)
    rows = json.dumps([{"id": "j1", "title": "Imported", "text": "A moa."}])
    (folder.parent / "rows.json").write_text(rows, "utf-8")
    twolane("import", "jsonl", folder.parent / "rows.json", "--no-wait")
    later = twolane.where(TWOLANE_EMBEDDING_SAVE_SECONDS="0")
    later("save", "-", "--id", "s1", "--title", "Saved", stdin=b"An auk.")
    said = freshness(twolane, "--strict", code=1)
    assert said["missing"] == ["j1", "s1"]
    states = {file["id"]: file for file in twolane.json("status", "--files")["files"] if file["id"]}
    assert [states[id]["state"] for id in ("j1", "s1", "notes/a.md")] == [
        "pending",
        "pending",
        "embedded",
    ]
    assert states["s1"]["embedded_at"] is None
    assert twolane.json("get", "s1")["embedded_at"] is None
    twolane("embed")
    assert freshness(twolane, "--strict")["stale"] is False
    now = {file["id"]: file["embedded_at"] for file in twolane.json("status", "--files")["files"]}
    assert now["s1"] > now["notes/a.md"] == states["notes/a.md"]["embedded_at"]
    assert twolane.json("get", "s1")["embedded_at"] == now["s1"]


def test_another_model(twolane: Cli, folder: Path) -> None:
    """Vectors of a model that is no longer the chosen one are stale, and the reason is given."""
    twolane("index", folder)
    said = freshness(twolane.where(TWOLANE_EMBEDDING_EMBEDDER="none"), "--strict", code=1)
    assert "switched off" in said["degraded"]


def test_no_database(twolane: Cli) -> None:
    """Without a database the exit code is 3, as everywhere."""
    assert "no database" in twolane("eval", "freshness", code=3).stderr
