"""Following folders: whatever happens on disk, the library says the same soon after."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders import open_library, write_notes
from tests.waiting import PATIENCE, eventually
from twolane import Library
from twolane.ingest.indexing import Report
from twolane.model.errors import BadInput, MissingFolder

# Long enough for a busy machine; a test that passes waits a fraction of it.


@pytest.fixture(params=["notices", "polling"])
def polling(request: pytest.FixtureRequest) -> bool:
    """Both ways of noticing keep the same promises."""
    return bool(request.param == "polling")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two notes."""
    return write_notes(tmp_path / "notes", {"tea.md": "# Tea", "sub/coffee.md": "# Coffee"})


@contextmanager
def watched(
    db: Path, folder: Path, *, polling: bool = False, heard: list[Report] | None = None
) -> Iterator[Library]:
    """A library that follows the folder in a thread, until the block ends."""
    stop = threading.Event()
    reports = [] if heard is None else heard
    with open_library(db, index={"watch_debounce": 0.05, "watch_seconds": 0.05}) as library:
        thread = threading.Thread(
            target=lambda: library.watch(
                [folder], stop=stop, polling=polling, changed=reports.append
            )
        )
        thread.start()
        try:
            yield library
        finally:
            stop.set()
            thread.join(PATIENCE)
            assert not thread.is_alive()


def titles(library: Library) -> set[str]:
    """All titles in the library."""
    return {document.title for document in library.documents()}


def test_changes_are_followed(tmp_path: Path, notes: Path, polling: bool) -> None:
    """A note that is made, edited, renamed or deleted is so in the library soon after."""
    with watched(tmp_path / "d.db", notes, polling=polling) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        (notes / "new.md").write_text("# New")
        eventually(lambda: titles(library) == {"Tea", "Coffee", "New"})
        (notes / "new.md").write_text("# Newer and longer")
        eventually(lambda: titles(library) == {"Tea", "Coffee", "Newer and longer"})
        (notes / "new.md").rename(notes / "sub" / "moved.md")
        eventually(lambda: "sub/moved.md" in {one.path for one in library.documents()})
        assert titles(library) == {"Tea", "Coffee", "Newer and longer"}
        (notes / "sub" / "moved.md").unlink()
        eventually(lambda: titles(library) == {"Tea", "Coffee"})


def test_a_file_that_stays_bad_is_told_once(tmp_path: Path, notes: Path, polling: bool) -> None:
    """Later looks tell of what is new: other files, and other reasons."""
    (notes / "bad.md").write_bytes(b"\0\1\2")
    heard: list[Report] = []
    with watched(tmp_path / "d.db", notes, polling=polling, heard=heard) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        (notes / "new.md").write_text("# New")
        eventually(lambda: sum(one.indexed for one in heard) == 3)
        (notes / "worse.md").write_bytes(b"\0\1\2")
        eventually(lambda: sum(one.failed for one in heard) == 2)
    told = [problem.path for report in heard for problem in report.problems]
    assert told == ["bad.md", "worse.md"]
    assert all(one.indexed or one.problems for one in heard)


def test_editors_that_write_by_rename_are_followed(
    tmp_path: Path, notes: Path, polling: bool
) -> None:
    """An editor that writes beside the file and renames leaves one note, with the new text."""
    with watched(tmp_path / "d.db", notes, polling=polling) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        (notes / ".tea.md.swp").write_text("# Green tea, a longer title")
        (notes / ".tea.md.swp").rename(notes / "tea.md")
        eventually(lambda: titles(library) == {"Green tea, a longer title", "Coffee"})


def test_a_burst_is_read_in_few_looks(tmp_path: Path, notes: Path) -> None:
    """Hundreds of files that change at once are all found, and not one by one."""
    heard: list[Report] = []
    with watched(tmp_path / "d.db", notes, heard=heard) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        write_notes(notes, {f"many/{n}.md": f"# Note {n}" for n in range(300)})
        eventually(lambda: len(titles(library)) == 302)
        assert len(heard) < 60
        shutil.rmtree(notes / "many" / "nothing", ignore_errors=True)
        for n in range(100):
            (notes / "many" / f"{n}.md").unlink()
        eventually(lambda: len(titles(library)) == 202)


def test_vectors_follow_their_notes(tmp_path: Path, notes: Path) -> None:
    """What is written is found by meaning without another command, and gone when it is gone."""
    with watched(tmp_path / "d.db", notes) as library:
        (notes / "fern.md").write_text("# Fern\n\nspores and fronds")
        eventually(
            lambda: (
                [one.title for one in library.search("fronds", mode="semantic").results][:1]
                == ["Fern"]
            )
        )
        (notes / "fern.md").unlink()
        eventually(
            lambda: (
                "Fern"
                not in {one.title for one in library.search("fronds", mode="semantic").results}
            )
        )


def test_a_folder_that_goes_and_comes_back_is_followed_again(
    tmp_path: Path, notes: Path, polling: bool
) -> None:
    """A drive that is unplugged loses nothing; when it is back, so are its changes."""
    with watched(tmp_path / "d.db", notes, polling=polling) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        notes.rename(tmp_path / "away")
        time.sleep(1.5)
        assert titles(library) == {"Tea", "Coffee"}
        write_notes(tmp_path / "away", {"new.md": "# New"})
        (tmp_path / "away").rename(notes)
        eventually(lambda: titles(library) == {"Tea", "Coffee", "New"})


def test_a_folder_that_loses_most_of_its_notes_keeps_them(tmp_path: Path, notes: Path) -> None:
    """Sudden loss is reported and deletes nothing, as with `index`."""
    heard: list[Report] = []
    with watched(tmp_path / "d.db", notes, heard=heard) as library:
        eventually(lambda: titles(library) == {"Tea", "Coffee"})
        (notes / "tea.md").unlink()
        (notes / "sub" / "coffee.md").unlink()
        eventually(lambda: any(report.withheld for report in heard))
        assert titles(library) == {"Tea", "Coffee"}


def test_all_indexed_folders_are_watched_by_default(tmp_path: Path, notes: Path) -> None:
    """Without a name, whatever was indexed before is followed."""
    other = write_notes(tmp_path / "other", {"rye.md": "# Rye"})
    stop = threading.Event()
    with open_library(tmp_path / "d.db", "none", index={"watch_debounce": 0.05}) as library:
        library.index(notes)
        library.index(other)
        thread = threading.Thread(target=lambda: library.watch(stop=stop))
        thread.start()
        (other / "oat.md").write_text("# Oat")
        (notes / "milk.md").write_text("# Milk")
        eventually(lambda: titles(library) == {"Tea", "Coffee", "Rye", "Oat", "Milk"})
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_nothing_to_watch_is_said(tmp_path: Path) -> None:
    """A library without folders and a folder that is not there are told apart, at once."""
    with open_library(tmp_path / "d.db", "none") as library:
        with pytest.raises(BadInput, match="index one first"):
            library.watch(stop=threading.Event())
        with pytest.raises(MissingFolder, match="not a folder"):
            library.watch([tmp_path / "nowhere"], stop=threading.Event())
