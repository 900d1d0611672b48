"""Every key that the JSON of an answer can have is documented, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.docs.pages import REFERENCE, coded, read, rows, section
from twolane.interfaces import wire

# Which section of the page tells of what a function writes.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "answer_json": ("Search",),
    "_result": ("Search",),
    "_contribution": ("Search",),
    "_boost": ("Search",),
    "status_json": ("Status",),
    "generation_json": ("Status",),
    "generations_json": ("Generations",),
    "_file": ("Status",),
    "document_json": ("Get",),
    "outline_json": ("Outline",),
    "report_json": ("Index",),
    "problem_json": ("Index",),
    "embedded_json": ("Embed",),
    "setting_json": ("Settings",),
    "settings_json": ("Settings",),
    "checks_json": ("Doctor",),
    "signs_json": ("Search",),
    "_degraded": ("Search", "Status", "Index"),
}
PAGE = read(REFERENCE / "json.md")


def keys(function: ast.FunctionDef) -> Iterator[str]:
    """The texts that a function writes as keys: of mappings, and of single items."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            found = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found = [node.slice.value] if isinstance(node.slice, ast.Constant) else []
        else:
            continue
        yield from (key for key in found if isinstance(key, str))


def written() -> dict[str, set[str]]:
    """Function → the keys it writes, for those that write any."""
    source = ast.parse(Path(wire.__file__).read_text("utf-8"))
    functions = [node for node in source.body if isinstance(node, ast.FunctionDef)]
    return {function.name: found for function in functions if (found := set(keys(function)))}


@pytest.mark.parametrize("function", written())
def test_every_key_is_described(function: str) -> None:
    """Each key of a function's JSON stands in the section of the command that prints it."""
    assert function in SECTIONS, f"name the section of json.md that tells of {function}"
    for heading in SECTIONS[function]:
        told = {part for word in coded(section(PAGE, f"## {heading}")) for part in word.split(".")}
        assert written()[function] <= told, heading


@pytest.mark.parametrize("heading", sorted({one for names in SECTIONS.values() for one in names}))
def test_no_key_is_made_up(heading: str) -> None:
    """A key with a row is one that some function of its section writes."""
    told = {
        cells[0].strip("`").rpartition(".")[2] for cells in rows(section(PAGE, f"## {heading}"))
    }
    real = {
        key
        for function, headings in SECTIONS.items()
        if heading in headings
        for key in written()[function]
    }
    assert told <= real
