"""Values of the domain as plain tuples, for the way between two of our own processes.

Pickling frozen dataclasses one by one costs three times as much as pickling these.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from twolane.drafts import Draft
from twolane.model import EMPTY, Chunk, Document, Heading, Link, Prepared, Stems

Packed = tuple[Any, ...]


def _values_of(kind: type) -> attrgetter[Any]:
    return attrgetter(*(one.name for one in fields(kind)))


def _place(kind: type, name: str) -> int:
    return [one.name for one in fields(kind)].index(name)


_draft_values = _values_of(Draft)
_document_values = _values_of(Document)
_heading_values = _values_of(Heading)
_link_values = _values_of(Link)
_chunk_values = _values_of(Chunk)
_stem_values = _values_of(Stems)

_DRAFT_PROPERTIES = _place(Draft, "properties")
_HEADINGS = _place(Document, "headings")
_LINKS = _place(Document, "links")
_PROPERTIES = _place(Document, "properties")


def packed_draft(draft: Draft) -> Packed:
    """All that a draft says."""
    values = list(_draft_values(draft))
    values[_DRAFT_PROPERTIES] = _plain(values[_DRAFT_PROPERTIES])
    return tuple(values)


def draft_of(packed: Packed) -> Draft:
    """The draft that was packed."""
    values = list(packed)
    values[_DRAFT_PROPERTIES] = _mapping(values[_DRAFT_PROPERTIES])
    return Draft(*values)


def packed_document(document: Document) -> Packed:
    """All that a document is."""
    values = list(_document_values(document))
    values[_HEADINGS] = [_heading_values(one) for one in document.headings]
    values[_LINKS] = [_link_values(one) for one in document.links]
    values[_PROPERTIES] = _plain(document.properties)
    return tuple(values)


def document_of(packed: Packed) -> Document:
    """The document that was packed."""
    values = list(packed)
    values[_HEADINGS] = tuple([Heading(*one) for one in values[_HEADINGS]])
    values[_LINKS] = tuple([Link(*one) for one in values[_LINKS]])
    values[_PROPERTIES] = _mapping(values[_PROPERTIES])
    return Document(*values)


def packed_analysis(prepared: Prepared | None) -> Packed | None:
    """What a prepared document has beside the document; it has no stamp yet."""
    if prepared is None:
        return None
    chunks = [_chunk_values(one) for one in prepared.chunks]
    return chunks, _stem_values(prepared.stems), prepared.recipe, prepared.sketch


def prepared_of(document: Document, packed: Packed | None) -> Prepared | None:
    """The document as it was prepared, if it was."""
    if packed is None:
        return None
    chunks, stems, recipe, sketch = packed
    made = tuple([Chunk(*one) for one in chunks])
    return Prepared(document, made, Stems(*stems), recipe=recipe, sketch=sketch)


def _plain(properties: Any) -> Any:
    # A read-only view cannot be pickled; what is no mapping at all is for `drafted` to refuse.
    return dict(properties) if isinstance(properties, MappingProxyType) else properties


def _mapping(properties: Any) -> Any:
    if type(properties) is not dict:
        return properties
    return MappingProxyType(properties) if properties else EMPTY
