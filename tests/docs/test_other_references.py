"""The references of notes and of the database leave nothing out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tests.docs.pages import REFERENCE, coded, read, rows, section
from twolane.ingest.parsing.front_matter import recognise
from twolane.stores.sqlite.database import APPLICATION_ID, SCHEMA


class _Asked(dict[str, Any]):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return default


def test_every_property_is_described() -> None:
    """Each property of front matter that means something has a row, and no other has one."""
    asked = _Asked()
    recognise(asked)
    listed = rows(section(read(REFERENCE / "markdown.md"), "## Front matter"))
    assert {name for cells in listed for name in coded(cells[0])} == asked.names


def tables() -> Mapping[str, str]:
    """The name of each table and view of the schema, with what it is."""
    schema = files("twolane.stores.sqlite").joinpath("schema.sql").read_text("utf-8")
    found = re.findall(r"^CREATE (TABLE|VIRTUAL TABLE|VIEW) (\w+)", schema, re.MULTILINE)
    return {name: kind for kind, name in found}


def test_every_table_is_described() -> None:
    """Each table has a row, and no other has one."""
    listed = rows(section(read(REFERENCE / "database.md"), "## Tables"))
    assert {cells[0].strip("`") for cells in listed} == set(tables())


def test_the_marks_of_the_file_are_right() -> None:
    """The page names the file's application id and the copy that a migration leaves."""
    page = read(REFERENCE / "database.md")
    assert f"0x{APPLICATION_ID:X}" in page
    assert f"twolane.db.schema-{SCHEMA}" in page
