"""`twolane outline`."""

from __future__ import annotations

from tests.interfaces.conftest import Cli


def test_headings_are_a_tree_with_lines(indexed: Cli) -> None:
    """Each heading stands below its parent, beside its line in the file."""
    assert indexed("outline", "garden/Tomatoes.md").stdout.splitlines() == [
        "Pruning tomatoes",
        "   5  Pruning tomatoes",
        "   9    Tools",
        "  13      Cleaning",
        "  17    When",
    ]


def test_json(indexed: Cli) -> None:
    """The JSON lists level, text and line of each heading, in order."""
    said = indexed.json("outline", "Pruning tomatoes")
    assert said["path"] == "garden/Tomatoes.md"
    assert said["headings"] == [
        {"level": 1, "text": "Pruning tomatoes", "line": 5},
        {"level": 2, "text": "Tools", "line": 9},
        {"level": 3, "text": "Cleaning", "line": 13},
        {"level": 2, "text": "When", "line": 17},
    ]


def test_a_document_without_headings(indexed: Cli) -> None:
    """A document without headings is its title alone."""
    assert indexed("outline", "C# cookies: a recipe").stdout == "C# cookies: a recipe\n"


def test_an_unknown_document(indexed: Cli) -> None:
    """A name that no document has exits with 2."""
    assert "nothing" in indexed("outline", "nothing", code=2).stderr
