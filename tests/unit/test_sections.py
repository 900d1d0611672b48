"""Sections and blocks of a document by name."""

from __future__ import annotations

import pytest

from twolane.ingest.parsing.outline import outline
from twolane.model.document import Document
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.results.excerpts import excerpt, section_ids, section_of

BODY = """\
# Alpha

## Tools

A spade.

## Notes > May

Sunny.

## Week

### Tools

A rake.
It is long. ^rake

- one
- two
  goes on ^two
- three

| a | b |
|---|---|
| 1 | 2 |

^table

```
code ^rake
```
"""


@pytest.fixture
def document() -> Document:
    """A note in which a heading stands twice."""
    headings = outline(BODY, first_line=4).headings
    return Document("notes/a.md", "notes", "The note", BODY, headings=headings, first_line=4)


def first(document: Document, name: str | list[str]) -> str:
    """The first words of what the name means."""
    part = section_of(document, name)
    return part.text.strip().split("\n")[-1]


def test_a_heading_that_stands_twice_is_refused_with_ids(document: Document) -> None:
    """The wrong section is worse than none: the error names what is unambiguous."""
    with pytest.raises(BadInput, match=r"2 headings 'Tools'") as refused:
        section_of(document, "Tools")
    said = str(refused.value)
    assert "#tools " in said
    assert "#tools-2 " in said
    assert "line 16" in said
    with pytest.raises(BadInput, match="2 headings"):
        section_of(document, ["Tools"])


@pytest.mark.parametrize(
    "name",
    [
        "tools-2",
        "Week > Tools",
        "Alpha > Week > Tools",
        ["Alpha", "Week", "Tools"],
        ["Week", "Tools"],
        ["The note", "Alpha", "Week", "Tools"],
        "The note > Week > Tools",
        "Week#Tools",
    ],
)
def test_each_of_them_can_be_named(document: Document, name: str | list[str]) -> None:
    """By its id, or by a path of headings as a list or a text, with or without the title."""
    assert section_of(document, name).first_line == 16


def test_the_whole_path_of_headings_names_one(document: Document) -> None:
    """What a result shows as its headings means just that section."""
    assert section_of(document, ["Alpha", "Tools"]).first_line == 6


@pytest.mark.parametrize(
    "name",
    ["Notes > May", "Alpha > Notes > May", ["Alpha", "Notes > May"], "notes-may"],
)
def test_a_heading_may_hold_the_sign_between_headings(
    document: Document, name: str | list[str]
) -> None:
    """Its own ` > ` is not taken for the one between headings."""
    assert first(document, name) == "Sunny."


def test_blocks_are_named_by_their_ids(document: Document) -> None:
    """A paragraph, a list item and a table; what stands in code is no id."""
    assert section_of(document, "^rake").text == "A rake.\nIt is long. ^rake\n"
    assert section_of(document, "^two").text == "- two\n  goes on ^two\n"
    assert section_of(document, "^TABLE").text == "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert section_of(document, "^rake").lines == (18, 19)
    with pytest.raises(BadInput, match=r"no block \^nothing"):
        section_of(document, "^nothing")


def test_no_two_headings_have_one_id() -> None:
    """Also where a heading looks like the id of another one."""
    headings = outline("# A\n\n# A\n\n# A 2\n\n# !?\n\n# A\n", first_line=1).headings
    ids = section_ids(headings)
    assert ids == ["a", "a-2", "a-2-2", "section", "a-3"]


def test_a_link_names_what_it_leads_to(document: Document) -> None:
    """As it is written in a note, with a heading, a block or words of its own."""
    for link in ("[[a#Week#Tools|the tools]]", "[[a#tools-2]]", "a#^rake", "![[a#^rake]]"):
        part = excerpt(link, lambda name: document if name == "a" else _nothing(name))
        assert "rake" in part.text


def _nothing(name: str) -> Document:
    raise NoSuchDocument(name)
