"""`twolane import` and `twolane export`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.bookmark_files import generated
from tests.builders import write_notes
from tests.interfaces.conftest import Cli


def test_bookmarks_go_in_and_out(twolane: Cli, tmp_path: Path) -> None:
    """An import is told, repeated without change, exported and imported elsewhere."""
    file = generated(tmp_path / "bookmarks.html", 120)
    told = twolane("import", "bookmarks", file, "--no-wait")
    assert "118 added, 0 changed, 0 unchanged, 2 merged" in told.stdout
    again = json.loads(twolane("import", "bookmarks", "--json", "--no-wait", file).stdout)
    assert (again["added"], again["unchanged"], again["problems"]) == (0, 118, [])
    found = twolane.json("search", "example.org/page/77")["results"][0]
    assert (found["kind"], found["collection"]) == ("bookmark", "bookmarks")
    out = tmp_path / "out.jsonl"
    assert "118 documents written" in twolane("export", out).stdout
    other = json.loads(twolane("import", "jsonl", out, "--db", tmp_path / "y.db", "--json").stdout)
    assert other["added"] == 118
    assert other["embedding"]["embedded"] > 0
    lines = twolane("export", "-", "--db", tmp_path / "y.db").stdout
    assert lines == out.read_text("utf-8")


def test_rows_from_standard_input_and_their_problems(twolane: Cli) -> None:
    """Bad rows have their line; --strict makes them count."""
    rows = b'{"id": "a", "title": "Ant"}\n{"id": "b", "tags": 7}\n'
    done = twolane("import", "jsonl", "-", "--kind", "prompt", stdin=rows)
    assert "1 added" in done.stdout
    assert "standard input: line 2  bad-row: tags: must be a list" in done.stdout
    assert twolane.json("search", "ant")["results"][0]["kind"] == "prompt"
    twolane("import", "jsonl", "-", "--strict", stdin=rows, code=1)


def test_a_file_without_anything_is_told(twolane: Cli, tmp_path: Path) -> None:
    """Whoever gives the wrong file is not left with three zeros."""
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<p>A page, but no bookmarks.</p>")
    told = twolane("import", "bookmarks", str(wrong), code=1)
    assert "nothing in it that can be imported" in told.stdout
    (tmp_path / "empty.jsonl").write_text("")
    twolane("import", "jsonl", str(tmp_path / "empty.jsonl"), "--strict")


def test_prompts_and_notes(twolane: Cli, tmp_path: Path) -> None:
    """Folders go in under the names of collections."""
    folder = write_notes(tmp_path / "texts", {"a.txt": "ant", "b.md": "---\ntitle: Bee\n---\nbee"})
    twolane("import", "notes", folder, "--collection", "post", "-q")
    twolane("import", "prompts", folder / "b.md")
    held = json.loads(twolane("collection", "list", "--json").stdout)["collections"]
    assert [(one["name"], one["kind"], one["documents"]) for one in held] == [
        ("post", "note", 2),
        ("prompts", "prompt", 1),
    ]
    out = tmp_path / "out.jsonl"
    told = json.loads(twolane("export", "--json", "--collection", "prompts", out).stdout)
    assert told == {"exported": str(out), "documents": 1}
    assert "no folder" in twolane("export", tmp_path / "nowhere" / "x.jsonl", code=2).stderr


def test_what_is_not_there(twolane: Cli, tmp_path: Path) -> None:
    """A missing file, an unknown collection or way: told, and no database is made."""
    for kind in ("bookmarks", "jsonl", "prompts", "notes"):
        done = twolane("import", kind, tmp_path / "nowhere", code=2)
        assert "nowhere" in done.stderr
    assert not twolane.db.exists()
    file = generated(tmp_path / "b.html", 3)
    assert (
        "tags, path, none" in twolane("import", "bookmarks", file, "--folders", "x", code=2).stderr
    )
    twolane("import", "bookmarks", file, "--no-wait")
    assert "ghost" in twolane("export", tmp_path / "o", "--collection", "ghost", code=2).stderr
    assert not (tmp_path / "o").exists()


def test_bookmarks_without_text_are_shown_without_repetition(twolane: Cli, tmp_path: Path) -> None:
    """Where tags or the address are all that there is, they are shown once, and marked."""
    rows = b"""
        {"id": "a", "kind": "bookmark", "title": "Tea", "url": "https://t.org/x", "tags": ["leaf"]}
        {"id": "b", "kind": "bookmark", "title": "Rye", "url": "https://example.org/rye"}
    """
    twolane("import", "jsonl", "-", stdin=rows)
    for query, title, shown in (
        ("leaf", "Tea", "   https://t.org/x\n   #leaf\n"),
        ("tag:leaf", "Tea", "   https://t.org/x\n   #leaf\n"),
        ("example", "Rye", "   https://example.org/rye\n"),
    ):
        said = twolane("search", "--mode", "lexical", query).stdout
        # Behind the title of what was looked for by words stands its relevance.
        assert re.sub(r"  \d+%", "", said) == f"1. {title}\n{shown}"


@pytest.mark.parametrize("what", ["bookmarks", "jsonl"])
def test_a_file_of_something_else_is_told(twolane: Cli, tmp_path: Path, what: str) -> None:
    """Where nothing could be read the exit code is 1, with what was expected."""
    (tmp_path / "note.md").write_text("# Not this\n\nJust a note.\n")
    assert "0 added" in twolane("import", what, tmp_path / "note.md", code=1).stdout
    assert "2 added" in twolane("import", "jsonl", "-", stdin=b'{"id":"a"}\n{"id":"b"}\n?').stdout
