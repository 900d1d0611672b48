"""Documents as rows, written in a few statements over a whole batch, not a few for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from twolane.model.candidate import Names
from twolane.model.document import FIELDS, Document, Prepared, Stems
from twolane.stores.postgres.database import Session
from twolane.stores.postgres.lexemes import vector
from twolane.stores.sql import document_rows
from twolane.stores.sql.document_rows import NAMES, REFRESH
from twolane.text.names import lines
from twolane.text.property_values import facts
from twolane.text.substrings import TEXTS, fields_of, spelled
from twolane.text.tokens import fold

# An entry of an index has to be shorter than 2,700 bytes.
_LONGEST_END = 600

# Add a document's metadata, or refresh it under the row that it has.
PUT_DOCUMENT = (
    f"INSERT INTO documents AS held ({NAMES}, path_end, revision)"
    f" VALUES ({', '.join('?' * len(NAMES.split(', ')))}, ?, nextval('revisions'))"
    f" ON CONFLICT (id) DO UPDATE SET {REFRESH}, path_end = excluded.path_end RETURNING row"
)

COLUMNS = document_rows.columns(
    "ARRAY(SELECT t.name FROM tags AS t WHERE t.document = d.row ORDER BY t.position)"
)
LIGHT_COLUMNS = document_rows.light_columns("'{}'::text[]")

# The streams of stems of a text `x`, in the order of FIELDS.
STREAMS = "x.title, x.aliases, x.tags, x.headings, x.description, x.url, x.stems"


def values_of(prepared: Prepared, collection: int) -> tuple[Any, ...]:
    """The values that PUT_DOCUMENT binds."""
    path = prepared.document.path
    return (
        *document_rows.values_of(prepared, collection, list(prepared.languages), list),
        None if path is None else path_end(path),
    )


def path_end(path: str) -> str:
    """A path as its end is compared: backwards, after a `/`, no longer than an index takes."""
    return f"/{fold(path)}"[::-1][:_LONGEST_END]


# A text with its streams, or the new one of a document that has one.
_PUT_TEXT = """
INSERT INTO texts(row, owner, lengths, title, aliases, tags, headings, description, url, stems,
                  body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (row) DO UPDATE SET owner = excluded.owner, lengths = excluded.lengths,
    title = excluded.title, aliases = excluded.aliases, tags = excluded.tags,
    headings = excluded.headings, description = excluded.description, url = excluded.url,
    stems = excluded.stems, body = excluded.body"""

# What the index of words holds of a document that can be found.
_PUT_WORDS = """
INSERT INTO words(document, owner, words) VALUES (?, ?, ?::tsvector)
ON CONFLICT (document) DO UPDATE SET owner = excluded.owner, words = excluded.words"""

# Its letters, as they are compared.
_PUT_LETTERS = """
INSERT INTO letters(document, owner, names, texts) VALUES (?, ?, ?, ?)
ON CONFLICT (document) DO UPDATE
SET owner = excluded.owner, names = excluded.names, texts = excluded.texts"""

_INSERT_TAG = "INSERT INTO tags(document, position, owner, name, key) VALUES (?, ?, ?, ?, ?)"

_INSERT_CHUNK = """
INSERT INTO chunks(document, position, owner, start, "end", first_line, last_line, headings,
                   language, tokens, content_hash, text_hash, forms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::bigint[])"""

_INSERT_VALUE = """
INSERT INTO property_values(document, owner, name, text, number, moment)
VALUES (?, ?, ?, ?, ?, ?)"""

_INSERT_SKETCH = "INSERT INTO sketches(document, owner, runs) VALUES (?, ?, ?)"

_Placed = tuple[int, Prepared]


def write(session: Session, upserts: Iterable[Prepared], collection: int) -> list[int]:
    """Add the documents or replace those with their ids; of several with one id the last.

    The rows that were written.
    """
    latest = {prepared.document.id: prepared for prepared in upserts}
    # In one order everywhere, so that two writers do not wait for each other in a circle.
    ordered = [latest[id] for id in sorted(latest)]
    if not ordered:
        return []
    known = session.rows(
        "SELECT row FROM documents WHERE id = ANY(?)",
        (list(latest),),
    )
    _clear(session, [row for (row,) in known])
    put = session.row_for_each(PUT_DOCUMENT, [values_of(one, collection) for one in ordered])
    placed = [(row, prepared) for (row,), prepared in zip(put, ordered, strict=True)]
    _write_parts(session, placed)
    return [row for row, _ in placed]


def write_tags(session: Session, row: int, owner: str | None, tags: Sequence[str]) -> None:
    """Give a document, named by row, its tags in place of those that it has."""
    session.run("DELETE FROM tags WHERE document = ?", (row,))
    session.run_all(_INSERT_TAG, _tag_values(row, owner, tags))


def list_documents(session: Session, found: Sequence[tuple[int, Document, Stems]]) -> None:
    """Put documents into the indexes of words and letters, or take out those that are hidden."""
    hidden = [row for row, document, _ in found if document.hidden]
    for table in ("words", "letters"):
        if hidden:
            session.run(f"DELETE FROM {table} WHERE document = ANY(?)", (hidden,))
    shown = [one for one in found if not one[1].hidden]
    session.run_all(
        _PUT_WORDS,
        [(row, document.owner, vector(stems, document.owner)) for row, document, stems in shown],
    )
    session.run_all(
        _PUT_LETTERS,
        [
            (row, document.owner, name_letters(document), text_letters(document))
            for row, document, _ in shown
        ],
    )


def name_letters(document: Document) -> str:
    """The letters of all that a document is called."""
    names = Names(document.id, (), document.title, document.aliases, document.path, document.url)
    return lines(names, document.tags)


def text_letters(document: Document) -> str:
    """The letters of the rest of it."""
    told = fields_of(document, TEXTS)
    return "\n".join([spelled(text) if text else "" for _, texts in told for text in texts])


def _clear(session: Session, old: Sequence[int]) -> None:
    """Take out what is written anew, apart from what is replaced in its place."""
    if old:
        for table in ("tags", "chunks", "property_values", "sketches"):
            session.run(f"DELETE FROM {table} WHERE document = ANY(?)", (list(old),))


def _write_parts(session: Session, placed: Sequence[_Placed]) -> None:
    session.run_all(_PUT_TEXT, [_text_values(row, one) for row, one in placed])
    list_documents(session, [(row, one.document, one.stems) for row, one in placed])
    session.run_all(
        _INSERT_TAG,
        [
            values
            for row, one in placed
            for values in _tag_values(row, one.document.owner, one.document.tags)
        ],
    )
    session.run_all(_INSERT_CHUNK, _chunk_values(placed))
    session.run_all(
        _INSERT_VALUE,
        [
            (row, one.document.owner, *fact)
            for row, one in placed
            if one.document.properties and not one.document.encrypted
            for fact in facts(one.document.properties)
        ],
    )
    # The hashes of short runs of words would tell much of what is encrypted.
    session.run_all(
        _INSERT_SKETCH,
        [
            (row, one.document.owner, one.sketch)
            for row, one in placed
            if one.sketch and not one.document.encrypted
        ],
    )


def _tag_values(row: int, owner: str | None, tags: Sequence[str]) -> list[tuple[Any, ...]]:
    return [
        (row, position, owner, name, fold(name))
        for position, name in enumerate(dict.fromkeys(tags))
    ]


def _text_values(row: int, prepared: Prepared) -> tuple[Any, ...]:
    stems = prepared.stems
    streams = [getattr(stems, name) for name in FIELDS]
    lengths = [stream.count(" ") // 2 for stream in streams]
    return (row, prepared.document.owner, lengths, *streams, prepared.document.body)


def _chunk_values(placed: Sequence[_Placed]) -> list[tuple[Any, ...]]:
    return [
        (
            row,
            chunk.position,
            prepared.document.owner,
            chunk.start,
            chunk.end,
            chunk.first_line,
            chunk.last_line,
            list(chunk.headings),
            chunk.language,
            chunk.tokens,
            chunk.content_hash,
            chunk.text_hash,
            list(chunk.boilerplate),
        )
        for row, prepared in placed
        for chunk in prepared.chunks
    ]
