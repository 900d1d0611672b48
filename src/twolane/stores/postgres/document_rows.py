"""A document as a row of its table, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from twolane.model.document import Document, Heading, Kind, Link, Prepared, TitleOrigin
from twolane.model.problem import Stamp
from twolane.text.tokens import fold

_NAMES = (
    "id, collection, revision, kind, searchable, archived, deleted, encrypted, owner, path,"
    " url, created, updated, used, uses, languages, title, title_key, title_origin, content_hash,"
    " version, first_line, modified_ns, size, aliases, description, summary, headings, links,"
    " arguments, properties, recipe"
)
_KEPT = ("id", "used", "uses")
_PLACES = ", ".join(
    "nextval('revisions')" if name == "revision" else "%s" for name in _NAMES.split(", ")
)

# Add a document's metadata, or refresh it under the row that it has.
# How often and when it was last used is in no file, so reading one again must not forget it.
PUT_DOCUMENT = (
    f"INSERT INTO documents AS held ({_NAMES}) VALUES ({_PLACES}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _NAMES.split(", ") if name not in _KEPT)
    + ", used = coalesce(excluded.used, held.used)"
    + ", uses = coalesce(nullif(excluded.uses, 0), held.uses) RETURNING row"
)

# Everything that makes a Document value, in the order that document_of reads it.
COLUMNS = """
    d.id, c.name, d.title, x.body, d.kind, d.path, d.url, d.title_origin, d.aliases,
    d.description, d.summary, d.headings, d.links, d.arguments, d.properties, d.first_line,
    d.owner, d.created, d.updated, d.used, d.uses, d.searchable, d.archived, d.deleted, d.encrypted,
    d.content_hash, d.version,
    ARRAY(SELECT t.name FROM tags AS t WHERE t.document = d.row ORDER BY t.position)"""

# The same without what a document says.
LIGHT_COLUMNS = """
    d.id, c.name, d.title, '', d.kind, d.path, d.url, d.title_origin, '{}'::text[],
    '', '', '[]', '[]', '{}'::text[], '{}', d.first_line,
    d.owner, d.created, d.updated, d.used, d.uses, d.searchable, d.archived, d.deleted, d.encrypted,
    d.content_hash, d.version, '{}'::text[]"""

# The streams of stems of a text `x`, in the order of FIELDS.
STREAMS = "x.title, x.aliases, x.tags, x.headings, x.description, x.url, x.stems"


def values_of(prepared: Prepared, collection: int) -> tuple[Any, ...]:
    """The values that PUT_DOCUMENT binds."""
    document, stamp = prepared.document, prepared.stamp
    return (
        document.id,
        collection,
        str(document.kind),
        document.searchable,
        document.archived,
        document.deleted,
        document.encrypted,
        document.owner,
        document.path,
        document.url,
        _seconds(document.created),
        _seconds(document.updated),
        _seconds(document.used),
        document.uses,
        list(prepared.languages),
        document.title,
        fold(document.title),
        str(document.title_origin),
        document.content_hash,
        document.version,
        document.first_line,
        stamp.modified_ns if stamp else None,
        stamp.size if stamp else None,
        list(document.aliases),
        document.description,
        document.summary,
        dumped([(one.level, one.text, one.line, one.start) for one in document.headings]),
        dumped([(one.target, one.anchor, one.wiki) for one in document.links]),
        list(document.arguments),
        dumped(dict(document.properties)),
        prepared.analyzer_version,
    )


def document_of(row: Sequence[Any]) -> Document:
    """The document that a row of COLUMNS spells."""
    (id, collection, title, body, kind, path, url, origin, aliases, description) = row[:10]
    (summary, headings, links, arguments, properties, first_line, owner) = row[10:17]
    (created, updated, used, uses, searchable, archived, deleted, encrypted) = row[17:25]
    # Some statements ask for more columns behind these.
    (content_hash, version, tags) = row[25:28]
    return Document(
        id,
        collection,
        title,
        body,
        _KINDS[kind],
        path,
        url,
        _ORIGINS[origin],
        tuple(aliases),
        tuple(tags),
        description,
        summary,
        tuple([Heading(*heading) for heading in json.loads(headings)]),
        tuple([Link(*link) for link in json.loads(links)]),
        tuple(arguments),
        MappingProxyType(json.loads(properties)),
        first_line,
        owner,
        moment(created),
        moment(updated),
        moment(used),
        uses,
        searchable,
        archived,
        deleted,
        encrypted,
        content_hash,
        version,
    )


# Looked up for every document that is shown, and calling an enumeration takes ten times as long.
_KINDS = {str(kind): kind for kind in Kind}
_ORIGINS = {str(origin): origin for origin in TitleOrigin}

# Made once: `json.dumps` with options of its own makes an encoder for every call.
dumped = json.JSONEncoder(ensure_ascii=False).encode


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def moment(seconds: float | None) -> datetime | None:
    """The time that so many seconds since 1970 are."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def stamp_of(modified_ns: int | None, size: int | None) -> Stamp | None:
    """The stamp of a file, or None for a document that is no file."""
    return None if modified_ns is None or size is None else Stamp(modified_ns, size)
