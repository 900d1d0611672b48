"""A chat model that words queries in other ways: what it gives, and what it never may break."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.builders import indexed_library, write_notes
from tests.unit.test_openai_embedder import Server
from tests.unit.test_reranking import NOTES, shape, without
from tests.unit.test_reranking import QUERY as QUESTION
from twolane import Library
from twolane.library import LOCAL
from twolane.model.answer import Lane
from twolane.model.scope import Capability

WORDINGS = {
    "short_query": "green tea",
    "rephrased_query": "at what temperature is tea steeped",
    "expected_answer": "Steep green tea at eighty degrees.",
}


def said(text: Any) -> dict[str, Any]:
    """An answer of the protocol with this text."""
    return {"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 42}}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback that words well until told otherwise."""
    one = Server()
    text = f"Sure!\n```json\n{json.dumps(WORDINGS)}\n```"
    one.answer = lambda body, number: (200, {}, said(text))
    yield one
    one.close()


def library_of(tmp_path: Path, server: Server, **expand: Any) -> Library:
    """The notes with a chat model behind the server, which is asked about every query."""
    given = {"enabled": True, "url": server.url, "model": "tiny", "seconds": 0.4, "confident": 1.0}
    write_notes(tmp_path / "notes", NOTES)
    stages = {"failures": 3, "pause_seconds": 30}
    return indexed_library(
        tmp_path / "notes", tmp_path / "x.db", expand={**given, **expand}, stages=stages
    )


def test_wordings_are_asked_for_once_and_kept(tmp_path: Path, server: Server) -> None:
    """They move the order, are counted, and the same query costs nothing the second time."""
    with library_of(tmp_path, server) as library:
        first = library.search(QUESTION)
        assert not first.degraded and first.results[0].id.endswith("tea.md")
        assert any(one.lane is Lane.EXPAND for one in first.results[0].contributions)
        with Library.open(settings=library.settings) as other:
            assert shape(other.search(QUESTION)) == shape(first)
        assert len(server.asked) == 1
        standing = library.status().stages
        (record,) = standing.records
        assert (record.stage, record.calls, record.cached, record.tokens) == ("expand", 1, 1, 42)
        assert standing.answers == 1 and standing.bytes > 0
        asked = server.asked[0]
        assert asked["messages"][1] == {"role": "user", "content": QUESTION}


def test_it_is_asked_only_where_it_may_help(tmp_path: Path, server: Server) -> None:
    """Not for names, other modes, filters, a sure search, or who lacks the capability."""
    with library_of(tmp_path, server) as library:
        library.search('"boiling water"')
        library.search("tag:none")
        library.search(QUESTION, mode="lexical")
        tier = replace(LOCAL, capabilities=LOCAL.capabilities - {Capability.EXPAND})
        assert not library.search(QUESTION, scope=tier).degraded
    with library_of(tmp_path, server, confident=0.0) as library:
        library.search(QUESTION)
    assert not server.asked


HOSTILE: dict[str, Any] = {
    "no json": b"<html>",
    "ten megabytes": json.dumps(said("x" * 10_000_000)).encode(),
    "no choices": {"choices": []},
    "a number": said(7),
    "no object": said("I cannot help with that."),
    "half an object": said('{"short_query": "tea"'),
    "deeply nested": said('{"a":' * 50_000 + "}"),
    "a list": said('["tea"]'),
    "other types": said('{"short_query": 1, "expected_answer": ["x"]}'),
    "far too long": said(json.dumps({"expected_answer": "x" * 100_000})),
    "half a sign": said('{"short_query": "\\ud800"}'),
    "nothing but dots": said('{"short_query": "...", "expected_answer": "…"}'),
    "empty": said('{"short_query": " ", "rephrased_query": ""}'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_change_nothing_but_the_counters(
    tmp_path: Path, server: Server, name: str
) -> None:
    """Whatever comes back, the answer is that of the query as it is, and nothing is kept."""
    server.answer = lambda body, number: (200, {}, HOSTILE[name])
    with library_of(tmp_path, server) as library:
        answer = library.search(QUESTION)
        assert [one.lane for one in answer.degraded] == [Lane.EXPAND]
        standing = library.status().stages
        assert standing.records[0].failures == 1 and standing.answers == 0
    assert shape(answer) == shape(without(tmp_path))


def test_a_slow_model_costs_its_budget_and_pauses(tmp_path: Path, server: Server) -> None:
    """Three searches wait; the fourth does not."""

    def slow(body: dict[str, Any], number: int) -> Any:
        time.sleep(0.6)
        return 200, {}, said("late")

    server.answer = slow
    with library_of(tmp_path, server, seconds=0.2) as library:
        for number in range(4):
            answer = library.search(f"{QUESTION} {number}")
            reason = answer.degraded[0].reason
            assert ("pauses" if number == 3 else "longer than 0.2 s") in reason
        assert len(server.asked) == 3


def test_a_slow_model_leaves_the_search_time_to_answer(tmp_path: Path, server: Server) -> None:
    """However long the stage may take, the search answers in its own time, and says why."""
    server.answer = lambda body, number: (time.sleep(6.0), 200, {}, said("late"))[1:]
    with library_of(tmp_path, server, seconds=60) as made:
        settings = made.settings.changed(search={"query_seconds": 4.0})
    with Library.open(settings=settings) as library:
        answer = library.search(QUESTION)
    assert "`search.query_seconds`" in answer.degraded[0].reason
    assert shape(answer) == shape(without(tmp_path))
