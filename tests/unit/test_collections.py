"""Several folders and imports in one library."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import write_notes
from twolane import Capability, Draft, Kind, Library, Scope
from twolane.model.errors import BadDraft, BadInput, HeldInFile, MissingFolder, NotPermitted
from twolane.model.problem import ProblemCode


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder with another one in it that is a collection, too."""
    return write_notes(
        tmp_path / "notes",
        {"a.md": "ant", "work/plan.md": "bee plan", "work/list.txt": "cat", "old/x.md": "dog"},
    )


def found(library: Library, query: str, *collections: str) -> list[str]:
    """Ids of what the words find in the collections."""
    scope = Scope(collections=collections)
    return sorted(one.id for one in library.search(query, scope=scope, mode="lexical").results)


@pytest.mark.parametrize("inner_first", [True, False])
def test_of_folders_inside_each_other_the_inner_one_has_its_notes(
    library: Library, vault: Path, inner_first: bool
) -> None:
    """Every note is there once, whichever folder came first; the report says where it is."""
    roots = [vault / "work", vault] if inner_first else [vault, vault / "work"]
    for root in roots:
        library.index(root)
    assert found(library, "bee") == ["work/plan.md"]
    assert found(library, "ant dog") == ["notes/a.md", "notes/old/x.md"]
    report = library.index(vault)
    assert (report.unchanged, report.skipped, report.withheld) == (2, 1, 0)
    (skipped,) = [one.record for one in library.files() if one.record.state == "skipped"]
    assert (skipped.path, skipped.reason) == ("work", "its notes are in the collection 'work'")
    assert library.status().stats.documents == 3
    assert library.remove_collection("work") == 1
    assert library.index(vault).indexed == 1
    assert found(library, "bee") == ["notes/work/plan.md"]
    assert library.check() == []


def test_an_inner_collection_takes_only_its_own_files(library: Library, vault: Path) -> None:
    """Files that its patterns do not name stay with the folder around it."""
    library.add_collection("lists", vault / "work", include=("*.txt",))
    library.index(vault / "work")
    library.index(vault)
    assert found(library, "bee cat") == ["lists/list.txt", "notes/work/plan.md"]


def test_a_file_never_replaces_what_was_saved(library: Library, vault: Path) -> None:
    """A saved document keeps its id; the file that would have it is told, until the id is free."""
    (first, *_) = sorted(one.name for one in vault.glob("*.md"))
    id = f"{vault.name}/{first}"
    library.save(Draft(id, title="Saved before"))
    for _ in range(2):
        (problem,) = library.index(vault).problems
        assert (problem.path, problem.code) == (first, ProblemCode.CLASH)
        assert "purge" in problem.reason
        assert library.document(id).title == "Saved before"
    with pytest.raises(BadDraft):
        library.save(Draft(f"{vault.name}/new.md", title="x"))
    library.purge(id)
    assert library.index(vault).problems == []
    assert library.document(id).collection == vault.name
    with pytest.raises(HeldInFile):
        library.save(Draft(id, title="Saved after"))


def test_a_linked_folder_is_the_same_folder(library: Library, vault: Path, tmp_path: Path) -> None:
    """Two names of one folder are one collection."""
    (tmp_path / "link").symlink_to(vault)
    library.index(vault)
    assert library.index(tmp_path / "link").unchanged == 3
    with pytest.raises(BadInput, match="already"):
        library.add_collection("again", tmp_path / "link")


def test_patterns_belong_to_the_collection(library: Library, vault: Path) -> None:
    """A collection reads the files that it includes and leaves out what it excludes."""
    library.add_collection("texts", vault, include=("*.txt", "*.md"), exclude=("old/",))
    assert library.index(vault).collection == "texts"
    assert found(library, "cat dog") == ["texts/work/list.txt"]
    library.describe_collection("texts", include=("*.txt",))
    library.index(vault, prune=True)
    assert [one.id for one in library.documents()] == ["texts/work/list.txt"]


def test_its_kind_is_that_of_its_files(library: Library, vault: Path) -> None:
    """Files are of the collection's kind unless they say otherwise."""
    write_notes(vault, {"n.md": "---\nkind: note\n---\nelse"})
    library.add_collection("prompts", vault, kind=Kind.PROMPT)
    library.index(vault)
    kinds = {one.path: one.kind for one in library.documents()}
    assert (kinds["a.md"], kinds["n.md"]) == (Kind.PROMPT, Kind.NOTE)


def test_answers_say_what_their_collections_are(library: Library, vault: Path) -> None:
    """The description stands in the answer if one of the results is from there."""
    library.index(vault)
    library.save(Draft("b", title="ant"))
    library.describe_collection("notes", description="What I  wrote.")
    assert library.search("ant").collections == {"notes": "What I wrote."}
    assert library.search("bee").collections == {"notes": "What I wrote."}
    assert library.search("zebra", mode="lexical").collections == {}


def test_a_new_name_reads_nothing_again(library: Library, vault: Path) -> None:
    """Ids begin with the new name, and neither files nor vectors are made anew."""
    library.index(vault)
    library.embed()
    library.rename_collection("notes", "diary")
    assert found(library, "ant") == ["diary/a.md"]
    report = library.index(vault)
    assert (report.collection, report.unchanged, report.indexed) == ("diary", 3, 0)
    assert library.embed().embedded == 0


def test_what_makes_no_sense_is_refused(library: Library, vault: Path) -> None:
    """Names that clash or cannot be, folders that are not there, sentences without an end."""
    library.index(vault)
    for name in ("", "a/b", " a", "a\nb", "x" * 300, "notes"):
        with pytest.raises(BadInput):
            library.add_collection(name)
    with pytest.raises(MissingFolder):
        library.add_collection("gone", vault / "nowhere")
    with pytest.raises(BadInput, match="sentence"):
        library.add_collection("long", description="x" * 501)
    for change in (
        lambda: library.rename_collection("ghost", "x"),
        lambda: library.remove_collection("ghost"),
        lambda: library.describe_collection("ghost", description="x"),
        lambda: library.rename_collection("notes", "a/b"),
    ):
        with pytest.raises(BadInput):
            change()
    writer = Scope(capabilities=frozenset({Capability.SEARCH, Capability.WRITE}))
    with pytest.raises(NotPermitted):
        library.remove_collection("notes", scope=writer)
