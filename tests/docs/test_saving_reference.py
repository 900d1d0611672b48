"""Every key of the JSON of changes is documented."""

from __future__ import annotations

from dataclasses import fields

from tests.docs.pages import REFERENCE, read, rows, section
from tests.docs.test_json_reference import keys
from twolane.interfaces.wire import documents as wire
from twolane.interfaces.wire.indexing import Embedded
from twolane.model.draft import Draft
from twolane.model.problem import Problem

# What the commands print that save, list, import and export.
PRINTED = (
    wire.CollectionsDetails,
    wire.RemovedCollection,
    wire.TagCounts,
    wire.SavedDocuments,
    wire.DeletedDocuments,
    wire.Imported,
    wire.PagesFetched,
    wire.Exported,
)


def test_every_key_is_described_and_no_other() -> None:
    """The table has the keys that the functions write."""
    written = {key for kind in PRINTED for key in keys(kind)}
    told = {
        cells[0].strip("`").rpartition(".")[2]
        for page in ("saving.md", "importing.md")
        for cells in rows(section(read(REFERENCE / page), "## JSON"))
    }
    # Problems and embedding are told of elsewhere.
    assert told <= written <= told | keys(Problem) | keys(Embedded)


def test_every_key_of_a_row_is_described() -> None:
    """The schema of JSON rows has the fields of a draft, and no other."""
    table = section(read(REFERENCE / "importing.md"), "### Rows")
    told = {name.strip("` ") for cells in rows(table) for name in cells[0].split(",")}
    assert told == {one.name for one in fields(Draft)}
