"""A document as a row of its table, and back.

Lists of texts are the engine's own: PostgreSQL has arrays, SQLite has JSON.
What is JSON everywhere (headings, links, properties) is read and written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any

from twolane.model.document import Document, Heading, Kind, Link, Prepared, TitleOrigin
from twolane.model.errors import NotADatabase
from twolane.model.problem import Stamp
from twolane.text.tokens import fold

# The columns of `values_of`.
NAMES = (
    "id, collection, kind, searchable, archived, deleted, encrypted, owner, path, url, created,"
    " updated, used, uses, languages, title, title_key, title_origin, content_hash, version,"
    " first_line, modified_ns, size, aliases, description, summary, headings, links, arguments,"
    " properties, recipe"
)

# How often and when a document was last used is in no file, so that reading one again must not
# forget it: the row that is there is `held`.
REFRESH = (
    ", ".join(
        f"{name} = excluded.{name}"
        for name in NAMES.split(", ")
        if name not in ("id", "used", "uses")
    )
    + ", revision = excluded.revision, used = coalesce(excluded.used, held.used)"
    ", uses = coalesce(nullif(excluded.uses, 0), held.uses)"
)

# Everything that makes a Document value, in the order that document_of reads it.
_COLUMNS = """
    d.id, c.name, d.title, {body}, d.kind, d.path, d.url, d.title_origin, {aliases},
    {description}, {summary}, {headings}, {links}, {arguments}, {properties}, d.first_line,
    d.owner, d.created, d.updated, d.used, d.uses, d.searchable, d.archived, d.deleted, d.encrypted,
    d.content_hash, d.version, {tags}"""


def columns(tags: str) -> str:
    """The columns that make a Document, with the tags as the engine lists them."""
    own = ("aliases", "description", "summary", "headings", "links", "arguments", "properties")
    return _COLUMNS.format(body="x.body", tags=tags, **{name: f"d.{name}" for name in own})


def light_columns(no_texts: str) -> str:
    """The same without what a document says; `no_texts` is an empty list of the engine."""
    return _COLUMNS.format(
        **dict.fromkeys(("body", "description", "summary"), "''"),
        **dict.fromkeys(("aliases", "arguments", "tags"), no_texts),
        **dict.fromkeys(("headings", "links"), "'[]'"),
        properties="'{}'",
    )


def values_of(
    prepared: Prepared,
    collection: int,
    languages: object,
    texts: Callable[[Sequence[str]], object],
) -> tuple[Any, ...]:
    """The values of NAMES; `texts` makes a list of the engine."""
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
        languages,
        document.title,
        fold(document.title),
        str(document.title_origin),
        document.content_hash,
        document.version,
        document.first_line,
        stamp.modified_ns if stamp else None,
        stamp.size if stamp else None,
        texts(document.aliases),
        document.description,
        document.summary,
        _headings(document.headings),
        dumped([(link.target, link.anchor, link.wiki) for link in document.links]),
        texts(document.arguments),
        _properties(document.properties),
        prepared.analyzer_version,
    )


def document_of(row: Sequence[Any], texts: Callable[[Any], Sequence[str]] = tuple) -> Document:
    """The document that a row of `columns` spells; NotADatabase if it spells none.

    `texts` reads a list of the engine.
    """
    try:
        return _document_of(row, texts)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        # Nothing that we write is so.
        raise NotADatabase(
            f"the document {row[0]!r} in the database is damaged; {_MEND}"
        ) from error


_MEND = "mend it with: twolane doctor --fix, or restore a backup"


def _document_of(row: Sequence[Any], texts: Callable[[Any], Sequence[str]]) -> Document:
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
        tuple(texts(aliases)),
        tuple(texts(tags)),
        description,
        summary,
        tuple([Heading(*heading) for heading in loaded(headings)]),
        tuple([Link(*link) for link in loaded(links)]),
        tuple(texts(arguments)),
        MappingProxyType(loaded(properties)),
        first_line,
        owner,
        moment(created),
        moment(updated),
        moment(used),
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


def moment(seconds: float | None) -> datetime | None:
    """The time that so many seconds since 1970 are."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def stamp_of(modified_ns: int | None, size: int | None) -> Stamp | None:
    """The stamp of a file, or None for a document that is no file."""
    return None if modified_ns is None or size is None else Stamp(modified_ns, size)
