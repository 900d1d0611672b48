"""Every key and every word that a diagnosis or a similar document can have is documented."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.pages import REFERENCE, coded, read, rows, section
from tests.docs.test_json_reference import keys
from twolane.diagnose.values import Change, ObstacleKind, Origin, Standing
from twolane.interfaces import similar_wire, why_wire

PAGE = read(REFERENCE / "why-and-similar.md")
WHY = section(PAGE, "## `twolane why`")
SIMILAR = section(PAGE, "## `twolane similar`")


def written(module: ModuleType) -> set[str]:
    """The keys that a module writes."""
    source = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    functions = [node for node in source.body if isinstance(node, ast.FunctionDef)]
    return {key for function in functions for key in keys(function)}


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (why_wire, section(WHY, "### JSON")),
        (similar_wire, section(SIMILAR, "### JSON of similar")),
    ],
    ids=["why", "similar"],
)
def test_every_key_has_a_row(module: ModuleType, text: str) -> None:
    """Each key has a row, and no row has a key that is made up."""
    told = {coded(cells[0])[0] for cells in rows(text) if len(cells) == 3}
    assert written(module) - {"lane", "reason", "own", "other"} <= told
    assert told <= written(module)


@pytest.mark.parametrize("words", [ObstacleKind, Origin, Standing, Change])
def test_every_value_is_told(words: Iterable[str]) -> None:
    """Each word that can stand for an obstacle, an origin, a standing or a change is explained."""
    assert {str(word) for word in words} <= set(coded(section(WHY, "### JSON")))


def test_no_obstacle_is_made_up() -> None:
    """A kind of obstacle in the table is one that there is."""
    table = section(WHY, "### JSON").partition("| Kind of obstacle |")[2].partition("\n\n")[0]
    told = {word for line in table.splitlines()[2:] for word in coded(line.split("|")[1])}
    assert told == {kind.value for kind in ObstacleKind}
