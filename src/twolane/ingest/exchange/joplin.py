"""Joplin's RAW export: a folder with one file for each note, notebook, tag and use of a tag.

A file is the title, the text, and at its end `key: value` lines, of which `type_` says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path

from twolane.ingest.exchange.rows import BadRow, Row, Rows, id_in, path_of
from twolane.ingest.parsing.decoding import decode
from twolane.model.document import Kind
from twolane.model.draft import Draft
from twolane.model.problem import ProblemCode
from twolane.model.values import dataclass

_ITEM = re.compile(r"[0-9a-f]{32}\.md")
_NOTE, _NOTEBOOK, _TAG, _TAGGING = "1", "2", "5", "6"
_PROPERTY = re.compile(r"[a-z_]+: ?.*|[a-z_]+:")
_DEEPEST = 64


def is_joplin(folder: Path) -> bool:
    """Whether the folder looks like a RAW export."""
    return any(_ITEM.fullmatch(item.name) for item in _items(folder))


def read_joplin(folder: Path, *, collection: str, largest: int) -> Rows:
    """The notes of the export, with their notebooks as paths and their tags."""
    shelves = _Shelves()
    for path in _items(folder):
        item = _read(path, largest)
        if isinstance(item, _Item):
            shelves.take(item)
    for path in _items(folder):
        item = _read(path, largest)
        if isinstance(item, BadRow):
            yield item
        elif item.values.get("type_") == _NOTE:
            yield Row(path.name, _draft(item, shelves, collection))


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the export, taken apart."""

    title: str
    body: str
    values: Mapping[str, str]


@dataclass(slots=True)
class _Shelves:
    """Notebooks and tags: names by id, what is in what, and the tags of each note."""

    names: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)

    def take(self, item: _Item) -> None:
        values = item.values
        kind = values.get("type_")
        if kind in (_NOTEBOOK, _TAG):
            self.names[values.get("id", "")] = item.title
            self.parents[values.get("id", "")] = values.get("parent_id", "")
        elif kind == _TAGGING:
            self.tags.setdefault(values.get("note_id", ""), []).append(values.get("tag_id", ""))

    def path(self, notebook: str) -> list[str]:
        """The notebooks above a note, the outermost first; a circle ends somewhere."""
        names: list[str] = []
        while notebook in self.names and len(names) < _DEEPEST:
            names.insert(0, self.names[notebook])
            notebook = self.parents[notebook]
        return names


def _items(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if _ITEM.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            yield path


def _read(path: Path, largest: int) -> _Item | BadRow:
    try:
        if path.stat().st_size > largest:
            return BadRow(path.name, f"is larger than {largest:,} bytes", ProblemCode.TOO_LARGE)
        decoded = decode(path.read_bytes())
    except OSError as error:
        return BadRow(path.name, error.strerror or str(error), ProblemCode.UNREADABLE)
    if decoded.text is None:
        return BadRow(path.name, decoded.reason, ProblemCode.BINARY)
    lines = decoded.text.rstrip("\n").split("\n")
    values: dict[str, str] = {}
    while lines and _PROPERTY.fullmatch(lines[-1]):
        name, _, value = lines.pop().partition(":")
        values[name] = value.strip()
    if "type_" not in values or "id" not in values:
        return BadRow(path.name, "is no item of a Joplin export: it has no id or no type_")
    title = lines[0].strip() if lines else ""
    return _Item(title, "\n".join(lines[1:]).strip("\n"), values)


def _draft(item: _Item, shelves: _Shelves, collection: str) -> Draft:
    values = item.values
    tags = [
        shelves.names[tag] for tag in shelves.tags.get(values["id"], ()) if tag in shelves.names
    ]
    names = [*shelves.path(values.get("parent_id", "")), item.title or values["id"]]
    url = values.get("source_url", "")
    return Draft(
        id=id_in(collection, values["id"]),
        kind=Kind.NOTE,
        title=item.title,
        body=item.body,
        url=url if "://" in url else None,
        tags=tuple(tags),
        collection=collection,
        path=path_of(names),
        created=_moment(values, "user_created_time", "created_time"),
        updated=_moment(values, "user_updated_time", "updated_time"),
        encrypted=values.get("encryption_applied") == "1",
    )


def _moment(values: Mapping[str, str], *names: str) -> datetime | None:
    for name in names:
        try:
            return datetime.fromisoformat(values.get(name, ""))
        except ValueError:
            continue
    return None
