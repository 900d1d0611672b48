"""Closing a store while others use it: within a bound, and without an error for anybody."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import prepared
from tests.waiting import PATIENCE
from twolane.model.document import Batch, Collection
from twolane.model.errors import StoreError
from twolane.ports.documents import PutCollection
from twolane.stores.sqlite import database, open_stores
from twolane.stores.sqlite.database import Database, rows

# Counts for minutes if nobody stops it.
_ENDLESS = """
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000000000)
SELECT count(*) FROM n"""


class Beside:
    """A thread that does something, and what it raised."""

    def __init__(self, work: Callable[[threading.Event], None]) -> None:
        self.begun = threading.Event()
        self.raised: BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self.begun.wait(PATIENCE)

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._work(self.begun)
        except BaseException as error:
            self.raised = error


def test_what_is_read_is_broken_off(tmp_path: Path) -> None:
    """Closing does not wait for a long read, and the reader is told that the store is closed."""
    db = Database.open(tmp_path / "x.db", create=True)

    def read(begun: threading.Event) -> None:
        with db.read() as connection:
            begun.set()
            rows(connection, _ENDLESS)

    reader = Beside(read)
    time.sleep(0.1)
    began = time.monotonic()
    db.close()
    assert time.monotonic() - began < database.CLOSING_SECONDS
    reader.join()
    assert isinstance(reader.raised, StoreError)
    assert "closed" in str(reader.raised)


def test_what_is_written_may_end(tmp_path: Path) -> None:
    """A transaction that has begun is committed before the file is let go."""
    path = tmp_path / "x.db"
    db = Database.open(path, create=True)

    def write(begun: threading.Event) -> None:
        with db.write() as connection:
            begun.set()
            time.sleep(0.5)
            connection.execute("UPDATE counters SET revision = 7")

    writer = Beside(write)
    db.close()
    writer.join()
    assert writer.raised is None
    assert not path.with_name("x.db-wal").exists()
    _has_revision(path, 7)


def test_who_takes_too_long_closes_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing waits no longer than it may; what was being written is kept all the same."""
    monkeypatch.setattr(database, "CLOSING_SECONDS", 0.2)
    path = tmp_path / "x.db"
    db = Database.open(path, create=True)
    free = threading.Event()

    def write(begun: threading.Event) -> None:
        with db.write() as connection:
            begun.set()
            assert free.wait(PATIENCE)
            connection.execute("UPDATE counters SET revision = 7")

    writer = Beside(write)
    # It would wait for the writer, who waits for this.
    db.close()
    free.set()
    writer.join()
    assert writer.raised is None
    # The last connection to be closed takes the log along.
    assert not path.with_name("x.db-wal").exists()
    _has_revision(path, 7)


def test_nothing_is_done_with_a_closed_store(tmp_path: Path) -> None:
    """Readers and writers are told so, whether or not they used it before."""
    store = open_stores(tmp_path / "x.db")
    store.documents.apply(PutCollection(Collection("notes")))
    store.documents.collections()
    store.maintenance.close()
    store.maintenance.close()
    for use in (
        store.documents.collections,
        lambda: store.documents.apply(Batch("notes", [prepared("a", "ant")])),
        lambda: store.maintenance.backup(str(tmp_path / "copy.db")),
    ):
        with pytest.raises(StoreError, match="closed"):
            use()
        later = Beside(lambda begun, use=use: (begun.set(), use()))  # type: ignore[misc]
        later.join()
        assert isinstance(later.raised, StoreError)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists open files so")
def test_a_thread_that_ends_leaves_no_connection(tmp_path: Path) -> None:
    """However many threads come and go, the file is open a few times only."""
    path = tmp_path / "x.db"
    store = open_stores(path)
    for _ in range(40):
        Beside(lambda begun: (store.documents.collections(), begun.set())).join()  # type: ignore[func-returns-value]
    held = [one for one in Path("/proc/self/fd").iterdir() if _leads_to(one, path)]
    store.maintenance.close()
    assert len(held) < 5
    assert not [one for one in Path("/proc/self/fd").iterdir() if _leads_to(one, path)]


def _leads_to(link: Path, path: Path) -> bool:
    try:
        return link.readlink() == path
    except OSError:
        return False


def _has_revision(path: Path, number: int) -> None:
    db = Database.open(path, create=False)
    with db.read() as connection:
        assert rows(connection, "SELECT revision FROM counters") == [(number,)]
    db.close()
