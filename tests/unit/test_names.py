"""Path patterns, and whether one document links to another by a name."""

from __future__ import annotations

import pytest

from twolane.model.document import Document, Link
from twolane.text.names import linked, links_to, matches_any


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("notes", "notes/a.md", True),
        ("notes/", "notes/deep/a.md", True),
        ("notes", "notebook/a.md", False),
        ("*.md", "a.md", True),
        ("*.md", "notes/a.md", False),
        ("**/*.md", "notes/deep/a.md", True),
        ("**/*.md", "a.md", True),
        ("notes/*/a.md", "notes/x/a.md", True),
        ("notes/*/a.md", "notes/x/y/a.md", False),
        ("notes/**", "notes/x/y.md", True),
        ("?.md", "я.md", True),
        ("a+b.md", "a+b.md", True),
        ("A.md", "a.md", False),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    """Stars stay in a folder, double stars cross folders, a folder means all below it."""
    assert matches_any(path, (pattern,)) is fits


def test_any_of_several() -> None:
    """One fitting pattern is enough."""
    assert matches_any("b/x.md", ("a", "b"))
    assert not matches_any("c/x.md", ("a", "b"))


def document(path: str, *links: Link, **fields: object) -> Document:
    """A document at a path, with links."""
    values = {"id": f"vault/{path}", "collection": "vault", "title": "Untitled", "body": ""}
    return Document(**{**values, "path": path, "links": links, **fields})  # type: ignore[arg-type]


TARGET = document(
    "garden/Green Tea.md",
    title="All about tea",
    aliases=("Sencha",),
    url="https://example.org/tea",
)


@pytest.mark.parametrize(
    "target",
    [
        "Green Tea",
        "green tea",
        "Green Tea.md",
        "garden/Green Tea",
        "garden/Green Tea.md",
        "Green Tea#Water",
        "Green Tea#^block",
        "All about tea",
        "sencha",
        "https://example.org/tea",
    ],
)
def test_wiki_links(target: str) -> None:
    """A wiki-link names a note by file name, path, title or alias, whatever the case."""
    assert links_to(document("notes/a.md", Link(target, "", wiki=True)), TARGET)


@pytest.mark.parametrize(
    "target",
    [
        "../garden/Green%20Tea.md",
        "../garden/Green%20Tea.md#water",
        "/garden/Green%20Tea.md",
        "../garden/Green%20Tea",
        "./../garden/green tea.md",
        "https://example.org/tea",
    ],
)
def test_markdown_links(target: str) -> None:
    """A Markdown link is a path from the folder of its note, or from the root."""
    assert links_to(document("notes/a.md", Link(target, "")), TARGET)


@pytest.mark.parametrize(
    "link",
    [
        Link("Tea", "", wiki=True),
        Link("arden/Green Tea", "", wiki=True),
        Link("#Water", "", wiki=True),
        Link("Green%20Tea.md", ""),
        Link("All about tea", ""),
        Link("https://example.org/tea/more", ""),
        Link("mailto:Green Tea", ""),
        Link("#water", ""),
    ],
)
def test_other_links(link: Link) -> None:
    """A link that leads elsewhere, or nowhere, is no link to the note."""
    assert not links_to(document("notes/a.md", link), TARGET)


def test_both_directions() -> None:
    """Two notes are linked if either links to the other; no note is linked to itself."""
    source = document("notes/a.md", Link("Green Tea", "", wiki=True))
    assert linked(source, TARGET)
    assert linked(TARGET, source)
    assert not links_to(TARGET, source)
    own = document("a.md", Link("a", "", wiki=True))
    assert not linked(own, own)


def test_vaults_are_apart() -> None:
    """A name means a note of the same collection, an address means any."""
    name = document("a.md", Link("Green Tea", "", wiki=True), collection="other")
    address = document("a.md", Link("https://example.org/tea", ""), collection="other")
    assert not links_to(name, TARGET)
    assert links_to(address, TARGET)
