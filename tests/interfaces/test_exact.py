"""`twolane search --mode exact`, and what the command line says of letters and names."""

from __future__ import annotations

from tests.interfaces.conftest import Cli


def test_exact_mode(indexed: Cli) -> None:
    """A part of a word is found by its letters, marked, and explained."""
    answer = indexed.json("search", "--mode", "exact", "ipe the bla")
    assert (answer["plan"], answer["degraded"]) == ({"exact": 1.0}, [])
    (result,) = answer["results"]
    assert result["path"] == "garden/Tomatoes.md"
    assert "W<mark>ipe the bla</mark>des" in result["snippet"]
    assert result["heading"][-1] == "Cleaning"
    assert result["contributions"][0]["lane"] == "exact"
    assert indexed.json("search", "--mode", "exact", "--tag", "drinks", "ipe")["results"] == []


def test_explain_shows_the_lanes(indexed: Cli) -> None:
    """`--explain` prints what letters and names gave."""
    shown = indexed("search", "--explain", "-n", "1", "kitchen/green tea.md").stdout
    assert "identity rank 1" in shown
    assert "its name" in shown
    shown = indexed("search", "--explain", "--mode", "exact", "teep gre").stdout
    assert "exact rank 1" in shown
    assert "the letters as typed" in shown


def test_why_in_exact_mode(indexed: Cli) -> None:
    """`why` tells of letters that are not there."""
    said = indexed("why", "--mode", "exact", "xyzzy", "kitchen/green tea.md").stdout
    assert "“xyzzy” does not stand in it" in said
