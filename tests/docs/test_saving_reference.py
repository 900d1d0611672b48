"""Every key of the JSON of changes is documented."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

from tests.docs.pages import REFERENCE, read, rows, section
from tests.docs.test_json_reference import keys
from twolane.drafts import Draft
from twolane.interfaces import writing_wire


def test_every_key_is_described_and_no_other() -> None:
    """The table has the keys that the functions write."""
    source = ast.parse(Path(writing_wire.__file__).read_text("utf-8"))
    written = {
        key for node in source.body if isinstance(node, ast.FunctionDef) for key in keys(node)
    }
    told = {
        cells[0].strip("`").rpartition(".")[2]
        for page in ("saving.md", "importing.md")
        for cells in rows(section(read(REFERENCE / page), "## JSON"))
    }
    assert told == written


def test_every_key_of_a_row_is_described() -> None:
    """The schema of JSON rows has the fields of a draft, and no other."""
    table = section(read(REFERENCE / "importing.md"), "### Rows")
    told = {name.strip("` ") for cells in rows(table) for name in cells[0].split(",")}
    assert told == {one.name for one in fields(Draft)}
