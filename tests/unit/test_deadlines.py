"""A question takes no longer than it may, and the answer names what was cut off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.builders import prepared, put, recent
from tests.waiting import PATIENCE
from twolane import Library, Settings
from twolane.model import deadlines
from twolane.model.answer import Lane
from twolane.model.candidate import Candidate, DocumentTerms, Match
from twolane.model.deadlines import Deadline
from twolane.model.document import Collection
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope, Word
from twolane.ports.documents import Facets, PutCollection
from twolane.results.highlighting import sought
from twolane.results.results import result_of
from twolane.stores.memory import memory_stores
from twolane.stores.sql.documents import SqlDocuments
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.lexical import SqliteLexical

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class SlowWords(SqliteLexical):
    """An index of words that never comes to an end with one word."""

    def candidates(self, words: Sequence[Word], scope: Scope, **how: Any) -> list[DocumentTerms]:
        if any(word.text == "endless" for word in words):
            with self._db.reading() as session:
                session.rows(ENDLESS)
        return super().candidates(words, scope, **how)


class SlowLetters(SqliteLexical):
    """An index that finds one document by its letters, and then looks on for ever."""

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        found = super().substring(text, scope, limit=limit)
        while not deadlines.is_over():
            time.sleep(0.01)
        return found


@contextmanager
def library(
    tmp_path: Path,
    *,
    lexical: type | None = None,
    documents: type | None = None,
    **settings: object,
) -> Iterator[Library]:
    """A small library over stores of these classes."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\nBees winter in an endless cluster.", "utf-8")
    (folder / "chess.md").write_text("# Chess\n\nRooks belong behind passed pawns.", "utf-8")
    chosen = Settings(db=tmp_path / "x.db", embedding={"embedder": "hashing"}).changed(**settings)  # type: ignore[arg-type]
    with Library.open(settings=chosen) as sound:
        sound.index(folder)
        sound.embed()
        embedders = sound._embedders
        stores = open_stores(tmp_path / "x.db")
        for port, kind in ((stores.lexical, lexical), (stores.documents, documents)):
            port.__class__ = kind or port.__class__
        with Library(stores, chosen, embedders) as opened:
            yield opened


def test_a_statement_ends_in_time(tmp_path: Path) -> None:
    """A statement that would never end is stopped, and the connection works as before."""
    store = open_stores(tmp_path / "x.db")
    started = time.monotonic()
    with (
        pytest.raises(TooSlow, match=r"longer than 0\.2 s"),
        deadlines.within(Deadline(0.2)),
        store.documents._db.read() as connection,
        connection,
    ):
        connection.execute(ENDLESS).fetchall()
    assert time.monotonic() - started < 5
    with store.documents._db.read() as connection:
        assert not connection.in_transaction
        assert connection.execute("SELECT 1").get == 1
    store.maintenance.close()


def test_no_deadline_is_no_limit(tmp_path: Path) -> None:
    """Where nobody set a deadline, work goes on as long as it takes."""
    store = open_stores(tmp_path / "x.db")
    numbers = ENDLESS.replace("FROM n)", "FROM n WHERE i < 200000)")
    with store.documents._db.read() as connection:
        assert connection.execute(numbers).get == 200_000
    store.maintenance.close()


def test_the_first_deadline_holds() -> None:
    """A question within a question has no more time than the outer one."""
    with deadlines.within(Deadline(0.0)), deadlines.within(Deadline(60.0)):
        assert deadlines.is_over()
        with deadlines.time_to_show():
            assert not deadlines.is_over()
        with pytest.raises(TooSlow):
            deadlines.check()
    assert not deadlines.is_over()


def test_a_lane_that_is_cut_off_is_named(tmp_path: Path) -> None:
    """Meaning answers where words take too long, and the answer says which lane was cut off."""
    with library(tmp_path, lexical=SlowWords, search={"query_seconds": 0.3}) as asked:
        started = time.monotonic()
        answer = asked.search("endless winter")
        assert time.monotonic() - started < 10
        cut = {one.lane: one.reason for one in answer.degraded}
        assert "longer than 0.3 s" in cut[Lane.LEXICAL]
        assert Lane.DENSE not in cut
        assert answer.results
        # The next question has its own time.
        assert not asked.search("winter").degraded


def test_what_was_found_by_letters_is_shown(tmp_path: Path) -> None:
    """The exact lane gives what it has found when its time is over."""
    with library(tmp_path, lexical=SlowLetters, search={"query_seconds": 0.3}) as asked:
        answer = asked.search("luster", mode="exact")
        assert [result.path for result in answer.results] == ["bees.md"]
        assert [one.lane for one in answer.degraded] == [Lane.EXACT]


def test_why_ends_in_time(tmp_path: Path) -> None:
    """An explanation takes no longer than it may, and names the lane that was cut off."""
    with library(tmp_path, lexical=SlowWords, search={"query_seconds": 0.3}) as asked:
        started = time.monotonic()
        diagnosis = asked.why("endless rooks tea", "bees.md")
        assert time.monotonic() - started < 15
        assert Lane.LEXICAL in {one.lane for one in diagnosis.degraded}


def test_a_list_ends_in_time(tmp_path: Path) -> None:
    """Filters alone: where the list takes too long, the answer is empty and says why."""

    class SlowList(SqlDocuments):
        def list(self, *arguments: object, **options: object) -> list:  # type: ignore[override,type-arg]
            with self._db.reading() as session:
                return session.rows(ENDLESS)

    with library(tmp_path, documents=SlowList, search={"query_seconds": 0.3}) as asked:
        answer = asked.search("kind:note")
        assert not answer.results
        assert "longer than 0.3 s" in answer.degraded[0].reason


def test_an_empty_answer_does_not_wait_for_its_reason(tmp_path: Path) -> None:
    """Where nothing is found, and why takes too long, the answer is empty all the same."""

    class SlowFacets(SqlDocuments):
        def facets(self, scope: Scope) -> Facets:
            with self._db.reading() as session:
                session.rows(ENDLESS)
            return super().facets(scope)

    with library(tmp_path, documents=SlowFacets, search={"query_seconds": 0.3}) as asked:
        assert not asked.search("tag:nothing").results


def test_answers_end_when_the_library_closes(tmp_path: Path) -> None:
    """Whoever is about to close a library ends the answers that are being worked on."""
    said: list[str] = []

    def ask() -> None:
        try:
            asked.search("endless")
        except TooSlow as error:
            said.append(str(error))

    with library(
        tmp_path, lexical=SlowWords, search={"query_seconds": 600, "semantic": False}
    ) as asked:
        waiting = threading.Thread(target=ask)
        waiting.start()
        time.sleep(0.3)
        assert waiting.is_alive()
        asked.stop_answering()
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
    assert said
    assert "closing" in said[0]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_every_store_keeps_to_the_deadline(kind: str, tmp_path: Path) -> None:
    """Whatever looks through documents raises TooSlow once the time is over."""
    store = open_stores(tmp_path / "x.db") if kind == "sqlite" else memory_stores()
    store.documents.apply(PutCollection(Collection("notes")))
    put(store, prepared("one", "some words"), prepared("two", "more words"))
    word = Word("words", ("word",))
    with deadlines.within(Deadline(0.0)):
        for call in (
            lambda: store.lexical.candidates([word], Scope(), every=True, limit=9),
            lambda: recent(store, Scope(), limit=9),
            lambda: store.documents.facets(Scope()),
            lambda: store.lexical.substring("word", Scope(), limit=9),
            lambda: store.lexical.document_frequencies([word], Scope()),
        ):
            with pytest.raises(TooSlow):
                call()
    assert store.lexical.candidates([word], Scope(), every=True, limit=9)
    store.maintenance.close()


def test_results_are_shown_when_there_is_no_time_left() -> None:
    """Without time a result shows how its document begins, and looks for no words in it."""
    document = prepared("one", "Bees winter in a cluster. " * 3).document
    words = sought([Word("untitled", ("untitl",))])
    found = []
    for seconds in (60.0, 0.0):
        with deadlines.within(Deadline(seconds)):
            found.append(result_of(Candidate("one"), document, [], words))
    assert [one.title_html for one in found] == ["<mark>Untitled</mark>", "Untitled"]


def test_what_is_left_is_told() -> None:
    """Work that is done elsewhere learns how long it may take; without a deadline, nothing."""
    assert deadlines.left() is None
    with deadlines.within(Deadline(60)):
        left = deadlines.left()
        assert left is not None and 50 < left <= 60
    with deadlines.within(Deadline(0)):
        assert deadlines.left() == 0
    stop = threading.Event()
    stop.set()
    with deadlines.within(Deadline(60, stop)):
        assert deadlines.left() == 0
