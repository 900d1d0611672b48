"""Analysis on several cores: the same as on one, whatever becomes of the other processes."""

from __future__ import annotations

import json
import logging
import multiprocessing
import pickle
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, wait
from concurrent.futures import ProcessPoolExecutor as Pool
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waiting import beside, eventually
from twolane import Draft, Kind, Library, Settings
from twolane.ingest import parallel
from twolane.ingest.analysis import (
    DraftTask,
    FileTask,
    analyze_draft,
    analyze_file,
)
from twolane.ingest.drafting import Drafted
from twolane.ingest.parallel import ParallelAnalysis
from twolane.model.document import Document, Heading, Link
from twolane.model.errors import BadDraft

WHEN = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Pool]:
    """Every pool that is started; a few documents are enough for that."""
    monkeypatch.setattr(parallel, "FEW", 5)
    monkeypatch.setattr(parallel, "GROUP", 4)
    pools: list[Pool] = []

    class Watched(Pool):
        """A pool that can be asked afterwards what it was handed."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.tasks: list[Any] = []
            self.begun: list[Future[bytes | None]] = []
            pools.append(self)

        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            self.tasks += pickle.loads(arguments[0])
            future = super().submit(work, *arguments, **named)
            self.begun.append(future)
            # The caller would be done with everything before a process has started.
            wait([self.begun[0]], timeout=60)
            return future

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", Watched)
    return pools


def done_elsewhere(pools: Iterable[Pool]) -> int:
    """How many groups other processes have analysed."""
    return sum(one.done() and not one.cancelled() for pool in pools for one in pool.begun)  # type: ignore[attr-defined]


def drafts(count: int) -> list[Draft]:
    """Different documents."""
    return [
        Draft(
            f"id {number}",
            title=f"Title {number}",
            body=f"# Part {number}\n\nThis is [it](https://a.org/{number}) in the soil.\n",
            tags=("a", f"b{number % 3}"),
            properties={"number": number},
            created=WHEN,
        )
        for number in range(count)
    ]


def prepared(
    given: Iterable[Draft], cores: int, settings: Settings | None = None
) -> list[tuple[str, Drafted | BadDraft | None]]:
    """The outcomes of drafts, in order, with so many cores."""
    chosen = (settings or Settings()).changed(index={"cores": cores})
    tasks = ((str(one.id), DraftTask(one, ahead=True)) for one in given)
    with ParallelAnalysis(analyze_draft, chosen) as analysis:
        return list(analysis.run(tasks))


def told(outcomes: list[tuple[str, Drafted | BadDraft | None]]) -> list[object]:
    """Outcomes in a form that can be compared."""
    return [(name, repr(one) if isinstance(one, BadDraft) else one) for name, one in outcomes]


class TestSame:
    """One process and several give the same."""

    def test_folders(self, tmp_path: Path, started: list[Pool]) -> None:
        """A folder gives the same rows and the same report with 1, 2 and 4 cores."""
        vault = _vault(tmp_path / "vault", 60)
        found = [_indexed(tmp_path / f"{cores}.db", vault, cores) for cores in (1, 2, 4)]
        assert found[0] == found[1] == found[2]
        assert "front-matter" in str(found[0])
        assert len(started) == 4
        assert done_elsewhere(started) >= 4

    def test_imports(self, tmp_path: Path, started: list[Pool]) -> None:
        """A file gives the same rows and the same report with 1, 2 and 4 cores, twice over."""
        file = _lines(tmp_path / "d.jsonl", 60)
        found = [_imported(tmp_path / f"{cores}.db", file, cores) for cores in (1, 2, 4)]
        assert found[0] == found[1] == found[2]
        assert "came before" in str(found[0])
        assert len(started) == 4
        assert done_elsewhere(started) >= 4

    def test_repeated_imports(self, tmp_path: Path, started: list[Pool]) -> None:
        """Documents that are held already are checked by other processes, but not prepared."""
        file = tmp_path / "d.jsonl"
        file.write_text("".join(f'{{"id": "{one}", "body": "the {one}"}}\n' for one in range(60)))
        settings = Settings(embedding={"embedder": "none"}, index={"cores": 2, "batch": 5})
        for expected in (True, False):
            with Library.open(tmp_path / "l.db", settings=settings) as library:
                library.import_jsonl(file)
            assert {task.ahead for task in started[-1].tasks} == {expected}  # type: ignore[attr-defined]
        assert len(started) == 2

    def test_bookmarks(self, tmp_path: Path, started: list[Pool]) -> None:
        """Bookmarks that are joined are prepared as what they became."""
        file = tmp_path / "b.html"
        links = (
            f'<DT><A HREF="https://a.org/{number % 40}" TAGS="t{number}">Title {number}</A>\n'
            for number in range(100)
        )
        file.write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL>" + "".join(links), "utf-8")
        found = []
        for cores in (1, 2):
            db = tmp_path / f"{cores}.db"
            settings = Settings(embedding={"embedder": "none"}, index={"cores": cores, "batch": 10})
            with Library.open(db, settings=settings) as library:
                report = library.import_bookmarks(file)
            assert report.merged == 60
            found.append((replace(report, seconds=0), _rows(db)))
        assert found[0] == found[1]
        assert started

    def test_items_that_break_off(self, started: list[Pool]) -> None:
        """What came before the break is given first, and then the break."""

        def broken() -> Iterator[tuple[int, DraftTask | None]]:
            for number, one in enumerate(drafts(50)):
                yield number, DraftTask(one)
            raise ValueError("that is all")

        given: list[int] = []

        def take_all() -> None:
            with ParallelAnalysis(analyze_draft, Settings(index={"cores": 2})) as analysis:
                given.extend(number for number, _ in analysis.run(broken()))

        with pytest.raises(ValueError, match="that is all"):
            take_all()
        assert given == list(range(50))
        assert started

    def test_documents_that_cannot_be_analysed(
        self, started: list[Pool], caplog: pytest.LogCaptureFixture
    ) -> None:
        """A draft that makes the analysis raise, or that cannot travel, is a problem by itself."""
        poison: Any = Draft("poison", body="x", tags=5)  # type: ignore[arg-type]
        stuck = Draft("stuck", body="x", properties={"a": lambda: 1})
        given = [*drafts(20), poison, stuck, *drafts(20)]
        alone, shared = prepared(given, 1), prepared(given, 2)
        assert told(alone) == told(shared)
        reasons = [str(one) for _, one in shared[20:22]]
        assert "could not be analysed (TypeError" in reasons[0]
        assert "is not a value that JSON has" in reasons[1]
        assert "could not be analysed" in caplog.text
        assert started

    def test_files_that_cannot_be_analysed(self, started: list[Pool]) -> None:
        """So is a file."""
        good = FileTask(b"# A\n\ntext", "a.md", "c", WHEN, Kind.NOTE)
        bad = good._replace(path="bad.md", modified=None)  # type: ignore[arg-type]
        tasks = [(one.path, one) for one in (*[good] * 10, bad, *[good] * 10)]
        found = []
        for cores in (1, 2):
            with ParallelAnalysis(analyze_file, Settings(index={"cores": cores})) as analysis:
                found.append(list(analysis.run(tasks)))
        assert found[0] == found[1]
        outcome = found[1][10][1]
        assert outcome is not None
        assert outcome.problems[0].code == "internal"
        assert started


class TestTrouble:
    """A process that is not there, or not any more, costs time and nothing else."""

    def test_killed(
        self, started: list[Pool], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """What a killed process had to do is done by the caller, with one warning."""
        given = drafts(60)
        tasks = ((str(one.id), DraftTask(one, ahead=True)) for one in given)
        found = []
        with ParallelAnalysis(analyze_draft, Settings(index={"cores": 2})) as analysis:
            for outcome in analysis.run(tasks):
                found.append(outcome)
                for pool in started if len(found) == 8 else ():
                    for process in multiprocessing.active_children():
                        process.kill()
                    assert pool.begun[0].exception(30) or True  # type: ignore[attr-defined]
        assert told(found) == told(prepared(given, 1))
        assert [one.levelno for one in caplog.records] == [logging.WARNING]
        assert "goes on in one process" in caplog.text

    def test_not_started(
        self, started: list[Pool], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Where no process can be started, the caller does everything, with one warning."""
        monkeypatch.setattr(multiprocessing.spawn, "_python_exe", b"/nowhere/python3")
        assert len(prepared(drafts(40), 4)) == 40
        assert len(caplog.records) == 1
        assert "goes on in one process" in caplog.text

    def test_ended_with_the_run(self, started: list[Pool]) -> None:
        """No process outlives its run, be it that the caller loses interest in the middle."""
        with ParallelAnalysis(analyze_draft, Settings(index={"cores": 3})) as analysis:
            tasks = ((one.id, DraftTask(one)) for one in drafts(60))
            for number, _ in enumerate(analysis.run(tasks)):
                if number == 30:
                    break
        assert started
        assert not multiprocessing.active_children()


class TestRestraint:
    """Processes are started where they pay, and little is held at a time."""

    def test_small_jobs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A few hundred short documents start nothing, and neither does one core."""

        def start(*_: object, **__: object) -> Pool:
            raise AssertionError("a process was started")

        monkeypatch.setattr(parallel, "ProcessPoolExecutor", start)
        assert len(prepared(drafts(parallel.FEW - 1), 8)) == parallel.FEW - 1
        assert len(prepared(drafts(parallel.FEW + 10), 1)) == parallel.FEW + 10
        assert len(prepared(drafts(parallel.FEW + 10), 0)) == parallel.FEW + 10

    def test_read_ahead(self, started: list[Pool]) -> None:
        """No more is read ahead than a few groups for each process."""
        read = 0

        def tasks() -> Iterator[tuple[int, DraftTask | None]]:
            nonlocal read
            for number, one in enumerate(drafts(200)):
                read = number + 1
                yield number, DraftTask(one)

        most = 0
        with ParallelAnalysis(analyze_draft, Settings(index={"cores": 2})) as analysis:
            for number, _ in analysis.run(tasks()):
                most = max(most, read - number)
        assert started
        # The groups of four that are handed out, and the one that is given.
        assert most <= (parallel.QUEUED + 1) * 4


PROGRAM = """
import multiprocessing, sys
from twolane import Draft, Settings
from twolane.ingest.analysis import DraftTask, analyze_draft
from twolane.ingest.drafting import Drafted
from twolane.ingest.parallel import ParallelAnalysis
def tasks():
    number = 0
    while True:
        draft = Draft(f"id {number}", body="These are some of the words. " * 30)
        yield number, DraftTask(draft, ahead=True)
        number += 1
if __name__ == "__main__":
    with ParallelAnalysis(analyze_draft, Settings(index={"cores": 2})) as analysis:
        told = False
        for _ in analysis.run(tasks()):
            others = multiprocessing.active_children()
            if others and not told:
                told = True
                print(others[0].pid, flush=True)
"""


class TestPrograms:
    """What a user's own program sees of it."""

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
    def test_no_orphans(self, tmp_path: Path, sign: signal.Signals) -> None:
        """Its processes end with it, whether it is interrupted or killed."""
        with _program(tmp_path) as program:
            assert program.stdout is not None
            other = int(program.stdout.readline())
            assert _is_alive(other)
            err = _ended(program, sign)
        eventually(lambda: not _is_alive(other))
        assert (b"KeyboardInterrupt" in err) == (sign == signal.SIGINT)


_TEXTS = st.text(max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)


@given(texts=st.lists(_TEXTS, min_size=4, max_size=4), properties=st.dictionaries(_TEXTS, _JSON))
def test_messages_lose_nothing(texts: list[str], properties: dict[str, Any]) -> None:
    """Documents and drafts come out of a message as they went in."""
    one, two, three, four = texts
    document = Document(
        id=one,
        collection=two,
        title=three,
        body=four,
        headings=(Heading(1, one, 2, 3), Heading(2, two, 4, 5)),
        links=(Link(three, four, wiki=True),),
        tags=(one, two),
        properties=MappingProxyType(properties),
        created=WHEN,
    )
    sent = [document, Draft.of(document)]
    assert pickle.loads(parallel._pickled(sent)) == sent


# ------------------------------------------------------------------------------ what is prepared


def _vault(folder: Path, count: int) -> Path:
    for number in range(count):
        path = folder / f"part {number % 7}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\ntags: [t{number % 5}]\nrank: {number}\n---\n# Note {number}\n\n"
            f"There are {number} trees in it, and this is what [[note {number + 1}]] is about.\n"
            f"## Часть\n\nИ {number} слов о том, что было в саду.\n",
            "utf-8",
        )
    (folder / "hidden.md").write_text("---\nsearch: false\n---\nNothing.\n", "utf-8")
    (folder / "slip.md").write_text("---\ntags: [open\n---\nA slip.\n", "utf-8")
    (folder / "binary.md").write_bytes(b"\x00\x01\x02" * 50)
    (folder / "old.md").write_bytes("The caf\xe9 at the end of it".encode("latin-1"))
    return folder


def _indexed(db: Path, vault: Path, cores: int) -> list[object]:
    """What two runs over a folder tell and leave, the second after a change of settings."""
    found: list[object] = []
    for tokens in (450, 200):
        settings = Settings(
            embedding={"embedder": "none"},
            index={"cores": cores, "batch": 17, "chunk_tokens": tokens},
        )
        with Library.open(db, settings=settings) as library:
            found += [replace(library.index(vault), seconds=0), library.digest()]
        found.append(_rows(db))
    return found


def _lines(file: Path, count: int) -> Path:
    rows: list[Any] = []
    for number, one in enumerate(drafts(count)):
        rows.append({"id": one.id, "title": one.title, "body": one.body, "tags": list(one.tags)})
        if number % 10 == 3:
            rows.append({"id": one.id, "title": "again"})
        if number % 10 == 5:
            rows.append({"kind": "bookmark", "url": "no address", "title": "Bad"})
        if number % 10 == 7:
            rows.append({"id": f"dirty {number}", "body": "a\x01b", "odd": 1})
    rows.append({"type": "collection", "name": "imported", "description": "From elsewhere."})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{no json\n", "utf-8")
    return file


def _imported(db: Path, file: Path, cores: int) -> list[object]:
    """What an import and its repetition tell and leave."""
    found: list[object] = []
    settings = Settings(embedding={"embedder": "none"}, index={"cores": cores, "batch": 17})
    for _ in range(2):
        with Library.open(db, settings=settings) as library:
            found += [replace(library.import_jsonl(file), seconds=0), library.digest()]
        found.append(_rows(db))
    return found


def _rows(db: Path) -> list[list[Any]]:
    tables = ("documents", "chunks", "sketches", "document_tags", "ledger")
    with sqlite3.connect(db) as connection:
        rows = [connection.execute(f"SELECT * FROM {one}").fetchall() for one in tables]
    connection.close()
    return rows


def _program(folder: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    file = folder / "program.py"
    file.write_text(PROGRAM, "utf-8")
    return beside(
        [sys.executable, str(file)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )


def _ended(program: subprocess.Popen[bytes], sign: signal.Signals) -> bytes:
    """What the program said when the signal ended it.

    Python drops an interrupt that arrives while an object is being deleted: people press again.
    """
    for _ in range(12):
        program.send_signal(sign)
        with suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=5)[1]
    raise AssertionError("it goes on")


def _is_alive(process: int) -> bool:
    """Whether it runs; one that ended and was not waited for is listed, but does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
