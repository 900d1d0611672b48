"""`twolane delete`, `undelete`, `purge`, `archive`, `unarchive` and `twolane tag`."""

from __future__ import annotations

import json

import pytest

from tests.builders import open_library
from tests.interfaces.conftest import Cli
from twolane import Draft, Kind


@pytest.fixture
def saved(twolane: Cli) -> Cli:
    """A library with two bookmarks and a note from a file."""
    notes = twolane.home / "vault"
    notes.mkdir()
    (notes / "n.md").write_text("ant #food")
    twolane.db.parent.mkdir(parents=True, exist_ok=True)
    with open_library(twolane.db, "none") as library:
        library.index(notes)
        library.save_all(
            Draft(id, kind=Kind.BOOKMARK, url=f"https://x.org/{id}", title=title, tags=("food",))
            for id, title in (("a", "Ant"), ("b", "Bee"))
        )
    return twolane


def found(twolane: Cli, *words: str) -> list[str]:
    """Ids of what a search finds."""
    answer = twolane.json("search", *words, TWOLANE_EMBEDDING_EMBEDDER="none")
    return sorted(result["id"] for result in answer["results"])


def test_delete_restore_purge(saved: Cli) -> None:
    """Documents go, are listed, come back, and go for good."""
    assert "1 document deleted" in saved("delete", "https://x.org/a").stdout
    assert found(saved, "ant") == ["vault/n.md"]
    listed = json.loads(saved("undelete", "--json").stdout)
    assert listed == {"deleted": [{"id": "a", "title": "Ant"}]}
    saved("undelete", "Ant")
    assert found(saved, "ant") == ["a", "vault/n.md"]
    saved("delete", "a", "b")
    told = json.loads(saved("purge", "--all", "--json").stdout)
    assert [document["id"] for document in told["documents"]] == ["a", "b"]
    assert saved("undelete").stdout == ""
    for words in (("purge",), ("purge", "a", "--all"), ("undelete", "a"), ("delete", "ghost")):
        saved(*words, code=2)


def test_archive_and_back(saved: Cli) -> None:
    """Archived documents are found only with --archived."""
    saved("archive", "a")
    assert found(saved, "ant") == ["vault/n.md"]
    assert found(saved, "ant", "--archived") == ["a", "vault/n.md"]
    saved("unarchive", "a")
    assert found(saved, "ant") == ["a", "vault/n.md"]
    assert "file" in saved("archive", "vault/n.md", code=2).stderr


def test_touch_counts_uses(saved: Cli) -> None:
    """A use is counted with its time, for files' documents too; a search is none."""
    assert saved("touch", "a", "vault/n.md", "--at", "2024-05-01").stdout == "2 documents touched\n"
    saved("touch", "a", "--at", "2023-01-01T10:00")
    found(saved, "ant")
    told = [json.loads(saved("get", id, "--json").stdout) for id in ("a", "vault/n.md")]
    assert [(one["used"][:10], one["uses"]) for one in told] == [
        ("2024-05-01", 2),
        ("2024-05-01", 1),
    ]
    saved("touch", "a", "--at", "yesterday", code=2)


def test_tags(saved: Cli) -> None:
    """Tags are given, taken, renamed and counted; those of files stay and are told of."""
    saved("tag", "add", "#to read", "a", "b")
    saved("tag", "remove", "to read", "b")
    assert json.loads(saved("tag", "list", "--json").stdout) == {"tags": {"food": 3, "to read": 1}}
    done = saved("tag", "rename", "food", "meal")
    assert "2 documents changed" in done.stdout
    assert "1 document from files" in done.stderr
    assert saved("tag", "list").stdout.split("\n")[0].split() == ["2", "meal"]
    assert saved("tag", "list", "--collection", "vault").stdout.split() == ["1", "food"]


def test_renaming_says_what_is_left(saved: Cli) -> None:
    """Other letters or a tag below are no tag that files keep; a tag that nobody has is told of."""
    saved("tag", "add", "Dev", "a", "b")
    for old, new in (("Dev", "dev"), ("dev", "dev/old"), ("#dev/old", "#food/dev")):
        done = saved("tag", "rename", old, new)
        assert "2 documents changed" in done.stdout
        assert "from files" not in done.stderr
    done = saved("tag", "rename", "nobody", "x")
    assert "0 documents changed" in done.stdout
    assert "no document has the tag 'nobody'" in done.stderr


def test_archiving_is_no_change_of_the_text(saved: Cli) -> None:
    """When a document was modified stays as it was, into the archive and out of it."""
    before = saved.json("get", "a")["updated"]
    saved("archive", "a")
    saved("unarchive", "a")
    assert saved.json("get", "a")["updated"] == before
