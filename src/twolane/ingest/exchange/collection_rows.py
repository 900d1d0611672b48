"""Collections as JSON, beside the documents that they hold.

A row is a collection if its `type` says so; documents have no such key.
The folder that a collection is read from stays out of it: elsewhere there may be no such folder,
and documents that came from files are saved ones where they are imported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from twolane.ingest.drafting import collection_named
from twolane.ingest.exchange.rows import BadRow, CollectionRow
from twolane.model.document import Collection, Kind
from twolane.model.draft import LONGEST_DESCRIPTION
from twolane.model.errors import BadDraft, BadInput

_TYPE = "collection"
_KNOWN = ("type", "name", "kind", "include", "exclude", "description")


def is_collection(value: Any) -> bool:
    """Whether a JSON value is meant to be a collection."""
    return isinstance(value, dict) and value.get("type") == _TYPE


def read_collection(place: str, value: Mapping[str, Any]) -> CollectionRow | BadRow:
    """The collection that a row describes, or why there is none."""
    unknown = sorted(name for name in value if name not in _KNOWN)
    remarks = (f"unknown keys were left out: {', '.join(unknown)[:200]}",) if unknown else ()
    try:
        read = Collection(
            collection_named(value.get("name")),
            None,
            _kind(value.get("kind")),
            _patterns("include", value.get("include")),
            _patterns("exclude", value.get("exclude")),
            _description(value.get("description")),
        )
    except BadDraft as error:
        return BadRow(place, f"name: {error.reason}")
    except BadInput as error:
        return BadRow(place, str(error))
    return CollectionRow(place, read, remarks)


def written_collection(collection: Collection) -> str:
    """The collection as one line of JSON, without what is empty."""
    said: dict[str, Any] = {
        "type": _TYPE,
        "name": collection.name,
        "kind": collection.kind,
        "description": collection.description,
        "include": list(collection.include),
        "exclude": list(collection.exclude),
    }
    # Some readers of lines take other signs for line ends, too; ASCII has none of them.
    return json.dumps({name: value for name, value in said.items() if value})


def _kind(value: Any) -> Kind:
    if value is None:
        return Kind.NOTE
    if value not in tuple(Kind):
        raise BadInput(f"kind: {value!r} is none of {', '.join(Kind)}")
    return Kind(value)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise BadInput(f"{name}: must be a list of patterns")
    return tuple(_clean(name, one) for one in value)


def _description(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadInput("description: must be a text")
    line = _clean("description", " ".join(value.split()))
    if len(line) > LONGEST_DESCRIPTION:
        raise BadInput(f"description: is longer than {LONGEST_DESCRIPTION} characters")
    return line


def _clean(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{name}: is not valid Unicode") from None
    if "\0" in text:
        raise BadInput(f"{name}: holds a control character; leave it out")
    return text
