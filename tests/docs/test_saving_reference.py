"""Every key of the JSON of changes is documented."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.docs.pages import REFERENCE, read, rows, section
from tests.docs.test_json_reference import keys
from twolane.interfaces import writing_wire


def test_every_key_is_described_and_no_other() -> None:
    """The table has the keys that the functions write."""
    source = ast.parse(Path(writing_wire.__file__).read_text("utf-8"))
    written = {
        key for node in source.body if isinstance(node, ast.FunctionDef) for key in keys(node)
    }
    page = section(read(REFERENCE / "saving.md"), "## JSON")
    told = {cells[0].strip("`").rpartition(".")[2] for cells in rows(page)}
    assert told == written
