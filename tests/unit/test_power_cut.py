"""What a power cut takes: writes that were not synced are dropped, as a disk may drop them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from twolane.library import Library
from twolane.model.draft import Draft
from twolane.settings import Settings


class Disk(apsw.VFS):
    """Files as SQLite writes them, and beside them what of each is on the disk for sure."""

    def __init__(self) -> None:
        self.safe: dict[str, bytes] = {}
        super().__init__("power-cut", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file whose syncs are noticed."""
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file; the worst case is that this is not undone."""
        super().xDelete(filename, syncdir)
        self.safe.pop(filename, None)

    def after_power_cut(self, folder: Path) -> None:
        """Put what is safe, and nothing else, into another folder."""
        folder.mkdir()
        for name, content in self.safe.items():
            (folder / Path(name).name).write_bytes(content)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._name:
            self._disk.safe[self._name] = Path(self._name).read_bytes()


@pytest.fixture
def disk() -> Iterator[Disk]:
    """A disk that SQLite writes to until the test ends."""
    one = Disk()
    yield one
    one.unregister()


def saved_until_the_cut(disk: Disk, tmp_path: Path, synchronous: str) -> tuple[list[str], Settings]:
    """The ids of saves that were acknowledged, and settings that open what is left."""
    settings = Settings(
        db=tmp_path / "on" / "d.db",
        embedding={"embedder": "none"},
        index={"synchronous": synchronous},
    )
    acknowledged = []
    library = Library.open(settings=settings)
    try:
        for number in range(30):
            library.save(Draft(f"note-{number}", body=f"Tea number {number}. " * 50))
            acknowledged.append(f"note-{number}")
            if number == 10:
                library.delete("note-3")
                acknowledged.remove("note-3")
        disk.after_power_cut(tmp_path / "left")
    finally:
        library.close()
    return acknowledged, settings.changed(db=tmp_path / "left" / "d.db")


def ids(library: Library) -> list[str]:
    """What is there after the cut."""
    return sorted(one.id for one in library.search("", limit=100).results)


def test_with_full_nothing_acknowledged_is_lost(disk: Disk, tmp_path: Path) -> None:
    """With `index.synchronous = full` every save and deletion that returned survives."""
    acknowledged, left = saved_until_the_cut(disk, tmp_path, "full")
    with Library.open(settings=left) as library:
        assert ids(library) == sorted(acknowledged)
        assert library.check() == []


def test_with_normal_the_database_is_whole(disk: Disk, tmp_path: Path) -> None:
    """With `normal` the last saves may be gone, each as a whole; what is there is sound."""
    acknowledged, left = saved_until_the_cut(disk, tmp_path, "normal")
    with Library.open(settings=left) as library:
        there = ids(library)
        assert set(there) <= {*acknowledged, "note-3"}
        assert len(there) < len(acknowledged), "this disk drops what is not synced"
        assert library.check() == []


@pytest.mark.parametrize(("synchronous", "number"), [("normal", 1), ("full", 2)])
def test_the_setting_reaches_sqlite(tmp_path: Path, synchronous: str, number: int) -> None:
    """The connection that writes is told what the setting says."""
    from twolane.stores.sqlite.database import Database

    database = Database.open(tmp_path / "d.db", create=True, synchronous=synchronous)
    with database.outside_transaction() as connection:
        assert connection.pragma("synchronous") == number
    database.close()
