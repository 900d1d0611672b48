"""Writing a batch of documents: a few statements over all of them, not a few for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from twolane.model.document import Prepared
from twolane.stores.sqlite.boilerplate_keys import packed
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.document_rows import (
    INSERT_DOCUMENT,
    REFRESH_DOCUMENT,
    dumped,
    dumped_texts,
    values_of,
)
from twolane.stores.sqlite.seals import seal_rows
from twolane.stores.sqlite.versions import free_row
from twolane.text.property_values import facts
from twolane.text.tokens import fold, stream

_TEXT_COLUMNS = "row, listed, words, title, aliases, tags, headings, description, url, stems, body"

# The full-text index writes itself out whenever a statement with a trigger on it begins.
# So the texts of a batch are inserted by one statement.
_INSERT_TEXTS = f"INSERT INTO texts({_TEXT_COLUMNS}) VALUES "
_TEXT = f"({','.join('?' * len(_TEXT_COLUMNS.split(',')))})"

_INSERT_CHUNK = """
INSERT INTO chunks(document, position, start, "end", first_line, last_line, headings, language,
                   tokens, content_hash, text_hash, forms)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"""

_INSERT_VALUE = """
INSERT INTO property_values(document, name, text, number, moment) VALUES (?,?,?,?,?)"""

_INSERT_SKETCH = "INSERT INTO sketches(document, runs) VALUES (?,?)"

# A statement may have 32,766 values, of which a text takes eleven.
_MOST = 2000

_Placed = tuple[int, Prepared]


def write(
    connection: apsw.Connection, upserts: Iterable[Prepared], collection: int, revision: int
) -> set[str]:
    """Add the documents or replace those with their ids; of several with one id the last.

    The content hashes of the passages that were replaced.
    """
    latest = list({prepared.document.id: prepared for prepared in upserts}.values())
    replaced: set[str] = set()
    for start in range(0, len(latest), _MOST):
        replaced |= _write(connection, latest[start : start + _MOST], collection, revision)
    return replaced


def _write(
    connection: apsw.Connection, upserts: Sequence[Prepared], collection: int, revision: int
) -> set[str]:
    """Write documents of different ids."""
    known = dict(
        rows(
            connection,
            "SELECT id, row FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (dumped_texts([one.document.id for one in upserts]),),
        )
    )
    free = free_row(connection, "documents")
    old = [(known[one.document.id], one) for one in upserts if one.document.id in known]
    fresh = (one for one in upserts if one.document.id not in known)
    new = list(enumerate(fresh, start=free))
    both = [*old, *new]
    replaced = _clear(connection, [row for row, _ in old])
    connection.executemany(REFRESH_DOCUMENT, _document_values(old, collection, revision))
    write_tags(connection, [(row, prepared.document.tags) for row, prepared in both])
    _write_texts(connection, both)
    connection.executemany(INSERT_DOCUMENT, _document_values(new, collection, revision))
    connection.executemany(_INSERT_VALUE, _property_values(both))
    connection.executemany(_INSERT_CHUNK, _chunk_values(both))
    connection.executemany(_INSERT_SKETCH, _sketches(both))
    seal_rows(connection, [row for row, _ in both])
    return replaced


def _clear(connection: apsw.Connection, old: Sequence[int]) -> set[str]:
    """Take out what is written anew; the content hashes of the passages that go."""
    if not old:
        return set()
    passages = "SELECT content_hash FROM chunks WHERE document IN (SELECT value FROM json_each(?))"
    replaced = {content for (content,) in connection.execute(passages, (dumped(old),))}
    # Leaving the index first keeps tag changes from rewriting it one by one.
    for statement in (
        "DELETE FROM texts WHERE row IN (SELECT value FROM json_each(?))",
        "DELETE FROM document_tags WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM chunks WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM property_values WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM sketches WHERE document IN (SELECT value FROM json_each(?))",
    ):
        connection.execute(statement, (dumped(old),))
    return replaced


def write_tags(connection: apsw.Connection, placed: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """Give documents, named by row, their tags; they must have none."""
    names = {name for _, tags in placed for name in tags}
    if not names:
        return
    held = _tag_rows(connection, names)
    missing = sorted(names - held.keys())
    if missing:
        numbered = enumerate(missing, start=free_row(connection, "tags"))
        connection.executemany(
            "INSERT INTO tags(row, name, key, stems) VALUES (?,?,?,?)",
            [(row, name, fold(name), stream(name)) for row, name in numbered],
        )
        held |= _tag_rows(connection, missing)
    given = [(row, place, held[name]) for row, tags in placed for place, name in enumerate(tags)]
    # One statement: each one that has a trigger on it costs as much as the row that it writes.
    connection.execute(
        "INSERT OR IGNORE INTO document_tags(document, position, tag)"
        " SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
        (dumped(given),),
    )


def _tag_rows(connection: apsw.Connection, names: Iterable[str]) -> dict[str, int]:
    return dict(
        rows(
            connection,
            "SELECT name, row FROM tags WHERE name IN (SELECT value FROM json_each(?))",
            (dumped_texts(list(names)),),
        )
    )


def _write_texts(connection: apsw.Connection, placed: Sequence[_Placed]) -> None:
    statement = _INSERT_TEXTS + ",".join([_TEXT] * len(placed))
    values: list[object] = []
    for row, prepared in placed:
        values += _text_values(row, prepared)
    connection.execute(statement, values)


def _document_values(
    placed: Sequence[_Placed], collection: int, revision: int
) -> list[tuple[object, ...]]:
    return [values_of(prepared, row, collection, revision) for row, prepared in placed]


def _property_values(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    return [
        (row, *fact)
        for row, prepared in placed
        if prepared.document.properties and not prepared.document.encrypted
        for fact in facts(prepared.document.properties)
    ]


def _sketches(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    # The hashes of short runs of words would tell much of what is encrypted.
    return [
        (row, prepared.sketch)
        for row, prepared in placed
        if prepared.sketch and not prepared.document.encrypted
    ]


def _text_values(row: int, prepared: Prepared) -> tuple[object, ...]:
    document, stems = prepared.document, prepared.stems
    return (
        row,
        not document.hidden,
        stems.body.count(" ") // 2,
        stems.title,
        stems.aliases,
        stems.tags,
        stems.headings,
        stems.description,
        stems.url,
        stems.body,
        document.body,
    )


def _chunk_values(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    return [
        (
            row,
            chunk.position,
            chunk.start,
            chunk.end,
            chunk.first_line,
            chunk.last_line,
            dumped_texts(chunk.headings),
            chunk.language,
            chunk.tokens,
            chunk.content_hash,
            chunk.text_hash,
            packed(chunk.boilerplate),
        )
        for row, prepared in placed
        for chunk in prepared.chunks
    ]
