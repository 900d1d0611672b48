"""ARCHITECTURE.md names every room of the house, and no room that is not there."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import get_type_hints

from tests.docs.pages import ROOT, coded, read, rows, section
from tests.unit.test_levels import PACKAGE, ROOMS
from twolane.ports import Stores
from twolane.ports.chat import Chat
from twolane.ports.embedder import Embedder
from twolane.ports.outbox import Follower, Outbox
from twolane.ports.reranker import Reranker
from twolane.ports.source import Source
from twolane.ports.stages import StageStore

PAGE = read(ROOT / "ARCHITECTURE.md")


def test_no_file_is_made_up() -> None:
    """Every path in the document leads to a file or folder."""
    for path in coded(PAGE):
        if re.fullmatch(r"[\w./-]+(?:\.py|\.sql|\.md|/)", path):
            assert (PACKAGE / path).exists() or (ROOT / path).exists(), path


def test_the_rooms_are_the_real_ones() -> None:
    """The table of rooms has them in the order that the tests enforce."""
    told = [coded(cells[0])[0] for cells in rows(section(PAGE, "## Rooms"))]
    assert told[: len(ROOMS)] == list(ROOMS)


def test_every_folder_has_a_line() -> None:
    """Each folder inside a room is told in one line, and no other is."""
    told = [coded(cells[0])[0] for cells in rows(section(PAGE, "## Rooms"))]
    folders = {
        path.relative_to(PACKAGE).as_posix()
        for room in ROOMS
        for path in (PACKAGE / room).iterdir()
        if path.is_dir() and path.name != "__pycache__"
        # Of a folder that a change removed, compiled files stay behind.
        if any(inside.name != "__pycache__" for inside in path.iterdir())
    }
    assert set(told[len(ROOMS) :]) == folders


def test_the_ports_have_their_verbs() -> None:
    """Each port is listed with all of its verbs, in order, and stores have five in all."""
    told = {cells[0].strip("`"): cells[1].split(", ") for cells in rows(section(PAGE, "## Ports"))}
    optional = ("replica", "outbox", "follower", "snapshot", "pause")
    named = [one.name for one in fields(Stores) if one.name not in optional]
    ports = [get_type_hints(Stores)[name] for name in named]
    for port in (*ports, Outbox, Follower, Embedder, Reranker, Chat, StageStore, Source):
        verbs = [verb for verb in vars(port) if not verb.startswith("_")]
        expected = [verb for verb in verbs if verb not in get_type_hints(port)]
        assert told.pop(port.__name__) == expected, port
    assert told == {}


def test_the_words_of_the_domain_are_explained() -> None:
    """The glossary has the words that the values are named by."""
    told = {
        word.strip() for cells in rows(section(PAGE, "## Glossary")) for word in cells[0].split(",")
    }
    assert told >= {
        "document",
        "chunk",
        "source",
        "collection",
        "space",
        "generation",
        "lane",
        "contribution",
        "result",
        "scope",
        "problem",
    }
