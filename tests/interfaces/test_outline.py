"""`twolane outline`."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.conftest import Cli, write


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
    """The JSON lists level, text, line and id of each heading, in order."""
    said = indexed.json("outline", "Pruning tomatoes")
    assert said["path"] == "garden/Tomatoes.md"
    assert said["headings"] == [
        {"level": 1, "text": "Pruning tomatoes", "line": 5, "id": "pruning-tomatoes"},
        {"level": 2, "text": "Tools", "line": 9, "id": "tools"},
        {"level": 3, "text": "Cleaning", "line": 13, "id": "cleaning"},
        {"level": 2, "text": "When", "line": 17, "id": "when"},
    ]


def test_a_document_without_headings(indexed: Cli) -> None:
    """A document without headings is its title alone."""
    assert indexed("outline", "C# cookies: a recipe").stdout == "C# cookies: a recipe\n"


def test_an_unknown_document(indexed: Cli) -> None:
    """A name that no document has exits with 2."""
    assert "nothing" in indexed("outline", "nothing", code=2).stderr


def test_headings_of_one_text_are_told_apart(twolane: Cli, tmp_path: Path) -> None:
    """An id stands beside each, and `get` takes it; so does a link with the file's name."""
    text = "# Log\n\n## Day\n\nFirst.\n\n## Day\n\nSecond. ^two\n"
    twolane("index", write(tmp_path / "v", {"work/Alpha kickoff.md": text}))
    assert twolane("outline", "alpha kickoff").stdout.splitlines()[-1].split() == [
        "7",
        "Day",
        "#day-2",
    ]
    assert "#day-2" in twolane("get", "Log#Day", code=2).stderr
    assert twolane("get", "Alpha kickoff#day-2").stdout == "## Day\n\nSecond. ^two\n"
    assert twolane("get", "[[Alpha kickoff#^two|words]]").stdout == "Second. ^two\n"
