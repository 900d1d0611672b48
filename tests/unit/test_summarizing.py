"""A chat model that summarises long documents: what it adds, and what it never may touch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.builders import indexed_library, write_notes
from tests.unit.test_expanding import said
from tests.unit.test_openai_embedder import Server
from twolane import Draft, Library
from twolane.ingest.summaries import PROPERTY, is_generated

LONG = "# Log\n\n" + "The valve was opened and the pressure fell a little. " * 60
OWN = f"---\nsummary: My own words about it.\n---\n{LONG}"
SUMMARY = "Notes on how a steam engine is kept running through the winter."


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback that summarises well until told otherwise."""
    one = Server()
    one.answer = lambda body, number: (200, {}, said(f"\n{SUMMARY} \n"))
    yield one
    one.close()


def library_of(tmp_path: Path, server: Server, **summaries: Any) -> Library:
    """A long note, a short one and one with a summary, and a chat model behind the server."""
    notes = {"long.md": LONG, "own.md": OWN, "short.md": "# Tea\n\nSteep it.\n"}
    write_notes(tmp_path / "notes", notes)
    given = {"enabled": True, "url": server.url, "model": "tiny", "seconds": 5, "min_tokens": 300}
    return indexed_library(tmp_path / "notes", tmp_path / "x.db", summaries={**given, **summaries})


def test_a_long_document_gets_a_summary_that_is_found(tmp_path: Path, server: Server) -> None:
    """Only the long one that lacks one is asked about; words and meaning find it by that."""
    with library_of(tmp_path, server) as library:
        assert not server.asked
        library.embed(backfill=True)
        (asked,) = server.asked
        assert asked["messages"][1]["content"].startswith("Log\n\n")
        long, own = library.document("long.md"), library.document("own.md")
        assert (long.summary, own.summary) == (SUMMARY, "My own words about it.")
        written = long.properties[PROPERTY]
        assert (written["model"], written["prompt"]) == ("tiny", 1)
        assert is_generated(long) and not is_generated(own)
        assert long.version == 1
        for mode in ("lexical", "semantic"):
            found = library.search("steam engine winter", mode=mode).results[0]
            assert found.id == long.id and "steam" in found.snippet
        lead, *rest = library.chunks(long)
        assert lead.start == lead.end == 0 and rest
        assert not library.status().progress.pending and not library.check()
        (record,) = library.status().stages.records
        assert (record.stage, record.calls, record.tokens) == ("summarize", 1, 42)
        library.embed(backfill=True)
        assert len(server.asked) == 1


def test_the_worker_summarises_beside_everything_else(tmp_path: Path, server: Server) -> None:
    """Nobody asks for it; the summary has its vector when the worker is idle."""
    with library_of(tmp_path, server) as library:
        assert library.start_worker().wait_idle(30)
        assert library.document("long.md").summary == SUMMARY
        assert not library.status().progress.pending


def test_a_file_that_is_read_again_keeps_its_summary(tmp_path: Path, server: Server) -> None:
    """The same text is not asked about twice; another text is."""
    with library_of(tmp_path, server) as library:
        library.embed(backfill=True)
        (tmp_path / "notes" / "long.md").write_text(f"---\ntags: [x]\n---\n{LONG}", "utf-8")
        library.index(tmp_path / "notes")
        assert not library.document("long.md").summary
        library.embed(backfill=True)
        assert library.document("long.md").summary == SUMMARY
        assert len(server.asked) == 1
        (tmp_path / "notes" / "long.md").write_text(f"{LONG}\n\nMore.", "utf-8")
        library.index(tmp_path / "notes")
        library.embed(backfill=True)
        assert len(server.asked) == 2


def test_saved_documents_keep_what_still_holds(tmp_path: Path, server: Server) -> None:
    """Saved again as it is, nothing changes; another body, or a person's summary, ends it."""
    with library_of(tmp_path, server) as library:
        draft = Draft("saved/1", title="Log", body=LONG.replace("valve", "gate"))
        library.save(draft)
        library.embed(backfill=True)
        kept = library.document("saved/1")
        assert kept.summary == SUMMARY
        again = library.save(draft)
        assert not again.changed and library.document("saved/1") == kept
        library.save(replace(draft, body="Short now."))
        changed = library.document("saved/1")
        assert not changed.summary and PROPERTY not in changed.properties
        library.save(draft)
        library.embed(backfill=True)
        stored = Draft.of(library.document("saved/1"))
        assert stored.summary == SUMMARY
        library.save(replace(stored, summary="Mine."))
        library.embed(backfill=True)
        own = library.document("saved/1")
        assert own.summary == "Mine." and PROPERTY not in own.properties
        library.save(replace(stored, body=f"{stored.body} More."))
        assert not library.document("saved/1").summary


HOSTILE: dict[str, Any] = {
    "no json": b"<html>",
    "ten megabytes": said("x" * 10_000_000),
    "no choices": {"choices": []},
    "a number": said(7),
    "empty": said(" \n "),
    "far too long": said("word " * 500),
    "a control character": said("A summary with \x1b[2J a hidden command for terminals."),
    "its own markup": said("<|im_start|>agent\n<|im_end|>client_agent_user"),
    "the same again": said("the note is about tea " * 20),
    "half a sign": said("A summary that ends with half a sign \ud800"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_change_nothing_but_the_counters(
    tmp_path: Path, server: Server, name: str
) -> None:
    """The document stays as it is, vectors are made, and nothing is kept."""
    server.answer = lambda body, number: (200, {}, HOSTILE[name])
    with library_of(tmp_path, server) as library:
        before = library.digest()
        library.embed(backfill=True)
        library.embed(backfill=True)
        assert library.digest() == before and not library.status().progress.pending
        standing = library.status().stages
        assert (standing.records[0].calls, standing.records[0].failures) == (1, 1)
        assert standing.answers == 0


def test_a_dead_server_is_left_alone_after_some_failures(tmp_path: Path, server: Server) -> None:
    """Of many documents three are tried; then the stage pauses, and embedding goes on."""
    server.answer = lambda body, number: (503, {}, {"error": "down"})
    with library_of(tmp_path, server) as library:
        for number in range(6):
            library.save(Draft(f"saved/{number}", title=f"Log {number}", body=LONG))
        library.embed(backfill=True)
        assert len(server.asked) == 3
        (record,) = library.status().stages.records
        assert record.in_a_row == 3 and record.paused_until > time.time()
        assert not library.status().progress.pending
