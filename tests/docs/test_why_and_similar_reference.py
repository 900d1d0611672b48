"""Every key and every word that a diagnosis or a similar document can have is documented."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.docs.pages import REFERENCE, coded, read, rows, section
from tests.docs.test_json_reference import keys
from twolane.explain.diagnosis import Change, ObstacleKind, Origin, Standing
from twolane.interfaces.wire import explain
from twolane.interfaces.wire.shape import Shape

PAGE = read(REFERENCE / "why-and-similar.md")
WHY = section(PAGE, "## `twolane why`")
SIMILAR = section(PAGE, "## `twolane similar`")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (explain.WhyAnswer, section(WHY, "### JSON")),
        (explain.SimilarAnswer, section(SIMILAR, "### JSON of similar")),
    ],
    ids=["why", "similar"],
)
def test_every_key_has_a_row(kind: type[Shape], text: str) -> None:
    """Each key has a row, and no row has a key that is made up."""
    told = {coded(cells[0])[0] for cells in rows(text) if len(cells) == 3}
    assert keys(kind) - {"lane", "reason", "own", "other"} <= told
    assert told <= keys(kind)


@pytest.mark.parametrize("words", [ObstacleKind, Origin, Standing, Change])
def test_every_value_is_told(words: Iterable[str]) -> None:
    """Each word that can stand for an obstacle, an origin, a standing or a change is explained."""
    assert {str(word) for word in words} <= set(coded(section(WHY, "### JSON")))


def test_no_obstacle_is_made_up() -> None:
    """A kind of obstacle in the table is one that there is."""
    table = section(WHY, "### JSON").partition("| Kind of obstacle |")[2].partition("\n\n")[0]
    told = {word for line in table.splitlines()[2:] for word in coded(line.split("|")[1])}
    assert told == {kind.value for kind in ObstacleKind}
