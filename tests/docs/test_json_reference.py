"""Every key that the JSON of an answer can have is documented, and no other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.docs.pages import REFERENCE, coded, read, rows, section
from twolane.interfaces.wire import documents, indexing, search
from twolane.interfaces.wire.shape import Shape, components
from twolane.ports.documents import Facets

# Which section of the page tells of what a command prints.
SECTIONS: Mapping[str, type[Shape]] = {
    "Search": search.SearchAnswer,
    "Status": indexing.Status,
    "Generations": indexing.Generations,
    "Get": documents.DocumentPart,
    "Outline": documents.Outline,
    "Index": indexing.IndexReport,
    "Embed": indexing.Embedded,
    "Settings": indexing.SettingsList,
    "Doctor": indexing.Checkup,
}
# What a section leaves to another one, by a link.
ELSEWHERE: Mapping[str, type] = {
    "Search": Facets,
    "Generations": indexing.Generation,
    "Index": indexing.Embedded,
}
PAGE = read(REFERENCE / "json.md")


def keys(kind: object) -> set[str]:
    """Every key that JSON of this shape can have, on whatever level."""
    if kind is None:
        return set()
    _, shapes = components([kind])
    return {name for one in shapes.values() for name in one.get("properties", ())}


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_key_is_described(heading: str) -> None:
    """Each key of a shape stands in the section of the command that prints it."""
    told = {part for word in coded(section(PAGE, f"## {heading}")) for part in word.split(".")}
    assert keys(SECTIONS[heading]) <= told | keys(ELSEWHERE.get(heading))


@pytest.mark.parametrize("heading", SECTIONS)
def test_no_key_is_made_up(heading: str) -> None:
    """A key with a row is one that the shape of its section has."""
    told = {
        cells[0].strip("`").rpartition(".")[2] for cells in rows(section(PAGE, f"## {heading}"))
    }
    assert told <= keys(SECTIONS[heading])
