"""`twolane collection`."""

from __future__ import annotations

from pathlib import Path

from tests.builders import write_notes
from tests.interfaces.conftest import Cli


def test_a_collection_lives_and_goes(twolane: Cli, tmp_path: Path) -> None:
    """Add, index, list, describe, rename and remove, each by its command."""
    folder = write_notes(tmp_path / "texts", {"a.txt": "ant", "b.md": "ant"})
    env = {"TWOLANE_EMBEDDING_EMBEDDER": "none"}
    twolane(
        "collection", "add", "letters", folder, "--include", "*.txt", "--description", "Old mail."
    )
    assert twolane.json("index", **env)["collections"][0]["indexed"] == 1
    (held,) = _listed(twolane)
    assert (held["name"], held["include"], held["documents"]) == ("letters", ["*.txt"], 1)
    answer = twolane.json("search", "ant", **env)
    assert answer["collections"] == {"letters": "Old mail."}
    twolane("collection", "describe", "letters", "Very old mail.", "--include", "")
    twolane("collection", "rename", "letters", "post")
    assert _listed(twolane)[0] == {
        "name": "post",
        "root": str(folder),
        "kind": "note",
        "include": [],
        "exclude": [],
        "description": "Very old mail.",
        "documents": 1,
    }
    assert "Very old mail." in twolane("collection", "list").stdout
    refused = twolane("collection", "remove", "post", code=2)
    assert "--yes" in refused.stderr
    twolane("collection", "remove", "post", "--yes")
    assert _listed(twolane) == []
    assert (folder / "a.txt").exists()


def test_index_without_a_folder_needs_a_known_one(twolane: Cli) -> None:
    """Nothing to read is an error that says what to do."""
    assert "twolane index FOLDER" in twolane("index", code=3).stderr
    twolane("collection", "add", "links", "--kind", "bookmark")
    assert "twolane index FOLDER" in twolane("index", code=2).stderr
    assert "nothing to change" in twolane("collection", "describe", "links", code=2).stderr


def test_files_of_one_path_are_told_apart(twolane: Cli, tmp_path: Path) -> None:
    """Where results come from several collections each says from which, otherwise none does."""
    for name in ("one", "two"):
        twolane(
            "index",
            write_notes(tmp_path / name, {"a.md": "ant"}),
            TWOLANE_EMBEDDING_EMBEDDER="none",
        )
    both = twolane("search", "ant").stdout
    assert [both.count(f"(in {name})") for name in ("one", "two")] == [1, 1]
    assert "(in" not in twolane("search", "ant", "--collection", "two").stdout


def _listed(twolane: Cli) -> list[dict[str, object]]:
    import json

    told = json.loads(twolane("collection", "list", "--json").stdout)["collections"]
    assert isinstance(told, list)
    return told
