"""Which result was opened for which query: noted only if wished, and without any effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import indexed_library, write_notes
from tests.unit.test_reranking import NOTES, shape
from twolane import Draft, Library, NoSuchDocument
from twolane.evaluation.golden import GoldenSet
from twolane.evaluation.golden_build import with_opened
from twolane.library import LOCAL
from twolane.model.errors import NotPermitted
from twolane.model.scope import Scope
from twolane.stores.feedback_file import FeedbackFile

ALICE, BOB = Scope(owner="alice"), Scope(owner="bob")


def library_of(tmp_path: Path, *, enabled: bool = True) -> Library:
    """The notes, and one document of Alice's, with the log on or off."""
    write_notes(tmp_path / "notes", NOTES)
    library = indexed_library(tmp_path / "notes", tmp_path / "x.db", feedback={"enabled": enabled})
    library.save(Draft("saved/hers", title="Hers", body="water"), scope=ALICE)
    return library


def test_off_by_default_nothing_is_noted(tmp_path: Path) -> None:
    """Without the setting there is no file."""
    with library_of(tmp_path, enabled=False) as library:
        assert not library.note_opened("tea", "notes/tea.md")
        assert library.opened() == [] and library.forget_opened() == 0
    assert not (tmp_path / "x.feedback.db").exists()


def test_each_owner_has_notes_of_their_own(tmp_path: Path) -> None:
    """Nobody reads or deletes another's; what one may not see cannot be noted."""
    with library_of(tmp_path) as library:
        assert library.note_opened("tea", "notes/tea.md")
        assert library.note_opened(" her note ", "saved/hers", scope=ALICE)
        with pytest.raises(NoSuchDocument):
            library.note_opened("her note", "saved/hers", scope=BOB)
        assert [one.query for one in library.opened(scope=ALICE)] == ["her note"]
        assert [one.id for one in library.opened()] == ["notes/tea.md"]
        assert library.opened(scope=BOB) == []
        assert library.forget_opened(scope=BOB) == 0
        with pytest.raises(NotPermitted):
            library.forget_opened(scope=replace(ALICE, capabilities=frozenset()))
        assert library.forget_opened(scope=ALICE) == 1
        assert library.forget_opened(everybody=True) == 1
        file = tmp_path / "x.feedback.db"
        assert file.stat().st_mode & 0o077 == 0


def test_no_ranking_depends_on_it(tmp_path: Path) -> None:
    """The order is the same after a hundred openings."""
    with library_of(tmp_path) as library:
        before = shape(library.search("water"))
        for _ in range(100):
            library.note_opened("water", before[-1][0])
        assert shape(library.search("water")) == before


def test_what_is_purged_leaves_no_note(tmp_path: Path) -> None:
    """A document that is deleted for good is not named in the log any more."""
    with library_of(tmp_path) as library:
        library.note_opened("hers", "saved/hers")
        library.note_opened("tea", "notes/tea.md")
        library.purge("saved/hers")
        assert [one.id for one in library.opened()] == ["notes/tea.md"]


def test_old_notes_go(tmp_path: Path) -> None:
    """What is older than the setting allows is not told, and is gone with the next note."""
    log = FeedbackFile(tmp_path / "x.db", seconds=0.0)
    log.add("", "tea", "1")
    assert log.opened("") == []
    log.close()


def test_a_file_that_cannot_be_used_stops_nobody(tmp_path: Path) -> None:
    """A damaged log is passed over."""
    (tmp_path / "x.db").write_bytes(b"no database" * 1000)
    log = FeedbackFile(tmp_path / "x.db", seconds=100.0)
    log.add("", "tea", "1")
    assert log.opened("") == [] and log.forget() == 0
    log.close()


def test_candidates_are_made_of_what_was_opened(tmp_path: Path) -> None:
    """One query each, the most opened relevant, nothing verified; what is there or gone is not."""
    with library_of(tmp_path) as library:
        for query, id in (
            ("Warm  water", "notes/tea.md"),
            ("warm water", "notes/tea.md"),
            ("warm water", "notes/bread.md"),
            ("compost", "notes/soil.md"),
            ("gone", "saved/hers"),
        ):
            library.note_opened(query, id)
        library.delete("saved/hers")
        made = with_opened(GoldenSet("mine"), library, scope=LOCAL)
        warm, compost = made.queries
        assert (warm.query, compost.query) == ("warm water", "compost")
        assert not warm.verified and warm.category == "log"
        assert [name.rpartition("/")[2] for name in warm.relevant] == ["tea.md"]
        assert [name.rpartition("/")[2] for name in warm.partial] == ["bread.md"]
        assert with_opened(made, library, scope=LOCAL) == made
        (twice,) = with_opened(GoldenSet("mine"), library, scope=LOCAL, least=2).queries
        assert twice.query == "warm water" and not twice.partial
        assert not with_opened(GoldenSet("mine"), library, scope=BOB).queries
