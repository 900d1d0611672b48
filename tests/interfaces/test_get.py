"""`twolane get`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import NOTES, Cli, write

TOMATOES = NOTES["garden/Tomatoes.md"]


def lines(first: int, last: int) -> str:
    """Lines of the file about tomatoes, both ends included."""
    return "".join(TOMATOES.splitlines(keepends=True)[first - 1 : last])


@pytest.mark.parametrize(
    "reference",
    ["garden/Tomatoes.md", "Мои notes/garden/Tomatoes.md", "Pruning tomatoes", "PRUNING TOMATOES"],
)
def test_a_document_is_named_by_id_path_or_title(indexed: Cli, reference: str) -> None:
    """Each name of a document prints its body, without front matter."""
    assert indexed("get", reference).stdout == lines(5, 99)


def test_the_ending_of_a_path_may_be_left_out(indexed: Cli) -> None:
    """As links between notes do it; lines and headings may follow."""
    for reference in ("garden/Tomatoes", "Мои notes/garden/Tomatoes"):
        assert indexed("get", reference).stdout == lines(5, 99)
    assert indexed("get", "garden/Tomatoes:7-9").stdout == lines(7, 9)
    assert "no document is called" in indexed("get", "garden/Tomato", code=2).stderr


def test_a_document_is_named_by_its_file(indexed: Cli, tmp_path: Path) -> None:
    """What a shell completes names the note, from any folder; other files name nothing."""
    root = Path(indexed.json("status")["collections"][0]["root"])
    file = root / "garden" / "Tomatoes.md"
    assert indexed("get", file).stdout == lines(5, 99)
    assert indexed("get", f"{file}:7-9").stdout == lines(7, 9)
    assert indexed("get", f"{file}#Tools").stdout == lines(9, 15)
    assert indexed("outline", file).stdout == indexed("outline", "garden/Tomatoes.md").stdout
    (indexed.home / "here").symlink_to(root / "garden")
    assert indexed("get", "here/Tomatoes.md").stdout == lines(5, 99)
    other = write(tmp_path / "elsewhere", {"Tomatoes.md": "# Others"}) / "Tomatoes.md"
    assert "no document is called" in indexed("get", other, code=2).stderr
    assert "no document is called" in indexed("get", "a." * 3000, code=2).stderr


def test_lines_are_those_of_the_file(indexed: Cli) -> None:
    """A range prints these lines of the file, front matter counted and not shown."""
    assert indexed("get", "garden/Tomatoes.md:7-9").stdout == lines(7, 9)
    assert indexed("get", "garden/Tomatoes.md:7").stdout == lines(7, 7)
    assert indexed("get", "garden/Tomatoes.md:17-").stdout == lines(17, 19)
    assert indexed("get", "garden/Tomatoes.md:1-7").stdout == lines(5, 7)


@pytest.mark.parametrize("range", ["900-901", "9-7", "0", "1-2"])
def test_lines_that_are_not_there(indexed: Cli, range: str) -> None:
    """A range outside the document says which lines there are."""
    assert "5-19" in indexed("get", f"garden/Tomatoes.md:{range}", code=2).stderr


def test_a_section_ends_at_the_next_heading_of_its_rank(indexed: Cli) -> None:
    """A heading prints its section with everything below it."""
    assert indexed("get", "garden/Tomatoes.md#Tools").stdout == lines(9, 15)
    assert indexed("get", "garden/Tomatoes.md#cleaning").stdout == lines(13, 15)
    assert indexed("get", "Pruning tomatoes#WHEN").stdout == lines(17, 19)


def test_headings_match_whatever_their_case_and_letters(indexed: Cli) -> None:
    """A heading is found in other letters, with е for ё."""
    assert "Черви" in indexed("get", "garden/Компост.md#все О ЧЕРВЯХ").stdout


def test_an_unknown_heading_lists_the_headings(indexed: Cli) -> None:
    """A heading that is not there is answered with those that are."""
    said = indexed("get", "garden/Tomatoes.md#Watering", code=2).stderr
    assert all(heading in said for heading in ("Watering", "Tools", "Cleaning", "When"))
    assert "it has none" in indexed("get", "C# cookies: a recipe#x", code=2).stderr


@pytest.mark.parametrize("name", ["C# cookies: a recipe", "kitchen/C# cookies: a recipe.md"])
def test_names_may_hold_the_signs_of_parts(indexed: Cli, name: str) -> None:
    """A colon or a hash in a name is part of it, and a part may still follow."""
    assert indexed("get", name).stdout == NOTES["kitchen/C# cookies: a recipe.md"]
    assert indexed("get", f"{name}:1").stdout == NOTES["kitchen/C# cookies: a recipe.md"]


def test_a_heading_may_hold_a_hash(twolane: Cli, tmp_path: Path) -> None:
    """A heading with a hash in it can be asked for."""
    twolane("index", write(tmp_path / "v", {"a.md": "# A\n\n## C# basics\n\nTypes.\n"}))
    assert twolane("get", "a.md#C# basics").stdout == "## C# basics\n\nTypes.\n"


def test_json(indexed: Cli) -> None:
    """The JSON of a part says which lines and heading it is, beside what the document is."""
    said = indexed.json("get", "garden/Tomatoes.md#Tools")
    assert said["id"] == "Мои notes/garden/Tomatoes.md"
    assert said["heading"] == "Tools"
    assert said["text"] == lines(9, 15)
    assert said["lines"] == [9, 15]
    assert said["tags"] == ["garden", "summer"]
    assert said["description"] == "How to keep the plants small"
    whole = indexed.json("get", "garden/Tomatoes.md")
    assert (whole["heading"], whole["lines"]) == (None, [5, 19])


def test_what_has_no_text_says_what_it_is(twolane: Cli) -> None:
    """Of a bookmark without a text, its address and its description are printed."""
    url = "https://example.org/leeks"
    twolane("save", url, "--title", "Leeks", "--description", "All about leeks.")
    assert twolane("get", "Leeks").stdout == f"{url}\nAll about leeks.\n"


def test_an_ambiguous_name_lists_its_candidates(twolane: Cli, tmp_path: Path) -> None:
    """A title that two documents have is answered with their ids, which are unambiguous."""
    write(tmp_path / "v", {"a.md": "# Same\n\nFirst.\n", "b.md": "# Same\n\nSecond.\n"})
    twolane("index", tmp_path / "v")
    said = twolane("get", "Same", code=2).stderr
    assert "v/a.md" in said
    assert "v/b.md" in said
    assert twolane("get", "v/b.md").stdout == "# Same\n\nSecond.\n"


@pytest.mark.parametrize("name", ["nothing.md", "nothing.md:1-2", "nothing#at all", "", "#", ":1"])
def test_an_unknown_name(indexed: Cli, name: str) -> None:
    """A name that no document has exits with 2 and says how documents are named."""
    assert "no document is called" in indexed("get", name, code=2).stderr


def test_hidden_documents_cannot_be_read(twolane: Cli, tmp_path: Path) -> None:
    """What may not be found may not be read either."""
    notes = {"_drafts/a.md": "Secret.\n", "b.md": "---\nsearch: false\n---\nSecret.\n"}
    twolane("index", write(tmp_path / "v", notes))
    for name in notes:
        twolane("get", name, code=2)


@pytest.mark.parametrize("command", ["get", "outline", "similar"])
def test_a_name_that_is_spelled_alike_is_offered(indexed: Cli, command: str) -> None:
    """A slip in a title, a path or a file's name is answered with what may have been meant."""
    assert "did you mean 'Pruning tomatoes'?" in indexed(command, "Pruning tomatos", code=2).stderr
    said = indexed(command, "garden/Tomatos.md", code=2).stderr
    assert "did you mean 'garden/Tomatoes.md'" in said
    assert "did you mean" not in indexed(command, "xylophone", code=2).stderr
