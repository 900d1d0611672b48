"""What evaluation asks of a library: its documents one by one, and what meaning can find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library, Scope
from twolane.evaluation.golden import GoldenQuery, GoldenSet, Names, vault_of
from twolane.evaluation.runs import run_golden
from twolane.model.errors import NotPermitted
from twolane.model.scope import Capability


def write(folder: Path, **notes: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "x.db", index={"batch": 2}) as opened:
        yield opened


def test_documents_come_by_id_whatever_the_batch(library: Library, tmp_path: Path) -> None:
    """Every document in scope comes once, by id, over several batches; hidden ones never."""
    notes = {name: f"# Note {name}\n\nText.\n" for name in "edcba"}
    notes["hidden"] = "---\nsearch: false\n---\nText.\n"
    notes["old"] = "---\narchived: true\n---\nText.\n"
    library.index(write(tmp_path / "v", **notes))
    assert [one.path for one in library.documents()] == [f"{name}.md" for name in "abcde"]
    everything = [one.path for one in library.documents(scope=Scope(archived=True))]
    assert everything == sorted([*(f"{name}.md" for name in "abcde"), "old.md"])
    assert [one.path for one in library.documents(scope=Scope(paths=("b*",)))] == ["b.md"]


def test_reading_needs_the_capability(library: Library) -> None:
    """A scope that may not search is refused at the call, not at the first document."""
    nobody = Scope(capabilities=frozenset({Capability.WRITE}))
    with pytest.raises(NotPermitted):
        library.documents(scope=nobody)
    with pytest.raises(NotPermitted):
        library.served(scope=nobody)


def test_what_meaning_can_find(library: Library, tmp_path: Path) -> None:
    """Nothing before vectors exist, then every document in scope; generations say how many."""
    library.index(write(tmp_path / "v", a="# A\n\nOne.\n", b="# B\n\nTwo.\n"))
    assert library.served() == frozenset()
    assert library.generations() == []
    library.embed()
    assert library.served() == {"v/a.md", "v/b.md"}
    assert library.served(scope=Scope(paths=("a*",))) == {"v/a.md"}
    ((generation, progress),) = library.generations()
    assert generation.space.embedder == "hashing"
    assert (progress.ready, progress.pending, progress.failed) == (2, 0, 0)


def test_notes_of_one_path_are_told_apart(library: Library, tmp_path: Path) -> None:
    """Two folders with a note of one path: runs and golden sets name each by its id."""
    library.index(write(tmp_path / "one", a="# Walrus\n\nOysters.\n"))
    assert Names(library).known() == ["a.md"]
    assert vault_of(library, tmp_path / "golden" / "x.json") == "../one"
    library.index(write(tmp_path / "two", a="# Walrus\n\nOysters.\n", b="# Carpenter\n\nSand.\n"))
    assert Names(library).known() == ["one/a.md", "two/a.md", "b.md"]
    assert vault_of(library, tmp_path / "x.json") is None
    query = GoldenQuery("q", "walrus oysters", relevant=("two/a.md",))
    run = run_golden(GoldenSet("g", queries=(query,)), library, mode="lexical")
    assert run.rankings["q"] == ["one/a.md", "two/a.md"]
    assert run.table(("mrr",)).queries[0].values == (0.5,)
