"""A document as a row of its table, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any

from twolane.model.document import Document, Heading, Kind, Link, Prepared, TitleOrigin
from twolane.model.errors import NotADatabase
from twolane.model.problem import Stamp
from twolane.text.tokens import fold

_NAMES = (
    "row, id, collection, revision, kind, searchable, archived, deleted, encrypted, owner, path,"
    " url, created, updated, used, uses, languages, title, title_key, title_origin, content_hash,"
    " version, first_line, modified_ns, size, aliases, description, summary, headings, links,"
    " arguments, properties, recipe"
)

_KEPT = ("used", "uses")

# Add a document's metadata under a row of its own.
INSERT_DOCUMENT = f"INSERT INTO documents({_NAMES}) VALUES ({', '.join('?' * 33)})"

# Refresh it; the row number survives, so that vectors stay mapped.
# How often and when it was last used is in no file, so reading one again must not forget it.
REFRESH_DOCUMENT = (
    f"{INSERT_DOCUMENT} ON CONFLICT(row) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _NAMES.split(", ")[1:] if name not in _KEPT)
    + ", used = coalesce(excluded.used, used), uses = coalesce(nullif(excluded.uses, 0), uses)"
)

# Everything that makes a Document value, in the order that document_of reads it.
COLUMNS = """
    d.id, c.name, d.title, x.body, d.kind, d.path, d.url, d.title_origin, d.aliases,
    d.description, d.summary, d.headings, d.links, d.arguments, d.properties, d.first_line,
    d.owner, d.created, d.updated, d.used, d.uses, d.searchable, d.archived, d.deleted, d.encrypted,
    d.content_hash, d.version,
    (SELECT json_group_array(t.name ORDER BY dt.position) FROM document_tags AS dt
     JOIN tags AS t ON t.row = dt.tag WHERE dt.document = d.row)"""


# The same without what a document says.
LIGHT_COLUMNS = """
    d.id, c.name, d.title, '', d.kind, d.path, d.url, d.title_origin, '[]',
    '', '', '[]', '[]', '[]', '{}', d.first_line,
    d.owner, d.created, d.updated, d.used, d.uses, d.searchable, d.archived, d.deleted, d.encrypted,
    d.content_hash, d.version, '[]'"""


def values_of(prepared: Prepared, row: int, collection: int, revision: int) -> tuple[Any, ...]:
    """The values that INSERT_DOCUMENT and REFRESH_DOCUMENT bind."""
    document, stamp = prepared.document, prepared.stamp
    return (
        row,
        document.id,
        collection,
        revision,
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
        "".join(f" {language} " for language in prepared.languages),
        document.title,
        fold(document.title),
        str(document.title_origin),
        document.content_hash,
        document.version,
        document.first_line,
        stamp.modified_ns if stamp else None,
        stamp.size if stamp else None,
        dumped_texts(document.aliases),
        document.description,
        document.summary,
        _headings(document.headings),
        dumped([(link.target, link.anchor, link.wiki) for link in document.links]),
        dumped_texts(document.arguments),
        _properties(document.properties),
        prepared.analyzer_version,
    )


def document_of(row: Sequence[Any]) -> Document:
    """The document that a row of COLUMNS spells; NotADatabase if it spells none."""
    try:
        return _document_of(row)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        # Nothing that we write is so.
        raise NotADatabase(
            f"the document {row[0]!r} in the database is damaged; {_MEND}"
        ) from error


_MEND = "mend it with: twolane doctor --fix, or restore a backup"


def _document_of(row: Sequence[Any]) -> Document:
    (id, collection, title, body, kind, path, url, origin, aliases, description) = row[:10]
    (summary, headings, links, arguments, properties, first_line, owner) = row[10:17]
    (created, updated, used, uses, searchable, archived, deleted, encrypted) = row[17:25]
    # Some statements ask for more columns behind these.
    (content_hash, version, tags) = row[25:28]
    if type(title) is not str or type(body) is not str:
        raise TypeError("a text is none")
    # In the order of its fields: a search reads many, and naming 28 fields takes a while.
    return Document(
        id,
        collection,
        title,
        body,
        _KINDS[kind],
        path,
        url,
        _ORIGINS[origin],
        tuple(loaded(aliases)),
        tuple(loaded(tags)),
        description,
        summary,
        tuple([Heading(*heading) for heading in loaded(headings)]),
        tuple([Link(*link) for link in loaded(links)]),
        tuple(loaded(arguments)),
        MappingProxyType(loaded(properties)),
        first_line,
        owner,
        _moment(created),
        _moment(updated),
        _moment(used),
        uses,
        bool(searchable),
        bool(archived),
        bool(deleted),
        bool(encrypted),
        content_hash,
        version,
    )


# Looked up for every document that is shown, and calling an enumeration takes ten times as long.
_KINDS = {str(kind): kind for kind in Kind}
_ORIGINS = {str(origin): origin for origin in TitleOrigin}


def dumped(value: Any) -> str:
    """JSON text, without work for the many values that are empty."""
    return _encoded(value) if value else _EMPTY[type(value) is dict]


def dumped_texts(texts: Sequence[str]) -> str:
    """JSON text of a list of texts, as `dumped` writes it, in half the time."""
    return f"[{', '.join(map(encode_basestring, texts))}]" if texts else "[]"


def _headings(headings: Iterable[Heading]) -> str:
    """JSON text of `[level, text, line, start]` for each heading."""
    written = [f"[{h.level}, {encode_basestring(h.text)}, {h.line}, {h.start}]" for h in headings]
    return f"[{', '.join(written)}]"


def _properties(properties: Mapping[str, Any]) -> str:
    """JSON text of front matter, as `dumped` writes it; most of it are texts and lists of them."""
    if not properties:
        return "{}"
    try:
        written = [
            f"{encode_basestring(name)}: {_property(value)}" for name, value in properties.items()
        ]
    except TypeError:
        # A name that is no text, or a value that cannot be written: the encoder knows what to say.
        return _encoded(dict(properties))
    return f"{{{', '.join(written)}}}"


def _property(value: Any) -> str:
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is list and all(type(one) is str for one in value):
        return dumped_texts(value)
    return _encoded(value)


def loaded(text: str) -> Any:
    """What JSON text says, without work for those that say nothing; NotADatabase if it is none."""
    try:
        return () if text == "[]" else {} if text == "{}" else _decoded(text)[0]
    except (TypeError, ValueError) as error:
        raise NotADatabase(f"{text[:40]!r} in the database is no JSON; {_MEND}") from error


# Made once: `json.dumps` with options of its own makes an encoder for every call.
_encoded = json.JSONEncoder(ensure_ascii=False).encode

# No blanks surround what was written here, so they need not be looked for.
_decoded = json.JSONDecoder().raw_decode
_EMPTY = {True: "{}", False: "[]"}


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def stamp_of(modified_ns: int | None, size: int | None) -> Stamp | None:
    """The stamp of a file, or None for a document that is no file."""
    return None if modified_ns is None or size is None else Stamp(modified_ns, size)
