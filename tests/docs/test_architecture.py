"""ARCHITECTURE.md names every room of the house, and no room that is not there."""

from __future__ import annotations

import re
from typing import get_type_hints

import pytest

from tests.docs.pages import ROOT, coded, read, rows, section
from tests.unit.test_levels import LEVELS, PACKAGE, modules
from twolane import ports

PAGE = read(ROOT / "ARCHITECTURE.md")
CODE_MAP = section(PAGE, "## Code map")


@pytest.mark.parametrize("name", sorted(modules()))
def test_every_module_answers_a_question(name: str) -> None:
    """Each module stands in the code map, beside the question that it answers."""
    path = modules()[name].relative_to(PACKAGE).as_posix()
    assert path in coded(CODE_MAP), f"add {path} to the code map of ARCHITECTURE.md"


def test_no_file_is_made_up() -> None:
    """Every path in the document leads to a file or folder."""
    for path in coded(PAGE):
        if re.fullmatch(r"[\w./-]+(?:\.py|\.sql|\.md|/)", path):
            assert (PACKAGE / path).exists() or (ROOT / path).exists(), path


def test_the_levels_are_the_real_ones() -> None:
    """The table of levels has each room on the level that the tests enforce."""
    told = {
        room: int(cells[0])
        for cells in rows(section(PAGE, "## Levels"))
        for room in coded(cells[1])
    }
    assert told == LEVELS


def test_the_ports_have_their_verbs() -> None:
    """Each port is listed with all of its verbs, in order."""
    told = {cells[0].strip("`"): cells[1].split(", ") for cells in rows(section(PAGE, "## Ports"))}
    for name in ("Documents", "Retrieval", "Vectors", "Upkeep", "Embedder", "Source"):
        port = getattr(ports, name)
        verbs = [verb for verb in vars(port) if not verb.startswith("_")]
        assert told[name] == [verb for verb in verbs if verb not in get_type_hints(port)], name


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
        "hit",
        "contribution",
        "result",
        "scope",
        "problem",
    }
